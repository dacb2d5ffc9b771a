internal import LatchkeyLog
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey use PROVIDER ACCOUNT`.
enum UseCommand {
    static let command = Command(SignInDefinitions.use) { arguments, context in
        let account = arguments.operand("ACCOUNT")
        try await context.service(arguments).use(account)
        context.output.note("\(Account(account)) is the current account now")
        return .success
    }
}
