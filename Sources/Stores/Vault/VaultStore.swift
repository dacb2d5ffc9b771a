public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeySecrets
internal import Synchronization

/// Keeps credentials in one encrypted file, or as sealed rows in a PostgreSQL database that several hosts share.
///
/// Neither shows a name, attribute, label, time or secret without the key; sizes are padded. A wrong key, a truncated
/// file or a flipped bit gives a typed error and changes nothing. Any number of processes may use it at once. A save
/// that returned is there after a power failure. The format is in Docs/Formats/vault-v1.md.
///
/// Reads of a file run on the calling thread and take microseconds; what waits runs on threads of the store's own: writes,
/// a read while others write or after they have changed the vault, and everything that asks a database.
public final class VaultStore: CredentialStore {
    /// `vault` and the file's canonical path, or the database's URI without the user's name.
    public let identity: StoreIdentity

    let table: any RowTable
    /// Where the table is, and others change it; `nil` where no one else has it.
    let place: VaultPlace?
    let worker: WorkThread
    /// Where reads wait for writers.
    let waitingReads = WorkThread()
    let now: @Sendable () -> UnixTime
    let known: Mutex<KnownState>
    let memory: GenerationMemory?
    /// What the `RollbackMemory` said when the vault was opened.
    package let rollback: RollbackCheck
    let itemCheck: ItemCheck
    /// What opened it, to follow the vault when others rekey it; `nil` when it was the root key itself.
    let slot: OpenedSlot?

    private let reporter = ChangeReporter()

    public var capabilities: StoreCapabilities {
        var capabilities = StoreCapabilities(
            isPersistent: true, canLock: false, reportsChanges: place != nil, hasAtomicConditions: true,
            hasVersionsInListing: true, maximumSecretByteCount: SealedSize.maximumSecretByteCount)
        capabilities.listsAllForOneService = true
        return capabilities
    }

    /// The vault's id, as `LockedVault.identifier`.
    package var identifier: String { keys.vault.identifier }

    /// What was last seen of the vault: valid until the table's mark changes. Each read takes it once more.
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

