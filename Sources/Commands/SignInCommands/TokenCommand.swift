internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey token PROVIDER`.
enum TokenCommand {
    static let command = Command(SignInDefinitions.token) { arguments, context in
        let configuration = try context.configuration(arguments)
        let account = arguments.value(SignInDefinitions.account)
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
