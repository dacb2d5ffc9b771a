internal import LatchkeyLog
public import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

/// Keeps credentials in the guarded memory of this process, and nowhere else.
///
/// It is for tests, and for a process that must leave nothing behind: everything is wiped when the last reference to
/// the store goes. It can do all that a store can, except persist and be locked.
public final class InMemoryStore: CredentialStore {
    public let identity: StoreIdentity
    public let capabilities: StoreCapabilities

    private let state = Mutex(State())
    /// Hashes revisions into versions, so that another store's versions never match here.
    private let versionKey: Secret<PrivateKey>

    /// Makes an empty store. Throws `unavailable` when the kernel gives no random octets for its versions.
    ///
    /// - Parameter maximumSecretByteCount: in bytes; a larger secret is refused with `tooLarge`.
    public init(maximumSecretByteCount: Int = 16 << 20) throws(StoreError) {
        identity = StoreIdentity(backend: "in-memory", location: StoreNumber.next())
        capabilities = StoreCapabilities(
            isPersistent: false, canLock: false, reportsChanges: true, hasAtomicConditions: true,
            hasVersionsInListing: true, maximumSecretByteCount: maximumSecretByteCount)
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
        guard secret.byteCount <= capabilities.maximumSecretByteCount else {
            throw StoreError(
                .tooLarge,
                "the secret has \(secret.byteCount) bytes, and the store takes \(capabilities.maximumSecretByteCount)")
        }
        let kept = KeptSecret(secret.duplicate(as: Password.self))
        let name = EntryName(key)
        return try state.withLock { (state) throws(StoreError) in
            let old = state.entries[name]
            try Self.check(options.condition, against: old)
            state.revision += 1
            let version = version(ofRevision: state.revision)
            let now = UnixTime.now()
            let created = old?.metadata.created ?? now
            let metadata = CredentialMetadata(
                key: key, label: options.label ?? old?.metadata.label ?? "\(key.service): \(key.account)",
                created: created, modified: max(created, now), version: version)
            state.put(Entry(metadata: metadata, contentType: options.contentType, secret: kept), under: name)
            state.listeners.report(CredentialChange(kind: .saved, key: key))
            return version
        }
    }

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try Self.check(deadline)
        let found = state.withLock { $0.entries[EntryName(key)] }
        guard let found, let version = found.metadata.version else { return nil }
        // The secret is copied outside the lock: whoever replaces it meanwhile leaves this one whole.
        return CredentialRecord(
            metadata: found.metadata, version: version, contentType: found.contentType,
            secret: found.secret.secret.duplicate(as: purpose))
    }

    @discardableResult
    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try Self.check(deadline)
        return try state.withLock { (state) throws(StoreError) in
            let name = EntryName(key)
            let old = state.entries[name]
            try Self.check(condition, against: old)
            guard old != nil else { return false }
            state.remove(name)
            state.listeners.report(CredentialChange(kind: .deleted, key: key))
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
            // A service's names stand together, so the page starts at its first and ends where another's begins.
            let prefix: [UInt8] = service.map { Array($0.utf8) + [0] } ?? []
            let start = state.names.firstIndex(belongs: { !$0.bytes.lexicographicallyPrecedes(prefix) })
            let after = cursor.map { cursor in
                state.names.firstIndex(belongs: { cursor.bytes.lexicographicallyPrecedes($0.bytes) })
            }
            let rest = state.names[max(start, after ?? 0)...].prefix { $0.bytes.starts(with: prefix) }
            let taken = rest.prefix(Self.pageSize)
            return ListingPage(
                entries: taken.compactMap { state.entries[$0]?.metadata },
                next: taken.count < rest.count ? taken.last.map { ListingCursor(bytes: $0.bytes) } : nil)
        }
    }

    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        try Self.check(deadline)
        let (stream, continuation) = AsyncStream.makeStream(
            of: CredentialChange.self, bufferingPolicy: .bufferingNewest(Listeners.bufferSize))
        let number = state.withLock { $0.listeners.add(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners.remove(number) }
        }
        return stream
    }

    deinit {
        let listeners = state.withLock { $0.listeners }
        listeners.finish()
    }

    // MARK: - Checks

    private static func check(_ deadline: Deadline) throws(StoreError) {
        if Task.isCancelled { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
    }

    private static func check(_ condition: WriteCondition, against old: Entry?) throws(StoreError) {
        switch condition {
        case .none: return
        case .absent where old == nil: return
        case .matches(let version) where old?.metadata.version == version: return
        case .absent:
            throw StoreError(.conflict, "there is a credential already", hint: "read it, or save without a condition")
        case .matches:
            throw StoreError(.conflict, "the credential was changed since it was read", hint: "read it again")
        }
    }

    private func version(ofRevision revision: UInt64) -> CredentialVersion {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: revision >> ($0 * 8)) }
        return versionKey.withExposedBytes { key in
            CredentialVersion(bytes: KeyedHash.digest(message.span, key: key, byteCount: 16))
        }
    }
}
