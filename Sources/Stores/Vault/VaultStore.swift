public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeySecrets
internal import Synchronization

/// Keeps credentials in one encrypted file, or as sealed rows in a PostgreSQL database that several hosts share.
///
/// Neither shows a name, attribute, label, time or secret without the key; sizes are padded. A wrong key, a truncated
/// file or a flipped bit gives a typed error and changes nothing. Any number of processes may use it at once. A save
/// that returned is there after a power failure. A secret has at most 16 MiB. The format is in
/// Docs/Reference/vault-format.md.
///
/// Reads of a file run on the calling thread and take microseconds; what waits runs on threads of the store's own:
/// writes, a read while others write or after they have changed the vault, and everything that asks a database.
public final class VaultStore: CredentialStore {
    /// `vault` and the file's canonical path, or the database's URI without the user's name.
    public let identity: StoreIdentity

    let table: any RowTable
    /// The location of a table that others can change; `nil` if only this process has it.
    let place: VaultPlace?
    let worker: WorkThread
    /// Where reads wait for writers.
    let waitingReads = WorkThread()
    let now: @Sendable () -> UnixTime
    let known: Mutex<KnownState>
    let memory: GenerationMemory?
    /// The result of the `RollbackMemory` check when the vault was opened.
    package let rollback: RollbackCheck
    let itemCheck: ItemCheck
    /// The slot that opened the vault, to follow rekeying by others; `nil` if the vault was opened with the root key
    /// itself.
    let slot: OpenedSlot?

    let watch = VaultWatch()

    public var capabilities: StoreCapabilities {
        var capabilities = StoreCapabilities(
            isPersistent: true, canLock: false, reportsChanges: place != nil, hasAtomicConditions: true,
            hasVersionsInListing: true, maximumSecretByteCount: SealedSize.maximumSecretByteCount)
        capabilities.listsAllForOneService = true
        return capabilities
    }

    /// The vault's id, as `LockedVault.identifier`.
    package var identifier: String { keys.vault.identifier }

    /// The last seen state of the vault, valid until the table's mark changes. Each read copies the state once more.
    final class KnownState: Sendable {
        let keys: VaultKeys
        let manifest: Manifest
        /// `nil`: the next read looks anew.
        let mark: UInt32?
        /// Whether the index is known to be the manifest's: see `compareIndex(_:)`.
        private let hasComparedIndex: Atomic<Bool>

        init(keys: VaultKeys, manifest: Manifest, mark: UInt32? = nil, hasComparedIndex: Bool = false) {
            self.keys = keys
            self.manifest = manifest
            self.mark = mark
            self.hasComparedIndex = Atomic(hasComparedIndex)
        }

        var isIndexCompared: Bool { hasComparedIndex.load(ordering: .relaxed) }

        func indexIsCompared() { hasComparedIndex.store(true, ordering: .relaxed) }
    }

    /// A slot and its keys.
    struct OpenedSlot: Sendable {
        let recordName: String
        let keys: SlotKeys
    }

    /// Opens a table with a known root key. Throws `corrupted` if its records or items don't fit that key; `busy` at
    /// once, and if others rekeyed the vault in the meantime; and the errors of the rollback record, which was created
    /// before.
    init(
        table: any RowTable, keys: VaultKeys, slot: OpenedSlot? = nil, place: VaultPlace? = nil,
        worker: WorkThread = WorkThread(), memory: GenerationMemory? = nil, itemCheck: ItemCheck = .whenSmall,
        _ cancellation: Cancellation? = Cancellation(.standard), now: @escaping @Sendable () -> UnixTime
    ) throws(StoreError) {
        self.table = table
        self.place = place
        identity = StoreIdentity(backend: "vault", location: place?.location ?? "")
        self.worker = worker
        self.now = now
        self.memory = memory
        self.itemCheck = itemCheck
        self.slot = slot
        let (found, former) = try table.read(cancellation) { (view) throws(StoreError) -> (KnownState, FormerKeys) in
            // Others may have rekeyed it since its slot was opened.
            let (manifest, keys) = try Self.manifest(of: view, keys, slot)
            let former = try Self.checkRecords(view, manifest, keys)
            try itemCheck.compare(view, manifest, keys, upTo: table.comparedCount)
            return (KnownState(keys: keys, manifest: manifest, mark: try view.changeMark()), former)
        }
        rollback = try memory?.check(found.manifest, found.keys, former, waits: cancellation != nil) ?? .notAsked
        known = Mutex(found)
    }

    /// The vault's keys, as they were last seen.
    var keys: VaultKeys { known.withLock { $0 }.keys }

