package import LatchkeyLog

extension LogMessage {
    /// A number with its noun: `1 entry`, `2 entries`.
    package static func counted(_ count: some BinaryInteger, _ one: LogMessage, _ many: LogMessage) -> LogMessage {
        "\(Int(clamping: count)) \(count == 1 ? one : many)"
    }

    package static func credentials(_ count: some BinaryInteger) -> LogMessage {
        counted(count, "credential", "credentials")
    }
}

extension LogMessage {
    /// The message with the command line's own controls for what would help.
    package var worded: LogMessage { worded(provider: nil) }

    /// - Parameters:
    ///   - provider: the provider that the command is about, where it is about one.
    ///   - diagnosis: what the doctor says in place of its own name.
    package func worded(provider: LogMessage?, diagnosis: LogMessage? = nil) -> LogMessage {
        if recoveries.isEmpty { return self }
        return wording { recovery in
            if recovery == .diagnose, let diagnosis { return diagnosis }
            return recovery.controls(provider)
        }
    }
}

extension Recovery {
    /// Latchkey's option, command or variable for it.
    fileprivate func controls(_ provider: LogMessage?) -> LogMessage {
        switch self {
        case .chooseStore: "choose another store with --store"
        case .diagnose: "run `latchkey doctor` for more"
        case .allowMoreTime: "raise --timeout"
        case .moveCredentials: "move what is there into one with `latchkey move`"
        case .createCollection: "create one by adding --create-collection to `latchkey set`"
        case .chooseCollection: "choose another collection with --collection"
        case .allowPrompt: "run the command without --no-prompt"
        case .printSchema: "print the tables that a vault needs with `latchkey vault schema`"
        case .createVault: "create a vault with `latchkey vault init`"
        case .verifyVault: "run `latchkey vault verify`"
        case .reopenVault: "run the command again"
        case .unlockVault: "unlock the vault with `latchkey vault unlock`"
        case .lockVault: "remove the unlocked key with `latchkey vault lock`"
        case .listKeySlots: "run `latchkey vault slots` to see the slots"
        case .chooseKeyFile: "set LATCHKEY_KEY_FILE (or key-file in the configuration) to the key file's path"
        case .createSystemCredential: "encrypt what `latchkey vault new-key` writes"
        case .signIn: provider.map { "run `latchkey sign-in \($0)`" } ?? "sign in with `latchkey sign-in`"
        case .chooseAccount:
            provider.map { "choose an account with --account, or run `latchkey use \($0)`" }
                ?? "choose an account with --account"
        case .nameAccount: "choose another name with --account"
        case .saveClientSecret: "add the provider again with --client-secret-stdin or --client-key-stdin"
        case .registerClient: "register a client at the server, and pass its --client-id"
        case .chooseRedirect:
            "remove --scheme, or pass the --redirect that the client is registered with, such as com.example.app:/callback"
        case .dropDPoP: "add the provider again without --dpop"
        case .trustCertificate: "pass the server's own CA with --ca-file, if it has one"
        case .paste: "use --paste at a terminal to open the page on another machine"
        case .browser: "set BROWSER and use --browser"
        case .device: "add --device if the server has codes for other devices"
        case .browserOrPaste: "sign in with --browser or --paste"
        case .allowScheme: "add --any-scheme"
        case .installHandler: "install it with latchkey scheme add"
        case .chooseFile: "pass the file's path: latchkey import SOURCE FILE"
        }
    }
}
