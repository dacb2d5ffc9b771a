public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeySecrets

/// How the keyring is, for a report.
package struct SecretServiceState: Sendable, Hashable {
    /// The collection's D-Bus path.
    package let collectionPath: String
    package let isLocked: Bool
    /// Whether secrets are encrypted on their way over the bus.
    package let isSessionEncrypted: Bool
}

/// Keeps credentials in the desktop's keyring: GNOME Keyring, KeePassXC or KWallet, through the Secret Service.
///
/// Items carry the attributes `service` and `username`, so that secret-tool, gh and Python keyring find them and theirs
/// are found. A save sets the secret on the item that is there; it never changes the attributes of an item, and never
/// puts a second one beside another program's.
///
/// The store opens one session with the service per process, at first use, and again after the service or the bus was
/// restarted. Everything runs on one private thread; callers only suspend.
///
/// Operations throw `unavailable` without a session bus, a keyring or the collection, `locked`, `promptDismissed` if
/// the person closes the dialog, `timedOut` if it stays open, `ambiguous`, `busy` if other programs keep changing the
/// credential, `cannotWrite` if the keyring refuses, and `protocolViolation`. A secret has at most 8 MiB.
public struct SecretServiceStore: Sendable {
    package let configuration: SecretServiceConfiguration
    let versionKey: VersionKey

    /// Makes the store; it opens no connection yet.
    public init(_ configuration: SecretServiceConfiguration) {
        self.configuration = configuration
        versionKey = VersionKeyFile.key(in: configuration.coordination)
    }

    /// The identity contains the collection's configured name. A collection with several names, such as `default` and
    /// its label, has as many identities, and a lease on one of them is independent of the others.
    public var identity: StoreIdentity {
        StoreIdentity(backend: "secret-service", location: configuration.collection.text)
    }

    public var capabilities: StoreCapabilities {
        StoreCapabilities(
            isPersistent: configuration.collection != .session, canLock: true, reportsChanges: true,
            hasAtomicConditions: false, hasVersionsInListing: false, keepsContentType: false,
            maximumSecretByteCount: Self.maximumSecretByteCount)
    }

    /// 8 MiB. D-Bus ends at 128 MiB a message, and gnome-keyring rewrites its whole file at each save.
    package static let maximumSecretByteCount = 8 << 20
}

/// Which collection of the keyring to use, and how.
public struct SecretServiceConfiguration: Sendable, Hashable {
    package var collection: Collection
    /// Whether the keyring may ask the person, to unlock it above all. Otherwise `locked` is thrown at once.
    package var mayPrompt: Bool
    /// Whether a save makes the collection when it is missing: the person consents. The keyring asks for its new
    /// password. Otherwise `unavailable` is thrown. Reading never makes one.
    package var mayCreateCollection: Bool
    /// Where Latchkey's processes meet: it keeps two of them from creating one item twice, and makes versions
    /// comparable. `nil`: this process is the only one.
    package var coordination: LeaseDirectory?

    /// Without `mayPrompt` a locked collection throws `locked`; without `mayCreateCollection` a save to a missing one
    /// throws `unavailable`. Processes meet in `coordination`, so that they create no item twice and their versions are
    /// comparable; `nil` says that this one is the only one.
    public init(
        collection: Collection = .standard, mayPrompt: Bool = true, mayCreateCollection: Bool = false,
        coordination: LeaseDirectory?
    ) {
        self.collection = collection
        self.mayPrompt = mayPrompt
        self.mayCreateCollection = mayCreateCollection
        self.coordination = coordination
    }
}

// MARK: - Operations

