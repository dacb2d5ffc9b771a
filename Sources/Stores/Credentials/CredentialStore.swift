public import LatchkeyLog

/// Keeps credentials: bytes under keys. A store knows nothing of OAuth.
///
/// Contract, checked by `LatchkeyStoreContract` for every store:
/// - Absence is `nil` or `false`; refusal throws ``StoreError``.
/// - A save that returned is seen by every later read, of this process and of others where the store is persistent.
/// - A refused or cancelled save leaves the old secret, whole.
/// - Every operation, and each page of a listing, throws `timedOut` if its deadline has passed already, and `cancelled`
///   if its task was cancelled already.
/// - Secrets are any bytes, none included, up to `capabilities.maximumSecretByteCount`.
/// - Nothing secret is in an error, a log or a listing, nor is a part of it.
///
/// An operation that waits, for a lock or a person, should stop at its deadline and when it is cancelled. No suite can
/// check that for every store.
public protocol CredentialStore: Sendable {
    /// Tells this store from others in leases, logs and reports: `vault /home/a/.local/share/latchkey/vault`.
    var identity: StoreIdentity { get }

    /// The promises of this store beyond the contract above; `LatchkeyStoreContract` tests a store against them.
    var capabilities: StoreCapabilities { get }

    /// Saves a secret, replacing the one under the key, and returns the new version.
    ///
    /// Throws `conflict` if the condition of `options` doesn't hold, `tooLarge` if the secret has more than
    /// `capabilities.maximumSecretByteCount` bytes, and `locked`, `unavailable`, `cannotWrite` and similar codes if the
    /// store can't save it. A secret without bytes isn't an error.
    @discardableResult
    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion

    /// Returns the credential under a key, or `nil` if there is none, which isn't an error.
    ///
    /// The caller chooses the purpose: a store doesn't know what a secret is for.
    ///
    /// Throws `locked`, `unavailable`, `corrupted` and similar codes if the store can't read the credential.
    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>?

    /// Deletes the credential under a key. Returns `false` if there was none, which isn't an error.
    ///
    /// Throws `conflict` if the condition doesn't hold, and otherwise as `save`; then nothing is deleted.
    @discardableResult
    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool

    /// Returns one page of the metadata of all credentials, or of one service's, in an order that is the same for
    /// each call. Callers use `list(service:)`, which walks the pages.
    ///
    /// Throws as `read`. No credential at all is a page without entries.
    ///
    /// - Parameters:
    ///   - service: whose credentials; `nil` for all.
    ///   - cursor: `nil` for the first page, then what the page before returned.
    ///   - deadline: when to give up with `timedOut`.
    func page(service: String?, after cursor: ListingCursor?, deadline: Deadline) async throws(StoreError)
        -> ListingPage

    /// Returns the changes that any process makes from now on, without polling where the platform has signals. The
    /// deadline is for the beginning: the stream then has none.
    ///
    /// The default throws `unsupported`.
    func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange>

    /// Returns the location of this store's leases: the same one for all processes and hosts that share the store.
    ///
    /// The default is `directory`. A store that wraps another store returns the location of that store.
    ///
    /// Throws if the location can't be determined.
    func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory

    /// Locks the store. The default throws `unsupported`.
    func lock(deadline: Deadline) async throws(StoreError)

    /// Unlocks the store, asking the person where the platform does. The default throws `unsupported`.
    func unlock(deadline: Deadline) async throws(StoreError)
}

/// Names a store: its backend and where it is.
public struct StoreIdentity: Sendable, Hashable, Loggable {
    /// The backend's name on the command line: `vault`, `secret-service`, `in-memory`.
    public let backend: String
    /// A path, an alias or a number; no secret.
    public let location: String

    /// Nothing is checked. Processes that share the store must make the same one: leases go by it.
    public init(backend: String, location: String) {
        self.backend = backend
        self.location = location
    }

    /// Safe: a backend's name and a path.
    public var logMessage: LogMessage {
        let backend = LoggableText(reviewed: "a word of the program", unredacted: backend)
        let location = LoggableText(reviewed: "a path or a collection's alias", unredacted: location)
        return "\(backend) \(location)"
    }
}

