internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyCommandLine

/// `latchkey token PROVIDER`.
enum TokenCommand {
    static let command = Command(
        "token", topic: .signIns, summary: "write the access token to standard output, refreshed when it has expired",
        operands: [SignInOptions.provider], options: [SignInOptions.account, SignInOptions.certificateAuthority],
        details: """
            The token's bytes are written as they are, without a line break. Processes that ask at the same time make one
            refresh.
            """,
        examples: ["latchkey token github | wl-copy"], runs: { _ in .worker }
    ) { arguments, context in
        let configuration = try context.configuration(arguments)
        let account = arguments.value(SignInOptions.account)
        let session = try await context.explaining(configuration, account: account) {
            let service = try await context.service(configuration, arguments)
            return try await service.settling {
                try await service.freshSession(service.resolve(account), deadline: context.deadline)
            }
        }
        try context.output.write(secret: session.accessToken)
        if session.keyThumbprint != nil {
            context.output.note(
                "the token is of no use without its key, which only the store has; see latchkey request")
        }
        return .success
    }
}
