internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyEnvironment
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal
internal import LatchkeyVault

/// `latchkey vault init`.
enum VaultInitCommand {
    private static let keyFile = CommandOption.value(
        "--key-file", "PATH", help: "open it with this file; it is made when it is missing")

    static let command = Command(
        CommandDefinition(
            "vault", "init", summary: "make an empty vault",
            options: [keyFile, NewVaultKey.credential, NewVaultKey.secretService],
            details: """
                Without an option the key is what --passphrase-fd, LATCHKEY_KEY_FILE or LATCHKEY_PASSPHRASE_FILE name;
                else a passphrase is asked for, twice. The path of --key-file is remembered for this vault: it opens without
                being told. Nobody can open the vault without its key: keep a copy of a key file elsewhere.
                """)
    ) { arguments, context in
        let path = context.settings.vaultPath
        // Before a person thinks up a passphrase, and before a key file is made.
        try refuseExisting(path)
        try VaultStore.checkPlace(forNewVaultAt: path, for: .daily)
        let key = try await newKey(arguments, context)
        do throws(StoreError) {
            _ = try await VaultStore.create(
                at: path, unlockedBy: key.source, memory: context.settings.vaultMemory, deadline: context.deadline)
        } catch {
            await key.discard()
            throw error
        }
        key.announce(on: context.output)
        context.output.note("made the vault \(shown(path))")
        if let file = arguments.value(keyFile) { try await remember(AbsolutePath.of(file), context) }
        return .success
    }

    /// The next command finds the key file by itself, or its person learns how to name it.
    private static func remember(_ file: String, _ context: CommandContext) async throws {
        do throws(StoreError) {
            let vault = try await VaultStore.outline(at: context.settings.vaultPath, deadline: context.deadline)
            try RememberedKeyFiles(context.environment).remember(file, for: vault)
            context.output.note("the key file opens it from now on, unless another key is named")
        } catch {
            context.output.warn(
                "\(error)",
                hint: "write `key-file = \(shown(file))` into \(shown(context.configurationFolder + "/config"))")
        }
    }

    private static func newKey(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> NewVaultKey {
        try arguments.refuseTwo(
            of: [keyFile, NewVaultKey.credential, NewVaultKey.secretService, GlobalOptions.passphraseDescriptor],
            "keys for one slot")
        if let name = arguments.value(NewVaultKey.credential) {
            return try NewVaultKey(credential: name, context.environment)
        }
        if arguments.has(NewVaultKey.secretService) {
            return try await NewVaultKey(
                keptFor: try .ofNewVault(), ofVaultAt: context.settings.vaultPath, context.settings)
        }
        if let file = keyFilePath(arguments, context) { return try NewVaultKey(keyFile: file) }
        if case .search = context.settings.vaultKey {
            return try NewVaultKey(
                asking: context.prompt, "New passphrase of the vault",
                otherwise: "name its file in LATCHKEY_PASSPHRASE_FILE")
        }
        return try NewVaultKey(reading: context.settings.vaultKey)
    }

    private static func keyFilePath(_ arguments: ParsedArguments, _ context: CommandContext) -> String? {
        if let path = arguments.value(keyFile) { return AbsolutePath.of(path) }
        guard case .keyFile(let path) = context.settings.vaultKey else { return nil }
        return path
    }

    static func refuseExisting(
        _ path: String, hint: LogMessage = "name another place with --vault, or move it away yourself"
    ) throws {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        throw StoreError(
            .conflict, "there is something at \(shown(path)) already",
            hint: hint)
    }

    private static func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file", unredacted: path)
    }
}
