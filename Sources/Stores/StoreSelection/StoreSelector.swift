internal import Glibc
public import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeyProcess
internal import LatchkeySecretService
internal import LatchkeySystem
internal import LatchkeyVault

/// A store that was set explicitly, and the source of the setting.
package struct NamedStore: Sendable, Hashable {
    package let name: String
    package let source: StoreChoiceSource

    package init(name: String, source: StoreChoiceSource) {
        self.name = name
        self.source = source
    }
}

/// Chooses a store: the one that was set, otherwise the one used before, otherwise the first one that works.
///
/// The choice is never silent: it includes the reason. If the store that was set or used before is missing, the
/// selector throws an error instead of choosing another store.
public struct StoreSelector: Sendable {
    package let catalogue: StoreCatalogue
    private let remembered: RememberedChoice?
    let logger: RedactedLogger

    /// - Parameter remembered: `nil` remembers nothing.
    package init(catalogue: StoreCatalogue, remembered: RememberedChoice?, logger: RedactedLogger = .disabled) {
        self.catalogue = catalogue
        self.remembered = remembered
        self.logger = logger.category("latchkey.selection")
    }

    /// Chooses a store without opening it.
    ///
    /// - Parameter remembers: whether a store that was found is remembered for the next time.
    package func choose(
        named: NamedStore?, settings: StoreSettings, remembers: Bool = true
    ) async throws(StoreSelectionError) -> StoreChoice {
        if let named { return try choice(of: named) }
        if let name = try rememberedName() {
            return try choice(of: NamedStore(name: name, source: .remembered))
        }
        return try await probe(settings, remembers: remembers)
    }

    /// Chooses a store and opens it.
    package func open(
        named: NamedStore?, settings: StoreSettings
    ) async throws(StoreSelectionError) -> (store: any CredentialStore, choice: StoreChoice) {
        let choice = try await choose(named: named, settings: settings)
        logger.info("store: \(choice)")
        let store = try await mapError(
            { (error: StoreError) in StoreSelectionError(choice.source == .remembered ? explained(error) : error) },
            awaiting: await choice.backend.open(settings))
        return (store, choice)
    }

    /// Opens every store that there is, the chosen one first, for a person who keeps credentials in several.
    ///
    /// The ones that refuse are in the view's `refusals`. Throws when nothing could be chosen, or when all refuse.
    package func openAll(
        named: NamedStore?, settings: StoreSettings
    ) async throws(StoreSelectionError) -> StoreView {
        let chosen = try await choose(named: named, settings: settings).backend
        var stores: [any CredentialStore] = []
        var refusals: [StoreRefusal] = []
        let others = catalogue.backends.filter {
            $0.isPersistent && $0.name.description != chosen.name.description && $0.exists(settings)
        }
        for backend in [chosen] + others {
            do throws(StoreError) {
                stores.append(try await backend.open(settings))
            } catch {
                if error.code == .cancelled { throw StoreSelectionError(error) }
                logger.info("\(backend.name) can't be opened: \(error)")
                refusals.append(StoreRefusal(name: backend.name, error: error))
            }
        }
        guard !stores.isEmpty else {
            throw StoreSelectionError(.noneWorks(refusals), catalogue: catalogue)
        }
        return StoreView(stores, refusals: refusals, logger: logger)
    }

    // MARK: - Named

    /// Returns the store of a name, or throws why it can't be used by anyone: it is unknown, or keeps nothing.
    package func backend(_ named: NamedStore) throws(StoreSelectionError) -> StoreBackend {
        try choice(of: named).backend
    }

    private func choice(of named: NamedStore) throws(StoreSelectionError) -> StoreChoice {
        guard let backend = catalogue[named.name] else {
            throw StoreSelectionError(.unknownName(named.source), catalogue: catalogue)
        }
        guard backend.isPersistent else { throw StoreSelectionError(.notPersistent, catalogue: catalogue) }
        return StoreChoice(backend: backend, source: named.source, refusals: [])
    }

    private func rememberedName() throws(StoreSelectionError) -> String? {
        return try mapError(StoreSelectionError.init(_:), of: remembered?.read())
    }