    /// Opens a table whose root key is known. Throws `corrupted` when its records or items don't fit that key, `busy`
    /// at once and when others rekeyed the vault meanwhile, and what the memory, which was made before, has to say.
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
        // From here on everything is one type, and the compiler makes it fast.
        try await item(key, deadline: deadline)?.record(of: key, as: purpose)
    }

    /// An item as found. It knows no purpose, so that all of a read is compiled for one type.
    struct FoundItem: ~Copyable, Sendable {
        let metadata: ItemMetadata
        let secret: Secret<StoredSecret>

        /// The item is the one of that key.
        consuming func record<Purpose: SecretPurpose>(
            of key: CredentialKey, as purpose: Purpose.Type
        ) -> CredentialRecord<Purpose> {
            let metadata = metadata
            let type = metadata.subject.credentialType(of: secret)
            return CredentialRecord(
                metadata: CredentialMetadata(
                    key: key, label: metadata.label, created: metadata.created, modified: metadata.modified,
                    version: metadata.version),
                version: metadata.version, contentType: type, secret: secret.repurposed(as: purpose))
        }
    }

    func item(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> FoundItem? {
        try await waiting(until: deadline) { (view, state) throws(StoreError) -> FoundItem? in
            let lookup = state.keys.lookup(of: key)
            let found = try view.withItem(lookup) { (sealed, secret) throws(StoreError) -> FoundItem in
                let metadata = try Self.openMetadata(sealed, of: key, at: lookup, state.keys)
                return FoundItem(
                    metadata: metadata, secret: try state.keys.openSecret(secret, of: metadata, at: lookup))
            }
            switch consume found {
            case .some(let found): return found
            case .none: return try self.impliedItem(of: key, in: view, state)
            }
        }
    }

    @discardableResult
    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        guard secret.byteCount <= capabilities.maximumSecretByteCount else {
            throw StoreError(
                .tooLarge,
                "the secret has \(secret.byteCount) bytes, and a vault takes \(capabilities.maximumSecretByteCount)")
        }
        guard (options.label?.utf8.count ?? 0) <= SealedSize.maximumLabelByteCount else {
            throw StoreError(.tooLarge, "the label is longer than \(SealedSize.maximumLabelByteCount) bytes")
        }
        let kept = KeptSecret(secret.duplicate())
        return try await change(until: deadline) { (transaction, change) throws(StoreError) in
            let old = try Self.presentOrImplied(key, in: transaction, change)
            try Self.check(options.condition, against: old?.metadata)
            return try self.put(kept.secret, for: key, options: options, replacing: old, in: transaction, &change)
        }
    }

    @discardableResult
    func put<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, replacing old: PresentItem?,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) -> CredentialVersion {
        let version = try ItemMetadata.newVersion()
        let time = now()
        let created = old?.metadata.created ?? time
        let metadata = ItemMetadata(
            subject: ItemSubject(key, options.contentType, replacing: old?.metadata.subject),
            label: options.label ?? old?.metadata.label ?? "\(key.service): \(key.account)", created: created,
            modified: max(created, time), version: version, secretByteCount: secret.byteCount)
        try Self.write(metadata, secret, replacing: old, in: transaction, &change)
        return version
    }

    @discardableResult
    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            guard let old = try Self.presentOrImplied(key, in: transaction, change) else {
                try Self.check(condition, against: nil)
                return false
            }
            try Self.check(condition, against: old.metadata)
            // Who means one version keeps the others; who means the key doesn't want an older one to come to light.
            var others: [PresentItem] = []
            if case .none = condition {
                others = try Self.impliedItems(of: key, in: transaction, change.manifest, change.keys)
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

    /// Pages come in the order of keyed hashes. Of one service: all names are opened to find it, page by page, and a
    /// page may be empty before the end. When the vault is rekeyed meanwhile nothing is missed, but a credential may
    /// come twice.
    ///
    /// Throws `corrupted` for a name that doesn't open, `wrongKey` when the vault was rekeyed and this key is no slot
    /// of it any more.
    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await waiting(until: deadline) { (view, state) throws(StoreError) in
            let limit = service == nil ? Self.pageSize : Self.pageEffort
            let items = try view.items(after: try cursor?.place(under: state.keys), limit: limit)
            var entries: [CredentialMetadata] = []
            var last: Int64?
            for item in items {
                last = item.place
                let metadata = try Self.openMetadata(item, state.keys)
                var found = metadata.credentialMetadata
                if found == nil { found = try Self.impliedMetadata(of: metadata, at: item.lookup, in: view, state) }
                guard let entry = found else { continue }
                if let service, !entry.key.service.utf8.elementsEqual(service.utf8) { continue }
                entries.append(entry)
                if entries.count == Self.pageSize { break }
            }
            let isAtEnd = items.count < limit && last == items.last?.place
            return ListingPage(
                entries: entries, next: isAtEnd ? nil : last.map { ListingCursor($0, under: state.keys) })
        }
    }

    /// Each change by anyone, in this process or another, as `.unknown` without a key; several in short order may come
    /// as one. The stream ends with the store. Throws `unavailable` when the system has no watch on files left, and
    /// `unsupported` behind a pool of a database's connections.
    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        try await reporter.listen(to: self, deadline: deadline)
    }

    // MARK: - Conditions

    private static func check(_ condition: WriteCondition, against old: ItemMetadata?) throws(StoreError) {
        switch condition {
        case .none: return
        case .absent where old == nil: return
        case .matches(let version) where old?.version == version: return
        case .absent:
            throw StoreError(.conflict, "there is a credential already", hint: "read it, or save without a condition")
        case .matches:
            throw StoreError(.conflict, "the credential was changed since it was read", hint: "read it again")
        }
    }
}

/// A secret as it comes out of a row, before its reader says what it is for.
enum StoredSecret: SecretPurpose { static var name: StaticString { "stored secret" } }

/// A copy of a secret on its way to the store's thread.
final class KeptSecret<Purpose: SecretPurpose>: Sendable {
    let secret: Secret<Purpose>

    init(_ secret: consuming Secret<Purpose>) {
        self.secret = secret
    }
}

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
            throw StoreError(.unsupported, "the cursor is not one of this vault's")
        }
        return id == keys.id ? place : nil
    }
}
