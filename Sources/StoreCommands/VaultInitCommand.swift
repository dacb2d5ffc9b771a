internal import Credentials
internal import Glibc
internal import RedactedLog
internal import Secrets
internal import StoreSelection
internal import Terminal
internal import Vault

/// `latchkey vault init`.
enum VaultInitCommand {
    private static let keyFile = CommandOption.value(
        "--key-file", "PATH", help: "open it with this file; it is made when it is missing")

    static let command = Command(
        CommandDefinition(
            "vault", "init", summary: "make an empty vault", options: [keyFile],
            details: """
                Without --key-file the key is what LATCHKEY_KEY_FILE or LATCHKEY_PASSPHRASE_FILE name; else a passphrase
                is asked for, twice. Nobody can open the vault without its key: keep a copy of a key file elsewhere.
                """)
    ) { arguments, context in
        let path = context.settings.vaultPath
        // Before a person thinks up a passphrase, and before a key file is made.
        try refuseExisting(path)
        let source: VaultKeySource
        var madeKeyFile: String?
        if let file = keyFilePath(arguments, context) {
            if unsafe access(file, F_OK) != 0 {
                try VaultKeyFile.create(at: file)
                madeKeyFile = file
            }
            source = .keyFile(file)
        } else if case .passphraseFile = context.settings.vaultKey {
            source = try context.settings.vaultKey.source()
        } else {
            source = .passphrase(try newPassphrase(context.prompt))
        }
        do throws(StoreError) {
            _ = try await VaultStore.create(at: path, unlockedBy: source, deadline: context.deadline)
        } catch {
            // A key file without a vault would only be taken for the key of another.
            if let madeKeyFile { unsafe unlink(madeKeyFile) }
            throw error
        }
        if let madeKeyFile { context.output.note("made the key file \(shown(madeKeyFile))") }
        context.output.note("made the vault \(shown(path))")
        return .success
    }

    private static func keyFilePath(_ arguments: ParsedArguments, _ context: CommandContext) -> String? {
        if let path = arguments.value(keyFile) { return AbsolutePath.of(path) }
        guard case .keyFile(let path) = context.settings.vaultKey else { return nil }
        return path
    }

    private static func refuseExisting(_ path: String) throws {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        throw StoreError(
            .conflict, "there is something at \(shown(path)) already",
            hint: "name another place with --vault, or move it away yourself")
    }

    private static func newPassphrase(_ prompt: SecretPrompt) throws -> Secret<Passphrase> {
        let passphrase = try prompt.askTwice(
            "New passphrase of the vault", again: "The same again", as: Passphrase.self)
        guard !passphrase.isEmpty else {
            throw CommandFailure(.badData, "passphrase.empty", "the passphrase is empty", hint: "choose a longer one")
        }
        return passphrase
    }

    private static func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file", unredacted: path)
    }
}
