internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

extension SealedStore {
    /// The key slots, in the order of the file.
    func slots(deadline: Deadline) async throws(StoreError) -> [KeySlotDescription] {
        try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try Self.describe(view.records(), state.keys)
        }
    }

    /// The slot that opened the vault, while it is there; `nil` when the root key did.
    func openedSlot(deadline: Deadline) async throws(StoreError) -> KeySlotDescription? {
        guard let name = slot?.recordName else { return nil }
        return try await waiting(until: deadline) { (view, state) throws(StoreError) in
            let slots = try KeySlot.all(in: view.records())
            return try slots.first { $0.recordName == name }?.describe(state.keys)
        }
    }

    private static func describe(
        _ records: [NamedRecord], _ keys: VaultKeys
    ) throws(StoreError) -> [KeySlotDescription] {
        var described: [KeySlotDescription] = []
        for slot in try KeySlot.all(in: records) { described.append(try slot.describe(keys)) }
        return described
    }

    /// Adds a slot and takes another one's place, or `nil`'s, in the same transaction.
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

    /// Removes a slot and returns whether there was one.
    func removeSlot(_ name: KeySlotName, deadline: Deadline) async throws(StoreError) -> Bool {
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
        _ name: KeySlotName, in view: some RowView, _ keys: VaultKeys
    ) throws(StoreError) -> KeySlot? {
        for slot in try KeySlot.all(in: view.records()) where try slot.describe(keys).name == name { return slot }
        return nil
    }

    /// Changes records and takes the change into the manifest.
    private func changeRecords<Result: Sendable>(
        until deadline: Deadline,
        _ body: @escaping @Sendable (Table.Transaction, VaultKeys) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            let result = try body(transaction, change.keys)
            change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
            return result
        }
    }
}
