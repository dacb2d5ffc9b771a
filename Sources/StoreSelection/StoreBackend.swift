public import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeySecretService
public import LatchkeyVault

/// What opening a store may need, whichever it is.
public struct StoreSettings: Sendable {
    /// Where the key of a vault comes from.
    public enum VaultKey: Sendable {
        /// A file made by `latchkey vault init --key-file`.
        case keyFile(path: String)
        /// A file whose bytes, one line break at the end left out, are the passphrase.
        case passphraseFile(path: String)
        /// An open descriptor to read the passphrase from, in the same form. It can be read once.
        case passphraseDescriptor(Int32)
        /// Nobody named any: see what there is.
        case search(VaultKeySearch)
    }

    public var vaultPath: String
    public var vaultKey: VaultKey
    /// Where it is remembered how far each vault was seen.
    public var vaultMemory: RollbackMemory?
    /// When a vault's items are compared with its manifest.
    public var vaultItemCheck = ItemCheck.whenSmall
    /// Whether a store may ask the person for anything; `--no-prompt` forbids it.
    public var mayPrompt: Bool
    /// How long one operation may take; a person's answer to a question of ours is not counted.
    public var timeout: Duration

    /// Where Latchkey's processes meet, for stores that can't keep them apart themselves.
    public var leases: LeaseDirectory?
    /// Whether a keyring can show a window to ask in.
    public var hasDisplay: Bool
    /// Which collection of the keyring is used.
    public var collection: SecretServiceConfiguration.Collection
    /// Whether that collection is made when it is missing and something is saved in it.
    public var mayCreateCollection: Bool
    public var logger: RedactedLogger

    public init(
        vaultPath: String, vaultKey: VaultKey, vaultMemory: RollbackMemory? = nil, mayPrompt: Bool,
        timeout: Duration = .seconds(30), leases: LeaseDirectory? = nil, hasDisplay: Bool = false,
        collection: SecretServiceConfiguration.Collection = .standard, mayCreateCollection: Bool = false,
        logger: RedactedLogger = .disabled
    ) {
        self.vaultPath = vaultPath
        self.vaultKey = vaultKey
        self.vaultMemory = vaultMemory
        self.mayPrompt = mayPrompt
        self.timeout = timeout
        self.leases = leases
        self.hasDisplay = hasDisplay
        self.collection = collection
        self.mayCreateCollection = mayCreateCollection
        self.logger = logger.category("latchkey.selection")
    }

    /// The moment at which an operation that starts now gives up.
    public var deadline: Deadline { .after(timeout) }

    /// The same, where a question counts as not answered.
    public var askingNobody: StoreSettings {
        var settings = self
        settings.mayPrompt = false
        if case .search(let search) = vaultKey { settings.vaultKey = .search(search.askingNobody) }
        return settings
    }
}

/// A kind of store that can be chosen: an entry of a `StoreCatalogue`.
public struct StoreBackend: Sendable {
    /// The name on the command line, such as `vault`.
    public let name: StaticString
    /// Whether it keeps what it is given after the process has ended. A store that doesn't is never chosen.
    public let isPersistent: Bool
    /// Throws why the store can't be used here and now. It asks nobody anything and changes nothing.
    public let probe: @Sendable (StoreSettings) async throws(StoreError) -> Void
    public let open: @Sendable (StoreSettings) async throws(StoreError) -> any CredentialStore
    /// Opens the store for a look, beside the one that is used: without a person's answer, without starting a program,
    /// and without the cost of a passphrase. Returns `nil` where that can't be.
    public let openBeside: @Sendable (StoreSettings) async throws(StoreError) -> (any CredentialStore)?
    /// Whether something may be kept there: `false` where it is certain that nothing is, such as a vault nobody made.
    public let exists: @Sendable (StoreSettings) -> Bool

    /// - Parameter openBeside: `nil`: as `open`, where nobody is asked.
    public init(
        name: StaticString, isPersistent: Bool = true,
        exists: @escaping @Sendable (StoreSettings) -> Bool = { _ in true },
        probe: @escaping @Sendable (StoreSettings) async throws(StoreError) -> Void,
        open: @escaping @Sendable (StoreSettings) async throws(StoreError) -> any CredentialStore,
        openBeside: (@Sendable (StoreSettings) async throws(StoreError) -> (any CredentialStore)?)? = nil
    ) {
        self.name = name
        self.isPersistent = isPersistent
        self.exists = exists
        self.probe = probe
        self.open = open
        if let openBeside {
            self.openBeside = openBeside
        } else {
            self.openBeside = { (settings) throws(StoreError) -> (any CredentialStore)? in
                guard exists(settings) else { return nil }
                return try await open(settings.askingNobody)
            }
        }
    }
}

/// The stores that can be chosen, the preferred one first.
public struct StoreCatalogue: Sendable {
    public private(set) var backends: [StoreBackend]

    public init(_ backends: [StoreBackend]) {
        self.backends = backends
    }

    /// Returns the catalogue with one more store at its end. Names have to differ.
    public func adding(_ backend: StoreBackend) -> StoreCatalogue {
        precondition(self[backend.name.description] == nil, "\(backend.name) is in the catalogue already")
        return StoreCatalogue(backends + [backend])
    }

    public subscript(_ name: String) -> StoreBackend? {
        backends.first { $0.name.description == name }
    }
}
