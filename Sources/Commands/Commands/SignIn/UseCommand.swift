internal import LatchkeySignIn

/// `latchkey use PROVIDER ACCOUNT`.
enum UseCommand {
    static let command = Command(
        "use", topic: .signIns, summary: "make an account the current account",
        operands: [SignInOptions.provider, .required("ACCOUNT", help: "an account from latchkey accounts")],
        examples: ["latchkey use github alice"]
    ) { arguments, context in
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
