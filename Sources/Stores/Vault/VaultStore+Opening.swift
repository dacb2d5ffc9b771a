public import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

extension VaultStore {
    // MARK: - Making

    /// Creates an empty vault with one key slot and opens it.
    ///
    /// The file (0600) appears complete or not at all; its directory is created (0700) if it is missing. A database
    /// must have a vault's tables, which its administrator creates (Docs/HowTo/many-hosts.md), without a vault in them.
    ///
    /// - Parameters:
    ///   - path: the path of the file, which may not exist yet; or a URI such as
    ///     `postgresql://host/database?sslmode=verify-full&schema=name`. A URI with a password is refused.
    ///   - source: the key of the vault. A key file must exist: see ``VaultKeyFile/create(at:)``.
    ///   - name: the name of the slot; `nil` for the kind's own name.
    ///   - cost: the cost of a passphrase; `nil` for one that fits this machine: about 0.75 s per attempt, and at least
    ///     ``PassphraseCost/least``.
    ///   - memory: as for `open`.
    ///   - deadline: the time limit (default: 30 seconds from now).
    ///   - now: the clock for the times of credentials.
    ///
    /// Throws `conflict` if `path` exists, `permissionDenied` if other users can change the place, `cannotWrite`,
    /// `unavailable` if the key file doesn't exist or the database can't be reached, `wrongKey` for an empty
    /// passphrase, or another error of the key file. After `timedOut` or `cancelled` the vault may exist.
    public static func create(
        at path: String, unlockedBy source: borrowing VaultKeySource, name: KeySlotName? = nil,
        cost: PassphraseCost? = nil, memory: RollbackMemory? = nil, deadline: Deadline = .standard,
        now: @escaping @Sendable () -> UnixTime = { UnixTime.now() }
    ) async throws(StoreError) -> VaultStore {
        let worker = WorkThread()
        let kept = Box(source.duplicate())
        let name = name ?? source.kind.slotName
        return try await worker.run(until: deadline, leavesBehind: true) { (cancellation) throws(StoreError) in
            let place = try VaultPlace.new(path, for: .daily)
            let vault = if let reference = kept.value.reference { reference.vault } else { try VaultID.random() }
            let keys = try VaultKeys.random(vault)
            let slot = try NewKeySlot(kept.value, name: name, cost: cost, created: now(), vault: vault)
            try cancellation.check()
            var records = try VaultStore.newRecords(
                keys, slot, collections: CollectionsRecord(created: now()))
            let manifest = Manifest(recordsDigest: Manifest.digest(records, keys))
            records.append(NamedRecord(name: Manifest.recordName, content: try manifest.seal(keys)))
            // Throws before there is a vault, which the error would hide.
            if let memory { _ = try GenerationMemory(memory, vault: vault) }
            try place.create(for: .daily, records, cancellation)
            let opened = VaultStore.OpenedSlot(
                recordName: KeySlot.recordName(slot.head.id), keys: slot.keys)
            return try cancellation.retry { () throws(StoreError) in
                try LockedVault(place, worker, cancellation).open(
                    keys, opened, .init(memory: memory, itemCheck: .whenSmall, now: now), cancellation)
            }
        }
    }

    // MARK: - Opening

    /// Opens an existing vault.
    ///
    /// Slow work runs on a thread of the store: trying a passphrase, connecting to a database, waiting for other
    /// processes. A passphrase is tried on one slot after another, within the deadline.
    ///
    /// - Parameters:
    ///   - path: the vault's file, or the URI of its database.
    ///   - source: the key to open it with.
    ///   - memory: the record of the last seen state of the vault. `nil`, the default, writes nothing outside the vault
    ///     and detects no older copy of it. If the record can't be read or written, the vault opens anyway.
    ///   - itemCheck: the times when the items are compared with the manifest.
    ///   - deadline: the time limit (default: 30 seconds from now).
    ///   - now: the clock for the times of credentials.
    ///
    /// Throws `unavailable` if the vault or key file doesn't exist, the database can't be reached, or a passphrase
    /// needs more memory than there is; `locked` if there is no credential or no key in the kernel; `permissionDenied`
    /// if other users can change the file, its directory, the key file or the record; `wrongKey`; `corrupted`;
    /// `rolledBack` for a copy older than the last seen state; `unsupported` for a newer format; `timedOut` or
    /// `cancelled`. Nothing is changed, whatever the error is.
    public static func open(
        at path: String, unlockedBy source: borrowing VaultKeySource, memory: RollbackMemory? = nil,
        itemCheck: ItemCheck = .whenSmall, deadline: Deadline = .standard,
        now: @escaping @Sendable () -> UnixTime = { UnixTime.now() }
    ) async throws(StoreError) -> VaultStore {
        try await LockedVault.open(at: path, deadline: deadline).unlock(
            with: source, memory: memory, itemCheck: itemCheck, deadline: deadline, now: now)
    }

