internal import LatchkeyDBus
internal import LatchkeyKeyringService
internal import LatchkeyVault

/// `latchkey keyring enable` and `disable`.
enum EnableCommand {
    static let enable = Command(
        "keyring", "enable", summary: "start the keyring when a program asks for one",
        details: """
            enable writes these files:

              $XDG_DATA_HOME/dbus-1/services/org.freedesktop.secrets.service  for the session bus
              $XDG_CONFIG_HOME/systemd/user/latchkey-keyring.service          for systemd's user manager

            and org.freedesktop.impl.portal.desktop.latchkey.service beside the first one, for sandboxed applications.

            They contain the path of --vault. enable doesn't replace files that another program wrote. If another program serves a
            keyring on the session bus, enable names that program, which you have to end first.
            """,
        examples: ["latchkey keyring enable"]
    ) { _, context in
        try context.requireVault()
        // Programs would get errors from a keyring that has nothing to serve. A database may be out of reach for now.
        let path = context.settings.vaultPath
        if !VaultLocation.isDatabase(path) { try VaultStore.probe(at: path) }
        let paths = try units(context).write()
        await reload(context)
        let other = await otherOwner(context)
        try tell(
            context, "enabled", paths,
            other == nil
                ? "the session bus starts the keyring when a program asks for one"
                : "the session bus starts the keyring once no other program serves one")
        if let other {
            context.output.note("\(other) serves a keyring on this bus; to use Latchkey's, end that program")
        }
        let hasKeyFile = context.environment["LATCHKEY_KEY_FILE"] != nil
        if hasKeyFile || context.environment["LATCHKEY_PASSPHRASE_FILE"] != nil {
            let setting: LogMessage = hasKeyFile ? "key-file" : "passphrase-file"
            context.output.warn(
                "the keyring will not get the variable that names the vault's key, so the vault may stay locked",
                hint: "to name the key for each later command: latchkey config set \(setting) PATH")
        }
        return .success
    }

    static let disable = Command(
        "keyring", "disable", summary: "remove the files that keyring enable wrote",
        details: "disable doesn't stop a running keyring.",
        examples: ["latchkey keyring disable"]
    ) { _, context in
        let (paths, refusal) = KeyringUnits(context.environment, program: "", vault: nil, usesNetwork: false).remove()
        guard !paths.isEmpty || refusal != nil else {
            throw CommandFailure(
                .notFound, "keyring.not-enabled", "latchkey keyring enable wrote no files here",
                hint: "see which program serves the keyring: latchkey keyring status")
        }
        if !paths.isEmpty {
            await reload(context)
            try tell(context, "disabled", paths, "the session bus no longer starts the keyring")
        }
        if let refusal { throw refusal }
        return .success
    }

    private static func units(_ context: CommandContext) throws(CommandFailure) -> KeyringUnits {
        let usual = context.environment.dataDirectory + "/vault"
        let vault = context.settings.vaultPath == usual ? nil : context.settings.vaultPath
        let program = ThisProgram.path ?? ""
        // The files have syntaxes of their own.
        let isDatabase = VaultLocation.isDatabase(context.settings.vaultPath)
        let isPlain = (vault ?? "").utf8.allSatisfy {
            ASCII.isPlainInPaths($0) || (isDatabase && "?&@,".utf8.contains($0))
        }
        guard isPlain, program.utf8.allSatisfy(ASCII.isPlainInPaths), !program.isEmpty else {
            throw CommandFailure(
                .refused, "keyring.unfit-path", "a path has characters that the bus or systemd would misread",
                hint: "use a path with only letters, digits and / . _ - + = :")
        }
        return KeyringUnits(context.environment, program: program, vault: vault, usesNetwork: isDatabase)
    }

    /// The program that has the keyring's name on the session bus, unless it is Latchkey.
    private static func otherOwner(_ context: CommandContext) async -> BusNameOwner? {
        guard let address = context.sessionBus else { return nil }
        let found: Result<KeyringInquiry, BusFault> = await Result(
            awaiting: try await KeyringInquiry.ask(at: address, within: context.settings.timeout))
        // One that doesn't respond may be Latchkey's.
        guard case .success(let found) = found, found.description == nil, !found.isSilent else { return nil }
        return found.owner
    }

    /// Makes a running bus read its files again. The next bus reads them at its start.
    private static func reload(_ context: CommandContext) async {
        guard let address = context.sessionBus else { return }
        if await failure(BusFault.self, awaiting: try await KeyringInquiry.reload(at: address)) != nil {
            context.logger.info("the session bus didn't reload its files")
        }
    }

    private static func tell(
        _ context: CommandContext, _ change: StaticString, _ paths: [String], _ message: LogMessage
    ) throws {
        let shown = paths.map { LoggableText(reviewed: "a path from the XDG environment", unredacted: $0) }
        if !context.output.isJSON { for path in shown { try context.output.write("\(path)") } }
        try context.output.tell(
            message,
            json: .object([("change", .message("\(change)")), ("files", .array(shown.map { .text($0) }))]))
    }
}