    /// The records of a new vault but its manifest, in the order of their names' bytes.
    static func newRecords(
        _ keys: VaultKeys, _ slots: NewKeySlot..., collections: CollectionsRecord
    ) throws(StoreError) -> [NamedRecord] {
        var records = [try collections.seal(keys), try FormerKeys().seal(keys)]
        for slot in slots { records.append(try slot.sealed(keys).encode()) }
        records.append(NamedRecord(name: IdentityRecord.recordName, content: IdentityRecord.encode(keys.vault)))
        return records
    }

    // MARK: - One credential

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        // There is only one type from here on, so the compiler can specialise the code.
        guard let found = try await find(key, deadline: deadline) else { return nil }
        let (metadata, version) = (found.row.metadata(for: key), found.row.version)
        let type = found.row.credentialType(of: found.secret)
        return CredentialRecord(
            metadata: metadata, version: version, contentType: type, secret: found.take(as: purpose))
    }

    /// A row with its secret. It knows no purpose, so that all of a read is compiled for one type.
    struct FoundRow: ~Copyable, Sendable {
        let row: Row
        let secret: Secret<StoredSecret>

        init(_ row: Row, _ secret: consuming Secret<StoredSecret>) {
            self.row = row
            self.secret = secret
        }

        consuming func take<Purpose: SecretPurpose>(as purpose: Purpose.Type) -> Secret<Purpose> {
            secret.repurposed(as: purpose)
        }
    }

    func find(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> FoundRow? {
        try await waiting(until: deadline) { (view, state) throws(StoreError) -> FoundRow? in
            let lookup = state.keys.lookup(of: key)
            let found = try view.withItem(lookup) { (sealed, secret) throws(StoreError) -> FoundRow in
                let row = try Self.row(sealed, of: key, at: lookup, state.keys)
                return FoundRow(row, try state.keys.openSecret(secret, of: row, at: lookup))
            }
            switch consume found {
            case .some(let found): return found
            case .none: return try self.impliedRow(of: key, in: view, state)
            }
        }
    }

    @discardableResult
    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try Self.check(secretByteCount: secret.byteCount, label: options.label)
        let kept = Box(secret.duplicate())
        return try await change(until: deadline) { (transaction, change) throws(StoreError) in
            // An item of another program that is read as the credential stays that item.
            let old = try Self.presentOrImplied(key, in: transaction, change)
            try options.condition.check(against: old?.row.version)
            return try self.write(
                kept.value, old?.row.name ?? .key(key),
                label: options.label ?? old?.row.label ?? "\(key.service): \(key.account)",
                contentType: options.contentType.rawValue, times: options.original.map { ($0.created, $0.modified) },
                replacing: old, in: transaction, &change
            ).version
        }
    }

    @discardableResult
    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            let old = try Self.presentOrImplied(key, in: transaction, change)
            try condition.check(against: old?.row.version)
            guard let old else { return false }
            // A caller with a version keeps the other items; a caller with a key doesn't want an older one to reappear.
            var others: [OpenedRow] = []
            if case .none = condition {
                others = try Self.impliedRows(of: key, in: transaction, change.manifest, change.keys)
            }
            try Self.remove(old, in: transaction, &change)
            for other in others where other.lookup != old.lookup { try Self.remove(other, in: transaction, &change) }
            return true
        }
    }

    // MARK: - All credentials

    static var pageSize: Int { 100 }
    /// How many rows one page looks at for a single service: names are sealed, so each is opened.
    static var pageEffort: Int { 500 }

    /// Pages are in the order of keyed hashes. To list one service, all names are opened page by page, so a page may be
    /// empty before the end. If the vault is rekeyed in the meantime, no credential is missed, but one may appear
    /// twice.
    ///
    /// Throws `corrupted` for a name that doesn't open, and `wrongKey` if the vault was rekeyed and this key is no
    /// longer one of its slots.
    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await waiting(until: deadline) { (view, state) throws(StoreError) in
            let limit = service == nil ? Self.pageSize : Self.pageEffort
            let items = try view.items(after: try cursor?.place(under: state.keys), limit: limit)
            var entries: [CredentialMetadata] = []
            var last: Int64?
            var firsts: [CredentialKey: [UInt8]] = [:]
            for item in items {
                last = item.place
                let opened = try Self.row(item, state.keys)
                var found = opened.row.key.map(opened.row.metadata)
                if found == nil { found = try Self.impliedMetadata(of: opened, in: view, state, &firsts) }
                guard let entry = found else { continue }
                if let service, !entry.key.service.hasSameOctets(as: service) { continue }
                entries.append(entry)
                if entries.count == Self.pageSize { break }
            }
            let isAtEnd = items.count < limit && last == items.last?.place
            return ListingPage(
                entries: entries, next: isAtEnd ? nil : last.map { ListingCursor($0, under: state.keys) })
        }
    }

    /// Reports each change, by this process or another, as `.unknown` without a key; several quick changes may be
    /// reported as one. The stream ends with the store. Throws `unavailable` if the system has no file watches left,
    /// and `unsupported` behind a connection pooler of a database.
    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        guard capabilities.reportsChanges else {
            throw StoreError(.unsupported, "no other process has this vault's table")
        }
        return try await watch.changes(of: self, deadline: deadline)
    }
}

