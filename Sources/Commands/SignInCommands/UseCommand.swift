internal import LatchkeyLog
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey use PROVIDER ACCOUNT`.
enum UseCommand {
    static let command = Command(SignInDefinitions.use) { arguments, context in
        let account = arguments.operand("ACCOUNT")
        let configuration = try context.configuration(arguments)
        try await context.explaining(configuration, account: account) {
            try await context.service(configuration, arguments).use(account)
        }
        try context.output.tell(
            "\(Account(account)) is the current account now",
            json: .object([
                ("provider", .message("\(configuration.name)")), ("account", .text(Account(account).text)),
            ]))
        return .success
    }
}