    /// A person who never named a store has to learn why it is this one.
    private func explained(_ error: StoreError) -> StoreError {
        guard error.code == .unavailable else { return error }
        let other: LogMessage = "or \(Recovery.chooseStore); \(Recovery.diagnose)"
        let hint: LogMessage = error.hint.map { "\($0), \(other)" } ?? "start the store again, \(other)"
        return StoreError(
            error.code, "can't open the store in use: \(error.cause)", hint: hint, platform: error.platform)
    }

    // MARK: - Probing

    private func probe(_ settings: StoreSettings, remembers: Bool) async throws(StoreSelectionError) -> StoreChoice {
        var refusals: [StoreRefusal] = []
        for backend in catalogue.backends where backend.isPersistent {
            if let error = await failure(StoreError.self, awaiting: try await backend.probe(settings)) {
                if error.code == .cancelled { throw StoreSelectionError(error) }
                logger.info("\(backend.name) can't be used: \(error)")
                refusals.append(StoreRefusal(name: backend.name, error: error))
                continue
            }
            let choice = StoreChoice(backend: backend, source: .probed, refusals: refusals)
            if remembers { remember(choice) }
            return choice
        }
        throw StoreSelectionError(.noneWorks(refusals), catalogue: catalogue)
    }

    /// A choice that can't be recorded costs the next run a probe, so this run doesn't fail. A store that was chosen
    /// only because another one was slow isn't recorded: the slow store may contain everything and respond the next
    /// time.
    private func remember(_ choice: StoreChoice) {
        let name = choice.backend.name
        if let slow = choice.refusals.first(where: { $0.error.code == .timedOut }) {
            logger.warning("using \(name) only this time, because \(slow.name) did not respond in time")
            return
        }
        if let error = failure(StoreError.self, of: try remembered?.write(name)) {
            logger.warning("can't remember the choice of \(name): \(error)")
        }
    }
}

// MARK: - Environment

extension StoreSelector {
    /// Opens a store from a program's environment, as the command line does: the store that `LATCHKEY_STORE`,
    /// `LATCHKEY_VAULT` or `LATCHKEY_COLLECTION` sets, otherwise the one used before, otherwise the first one that
    /// works, which is recorded for this user's programs.
    ///
    /// A vault opens with the file in `LATCHKEY_KEY_FILE` or `LATCHKEY_PASSPHRASE_FILE`, or with one of its slots, such
    /// as the key file that the command line remembers. No passphrase is requested. A keyring may show its own dialog
    /// if a display is available.
    ///
    /// Throws if the store that was set or used before is missing, and if no store works: nothing is ever stored in
    /// plain text instead.
    public static func open(
        in environment: ProgramEnvironment, log: RedactedLogger = .disabled
    ) async throws(StoreSelectionError) -> (store: any CredentialStore, choice: StoreChoice) {
        let settings = try mapError(
            StoreSelectionError.init(_:), of: StoreSettings(environment: environment, log: log))
        let selector = StoreSelector(
            catalogue: .standard, remembered: RememberedChoice(path: environment.stateDirectory + "/store"), logger: log
        )
        let named = try mapError(
            StoreSelectionError.init(_:), of: NamedStore.named(in: environment, selector.catalogue))
        return try await selector.open(named: named, settings: settings)
    }

