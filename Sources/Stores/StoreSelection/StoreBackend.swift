package import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeySecretService
package import LatchkeySecrets
package import LatchkeyVault

/// Asks a person for a vault's passphrase. It is told which attempt this is, from 1: after a wrong one it is asked again.
package typealias PassphrasePrompt = @Sendable (_ attempt: Int) throws(StoreError) -> Secret<Passphrase>

/// What opening a store may need, whichever it is.
package struct StoreSettings: Sendable {
    /// Where the key of a vault comes from.
    package enum VaultKey: Sendable {
        /// A file made by `latchkey vault init --key-file`.
        case keyFile(path: String)
        /// A file whose bytes, one line break at the end left out, are the passphrase.
        case passphraseFile(path: String)
        /// An open descriptor to read the passphrase from, in the same form. It can be read once.
        case passphraseDescriptor(Int32)
        /// Nobody named any: see what there is.
        case search(VaultKeySearch)
    }

    /// Where the stores are, by their names; as people said it.
    package var places: [String: String] = [:]
    package var vaultPath: String
    package var vaultKey: VaultKey
    /// Where it is remembered how far each vault was seen.
    package var vaultMemory: RollbackMemory?
    /// When a vault's items are compared with its manifest.
    package var vaultItemCheck = ItemCheck.whenSmall
    /// Whether a store may ask the person for anything; `--no-prompt` forbids it.
    package var mayPrompt: Bool
    /// How long one operation may take; a person's answer to a question of ours is not counted.
    package var timeout: Duration

    /// Where Latchkey's processes meet, for stores that can't keep them apart themselves.
    package var leases: LeaseDirectory?
    /// Whether a keyring can show a window to ask in.
    package var hasDisplay: Bool
    /// Which collection of the keyring is used.
    package var collection: SecretServiceConfiguration.Collection
    /// Whether that collection is made when it is missing and something is saved in it.
    package var mayCreateCollection: Bool
    package var logger: RedactedLogger

    package init(
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
    package var deadline: Deadline { .after(timeout) }

    /// The same, where a question counts as not answered.
    package var askingNobody: StoreSettings {
        var settings = self
        settings.mayPrompt = false
        if case .search(let search) = vaultKey { settings.vaultKey = .search(search.askingNobody) }
        return settings
    }
}

/// A kind of store that can be chosen: an entry of a `StoreCatalogue`.
package struct StoreBackend: Sendable {
    /// The name on the command line, such as `vault`.
    package let name: StaticString
    /// Whether it keeps what it is given after the process has ended. A store that doesn't is never chosen.
    package let isPersistent: Bool
    /// How people say where it is; `nil` where there is one place alone.
    package let place: StorePlace?
    /// Throws why the store can't be used here and now. It asks no questions and changes nothing.
    package let probe: @Sendable (StoreSettings) async throws(StoreError) -> Void
    package let open: @Sendable (StoreSettings) async throws(StoreError) -> any CredentialStore
    /// Opens the store for a look, beside the one that is used: without a person's answer, without starting a program,
    /// and without the cost of a passphrase. Returns `nil` where that can't be.
    package let openBeside: @Sendable (StoreSettings) async throws(StoreError) -> (any CredentialStore)?
    /// Whether something may be kept there: `false` where it is certain that nothing is, such as a vault nobody made.
    package let exists: @Sendable (StoreSettings) -> Bool
    /// What the doctor says of it, asking no questions; `nil` where the commands know the store better.
    package let examine: (@Sendable (StoreSettings) async throws(StoreError) -> [StoreFinding])?

    /// - Parameter openBeside: `nil`: as `open`, where no question is asked.
    package init(
        name: StaticString, isPersistent: Bool = true, place: StorePlace? = nil,
        exists: @escaping @Sendable (StoreSettings) -> Bool = { _ in true },
        probe: @escaping @Sendable (StoreSettings) async throws(StoreError) -> Void,
        open: @escaping @Sendable (StoreSettings) async throws(StoreError) -> any CredentialStore,
        openBeside: (@Sendable (StoreSettings) async throws(StoreError) -> (any CredentialStore)?)? = nil,
        examine: (@Sendable (StoreSettings) async throws(StoreError) -> [StoreFinding])? = nil
    ) {
        self.name = name
        self.isPersistent = isPersistent
        self.place = place
        self.examine = examine
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
package struct StoreCatalogue: Sendable {
    package private(set) var backends: [StoreBackend]

    package init(_ backends: [StoreBackend]) {
        self.backends = backends
    }

    /// Returns the catalogue with one more store at its end. Names have to differ.
    package func adding(_ backend: StoreBackend) -> StoreCatalogue {
        precondition(self[backend.name.description] == nil, "\(backend.name) is in the catalogue already")
        return StoreCatalogue(backends + [backend])
    }

    package subscript(_ name: String) -> StoreBackend? {
        backends.first { $0.name.description == name }
    }
}
