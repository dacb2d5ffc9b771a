public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

extension VaultStore {
    /// The key slots, in the order of the file.
    ///
    /// Throws `timedOut`, `cancelled`, `corrupted` or `unavailable`. A slot of a kind unknown here is left out.
    public func slots(deadline: Deadline = .standard) async throws(StoreError) -> [KeySlotDescription] {
        try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try Self.describe(view.records(), state.keys)
        }
    }

    /// The slot that opened the vault, unless it is gone; `nil` when it was opened by `keepUnlocked(for:)`.
    package func openedSlot(deadline: Deadline = .standard) async throws(StoreError) -> KeySlotDescription? {
        guard let name = slot?.recordName else { return nil }
        return try await waiting(until: deadline) { (view, state) throws(StoreError) in
            let slots = try KeySlot.all(in: view.records())
            return try slots.first { $0.recordName == name }?.describe(state.keys)
        }
    }

    /// How many transactions the vault has seen, and how many credentials it has, as of the last look at it.
    package var extent: (generation: UInt64, itemCount: UInt64) {
        let manifest = known.withLock { $0 }.manifest
        return (manifest.generation, manifest.itemCount)
    }

    private static func describe(
        _ records: [NamedRecord], _ keys: VaultKeys
    ) throws(StoreError) -> [KeySlotDescription] {
        var described: [KeySlotDescription] = []
        for slot in try KeySlot.all(in: records) { described.append(try slot.describe(keys)) }
        return described
    }

    /// Adds another way to open the vault.
    ///
    /// With `replacing`, another slot goes in the same commit: that is how a passphrase is changed. Its name is free
    /// for the new one. A passphrase without a cost gets one that fits this machine.
    ///
    /// Throws `conflict` when a slot of that name exists, when there are 16 already or none to replace, or what is
    /// wrong with the key file.
    public func addSlot(
        _ source: borrowing VaultKeySource, name: KeySlotName, replacing old: KeySlotName? = nil,
        cost: PassphraseCost? = nil, deadline: Deadline = .standard
    ) async throws(StoreError) {
        let kept = Box(source.duplicate())
        let (vault, created) = (keys.vault, now())
        // On a thread of its own: Argon2 would hold up other writes.
        let added = try await WorkThread().run(until: deadline, leavesBehind: true) { (_) throws(StoreError) in
            try NewKeySlot(kept.value, name: name, cost: cost, created: created, vault: vault)
        }
        try await addSlot(added, replacing: old, deadline: deadline)
    }

    func addSlot(_ added: NewKeySlot, replacing old: KeySlotName?, deadline: Deadline) async throws(StoreError) {
        try await changeRecords(until: deadline) { (transaction, keys) throws(StoreError) in
            if let old {
                guard let replaced = try Self.slot(old, in: transaction, keys) else {
                    throw StoreError(
                        .conflict, "the vault has no key slot named \(old)", hint: "\(Recovery.listKeySlots)")
                }
                try transaction.remove(record: replaced.recordName)
            }
            let records = try transaction.records()
            let present = try Self.describe(records, keys)
            if present.contains(where: { $0.name == added.name }) {
                throw StoreError(
                    .conflict, "the vault has a key slot named \(added.name) already", hint: "choose another name")
            }
            guard present.count < KeySlot.maximumCount, records.count < Manifest.maximumRecordCount else {
                throw StoreError(.conflict, "the vault has \(present.count) key slots, and takes no more")
            }
            let record = try added.sealed(keys).encode()
            try transaction.put(record: record.name, record.content)
        }
    }

    /// Removes a way to open the vault and returns whether there was one of that name.
    ///
    /// Throws `conflict` for the last one. Whoever kept what opened it, and a copy from before, can open what is saved
    /// later too, until `rekey` locks them out; so for `addSlot` with `replacing`.
    @discardableResult
    public func removeSlot(
        _ name: KeySlotName, deadline: Deadline = .standard
    ) async throws(StoreError) -> Bool {
        try await changeRecords(until: deadline) { (transaction, keys) throws(StoreError) in
            guard let slot = try Self.slot(name, in: transaction, keys) else { return false }
            guard try KeySlot.all(in: transaction.records()).count > 1 else {
                throw StoreError(.conflict, "this is the vault's last key slot", hint: "add another key slot first")
            }
            try transaction.remove(record: slot.recordName)
            return true
        }
    }

    private static func slot(
        _ name: KeySlotName, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> KeySlot? {
        for slot in try KeySlot.all(in: view.records()) where try slot.describe(keys).name == name { return slot }
        return nil
    }

    /// Changes records and takes the change into the manifest.
    private func changeRecords<Result: Sendable>(
        until deadline: Deadline,
        _ body: @escaping @Sendable (any RowTransaction, VaultKeys) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            let result = try body(transaction, change.keys)
            change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
            return result
        }
    }
}
