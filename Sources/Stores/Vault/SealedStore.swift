internal import Credentials
internal import RedactedLog
internal import Secrets
internal import Synchronization

/// A credential store of sealed rows over any row table.
///
/// Reads run on the caller; writes run on a thread of the store's own.
final class SealedStore<Table: RowTable>: CredentialStore {
    let identity: StoreIdentity
    let capabilities = StoreCapabilities(
        isPersistent: true, canLock: false, reportsChanges: false, hasAtomicConditions: true,
        hasVersionsInListing: true, maximumSecretByteCount: SealedSize.maximumSecretByteCount)

    let table: Table
    let root: RootKeys
    let worker: WorkThread
    /// Where reads wait for writers.
    let waitingReads = WorkThread()
    let now: @Sendable () -> UnixTime
    let known: Mutex<KnownState>
    let memory: GenerationMemory?
    /// What the memory said when the table was opened.
    let rollback: RollbackCheck

    /// What was last seen of the vault: valid until the table's mark changes. Each read takes it once more.
    final class KnownState: Sendable {
        /// The current one first.
        let keys: [DataKeys]
        let manifest: Manifest
        /// `nil`: the next read looks anew.
        let mark: UInt32?

        init(keys: [DataKeys], manifest: Manifest, mark: UInt32? = nil) {
            self.keys = keys
            self.manifest = manifest
            self.mark = mark
        }
    }

    /// Opens a table whose root key is known. Throws `corrupted` when its records don't fit that key, `busy` at once,
    /// and what the memory, which was made before, has to say.
    init(
        table: Table, root: RootKeys, identity: StoreIdentity, worker: WorkThread, memory: GenerationMemory? = nil,
        now: @escaping @Sendable () -> UnixTime
    ) throws(StoreError) {
        self.table = table
        self.root = root
        self.identity = identity
        self.worker = worker
        self.now = now
        self.memory = memory
        let found = try table.read { (view) throws(StoreError) in
            let manifest = try Manifest.open(view.record(Manifest.recordName), root: root)
            let keys = try Self.checkedKeys(view, manifest, root)
            return KnownState(keys: keys, manifest: manifest, mark: try view.changeMark())
        }
        rollback = try memory?.check(found.manifest) ?? .notAsked
        known = Mutex(found)
    }

    /// The records of a new, empty vault but its slots.
    static func newRecords(_ root: RootKeys) throws(StoreError) -> [NamedRecord] {
        let keys = DataKeys(try Sealing.randomKey(as: DataKey.self), number: 1, vault: root.vault)
        return [
            NamedRecord(name: IdentityRecord.recordName, content: IdentityRecord.encode(root.vault)),
            NamedRecord(name: DataKeyRecord.recordName, content: try DataKeyRecord.seal([keys], root: root)),
        ]
    }

