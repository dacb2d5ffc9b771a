internal import LatchkeyLog
public import LatchkeySecrets
internal import Synchronization

/// Stores credentials in the guarded memory of this process only, and its leases too.
///
/// The store is for tests, and for processes that must leave nothing behind: it overwrites everything when its last
/// reference ends. The store has all abilities of a store except persistence and locking.
public final class InMemoryStore: CredentialStore {
    public let identity: StoreIdentity
    public let capabilities: StoreCapabilities

    let state: Mutex<InMemoryState>
    private let ownLeases = TaskLeases()
    let limits: Limits
    let keepsFirst: Bool
    /// Hashes revisions into versions, so that another store's versions never match here.
    private let versionKey: Secret<PrivateKey>

    /// Limits for all items together.
    package struct Limits: Sendable {
        let itemCount: Int
        let byteCount: Int

        package init(itemCount: Int, byteCount: Int) {
            self.itemCount = itemCount
            self.byteCount = byteCount
        }
    }

    /// Makes an empty store. Throws `unavailable` when the kernel gives no random octets for its versions.
    ///
    /// - Parameter maximumSecretByteCount: in bytes (default: 16 MiB); a larger secret is refused with `tooLarge`.
    public convenience init(maximumSecretByteCount: Int = 16 << 20) throws(StoreError) {
        let now = UnixTime.now()
        try self.init(
            collections: [
                ItemCollection(name: "login", label: "Login", aliases: ["default"], created: now, modified: now)
            ], maximumSecretByteCount: maximumSecretByteCount)
    }

    /// - Parameters:
    ///   - collections: what there is at first. Credentials are in the first one.
    ///   - keepsFirst: whether the first one can't be deleted, as in a vault.
    package init(
        collections: [ItemCollection], keepsFirst: Bool = true, maximumSecretByteCount: Int = 16 << 20,
        limits: Limits = Limits(itemCount: .max, byteCount: .max)
    ) throws(StoreError) {
        identity = StoreIdentity(backend: "in-memory", location: StoreNumber.next())
        capabilities = StoreCapabilities(
            isPersistent: false, canLock: false, reportsChanges: true, hasAtomicConditions: true,
            hasVersionsInListing: true, maximumSecretByteCount: maximumSecretByteCount)
        state = Mutex(InMemoryState(collections: collections))
        self.limits = limits
        self.keepsFirst = keepsFirst
        versionKey = try mapError(
            { (error: RandomSourceError) in StoreError(.unavailable, "\(error)", platform: .errno(error.number)) },
            of: Secret.random(byteCount: 32))
    }

    // MARK: - One credential