/// A change of a credential. The key is `nil` if the store can't tell which credential changed: then look at all of
/// them.
public struct CredentialChange: Sendable, Hashable {
    /// `unknown` where the store sees only that something changed, as a vault does.
    public enum Kind: Sendable, Hashable {
        /// A credential is new, or was replaced.
        case saved
        /// The credential was deleted.
        case deleted
        /// Something changed.
        case unknown
    }
    /// The kind of change; `saved` covers new and replaced credentials.
    public let kind: Kind
    /// `nil` when the store can't tell which credential it was; that may be so for `deleted` too.
    public let key: CredentialKey?

    /// For a store's own `changes(deadline:)`; nothing is checked.
    public init(kind: Kind, key: CredentialKey?) {
        self.kind = kind
        self.key = key
    }
}

// MARK: - Defaults

extension CredentialStore {
    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        throw unsupported("report changes")
    }

    public func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory {
        directory
    }

    public func lock(deadline: Deadline) async throws(StoreError) { throw unsupported("be locked") }

    public func unlock(deadline: Deadline) async throws(StoreError) { throw unsupported("be unlocked") }

    private func unsupported(_ what: StaticString) -> StoreError {
        StoreError(.unsupported, "the store \(identity) can't \(what)")
    }
}

// MARK: - Shorter calls

extension CredentialStore {
    /// Saves a secret with the standard deadline.
    ///
    /// Throws as `save(_:for:options:deadline:)`.
    @discardableResult
    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions = SaveOptions()
    ) async throws(StoreError) -> CredentialVersion {
        try await save(secret, for: key, options: options, deadline: .standard)
    }

    /// Returns the credential under a key, or `nil`, with the standard deadline.
    ///
    /// Throws as `read(_:as:deadline:)`.
    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try await read(key, as: purpose, deadline: .standard)
    }

    /// Deletes the credential under a key, with the standard deadline, and returns whether there was one.
    ///
    /// Throws as `delete(_:condition:deadline:)`.
    @discardableResult
    public func delete(_ key: CredentialKey) async throws(StoreError) -> Bool {
        try await delete(key, condition: .none, deadline: .standard)
    }

    /// Iterates over the metadata of all credentials, or of one service, page by page, so memory use stays constant.
    ///
    /// The iteration throws what a page throws; `all()` reads everything into an array. The deadline is for the whole
    /// iteration (default: 30 seconds from this call).
    public func list(service: String? = nil, deadline: Deadline = .standard) -> CredentialListing {
        CredentialListing(store: self, service: service, deadline: deadline)
    }
}

/// The abilities of a store beyond save, read, delete and list. The contract suite reads them.
public struct StoreCapabilities: Sendable, Hashable {
    /// Whether saved credentials outlive the process.
    public var isPersistent: Bool
    /// `lock()` and `unlock()` work.
    public var canLock: Bool
    /// `changes()` works.
    public var reportsChanges: Bool
    /// A ``WriteCondition`` is checked and the write done as one step, among all processes. Otherwise only among
    /// Latchkey's processes, under their lease.
    public var hasAtomicConditions: Bool
    /// `list` gives each credential's version.
    public var hasVersionsInListing: Bool
    /// Whether the store returns the content type that was saved. Otherwise it may report bytes that happen to be UTF-8
    /// as text.
    public var keepsContentType: Bool
    /// The largest secret that it takes, in bytes; of a larger one a save throws `tooLarge`.
    public var maximumSecretByteCount: Int

    /// Listing one service looks at all credentials, so that several services are better found in one listing.
    package var listsAllForOneService = false

    /// Creates the capabilities of a store. The default keeps content types; the size is in bytes.
    public init(
        isPersistent: Bool, canLock: Bool, reportsChanges: Bool, hasAtomicConditions: Bool,
        hasVersionsInListing: Bool, keepsContentType: Bool = true, maximumSecretByteCount: Int
    ) {
        self.isPersistent = isPersistent
        self.canLock = canLock
        self.reportsChanges = reportsChanges
        self.hasAtomicConditions = hasAtomicConditions
        self.hasVersionsInListing = hasVersionsInListing
        self.keepsContentType = keepsContentType
        self.maximumSecretByteCount = maximumSecretByteCount
    }
}
