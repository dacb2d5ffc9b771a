internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeyStoreSelection
internal import LatchkeySystem
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// One of the two stores of `latchkey copy` and `move`: by its name, or another vault by its path or URI.
struct TransferEnd {
    let backend: StoreBackend
    /// Whether it is a vault that no other command would use.
    let isOtherVault: Bool
    private let settings: StoreSettings

    init(_ option: CommandOption, _ arguments: ParsedArguments, _ context: CommandContext) throws {
        guard let name = arguments.value(option) else {
            throw CommandFailure(
                .usage, "usage.missing-option", "\(option.name) is missing",
                hint: "name both stores, such as --from secret-service --to vault")
        }
        var settings = context.settings
        // Nothing is to be deleted on the word of a damaged vault.
        settings.vaultItemCheck = .always
        // No store's name has a slash, and no address is shown.
        let isVault = name.contains("/") || VaultLocation.isDatabase(name)
        let location = isVault ? try VaultLocation.checked(name) : settings.vaultPath
        isOtherVault = location != settings.vaultPath
        if isOtherVault {
            settings.vaultPath = location
            settings.places["vault"] = location
            settings.vaultKey = .search(context.searchForKey(ofVaultAt: location))
        }
        self.settings = settings
        let store = isVault ? "vault" : name
        try context.selector.catalogue.check(
            store, namedBy: option.name, otherwise: "a vault's path has a slash, such as ./vault")
        // As for every store that is named: only those that keep what they are given.
        backend = try context.selector.backend(NamedStore(name: store, source: .argument))
    }

    func open() async throws -> any CredentialStore {
        try await mapError(
            // What helps names this vault, not the one that other commands use.
            { (error: StoreError) -> any Error in isOtherVault ? settings.explained(error as any Error) : error },
            awaiting: try await backend.open(settings))
    }

    func isSame(as other: TransferEnd) -> Bool {
        backend.name.description == other.backend.name.description && settings.vaultPath == other.settings.vaultPath
    }

    var shownPath: LoggableText {
        LoggableText(reviewed: "the path of a vault, which people name", unredacted: settings.vaultPath)
    }
}

extension CommandContext {
    /// What opens a vault beside the one in use: what is named for that one isn't tried on it.
    fileprivate func searchForKey(ofVaultAt path: String) -> VaultKeySearch {
        let prompt = prompt
        let shown = LoggableText(reviewed: "the path of a vault, which people name", unredacted: path)
        return VaultKeySearch(
            credentialsDirectory: environment["CREDENTIALS_DIRECTORY"], keyFiles: RememberedKeyFiles(environment)
        ) { (attempt) throws(StoreError) in
            try prompt.askForPassphrase(
                "Passphrase of \(shown)", attempt: attempt,
                otherwise: "open it before with `latchkey vault unlock --vault \(shown)`")
        }
    }
}