    // MARK: - Looking for a place

    /// Throws what keeps a vault from being opened that can be seen without its key: no file, wrong owner or mode, a
    /// damaged or newer file. Asks no questions and changes nothing.
    package static func probe(at path: String) throws(StoreError) {
        let cancellation = Cancellation(.standard)
        // While a process is writing to it, there is a vault.
        _ = try nilIf(
            \StoreError.isBusy, of: LockedVault(.existing(path, for: .daily), WorkThread(), cancellation))
    }

    /// Throws the errors that would prevent creating or exporting a vault there, as far as they are known in advance:
    /// an existing path, or a directory that other users can change or this user can't. Changes nothing.
    package static func checkPlace(forNewVaultAt path: String, for use: VaultUse) throws(StoreError) {
        if PostgreSQLAddress.isAddress(path) {
            let cancellation = Cancellation(.standard)
            try PostgreSQLRowTable(PostgreSQLAddress(path), cancellation).checkVacant(cancellation)
        } else {
            try VaultPath.checkNew(path, for: use)
        }
    }
}

// MARK: - Unlocking

extension VaultStore {
    /// How long a vault can stay unlocked: from a second to seven days.
    package static let unlockedDurations: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))

    /// Stores the vault's key in the kernel's keyring of this user for a while, so that this user's other processes
    /// open it as `VaultKeySource.kernelKeyring`, without a passphrase and without Argon2. An earlier key is replaced.
    ///
    /// Every process of this user can read the key there, as Docs/Explanation/threats.md explains. The key opens the
    /// vault until its time is over, until `LockedVault.endUnlocking()`, or until the vault is rekeyed, even if slots
    /// were removed.
    ///
    /// - Parameter duration: rounded up to a second; outside `unlockedDurations` the call throws `unsupported`.
    ///
    /// Throws `unavailable` if the kernel refuses, as in many containers, and the errors of a read.
    package func keepUnlocked(for duration: Duration) throws(StoreError) {
        guard Self.unlockedDurations.contains(duration) else {
            throw StoreError(
                .unsupported, "a vault can't stay unlocked for that long",
                hint: "use a time from one second to seven days")
        }
        // Another process may have rekeyed it since it was last read. While one is writing, the key is the one that was
        // last seen.
        _ = try nilIf(\StoreError.isBusy, of: generation())
        let (seconds, rest) = duration.components
        var sink = KernelKeyringSink(vault: keys.vault, seconds: UInt32(seconds) + (rest > 0 ? 1 : 0))
        try keys.root.pour(into: &sink)
    }

    /// Throws `unavailable` if the kernel refuses a keyring for this process, before a useless question.
    package static func checkUnlocking() throws(StoreError) { try KernelKeyring.check() }
}

extension LockedVault {
    /// Whether the vault is unlocked by `VaultStore.keepUnlocked(for:)`. Throws `unavailable` when the kernel refuses.
    package func unlocking() throws(StoreError) -> VaultUnlocking { try KernelKeyring.unlocking(of: vault) }

    /// Takes the key of `VaultStore.keepUnlocked(for:)` out of the kernel, and returns whether there was one.
    ///
    /// Processes that have the vault open keep it open. Throws `unavailable` when the kernel refuses.
    package func endUnlocking() throws(StoreError) -> Bool { try KernelKeyring.forget(vault) }
}

