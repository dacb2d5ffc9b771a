internal import Glibc
internal import LatchkeyVault

/// `latchkey vault import FILE`.
enum VaultImportCommand {
    private static let keyFile = CommandOption.value("--key-file", "PATH", help: "key file that opens FILE")
    private static let passphrase = CommandOption.value(
        "--import-passphrase-fd", "N", form: .descriptor, help: "file descriptor to read FILE's passphrase from")
    private static let newKeyFile = CommandOption.value(
        "--new-key-file", "PATH",
        help: "create the vault if none exists, with this key file")
    private static let conflict = CommandOption.value(
        "--on-conflict", "CHOICE", form: .choice(["refuse", "keep", "replace"]),
        help: "handling of secrets that differ: refuse, keep or replace (default: refuse)")

    static let command = Command(
        "vault", "import", summary: "import everything from another vault, such as an export",
        operands: [.required("FILE", help: "vault to import; import doesn't change it")],
        options: [keyFile, passphrase, newKeyFile, conflict],
        details: """
            Without an option, import opens FILE with a systemd credential or with a key from the keyring; otherwise it asks for FILE's
            passphrase. If the target vault doesn't exist, import offers at a terminal to create it; --new-key-file creates it
            without a question.

            import checks all of FILE first. It then imports up to a thousand credentials or 8 MiB at a time, and verifies each copy. If
            interrupted, run the command again: nothing is lost or stored in part.

            FILE must be your own file, in a directory that other users can't change, or the URI of a database.
            """,
        examples: [
            "latchkey vault import ~/backup.vault", "latchkey vault import old.vault --on-conflict keep",
            "latchkey vault import ~/backup.vault --key-file ~/backup.key --new-key-file ~/vault.key",
        ]
    ) { arguments, context in
        try arguments.refuseTwo(of: [keyFile, passphrase], "keys for one file")
        try arguments.refuseTwo(of: [newKeyFile, GlobalOptions.passphraseDescriptor], "keys for one vault")
        let path = try VaultLocation.checked(arguments.operand("FILE"))
        if !VaultLocation.isDatabase(path) { try requireFile(path) }
        let descriptor = try arguments.passedDescriptor(passphrase)
        let file = try await mapError(
            { damaged($0, path) },
            awaiting: try await LockedVault.open(at: path, for: .backup, deadline: context.deadline))
        let vault: VaultStore
        let other: VaultStore
        if try await makesVault(arguments, context) {
            // First: a file that doesn't open leaves no empty vault behind.
            other = try await unlock(file, path, arguments, descriptor, context)
            let keyFile = arguments.value(newKeyFile).map(AbsolutePath.of)
            vault = try await context.createVault(
                unlockedBy: try context.keyOfNewVault(file: keyFile, otherwise: "add \(newKeyFile.name) FILE"),
                remembering: keyFile)
        } else {
            vault = try await existingVault(arguments, context)
            other = try await unlock(file, path, arguments, descriptor, context)
        }
        let result: VaultImport
        do {
            let progress = context.output.progress("importing")
            defer { progress.end() }
            result = try await vault.importAll(
                from: other, onConflict: choice(arguments), deadline: context.longDeadline(arguments)
            ) { fraction in
                progress.show(fraction: fraction)
            }
        } catch let error as StoreError where error.code == .conflict && choice(arguments) == .refuse {
            throw CommandFailure(error, hint: "choose with --on-conflict keep or --on-conflict replace")
        } catch let error as StoreError where error.isCorruption {
            throw CommandFailure(
                error, "can't import \(other.identity) into \(vault.identity): \(error.cause)",
                hint: "find the damaged one: run `latchkey vault verify` for each, with --vault")
        }
        try context.output.write(
            "\(vault.identity): \(result.addedCount) added, \(result.replacedCount) replaced, \(result.keptCount) kept",
            json: .object([
                ("added", .number(Int64(result.addedCount))), ("replaced", .number(Int64(result.replacedCount))),
                ("kept", .number(Int64(result.keptCount))),
            ]))
        return .success
    }

