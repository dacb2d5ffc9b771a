public import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeyProcess
internal import LatchkeySecretService
internal import LatchkeySystem
internal import LatchkeyVault

extension StoreSelector {
    /// Opens the store that a program's environment leads to, as the command line does: the one that `LATCHKEY_STORE`,
    /// `LATCHKEY_VAULT` or `LATCHKEY_COLLECTION` names, else the one that was used before, else the first that works,
    /// which is remembered for this user's programs.
    ///
    /// A vault opens with what `LATCHKEY_KEY_FILE` or `LATCHKEY_PASSPHRASE_FILE` names, or with what it has a slot for,
    /// such as the key file that the command line remembers for it;
    /// no question is asked for a passphrase. A keyring may show its own dialog where there is a display.
    ///
    /// Throws when what was named or used before is gone, and when no store works: nothing is kept in the clear
    /// instead.
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
}

extension NamedStore {
    /// The store that the environment names; a place that is named, such as a vault, is a choice of its store.
    fileprivate static func named(
        in environment: ProgramEnvironment, _ catalogue: StoreCatalogue
    ) throws(StoreError) -> NamedStore? {
        if let name = environment["LATCHKEY_STORE"] { return NamedStore(name: name, source: .environment) }
        let places = catalogue.places(in: environment)
        guard places.count < 2 else {
            throw StoreError(
                .unavailable, "the environment names places of several stores", hint: "name the store as well")
        }
        return places.keys.first.map { NamedStore(name: $0, source: .environment) }
    }
}

extension StoreSettings {
    fileprivate init(environment: ProgramEnvironment, log: RedactedLogger) throws(StoreError) {
        guard environment.illegibleNames.allSatisfy({ !ProgramEnvironment.saysWhere($0) }) else {
            throw StoreError(
                .unavailable, "an environment variable that says where secrets are kept is not valid UTF-8")
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
    /// What `LATCHKEY_KEY_FILE` or `LATCHKEY_PASSPHRASE_FILE` names.
    package static func named(in environment: ProgramEnvironment) -> StoreSettings.VaultKey? {
        if let path = environment["LATCHKEY_KEY_FILE"] { return .keyFile(path: AbsolutePath.of(path)) }
        return environment["LATCHKEY_PASSPHRASE_FILE"].map { .passphraseFile(path: AbsolutePath.of($0)) }
    }
}