    /// Creates the vault of a program's environment with a key file, as the command line's `vault init --key-file`
    /// does: for a machine without a keyring, whose user doesn't know Latchkey. ``open(in:log:)`` and the command line
    /// then find both, unless the environment or an earlier choice names another store.
    ///
    /// Anyone who can read the key file can read the vault. The vault can't be opened without the key file, so its user
    /// should keep a copy elsewhere.
    ///
    /// Throws `conflict` if the vault exists; `permissionDenied`, `cannotWrite` or `unavailable` if the vault or the
    /// file can't be created; `timedOut` after 30 s; and `unsupported` if the environment names a passphrase file. A
    /// new key file stays only if a vault may need it.
    ///
    /// - Parameters:
    ///   - environment: names the places.
    ///   - keyFile: the path of the key file, which is created if it is missing; by default the one of
    ///     `LATCHKEY_KEY_FILE`, or `vault.key` in the directory of the configuration, such as `~/.config/latchkey`.
    ///   - log: told if the place of the key file can't be recorded.
    public static func createVault(
        in environment: ProgramEnvironment, keyFile: String? = nil, log: RedactedLogger = .disabled
    ) async throws(StoreError) -> any CredentialStore {
        let settings = try StoreSettings(environment: environment, log: log)
        let named = keyFile ?? environment["LATCHKEY_KEY_FILE"]
        if named == nil, environment["LATCHKEY_PASSPHRASE_FILE"] != nil {
            throw StoreError(
                .unsupported, "LATCHKEY_PASSPHRASE_FILE is set, and this vault would have a key file",
                hint: "unset that variable, or set LATCHKEY_KEY_FILE")
        }
        let file = AbsolutePath.of(named ?? environment.configurationDirectory + "/vault.key")
        try VaultStore.checkPlace(forNewVaultAt: settings.vaultPath, for: .daily)
        if named == nil {
            try mapError(
                { (error: SystemErrorNumber) in
                    StoreError(
                        .cannotWrite, "can't create the directory of the key file", platform: .errno(error.number))
                }, of: PrivateDirectory.make(environment.configurationDirectory))
        }
        let isNew = unsafe access(file, F_OK) != 0
        if isNew { try VaultKeyFile.create(at: file) }
        let created = await Result<VaultStore, StoreError>(
            awaiting: try await VaultStore.create(
                at: settings.vaultPath, unlockedBy: .keyFile(file), memory: settings.vaultMemory))
        // A vault that was created, or may yet be, needs its key. A conflict is another process's vault, with its own key.
        if case .failure(let error) = created, isNew {
            let isAbsent = (try? VaultStore.checkPlace(forNewVaultAt: settings.vaultPath, for: .daily)) != nil
            let isOver = error.code != .timedOut && error.code != .cancelled
            if error.code == .conflict || isAbsent && isOver { unsafe unlink(file) }
        }
        let vault = try created.get()
        if let error = failure(StoreError.self, of: try RememberedKeyFiles(environment).remember(file, for: vault)) {
            log.warning("can't remember the vault's key file, which LATCHKEY_KEY_FILE can name: \(error)")
        }
        return vault
    }
}

extension NamedStore {
    /// The store that the environment sets; a location, such as a vault's path, also chooses its store.
    fileprivate static func named(
        in environment: ProgramEnvironment, _ catalogue: StoreCatalogue
    ) throws(StoreError) -> NamedStore? {
        if let name = environment["LATCHKEY_STORE"] { return NamedStore(name: name, source: .environment) }
        let places = catalogue.places(in: environment)
        guard places.count < 2 else {
            throw StoreError(
                .unavailable, "the environment sets locations of several stores", hint: "set LATCHKEY_STORE as well")
        }
        return places.keys.first.map { NamedStore(name: $0, source: .environment) }
    }
}

extension StoreSettings {
    fileprivate init(environment: ProgramEnvironment, log: RedactedLogger) throws(StoreError) {
        guard environment.illegibleNames.allSatisfy({ !ProgramEnvironment.saysWhere($0) }) else {
            throw StoreError(
                .unavailable, "an environment variable with a store's location isn't valid UTF-8")
        }
        self.init(
            vaultPath: VaultLocation.of(environment["LATCHKEY_VAULT"] ?? environment.dataDirectory + "/vault"),
            vaultKey: .named(in: environment)
                ?? .search(
                    VaultKeySearch(
                        credentialsDirectory: environment["CREDENTIALS_DIRECTORY"],
                        keyFiles: RememberedKeyFiles(environment))),
            vaultMemory: RollbackMemory(directory: environment.stateDirectory + "/vaults", logger: log),
            mayPrompt: true, leases: .standard, hasDisplay: environment.hasDisplay, logger: log)
        places = StoreCatalogue.standard.places(in: environment)
        guard let name = environment["LATCHKEY_COLLECTION"] else { return }
        collection = try mapError(
            { (error: InvalidValue) in StoreError(.unavailable, error.cause, hint: error.hint) }, of: .named(name))
    }
}

extension StoreSettings.VaultKey {
    /// The key from `LATCHKEY_KEY_FILE` or `LATCHKEY_PASSPHRASE_FILE`.
    package static func named(in environment: ProgramEnvironment) -> StoreSettings.VaultKey? {
        if let path = environment["LATCHKEY_KEY_FILE"] { return .keyFile(path: AbsolutePath.of(path)) }
        return environment["LATCHKEY_PASSPHRASE_FILE"].map { .passphraseFile(path: AbsolutePath.of($0)) }
    }
}