    private static func existingVault(
        _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> VaultStore {
        var settings = context.settings
        settings.vaultItemCheck = .always
        let file = arguments.value(newKeyFile).map(AbsolutePath.of)
        if let file { settings.vaultKey = .keyFile(path: file) }
        let opened: Result<VaultStore, StoreError> = await Result(awaiting: try await settings.openVault())
        if case .failure(let error) = opened {
            if error.code == .wrongKey && file != nil { try refuseExisting(settings.vaultPath) }
            guard error.isCorruption else { throw error }
            let shown = LoggableText(reviewed: "the path of a vault", unredacted: settings.vaultPath)
            throw StoreError(
                error.code, "can't import into \(shown): \(error.cause)",
                hint:
                    "run `latchkey vault verify`, or move that file away and add --new-key-file to import into a new vault",
                platform: error.platform)
        }
        let vault = try opened.get()
        if let file { context.remember(file, for: vault) }
        return vault
    }

    private static func refuseExisting(_ path: String) throws {
        try VaultInitCommand.refuseExisting(
            path, hint: "remove --new-key-file to import into the existing vault, or move a damaged one away")
    }

    /// Whether a vault is to be made first, as the person said by an option or says now.
    private static func makesVault(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> Bool {
        let path = context.settings.vaultPath
        if let file = arguments.value(newKeyFile) {
            // If an interrupted run of the same command made the vault, this key file opens it.
            if try await !context.lacksVault, unsafe access(AbsolutePath.of(file), F_OK) == 0 { return false }
            try refuseExisting(path)
            try VaultStore.checkPlace(forNewVaultAt: path, for: .daily)
            try VaultKeyFile.check(at: AbsolutePath.of(file))
            return true
        }
        guard try await context.lacksVault else { return false }
        try VaultStore.checkPlace(forNewVaultAt: path, for: .daily)
        let shown = LoggableText(reviewed: "the path of a vault", unredacted: path)
        if context.prompt.isPossible, try context.prompt.confirm("The vault \(shown) doesn't exist yet. Create it?") {
            return true
        }
        throw StoreError(
            .unavailable, "no vault at \(shown)",
            hint: "add --new-key-file to create the vault, or run `latchkey vault init`")
    }

    /// A missing file is not a vault to be made.
    private static func requireFile(_ path: String) throws(StoreError) {
        guard unsafe access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { return }
        let shown = LoggableText(reviewed: "the path of a vault to import", unredacted: path)
        throw StoreError(
            .unavailable, "no vault at \(shown)", hint: "check the path of the vault to import",
            platform: .errno(errno))
    }

    /// Opens the other vault with its chosen key, or with the first key that fits a slot. The keys of this machine's
    /// vault aren't tried. This makes no rollback record.
    private static func unlock(
        _ vault: LockedVault, _ path: String, _ arguments: ParsedArguments, _ descriptor: PassedDescriptor?,
        _ context: CommandContext
    ) async throws(StoreError) -> VaultStore {
        var settings = context.settings
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
                        "Passphrase of the vault to import", attempt: attempt, locked: "the vault to import is locked",
                        otherwise: "add --import-passphrase-fd N")
                })
        }
        do throws(StoreError) {
            return try await settings.unlock(vault)
        } catch {
            let wantsKeyFile = error.recoveries.contains(.chooseKeyFile)
            guard wantsKeyFile || error.code == .wrongKey else { throw damaged(error, path) }
            let hint: LogMessage =
                arguments.has(keyFile)
                ? "set --key-file to a key file of that vault" : "add --key-file with a key file of that vault"
            throw StoreError(
                error.code, "can't open the vault to import: \(error.cause)", hint: wantsKeyFile ? hint : error.hint,
                platform: error.platform)
        }
    }

    /// Names the vault that is damaged, which isn't the one that other commands use.
    private static func damaged(_ error: StoreError, _ path: String) -> StoreError {
        guard error.isCorruption else { return error }
        let shown = LoggableText(reviewed: "the path of a vault to import", unredacted: path)
        return StoreError(
            error.code, "can't import \(shown): \(error.cause)",
            hint: "run `latchkey vault verify --vault \(CredentialName.word(path))`, or import another backup",
            platform: error.platform)
    }

    private static func choice(_ arguments: ParsedArguments) -> VaultImportChoice {
        switch arguments.value(conflict) {
        case "keep": .keep
        case "replace": .replace
        default: .refuse
        }
    }
}
