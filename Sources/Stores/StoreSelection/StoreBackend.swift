internal import Glibc
package import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeySecretService
package import LatchkeyVault

/// Asks the user for a vault's passphrase. The attempt counts from 1: after a wrong passphrase the question is
/// repeated.
package typealias PassphrasePrompt = @Sendable (_ attempt: Int) throws(StoreError) -> Secret<Passphrase>

/// Settings that opening any of the stores may need.
package struct StoreSettings: Sendable {
    /// Where the key of a vault comes from.
    package enum VaultKey: Sendable {
        /// A file made by `latchkey vault init --key-file`.
        case keyFile(path: String)
        /// A file whose bytes, one line break at the end left out, are the passphrase.
        case passphraseFile(path: String)
        /// An open descriptor to read the passphrase from, in the same form. The passphrase can be read only once.
        case passphraseDescriptor(Int32)
        /// Nobody named any: see what there is.
        case search(VaultKeySearch)
    }

    /// The locations of the stores, by store name, as the user wrote them.
    package var places: [String: String] = [:]
    package var vaultPath: String
    package var vaultKey: VaultKey
    /// Where it is remembered how far each vault was seen.
    package var vaultMemory: RollbackMemory?
    /// When a vault's items are compared with its manifest.
    package var vaultItemCheck = ItemCheck.whenSmall
    /// Whether a store may ask the person for anything; `--no-prompt` forbids it.
    package var mayPrompt: Bool
    /// The time limit of one operation, which doesn't include the user's answer to a question.
    package var timeout: Duration

    /// The location where Latchkey's processes coordinate, for stores that can't do so themselves.
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
    /// Whether credentials outlive the process. A store without persistence is never chosen.
    package let isPersistent: Bool
    /// How people say where it is; `nil` where there is one place alone.
    package let place: StorePlace?
    /// Throws why the store can't be used here and now. It asks no questions and changes nothing.
    package let probe: @Sendable (StoreSettings) async throws(StoreError) -> Void
    package let open: @Sendable (StoreSettings) async throws(StoreError) -> any CredentialStore
    /// Opens the store for a look, beside the one that is used: without a person's answer, without starting a program,
    /// and without the cost of a passphrase. Returns `nil` where that can't be.
    package let openBeside: @Sendable (StoreSettings) async throws(StoreError) -> (any CredentialStore)?
    /// Whether the store may contain credentials: `false` if it certainly doesn't, such as a vault that was never
    /// created.
    package let exists: @Sendable (StoreSettings) -> Bool
    /// The doctor's findings about the store, without a question; `nil` if the commands know the store better.
    package let examine: (@Sendable (StoreSettings) async throws(StoreError) -> [StoreFinding])?

    /// - Parameter openBeside: `nil` means `open` without a question.
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

// MARK: - Vault

extension StoreBackend {
    /// An encrypted file, or encrypted rows in a database. The store can be used if the vault exists; `latchkey vault
    /// init` creates one.
    static let vault = StoreBackend(
        name: "vault",
        place: StorePlace(
            word: "vault", placeholder: "PATH|URI", variable: "LATCHKEY_VAULT", help: "the vault's file or database",
            noun: "a vault"),
        exists: { settings in
            // A database isn't contacted before it is used.
            unsafe VaultLocation.isDatabase(settings.vaultPath) || access(settings.vaultPath, F_OK) == 0
                || errno != ENOENT
        },
        probe: { (settings) throws(StoreError) in try VaultStore.probe(at: settings.vaultPath) },
        open: { (settings) throws(StoreError) in try await settings.openVault() },
        openBeside: { (settings) throws(StoreError) -> (any CredentialStore)? in
            guard unsafe access(settings.vaultPath, F_OK) == 0 else { return nil }
            switch settings.vaultKey {
            case .keyFile, .search: return try await settings.askingNobody.openVault()
            // Argon2 is too slow here, and a descriptor can be read only once.
            case .passphraseFile, .passphraseDescriptor: return nil
            }
        })
}

extension StoreSettings {
    /// Opens the vault with the key that is set, otherwise with the first key found.
    package func openVault() async throws(StoreError) -> VaultStore { try await unlock(try await lockedVault()) }

    /// The vault without its key.
    package func lockedVault() async throws(StoreError) -> LockedVault {
        try await LockedVault.open(at: vaultPath, deadline: deadline)
    }

    /// Opens the vault as `openVault()` does.
    package func unlock(_ vault: LockedVault) async throws(StoreError) -> VaultStore {
        if case .search(let search) = vaultKey { return try await search.unlock(vault, self) }
        return try await mapError(
            { (error: StoreError) in
                guard error.code == .wrongKey, case .passphraseFile(let path) = vaultKey,
                    vault.slots.contains(where: { $0.kind == .passphrase })
                else { return error }
                // The passphrase wasn't entered.
                return StoreError(
                    .wrongKey, error.cause, hint: "write the vault's passphrase into \(PassphraseFile.shown(path))")
            }, awaiting: try await unlock(vault, with: try vaultKey.source(deadline: deadline)))
    }

    func unlock(_ vault: LockedVault, with key: borrowing VaultKeySource) async throws(StoreError) -> VaultStore {
        try await vault.unlock(with: key, memory: vaultMemory, itemCheck: vaultItemCheck, deadline: deadline)
    }
}

extension StoreSettings.VaultKey {
    /// Reads the vault's key, or asks the user for a passphrase if no key is set.
    ///
    /// - Parameter deadline: the limit for a pipe that another process writes to; the user has unlimited time.
    package func source(deadline: Deadline = .standard) throws(StoreError) -> VaultKeySource {
        switch self {
        case .keyFile(let path): .keyFile(path)
        case .passphraseFile(let path): .passphrase(try PassphraseFile.read(path, deadline: deadline))
        case .passphraseDescriptor(let number):
            .passphrase(try PassphraseFile.read(descriptor: number, deadline: deadline))
        case .search(let search): .passphrase(try search.ask(1))
        }
    }
}

// MARK: - Secret service

extension StoreBackend {
    /// The desktop's keyring. The check contacts the service, because the library is also installed on machines without
    /// a desktop.
    static let secretService = StoreBackend(
        name: "secret-service",
        place: StorePlace(
            word: "collection", placeholder: "NAME", variable: "LATCHKEY_COLLECTION",
            help: "the keyring's collection: default, session, a label or a path", noun: "a collection of the keyring"),
        probe: { (settings) throws(StoreError) in try await probeSecretService(settings) },
        open: { (settings) throws(StoreError) in settings.keyring },
        openBeside: { (settings) throws(StoreError) -> (any CredentialStore)? in
            try await SecretServiceStore.presence(deadline: settings.deadline) == .running
                ? settings.askingNobody.keyring : nil
        })

    private static func probeSecretService(_ settings: StoreSettings) async throws(StoreError) {
        try await checkBus(limit: settings.presenceTimeout)
        let store = SecretServiceStore(
            SecretServiceConfiguration(collection: settings.collection, mayPrompt: false, coordination: nil))
        guard let key = try? CredentialKey(service: "latchkey:probe", account: "probe") else { return }
        // A locked one will ask for its password when it is used.
        _ = try await nilIf(
            { (error: StoreError) in error.code == .locked && settings.mayPrompt && settings.hasDisplay },
            awaiting: await store.read(
                key, as: Password.self, deadline: .after(min(settings.timeout, .seconds(10)))))
    }

    /// Throws if no bus responds. If the bus responds but lacks such a service, the first call fails at once.
    private static func checkBus(limit: Duration) async throws(StoreError) {
        _ = try await mapError(
            { (error: StoreError) in
                error.code != .timedOut
                    ? error
                    : StoreError(.timedOut, "the session bus did not respond within \(limit)", hint: error.hint)
            }, awaiting: await SecretServiceStore.presence(deadline: .after(limit)))
    }
}

extension StoreSettings {
    /// The time limit for the bus to report whether a keyring exists: a hundredth of the timeout, 300 ms by default.
    /// The service itself may take longer: a keyring that is just starting isn't a reason to choose another store.
    var presenceTimeout: Duration { timeout / 100 }

    fileprivate var keyring: SecretServiceStore {
        SecretServiceStore(
            SecretServiceConfiguration(
                collection: collection, mayPrompt: mayPrompt, mayCreateCollection: mayCreateCollection,
                coordination: leases))
    }
}

// MARK: - Standard

extension StoreCatalogue {
    /// Latchkey's own stores, the preferred one first.
    package static let standard = StoreCatalogue([.secretService, .vault, .inMemory])
}

extension StoreBackend {
    /// It forgets everything when the process ends, so it is only here to be refused by name.
    static let inMemory = StoreBackend(
        name: "in-memory", isPersistent: false,
        probe: { (_) throws(StoreError) in },
        open: { (_) throws(StoreError) in try InMemoryStore() })
}
