internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// `latchkey vault init`.
enum VaultInitCommand {
    private static let keyFile = CommandOption.value(
        "--key-file", "PATH", help: "open it with this file; it is made when it is missing")

    static let command = Command(
        "vault", "init", summary: "make an empty vault",
        options: [keyFile, NewVaultKey.credential, NewVaultKey.secretService],
        details: """
            A vault is a file, or a schema of a PostgreSQL database, that holds secrets, encrypted: the store of machines without
            a desktop. Its key is random, and sealed to each of its slots: a key file, a passphrase, a credential from
            systemd or a key in the desktop's keyring.

            Without an option, --passphrase-fd, LATCHKEY_KEY_FILE or LATCHKEY_PASSPHRASE_FILE name the key. If none of them is
            given, Latchkey asks for a passphrase twice. If the passphrase has fewer than 15 characters, Latchkey proposes a
            generated one, and asks before it takes the short one. Commands that open the vault ask for the passphrase up to
            three times. Latchkey remembers the path of --key-file, so later commands need no option. Nobody can open the vault
            without its key: keep a copy of a key file elsewhere.
            """,
        examples: [
            "latchkey vault init", "latchkey vault init --key-file ~/.config/latchkey/vault.key",
            "latchkey vault init --vault ~/other.vault",
        ]
    ) { arguments, context in
        let path = context.settings.vaultPath
        // Before a person thinks up a passphrase, and before a key file is made.
        try refuseExisting(path)
        try VaultStore.checkPlace(forNewVaultAt: path, for: .daily)
        _ = try await context.createVault(
            unlockedBy: try await newKey(arguments, context),
            remembering: arguments.value(keyFile).map(AbsolutePath.of))
        return .success
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
        return try context.keyOfNewVault(file: arguments.value(keyFile).map(AbsolutePath.of))
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
