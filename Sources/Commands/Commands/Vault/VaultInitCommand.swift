internal import Glibc
internal import LatchkeyVault

/// `latchkey vault init`.
enum VaultInitCommand {
    static let command = Command(
        "vault", "init", summary: "create an empty vault",
        options: [NewVaultKey.keyFile, NewVaultKey.credential, NewVaultKey.secretService],
        details: """
            Without an option, init takes the key from --passphrase-fd, LATCHKEY_KEY_FILE or LATCHKEY_PASSPHRASE_FILE. Otherwise it asks
            for a new passphrase twice, and proposes a better one if yours has fewer than 15 characters.

            Latchkey remembers the key file, so later commands need no option. Without a key, the vault can't be opened: keep a copy of
            the key file elsewhere.
            """,
        examples: [
            "latchkey vault init", "latchkey vault init --key-file ~/.config/latchkey/vault.key",
            "latchkey vault init --vault ~/other.vault",
        ]
    ) { arguments, context in
        let path = context.settings.vaultPath
        // The refusal comes before the person thinks of a passphrase, and before a key file is created.
        try refuseExisting(path)
        try VaultStore.checkPlace(forNewVaultAt: path, for: .daily)
        _ = try await context.createVault(
            unlockedBy: try await newKey(arguments, context),
            remembering: arguments.value(NewVaultKey.keyFile).map(AbsolutePath.of))
        return .success
    }

    private static func newKey(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> NewVaultKey {
        try arguments.refuseTwo(
            of: [
                NewVaultKey.keyFile, NewVaultKey.credential, NewVaultKey.secretService,
                GlobalOptions.passphraseDescriptor,
            ],
            "keys for one slot")
        if let name = arguments.value(NewVaultKey.credential) {
            return try NewVaultKey(credential: name, context.environment)
        }
        if arguments.has(NewVaultKey.secretService) {
            return try await NewVaultKey(
                keptFor: try .ofNewVault(), ofVaultAt: context.settings.vaultPath, context.settings)
        }
        return try context.keyOfNewVault(
            file: arguments.value(NewVaultKey.keyFile).map(AbsolutePath.of),
            otherwise: "add \(NewVaultKey.keyFile.name) FILE")
    }

    static func refuseExisting(
        _ path: String, hint: LogMessage = "choose another path with --vault, or move the file away"
    ) throws {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        throw StoreError(
            .conflict, "\(shown(path)) already exists",
            hint: hint)
    }

    private static func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file", unredacted: path)
    }
}