extension SecretServiceStore: CredentialStore {
    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        guard secret.byteCount <= Self.maximumSecretByteCount else {
            throw StoreError(
                .tooLarge,
                "the secret has \(secret.byteCount) bytes; a keyring takes \(Self.maximumSecretByteCount)")
        }
        guard options.label?.utf8.contains(0) != true else {
            throw StoreError(.unsupported, "a label in the keyring can't contain a NUL", hint: "remove the NUL")
        }
        return try await collection.save(secret, for: key, options, deadline)
    }

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try await collection.read(key, as: purpose, deadline)
    }

    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await collection.delete(key, condition, deadline)
    }

    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        ListingPage(entries: try await collection.list(service: service, deadline), next: nil)
    }

    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        try await collection.changes(deadline)
    }

    /// The leases are in the user's directory, and only for the keyring on this bus.
    ///
    /// Throws `unavailable` without a bus.
    public func leases(
        in directory: LeaseDirectory, deadline: Deadline
    ) async throws(StoreError) -> LeaseDirectory {
        directory.scoped(by: try await KeyringConnection.shared.busIdentifier(deadline))
    }

    /// Locks the collection. Throws `unsupported` if the keyring leaves it open.
    public func lock(deadline: Deadline) async throws(StoreError) {
        try await collection.lock(deadline)
    }

    /// Unlocks the collection; the desktop asks for its password. Throws `locked` when the store may not prompt, and
    /// `promptDismissed` if the person closes the dialog.
    public func unlock(deadline: Deadline) async throws(StoreError) {
        try await collection.unlock(deadline)
    }

    /// Returns the state, or throws why the store can't be used: no bus, no service, no such collection.
    ///
    /// Doesn't ask a question. A locked collection isn't an error.
    package func state(deadline: Deadline) async throws(StoreError) -> SecretServiceState {
        try await collection.state(deadline)
    }

    /// Returns the data about the service and the store's collection, or throws why the service can't be used: no bus,
    /// no service. A locked or missing collection isn't an error. Doesn't ask a question.
    package func report(deadline: Deadline) async throws(StoreError) -> SecretServiceReport {
        try await collection.report(deadline)
    }

    /// Returns whether a program offers the service, according to the bus. Doesn't call or start a service.
    ///
    /// Throws `unavailable` without a session bus or without libsecret, and `timedOut` if the bus doesn't respond.
    package static func presence(deadline: Deadline) async throws(StoreError) -> SecretServicePresence {
        try await KeyringConnection.shared.presence(deadline)
    }

    // MARK: - Duplicates

    /// Returns the keys under which there are several items, in the order of a listing. It changes nothing.
    ///
    /// - Parameter service: only keys of this service; `nil` looks at everything.
    package func duplicates(
        service: String? = nil, deadline: Deadline = .standard
    ) async throws(StoreError) -> [DuplicateItems] {
        try await collection.duplicates(service: service, deadline)
    }

    /// Deletes superfluous items under a key: another item with the same secret has all their attributes, so every
    /// search that finds them finds it too. Each item is read back before one is deleted.
    ///
    /// Items that different programs find by different attributes all stay, and so do items with another secret.
    package func repairDuplicates(
        of key: CredentialKey, deadline: Deadline = .standard
    ) async throws(StoreError) -> DuplicateRepair {
        try await collection.repairDuplicates(of: key, deadline)
    }

    var collection: KeyringCollection { KeyringCollection(self) }
}

/// The data about the keyring service that doesn't need a question, for `latchkey doctor`.
package struct SecretServiceReport: Sendable, Hashable {
    /// How the collection of the store's configuration is.
    package enum CollectionState: Sendable, Hashable {
        case open(itemCount: Int)
        case locked
        case missing
    }

    /// A name that leads to a collection, whatever that is called.
    package enum Alias: String, Sendable, Hashable, CaseIterable {
        case standard = "default"
        case login
        case session
    }

    /// The process that offers the service, where the bus tells.
    package internal(set) var processIdentifier: Int32?
    /// The kernel's name for that process, up to 15 bytes: `gnome-keyring-d`, `keepassxc`, `kwalletd5`.
    package internal(set) var processName: String?
    /// How many collections there are, and how many of them are locked.
    package internal(set) var collectionCount: Int
    package internal(set) var lockedCount: Int
    /// Which names lead to a collection (Secret Service API, "Aliases").
    package internal(set) var aliases: [Alias]
    package internal(set) var collection: CollectionState
    /// Whether secrets are encrypted on their way over the bus.
    package internal(set) var isSessionEncrypted: Bool
    /// Whether GNOME's program that shows prompts runs or can be started by the bus. Others show their own.
    package internal(set) var hasSystemPrompter: Bool
}

/// Whether a program offers the Secret Service, as the session bus knows it.
package enum SecretServicePresence: Sendable, Hashable {
    /// A program offers it now.
    case running
    /// No program does, but the bus starts one at the first call.
    case startable
    case absent
}
