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
        let kept = KeptSource(source.duplicate())
        let name = name ?? source.kind.slotName
        return try await worker.run(until: deadline, leavesBehind: true) { (cancellation) throws(StoreError) in
            let place = try VaultPlace.new(path, for: .daily)
            let vault = if let reference = kept.source.reference { reference.vault } else { try VaultID.random() }
            let keys = try VaultKeys.random(vault)
            let slot = try NewKeySlot(kept.source, name: name, cost: cost, created: now(), vault: vault)
            try cancellation.check()
            var records = try SealedStore<VaultTable>.newRecords(
                keys, slot, collections: CollectionsRecord(created: now()))
            let manifest = Manifest(recordsDigest: Manifest.digest(records, keys))
            records.append(NamedRecord(name: Manifest.recordName, content: try manifest.seal(keys)))
            try place.create(for: .daily, records, cancellation)
            return try cancellation.retry { () throws(StoreError) in
                let opened = SealedStore<VaultTable>.OpenedSlot(
                    recordName: KeySlot.recordName(slot.head.id), keys: slot.keys)
                return try open(
                    place, place.table(cancellation), keys, opened,
                    Circumstances(worker: worker, memory: memory, itemCheck: .whenSmall, use: .daily, now: now),
                    cancellation)
            }
        }
    }

    // MARK: - Opening

    /// Opens an existing vault.
    ///
    /// It works on a thread of the store's own. A passphrase is tried on one slot after another; a deadline that passes
    /// meanwhile is kept.
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
        try await open(
            at: path, for: .daily, unlockedBy: source, memory: memory, itemCheck: itemCheck, deadline: deadline,
            now: now)
    }

    /// The same for a backup that is only read: others may see its file, and none of them may change it.
    package static func open(
        at path: String, for use: VaultUse, unlockedBy source: borrowing VaultKeySource, memory: RollbackMemory? = nil,
        itemCheck: ItemCheck = .whenSmall, deadline: Deadline = .standard,
        now: @escaping @Sendable () -> UnixTime = { UnixTime.now() }
    ) async throws(StoreError) -> VaultStore {
        let worker = WorkThread()
        let circumstances = Circumstances(
            worker: worker, memory: memory, itemCheck: itemCheck, use: use, now: now)
        let kept = KeptSource(source.duplicate())
        return try await worker.run(until: deadline, leavesBehind: source.kind == .passphrase) {
            (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in try unlock(path, kept.source, circumstances, cancellation)
            }
        }
    }

    /// What a vault is opened with besides its key.
    private struct Circumstances: Sendable {
        let worker: WorkThread
        let memory: RollbackMemory?
        let itemCheck: ItemCheck
        let use: VaultUse
        let now: @Sendable () -> UnixTime
    }

    private static func unlock(
        _ path: String, _ source: borrowing VaultKeySource, _ circumstances: Circumstances, _ cancellation: Cancellation
    ) throws(StoreError) -> VaultStore {
        let place = try VaultPlace.existing(path, for: circumstances.use)
        let table = try place.table(cancellation)
        let (vault, records) = try table.read(cancellation) { (view) throws(StoreError) in
            (try IdentityRecord.decode(view.record(IdentityRecord.recordName)), try view.records())
        }
        if case .file(let path) = place { try path.status().requireVaultLength() }
        if case .kernelKeyring = source.place {
            let keys = try KernelKeyring.vaultKeys(of: vault, table, cancellation)
            // Rekeyed since this key was tried: the next attempt says that the kernel's key is an old one.
            return try mapError(
                { (error: StoreError) in error.code == .wrongKey ? .rekeyedMeanwhile : error },
                of: open(place, table, keys, nil, circumstances, cancellation))
        }
        let reference = source.reference
        let kind = source.kind
        let slots = try KeySlot.all(in: records).filter {
            $0.kind == kind && (reference == nil || reference?.slot == $0.head.id)
        }
        for slot in slots {
            try cancellation.check()
            let secret = try source.slotSecret(cost: slot.cost, salt: slot.head.salt, vault: vault)
            let keys = SlotKeys(of: secret, vault: vault)
            guard let root = keys.open(slot.box, of: slot.head, vault: vault) else { continue }
            do throws(StoreError) {
                // Argon2 isn't done again because a writer came in between.
                return try cancellation.retry { () throws(StoreError) in
                    try open(
                        place, table, VaultKeys(root.duplicate(), vault: vault),
                        .init(recordName: slot.recordName, keys: keys), circumstances, cancellation)
                }
            } catch  where error.code == .wrongKey {
                // The vault was rekeyed since. Where this slot was replaced before that, another one may open it now.
                let isThere = try table.read(cancellation) { (view) throws(StoreError) in
                    try view.record(slot.recordName) != nil
                }
                throw isThere ? error : .rekeyedMeanwhile
            }
        }
        throw .noSlotOpens(source.kind, source.name, tried: slots.count)
    }

    private static func open(
        _ place: VaultPlace, _ table: VaultTable, _ keys: VaultKeys,
        _ slot: SealedStore<VaultTable>.OpenedSlot?, _ circumstances: Circumstances, _ cancellation: Cancellation
    ) throws(StoreError) -> VaultStore {
        let identity = StoreIdentity(backend: "vault", location: place.location)
        let memory = try circumstances.memory.map { (memory) throws(StoreError) in
            try GenerationMemory(memory, vault: keys.vault)
        }
        let rows = try SealedStore(
            table: table, keys: keys, slot: slot, identity: identity, worker: circumstances.worker, memory: memory,
            itemCheck: circumstances.itemCheck, cancellation, now: circumstances.now)
        return VaultStore(rows: rows, place: place)
    }
}

/// A key source on its way to the store's thread.
final class KeptSource: Sendable {
    let source: VaultKeySource

    init(_ source: consuming VaultKeySource) {
        self.source = source
    }
}

extension KeySlot {
    /// The slots among a vault's records that this version can use.
    static func all(in records: [NamedRecord]) throws(StoreError) -> [KeySlot] {
        guard records.count <= Manifest.maximumRecordCount else { throw .vaultCorrupted("it has too many records") }
        var slots: [KeySlot] = []
        for record in records where record.name.hasPrefix(recordPrefix) {
            if let slot = try decode(record) { slots.append(slot) }
        }
        guard slots.count <= maximumCount else { throw .vaultCorrupted("it has too many key slots") }
        return slots
    }
}

extension VaultKeySource {
    /// For errors: a key file may have been named long ago, and has to be found before it can be exchanged.
    fileprivate var name: LogMessage {
        if case .keyFile(let path) = place { return "the key file \(FileProblem.loggable(path))" }
        return "this"
    }
}

extension StoreError {
    fileprivate static var rekeyedMeanwhile: StoreError {
        StoreError(.busy, "another process changed the vault's keys while it was opened")
    }

    fileprivate static func noSlotOpens(
        _ kind: KeySlotKind, _ source: LogMessage, tried count: Int
    ) -> StoreError {
        if count == 0 {
            return .wrongKey("the vault has no \(kind) slot", hint: "open it with what it was made with")
        }
        return .wrongKey(
            count == 1
                ? "\(source) doesn't open the vault's \(kind) slot"
                : "\(source) opens none of the vault's \(count) \(kind) slots",
            hint: hint(kind))
    }

    private static func hint(_ kind: KeySlotKind) -> LogMessage {
        switch kind {
        case .passphrase: "type the passphrase again"
        case .secretService: "open it in another way, and replace that slot"
        case .systemCredential: "give the unit the credential that the slot was made with"
        default: "\(Recovery.chooseKeyFile)"
        }
    }
}
