internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyEnvironment
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal
internal import LatchkeyVault

/// `latchkey vault import FILE`.
enum VaultImportCommand {
    private static let keyFile = CommandOption.value("--key-file", "PATH", help: "open FILE with this file")
    private static let passphrase = CommandOption.value(
        "--import-passphrase-fd", "N", form: .descriptor, help: "read FILE's passphrase from this descriptor")
    private static let conflict = CommandOption.value(
        "--on-conflict", "CHOICE", form: .choice(["refuse", "keep", "replace"]),
        help: "what to do where another secret is there: refuse, keep or replace (refuse)")

    static let command = Command(
        CommandDefinition(
            "vault", "import", summary: "import everything from another vault, such as an export",
            operands: [.required("FILE", help: "the other vault; it is not changed")],
            options: [keyFile, passphrase, conflict],
            details: """
                Without an option FILE opens with a credential from systemd or a keyring's key that it has a slot for;
                else its passphrase is asked for. All of FILE is checked first: what is refused changes nothing. A
                thousand credentials at a time are imported as a whole, each read back, and other programs have their
                turn in between. When it is cut off, nothing is lost or half there: the next run imports the rest.
                FILE must be yours, where nobody else can change it.
                """)
    ) { arguments, context in
        try arguments.refuseTwo(of: [keyFile, passphrase], "keys for one file")
        let path = AbsolutePath.of(arguments.operand("FILE"))
        try requireFile(path)
        let descriptor = try arguments.passedDescriptor(passphrase)
        try VaultStore.probe(at: path, for: .backup)
        let vault = try await context.openVault(itemCheck: .always)
        let other = try await open(path, arguments, descriptor, context)
        let result: VaultImport
        do {
            defer { context.output.endProgress() }
            result = try await vault.importAll(
                from: other, onConflict: choice(arguments), deadline: context.longDeadline(arguments)
            ) { fraction in
                context.output.showProgress("importing", percent: Int(fraction * 100))
            }
        } catch let error as StoreError where error.code == .conflict {
            throw CommandFailure(
                error, error.exitStatus,
                hint: "choose with --on-conflict keep or --on-conflict replace; nothing was changed")
        }
        try context.output.write(
            "\(vault.identity): \(result.addedCount) added, \(result.replacedCount) replaced, \(result.keptCount) kept",
            json: .object([
                ("added", .number(Int64(result.addedCount))), ("replaced", .number(Int64(result.replacedCount))),
                ("kept", .number(Int64(result.keptCount))),
            ]))
        return .success
    }

    /// A missing file is not a vault to be made.
    private static func requireFile(_ path: String) throws(StoreError) {
        guard unsafe access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { return }
        let shown = LoggableText(reviewed: "the path of a vault to import", unredacted: path)
        throw StoreError(
            .unavailable, "there is no vault \(shown)", hint: "check the path of the vault to import",
            platform: .errno(errno))
    }

    /// Opens the other vault with what is named for it, or else with the first key of its slots that is found. What
    /// opens this machine's vault is not tried on it, and how far it was seen isn't remembered.
    private static func open(
        _ path: String, _ arguments: ParsedArguments, _ descriptor: PassedDescriptor?, _ context: CommandContext
    ) async throws(StoreError) -> VaultStore {
        var settings = context.settings
        settings.vaultPath = path
        settings.vaultUse = .backup
        settings.vaultMemory = nil
        if let file = arguments.value(keyFile) {
            settings.vaultKey = .keyFile(path: AbsolutePath.of(file))
        } else if let descriptor {
            settings.vaultKey = .passphraseDescriptor(descriptor.number)
        } else {
            let prompt = context.prompt
            settings.vaultKey = .search(
                VaultKeySearch(credentialsDirectory: context.environment["CREDENTIALS_DIRECTORY"]) {
                    (attempt) throws(StoreError) in
                    try prompt.askForPassphrase(
                        "Passphrase of the file to import", attempt: attempt, otherwise: "give --import-passphrase-fd")
                })
        }
        do throws(StoreError) {
            return try await settings.openVault()
        } catch {
            guard error.recoveries.contains(.chooseKeyFile) else { throw error }
            throw StoreError(error.code, error.cause, hint: "check --key-file", platform: error.platform)
        }
    }

    private static func choice(_ arguments: ParsedArguments) -> VaultImportChoice {
        switch arguments.value(conflict) {
        case "keep": .keep
        case "replace": .replace
        default: .refuse
        }
    }
}