/// A secret as it comes out of a row, before its reader says what it is for.
enum StoredSecret: SecretPurpose { static var name: StaticString { "stored secret" } }

extension ListingCursor {
    /// Past a place in the table. Items keep theirs, until the vault is rekeyed.
    fileprivate init(_ place: Int64, under keys: VaultKeys) {
        var writer = ByteWriter()
        writer.append(keys.id)
        writer.append(place)
        self.init(bytes: writer.bytes)
    }

    /// `nil` after the vault was rekeyed: the listing then begins anew, so that it misses nothing.
    func place(under keys: VaultKeys) throws(StoreError) -> Int64? {
        var reader = ByteReader(bytes)
        guard let id = reader.take(keys.id.count), let place: Int64 = reader.integer(), reader.isAtEnd else {
            throw StoreError(.unsupported, "the cursor doesn't belong to this vault")
        }
        return id == keys.id ? place : nil
    }
}

// MARK: - Leases

extension VaultStore {
    /// Returns the leases of the vault: a separate table in a database, or `NAME.leases` beside a file. Processes that
    /// share the file share its leases, whatever their environments are. Neither waits nor throws.
    public func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory {
        switch place {
        case .file(let path)?:
            LeaseDirectory(
                path: path.directory, fileName: String(path.file.split(separator: "/").last ?? "vault") + ".leases")
        case .database?: LeaseDirectory(self)
        case nil: directory
        }
    }
}

// Leases as rows, for a table that several hosts share.

extension VaultStore: LeaseSource {
    /// Takes a lease with the item's lookup value as its name, because the table shows no names.
    ///
    /// Tries again after 20 ms and then more slowly, up to half a second. The lease is extended while it is held.
    package func acquire(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> Lease {
        let worker = WorkThread()
        let held = StoreError(
            .busy, "another process or host holds \(key)", hint: "wait until it has finished, then try again")
        var pause = Duration.milliseconds(20)
        var wait = LongWait()
        defer { wait.end() }
        while true {
            wait.goesOn("waiting for another process or host that uses \(key)")
            let isLater = pause > .milliseconds(20)
            let taken = try await mapError(
                { (error: StoreError) in isLater && error.code == .timedOut ? held : error },
                awaiting: await worker.run(until: deadline) { (cancellation) throws(StoreError) in
                    try cancellation.retry { () throws(StoreError) in try self.take(key, cancellation) }
                })
            if let taken { return Lease(ExtendedLease(taken, of: self, worker)) }
            guard deadline.remaining > pause else { throw held }
            let part = pause * Double.random(in: 0.5...1)
            guard (try? await Task.sleep(for: part)) != nil else { throw .cancelled }
            pause = min(pause * 2, .milliseconds(500))
        }
    }

    private func take(_ key: CredentialKey, _ cancellation: Cancellation) throws(StoreError) -> RowLease? {
        let keys = keys
        guard let lease = try table.lease(keys.lookup(of: key), cancellation) else { return nil }
        // The vault may have been rekeyed in between: the item and its leases have another name then.
        let now = Result { () throws(StoreError) in
            try current(cancellation) { (view, state) throws(StoreError) in
                _ = try view.record(Manifest.recordName)
                return state.keys
            }
        }
        if case .success(let now) = now, now === keys { return lease }
        try? table.release(lease, Cancellation(.after(.seconds(1))))
        _ = try now.get()
        throw StoreError(.busy, "another process rekeyed the vault")
    }
}

/// A lease that is extended until it is released.
private final class ExtendedLease: HeldLease {
    private let lease: RowLease
    private let table: any RowTable
    private let worker: WorkThread
    private let extending: Mutex<Task<Void, Never>?>

    init(_ lease: RowLease, of store: VaultStore, _ worker: WorkThread) {
        self.lease = lease
        table = store.table
        self.worker = worker
        extending = Mutex(nil)
        let task = Task { [table] in
            while (try? await Task.sleep(for: RowLease.duration / 3)) != nil {
                // If the lease was lost, the next save reports it.
                let isHeld = try? await worker.run(until: .after(RowLease.duration / 3)) {
                    (cancellation) throws(StoreError) in try table.extend(lease, cancellation)
                }
                if isHeld == false { return }
            }
        }
        extending.withLock { $0 = task }
    }

    /// Waits for a moment, so that the next process finds it free even when this one ends now. Where the table can't be
    /// reached the lease ends by itself.
    func release() {
        extending.withLock { $0 }?.cancel()
        try? table.release(lease, Cancellation(.after(.seconds(1))))
    }
}
