internal import Secrets
internal import SignIn
internal import StoreCommands
internal import Terminal

/// `latchkey token PROVIDER`.
enum TokenCommand {
    static let command = Command(SignInDefinitions.token) { arguments, context in
        let service = try await context.service(arguments)
        let token = try await service.settling {
            try await service.accessToken(
                for: arguments.value(SignInDefinitions.account), deadline: context.deadline)
        }
        try context.output.write(secret: token)
        return .success
    }
}
