public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

extension VaultStore {
    // MARK: - Making

    /// Makes a new, empty vault with one key slot and opens it.
    ///
    /// The file (0600) appears whole or not at all; its directory is made (0700) when it is missing. A database has to
    /// have a vault's tables, which its administrator makes (Docs/HowTo/many-hosts.md), and no vault in them.
    ///
    /// - Parameters:
    ///   - path: where the file will be, with nothing there yet; or a URI such as
    ///     `postgresql://host/database?sslmode=verify-full&schema=name`. One with a password in it is refused.
    ///   - source: what opens the vault from now on. A key file must exist: see ``VaultKeyFile/create(at:)``.
    ///   - name: what people call the slot; `nil` for the kind's own name.
    ///   - cost: for a passphrase; `nil` for one that fits this machine: about 0.75 s a try, and
    ///     ``PassphraseCost/least`` at least.
    ///   - memory: as for `open`.
    ///   - deadline: 30 seconds from now unless told otherwise.
    ///   - now: the clock that credentials get their times from.
    ///
    /// Throws `conflict` when there is something at `path`, `permissionDenied` when the place isn't this user's alone,
    /// `cannotWrite`, or what is wrong with the key file.
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
    /// What takes its time runs on a thread of the store's own: a passphrase, a database, a wait for other processes. A
    /// passphrase is tried on one slot after another; a deadline that passes meanwhile is kept.
    ///
    /// - Parameters:
    ///   - path: the vault's file, or the URI of its database.
    ///   - source: what opens it.
    ///   - memory: where it is remembered how far the vault was seen; `nil`, the default, writes nothing outside the
    ///     vault and notices no older copy of it. Where it can't be used the vault opens all the same.
    ///   - itemCheck: when the items are compared with the manifest.
    ///   - deadline: 30 seconds from now unless told otherwise.
    ///   - now: the clock that credentials get their times from.
    ///
    /// Throws `unavailable` when there is no vault or key file, or the database can't be reached, `locked` when there
    /// is no credential or no key in the kernel, `permissionDenied` when the file, its directory, the key file or the
    /// memory isn't this user's alone, `wrongKey`, `corrupted`, `rolledBack` for an older copy than was seen,
    /// `unsupported` for a newer format, `timedOut` or `cancelled`. Nothing is changed, whatever is thrown.
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

    /// Throws what would keep a vault from being made or exported there, as far as it can be known before: a path that
    /// is taken, or a directory that others can change or this user can't. Changes nothing.
    package static func checkPlace(forNewVaultAt path: String, for use: VaultUse) throws(StoreError) {
        if PostgreSQLAddress.isAddress(path) {
            let cancellation = Cancellation(.standard)
            let table = try PostgreSQLRowTable(PostgreSQLAddress(path), cancellation)
            guard try table.isEmpty(cancellation) else { throw .vaultExists }
        } else {
            try VaultPath.checkNew(path, for: use)
        }
    }
}

// MARK: - Unlocking

extension VaultStore {
    /// How long a vault can stay unlocked: from a second to seven days.
    package static let unlockedDurations: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))

    /// Leaves the vault's key in the kernel's keyring of this user for a while, so that others of this user's processes
    /// open it as `VaultKeySource.kernelKeyring`, without a passphrase and without Argon2. A key from before is
    /// replaced.
    ///
    /// Every process of this user can read it there, as Docs/Explanation/threats.md says. It opens the vault until its time
    /// is over, until `LockedVault.endUnlocking()`, or until the vault is rekeyed, also when slots were removed.
    ///
    /// - Parameter duration: rounded up to a second; outside of `unlockedDurations` it throws `unsupported`.
    ///
    /// Throws `unavailable` when the kernel refuses, as in many containers, and what a read th
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

    /// Throws `unavailable` when the kernel lets this process have no keyring, so that no question is asked in vain.
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
                        .conflict, "the vault doesn't contain a key slot \(old)", hint: "\(Recovery.listKeySlots)")
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
                throw StoreError(.conflict, "the vault already has the maximum of \(present.count) key slots")
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