/// Whether the kernel has a vault's key.
package enum VaultUnlocking: Sendable, Hashable {
    case locked
    /// - Parameter time: for how much longer, rounded down to the unit that the kernel shows; `nil` where it doesn't.
    case unlocked(time: Duration?)
}

// MARK: - Slots

extension VaultStore {
    /// The key slots, in the order of the file.
    ///
    /// Throws `timedOut`, `cancelled`, `corrupted` or `unavailable`. A slot of a kind unknown here is left out.
    public func slots(deadline: Deadline = .standard) async throws(StoreError) -> [KeySlotDescription] {
        try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try Self.describe(view.records(), state.keys)
        }
    }

    /// The slot that opened the vault, or `nil` if the slot was removed or the vault was opened by
    /// `keepUnlocked(for:)`.
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
        try KeySlot.all(in: records).map { (slot) throws(StoreError) in try slot.describe(keys) }
    }

    /// Adds another way to open the vault.
    ///
    /// If `replacing` is set, that slot is removed in the same commit and its name becomes free: this is how a
    /// passphrase is changed. A passphrase without a cost gets one that fits this machine.
    ///
    /// Throws `conflict` if a slot of that name or a slot of the same kind with that key exists, if the vault has 128
    /// slots, or if the slot to replace doesn't exist; `wrongKey` for an empty passphrase; and the errors of the key
    /// file.
    public func addSlot(
        _ source: borrowing VaultKeySource, name: KeySlotName, replacing old: KeySlotName? = nil,
        cost: PassphraseCost? = nil, deadline: Deadline = .standard
    ) async throws(StoreError) {
        let kept = Box(source.duplicate())
        let (vault, created) = (keys.vault, now())
        let others = try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try KeySlot.all(in: view.records()).map { (slot) throws(StoreError) in
                (head: slot.head, name: try slot.describe(state.keys).name)
            }
        }.filter { $0.head.kind == kept.value.kind && $0.name != old }
        // On a thread of its own: Argon2 would hold up other writes.
        let added = try await WorkThread().run(until: deadline, leavesBehind: true) {
            (cancellation) throws(StoreError) in
            // Otherwise the key still opens the vault after one of its slots was removed.
            for (head, other) in others {
                try cancellation.check()
                // Another passphrase's slot may need more memory than there is here.
                guard let secret = try? kept.value.slotSecret(cost: head.cost, salt: head.salt, vault: vault),
                    SlotKeys(of: secret, vault: vault).publicKey == head.publicKey
                else { continue }
                throw StoreError(
                    .conflict, "the key slot \"\(other)\" already has this key", hint: "choose another key")
            }
            return try NewKeySlot(kept.value, name: name, cost: cost, created: created, vault: vault)
        }
        try await addSlot(added, replacing: old, deadline: deadline)
    }

    func addSlot(_ added: NewKeySlot, replacing old: KeySlotName?, deadline: Deadline) async throws(StoreError) {
        try await changeRecords(until: deadline) { (transaction, keys) throws(StoreError) in
            if let old {
                guard let replaced = try Self.slot(old, in: transaction, keys) else {
                    throw StoreError(
                        .conflict, "the vault doesn't contain the key slot \"\(old)\"", hint: "\(Recovery.listKeySlots)"
                    )
                }
                try transaction.remove(record: replaced.recordName)
            }
            let records = try transaction.records()
            let present = try Self.describe(records, keys)
            if present.contains(where: { $0.name == added.name }) {
                throw StoreError(
                    .conflict, "the vault already has a key slot named \"\(added.name)\"", hint: "choose another name")
            }
            guard present.count < KeySlot.maximumCount, records.count < Manifest.maximumRecordCount else {
                throw StoreError(.conflict, "the vault has \(present.count) key slots and can't have more")
            }
            let record = try added.sealed(keys).encode()
            try transaction.put(record: record.name, record.content)
        }
    }

    /// Removes a way to open the vault. Returns `false` if no slot has that name.
    ///
    /// Throws `conflict` for the last slot. Anyone who has the removed key and an old copy can also open secrets that
    /// are saved later, until `rekey` locks them out. The same applies to `addSlot` with `replacing`.
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