    @discardableResult
    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try Self.check(deadline)
        try check(secret)
        let kept = Box(secret.duplicate(as: ItemContent.self))
        return try state.withLock { (state) throws(StoreError) in
            let old = state.entry(key)
            try options.condition.check(against: old?.version)
            let entry = try entry(
                kept, old?.item.attributes ?? ItemAttributes(key),
                label: options.label ?? old?.item.label ?? "\(key.service): \(key.account)",
                contentType: options.contentType.rawValue, in: state.home, replacing: old,
                name: old == nil ? key : nil, times: options.original.map { ($0.created, $0.modified) }, &state)
            state.report(.saved, entry)
            state.reportItem(old == nil ? .created(entry.item) : .changed(entry.item), entry)
            return entry.version
        }
    }

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try Self.check(deadline)
        guard let found = state.withLock({ $0.entry(key) }) else { return nil }
        // The secret is copied outside the lock: a concurrent replacement leaves this copy whole.
        return CredentialRecord(
            metadata: found.item.metadata(for: key), version: found.version, contentType: found.contentType,
            secret: found.secret.value.duplicate(as: purpose))
    }

    @discardableResult
    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try Self.check(deadline)
        return try state.withLock { (state) throws(StoreError) in
            let old = state.entry(key)
            try condition.check(against: old?.version)
            guard let old else { return false }
            state.remove(old.item.id)
            state.report(.deleted, old)
            state.reportItem(.deleted(old.item.id, collection: old.item.collection), old)
            return true
        }
    }

    // MARK: - All credentials

    static let pageSize = 100

    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try Self.check(deadline)
        return state.withLock { state in
            // The keys of a service are adjacent, so the page starts at the first and ends at the next service.
            let prefix: [UInt8] = service.map { Array($0.utf8) + [0] } ?? []
            let start = state.names.firstIndex(belongs: { !$0.bytes.lexicographicallyPrecedes(prefix) })
            let after = cursor.map { cursor in
                state.names.firstIndex(belongs: { cursor.bytes.lexicographicallyPrecedes($0.bytes) })
            }
            let rest = state.names[max(start, after ?? 0)...].prefix { $0.bytes.starts(with: prefix) }
            let taken = rest.prefix(Self.pageSize)
            return ListingPage(
                entries: taken.compactMap { name in
                    state.entry(name).flatMap { entry in entry.item.key.map(entry.item.metadata) }
                },
                next: taken.count < rest.count ? taken.last.map { ListingCursor(bytes: $0.bytes) } : nil)
        }
    }

    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        try Self.check(deadline)
        return state.withLock { state in
            state.listeners.listen { [weak self] number in
                self?.state.withLock { $0.listeners.remove(number) }
            }
        }
    }

    deinit {
        let (listeners, itemListeners) = state.withLock { ($0.listeners, $0.itemListeners) }
        listeners.finish()
        itemListeners.finish()
    }

    // MARK: - Writing

    /// Adds an item to the state, or replaces one. Throws `unavailable` if the collection doesn't exist.
    ///
    /// - Parameters:
    ///   - id: the ID of a new item; `nil` creates one.
    ///   - name: the name of a new credential; `nil` derives it from the item's attributes.
    ///   - times: `nil` is now.
    func entry(
        _ secret: Box<Secret<ItemContent>>, _ attributes: ItemAttributes, label: String, contentType: String,
        in collection: String,
        replacing old: Entry?, id: ItemID? = nil, name: CredentialKey? = nil,
        times: (created: UnixTime, modified: UnixTime)? = nil, _ state: inout InMemoryState
    ) throws(StoreError) -> Entry {
        guard state.collections.contains(where: { $0.name == collection }) else {
            throw StoreError(.unavailable, "the collection doesn't exist", hint: "choose another collection")
        }
        let revision = state.nextRevision()
        let now = UnixTime.now()
        let created = times?.created ?? old?.item.created ?? now
        let (key, isNamed) = name.map { ($0, true) } ?? state.key(attributes, in: collection, replacing: old)
        let entry = Entry(
            item: Item(
                id: old?.item.id ?? id ?? .inMemory(revision), collection: collection, attributes: attributes,
                label: label, contentType: contentType, created: created,
                modified: times?.modified ?? max(created, now), version: version(ofRevision: revision), key: key,
                isNamed: isNamed),
            secret: secret, revision: revision)
        guard state.byteCount - (old?.byteCount ?? 0) + entry.byteCount <= limits.byteCount,
            old != nil || state.entries.count < limits.itemCount
        else { throw StoreError(.tooLarge, "out of memory") }
        state.put(entry)
        return entry
    }

    private func version(ofRevision revision: UInt64) -> CredentialVersion {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: revision >> ($0 * 8)) }
        return versionKey.withExposedBytes { key in
            CredentialVersion(bytes: KeyedHash.digest(message.span, key: key, byteCount: 16))
        }
    }

    /// Among this process's tasks: no other process has this store. Neither waits nor throws.
    public func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory {
        LeaseDirectory(ownLeases)
    }

    // MARK: - Checks

    func check<Purpose>(_ secret: borrowing Secret<Purpose>) throws(StoreError) {
        guard secret.byteCount <= capabilities.maximumSecretByteCount else {
            throw StoreError(
                .tooLarge,
                "the secret has \(secret.byteCount) bytes; the store takes at most \(capabilities.maximumSecretByteCount)"
            )
        }
    }

    private static func check(_ deadline: Deadline) throws(StoreError) {
        if Task.isCancelled { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
    }
}

extension Entry {
    var contentType: SecretContentType {
        SecretContentType(rawValue: item.contentType) ?? (item.contentType.hasPrefix("text/") ? .text : .binary)
    }
}

extension ItemID {
    /// An element of a path, whatever the number.
    fileprivate static func inMemory(_ number: UInt64) -> ItemID {
        guard let id = ItemID("i\(number)") else {
            preconditionFailure("a letter and digits aren't an element of a path")
        }
        return id
    }
}