    // MARK: - One credential

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try await item(key, deadline: deadline)?.record(as: purpose)
    }

    /// An item as found. It knows no purpose, so that all of a read is compiled for one type.
    struct FoundItem: ~Copyable, Sendable {
        let metadata: ItemMetadata
        let secret: Secret<StoredSecret>

        consuming func record<Purpose: SecretPurpose>(as purpose: Purpose.Type) -> CredentialRecord<Purpose> {
            let metadata = metadata
            return CredentialRecord(
                metadata: metadata.credentialMetadata, version: metadata.version, contentType: metadata.contentType,
                secret: secret.repurposed(as: purpose))
        }
    }

    func item(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> FoundItem? {
        try await waiting(until: deadline) { () throws(StoreError) -> FoundItem? in
            try self.current { (view, state) throws(StoreError) -> FoundItem? in
                let found = try Self.find(key, under: state.keys[0], in: view)
                if found != nil || state.keys.count == 1 { return found }
                return try Self.find(key, under: state.keys[1], in: view)
            }
        }
    }

    private static func find(
        _ key: CredentialKey, under keys: DataKeys, in view: Table.View
    ) throws(StoreError) -> FoundItem? {
        let lookup = keys.lookup(of: key)
        return try view.withItem(lookup) { (sealed, secret) throws(StoreError) -> FoundItem in
            let metadata = try openMetadata(sealed, of: key, at: lookup, keys)
            return FoundItem(metadata: metadata, secret: try keys.openSecret(secret, of: metadata, at: lookup))
        }
    }

    func save<Purpose: SecretPurpose>(
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
        return try await change(until: deadline) { (transaction, state, manifest) throws(StoreError) in
            let old = try Self.present(key, in: transaction, state)
            try Self.check(options.condition, against: old?.metadata)
            return try self.put(
                kept.secret, for: key, options: options, replacing: old, in: transaction, state, &manifest)
        }
    }

    @discardableResult
    func put<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, replacing old: PresentItem?,
        in transaction: Table.Transaction, _ state: KnownState, _ manifest: inout Manifest
    ) throws(StoreError) -> CredentialVersion {
        let version = CredentialVersion(bytes: try Sealing.randomOctets(ItemMetadata.versionByteCount))
        let time = now()
        let created = old?.metadata.created ?? time
        let metadata = ItemMetadata(
            key: key, label: options.label ?? old?.metadata.label ?? "\(key.service): \(key.account)",
            created: created, modified: max(created, time), version: version, contentType: options.contentType,
            secretByteCount: secret.byteCount)
        let keys = state.keys[0]
        if let old {
            try manifest.remove(lookup: old.lookup, metadata: old.sealed, root: root)
            if old.keys.number != keys.number { try transaction.remove(old.lookup) }
        }
        let lookup = keys.lookup(of: key)
        let sealed = try keys.seal(metadata, at: lookup)
        try transaction.put(lookup, metadata: sealed, secret: try keys.seal(secret, version: version, at: lookup))
        manifest.add(lookup: lookup, metadata: sealed, root: root)
        return version
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await change(until: deadline) { (transaction, state, manifest) throws(StoreError) in
            let old = try Self.present(key, in: transaction, state)
            try Self.check(condition, against: old?.metadata)
            guard let old else { return false }
            try transaction.remove(old.lookup)
            try manifest.remove(lookup: old.lookup, metadata: old.sealed, root: self.root)
            return true
        }
    }

    // MARK: - All credentials

    static var pageSize: Int { 100 }
    /// How many rows one page looks at for a single service: names are sealed, so each is opened.
    static var pageEffort: Int { 500 }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await waiting(until: deadline) { () throws(StoreError) in
            try self.current { (view, state) throws(StoreError) in
                let limit = service == nil ? Self.pageSize : Self.pageEffort
                let place = try ListingPlace(cursor, among: state.keys)
                let items = try view.items(after: place.passed, limit: limit)
                var entries: [CredentialMetadata] = []
                var last: Int64?
                for item in items {
                    last = item.place
                    let (metadata, keys) = try Self.openMetadata(item, state)
                    if keys.number != place.keyNumber { continue }
                    if let service, !metadata.key.service.utf8.elementsEqual(service.utf8) { continue }
                    entries.append(metadata.credentialMetadata)
                    if entries.count == Self.pageSize { break }
                }
                let isAtEnd = items.count < limit && last == items.last?.place
                let next = isAtEnd ? place.following(among: state.keys) : last.map(place.moved(past:))
                return ListingPage(entries: entries, next: next?.cursor)
            }
        }
    }

    // MARK: - Opening rows

    /// An item in the table, with what is needed to take it out of the manifest.
    struct PresentItem {
        let lookup: [UInt8]
        let sealed: [UInt8]
        let metadata: ItemMetadata
        let keys: DataKeys
    }

    static func present(
        _ key: CredentialKey, in view: some RowView, _ state: KnownState
    ) throws(StoreError) -> PresentItem? {
        for keys in state.keys {
            let lookup = keys.lookup(of: key)
            guard let item = try view.heading(lookup) else { continue }
            return PresentItem(
                lookup: lookup, sealed: item.metadata,
                metadata: try openMetadata(item.metadata.span, of: key, at: lookup, keys), keys: keys)
        }
        return nil
    }

    private static func openMetadata(
        _ sealed: Span<UInt8>, of key: CredentialKey, at lookup: [UInt8], _ keys: DataKeys
    ) throws(StoreError) -> ItemMetadata {
        guard let bytes = keys.openMetadata(sealed, at: lookup),
            let metadata = ItemMetadata.decode(bytes, expected: key)
        else { throw .damagedItem }
        return metadata
    }

    static func openMetadata(
        _ item: ItemHeading, _ state: KnownState
    ) throws(StoreError) -> (metadata: ItemMetadata, keys: DataKeys) {
        // One that was moved away isn't found by its look-up value any more.
        guard item.isInPlace else { throw .damagedItem }
        for keys in state.keys {
            guard let bytes = keys.openMetadata(item.metadata.span, at: item.lookup) else { continue }
            guard let metadata = ItemMetadata.decode(bytes), keys.lookup(of: metadata.key) == item.lookup else { break }
            return (metadata, keys)
        }
        throw .damagedItem
    }

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
