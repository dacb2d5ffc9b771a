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

    /// - Parameter provider: the provider that the command is about, where it is about one.
    package func worded(provider: LogMessage?) -> LogMessage {
        recoveries.isEmpty ? self : wording { $0.controls(provider) }
    }
}

extension Recovery {
    /// The option, command or variable of ours that does it.
    fileprivate func controls(_ provider: LogMessage?) -> LogMessage {
        switch self {
        case .chooseStore: "choose another store with --store"
        case .diagnose: "`latchkey doctor` says more"
        case .allowMoreTime: "raise --timeout"
        case .moveCredentials: "move what is there into one with `latchkey move`"
        case .createCollection: "let `latchkey set --create-collection` make one"
        case .chooseCollection: "name another one with --collection"
        case .allowPrompt: "run this where it may ask (without --no-prompt)"
        case .printSchema: "print the tables that a vault needs with `latchkey vault schema`"
        case .createVault: "make a vault with `latchkey vault init`"
        case .verifyVault: "run `latchkey vault verify`"
        case .unlockVault: "unlock it with `latchkey vault unlock`"
        case .lockVault: "take it away with `latchkey vault lock`"
        case .listKeySlots: "`latchkey vault slots` shows them"
        case .chooseKeyFile: "name its key file in LATCHKEY_KEY_FILE, or as key-file in the configuration"
        case .createSystemCredential: "encrypt what `latchkey vault new-key` writes"
        case .signIn: provider.map { "sign in first: latchkey sign-in \($0)" } ?? "sign in first with latchkey sign-in"
        case .chooseAccount:
            provider.map { "choose one with --account, or latchkey use \($0)" } ?? "choose one with --account"
        case .nameAccount: "give the account another name with --account"
        case .saveClientSecret: "add the provider again with --client-secret-stdin"
        case .registerClient: "register a client with the server, and give its --client-id"
        case .chooseRedirect:
            "leave --scheme out, or give the --redirect that the client is registered with, such as com.example.app:/callback"
        case .dropDPoP: "add the provider again without --dpop"
        case .trustCertificate: "give the server's own CA with --ca-file, if it has one"
        case .paste: "use --paste at a terminal to open the page on another machine"
        case .browser: "set BROWSER and use --browser"
        case .browserOrPaste: "sign in with --browser or --paste"
        case .installHandler: "install it with latchkey scheme add"
        case .copySession: "`latchkey copy` brings a session here"
        case .chooseFile: "give the file's path: latchkey import --from SOURCE FILE"
        }
    }
}
