internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey run PROVIDER -- COMMAND…`.
enum RunWithTokenCommand {
    static let command = Command(RunCommand.definition, startsPrograms: true) { arguments, context in
        let request = try RunRequest(arguments)
        let configuration = try context.configuration(named: request.provider ?? "")
        var program = try ChildProgram(request, context)
        let account = arguments.value(SignInDefinitions.account)
        // One for all: a person is asked for a passphrase once.
        let view = try await context.openView()
        try await program.take(request.fromFiles, from: view, context)
        let token = try await context.explaining(configuration, account: account) {
            let service = try await context.service(configuration, arguments, in: view)
            return try await service.settling {
                try await service.accessToken(for: account, deadline: context.deadline)
            }
        }
        try program.take(token, as: request.tokenVariable ?? variable(of: configuration))
        try await program.take(request.fromOptions, from: view, context)
        throw program.start()
    }

    /// What the service's own tools read, or else `LATCHKEY_TOKEN`.
    private static func variable(of configuration: ProviderConfiguration) -> String {
        switch configuration.server {
        case .builtIn("github", _): "GITHUB_TOKEN"
        case .builtIn("gitlab", _): "GITLAB_TOKEN"
        default: "LATCHKEY_TOKEN"
        }
    }
}
