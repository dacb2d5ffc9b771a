public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

extension VaultStore {
    // MARK: - Making

    /// Makes a new, empty vault with one key slot and opens it.
    ///
    /// The file (0600) appears whole or not at all; its directory is made (0700) when it is missing. A database has to
    /// have a vault's tables, which its administrator makes (Docs/Fleet.md), and no vault in them.
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
