public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeySecrets

extension OAuthAuthenticator {
    /// Where an authenticator keeps its login.
    public struct Storage: Sendable {
        enum Place: Sendable {
            case store(any CredentialStore)
            case memory
        }

        private let place: Place

        /// Guarded memory, until the authenticator ends.
        public static let untilDiscarded = Storage(place: .memory)

        /// A store: the desktop's keyring, a vault, or your own.
        public static func store(_ store: any CredentialStore) -> Storage { Storage(place: .store(store)) }

        /// Your own place, by three closures.
        ///
        /// A login has up to three items, each under a separate key: the session, the name of its account, and the key if
        /// tokens are bound to one. Treat all of them as secrets. If a closure throws another error than
        /// `StoreError` and `CancellationError`, the error becomes `.unavailable`, without its text.
        ///
        /// - Parameters:
        ///   - name: the name of the place; two storages with one name share their leases.
        ///   - load: returns the item under a key, or `nil`.
        ///   - save: saves a lent item, and replaces the item under its key.
        ///   - delete: deletes the item under a key, if it exists.
        public static func closures(
            named name: StaticString,
            load: @escaping @Sendable (CredentialKey) async throws -> Secret<StoredLogin>?,
            save: @escaping @Sendable (borrowing Secret<StoredLogin>, CredentialKey) async throws -> Void,
            delete: @escaping @Sendable (CredentialKey) async throws -> Void
        ) -> Storage {
            store(ClosureStore(name: name, load: load, save: save, delete: delete))
        }

        func open() throws(StoreError) -> any CredentialStore {
            switch place {
            case .store(let store): store
            case .memory: try InMemoryStore()
            }
        }
    }
}

/// A store behind three closures. It knows no times and lists nothing.
struct ClosureStore: CredentialStore {
    let identity: StoreIdentity
    let capabilities = StoreCapabilities(
        isPersistent: true, canLock: false, reportsChanges: false, hasAtomicConditions: false,
        hasVersionsInListing: false, keepsContentType: false, maximumSecretByteCount: 16 << 20)

    private let load: @Sendable (CredentialKey) async throws -> Secret<StoredLogin>?
    private let save: @Sendable (borrowing Secret<StoredLogin>, CredentialKey) async throws -> Void
    private let delete: @Sendable (CredentialKey) async throws -> Void

    init(
        name: StaticString,
        load: @escaping @Sendable (CredentialKey) async throws -> Secret<StoredLogin>?,
        save: @escaping @Sendable (borrowing Secret<StoredLogin>, CredentialKey) async throws -> Void,
        delete: @escaping @Sendable (CredentialKey) async throws -> Void
    ) {
        identity = StoreIdentity(backend: "closures", location: name.description)
        self.load = load
        self.save = save
        self.delete = delete
    }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try Self.check(deadline, options.condition)
        do {
            try await save(secret.duplicate(as: StoredLogin.self), key)
        } catch {
            throw Self.told(error)
        }
        return Self.version
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try Self.check(deadline, .none)
        let found: Secret<StoredLogin>?
        do {
            found = try await load(key)
        } catch {
            throw Self.told(error)
        }
        guard let secret = found else { return nil }
        let unknown = UnixTime(seconds: 0)
        return CredentialRecord(
            metadata: CredentialMetadata(key: key, label: "", created: unknown, modified: unknown, version: nil),
            version: Self.version, contentType: .binary, secret: secret.repurposed(as: purpose))
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try Self.check(deadline, condition)
        do {
            let found = try await load(key)
            let existed = found != nil
            if existed { try await delete(key) }
            return existed
        } catch {
            throw Self.told(error)
        }
    }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        ListingPage(entries: [], next: nil)
    }

    /// The closures tell no versions, so nothing can be written on condition of one.
    private static let version = CredentialVersion(bytes: [UInt8](repeating: 0, count: 16))

    private static func check(_ deadline: Deadline, _ condition: WriteCondition) throws(StoreError) {
        if Task.isCancelled { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
        guard condition == .none else {
            throw StoreError(.unsupported, "a storage made of closures can't write conditionally")
        }
    }

    private static func told(_ error: any Error) -> StoreError {
        switch error {
        case let error as StoreError: error
        case is CancellationError: .cancelled
        default: StoreError(.unavailable, "the program's own login storage failed")
        }
    }
}
