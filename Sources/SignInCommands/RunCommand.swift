internal import Glibc
internal import LatchkeyEnvironment
internal import LatchkeyHardening
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeySystem
internal import LatchkeyTerminal

/// `latchkey run PROVIDER -- COMMAND…`.
enum RunCommand {
    static let command = Command(SignInDefinitions.run) { arguments, context in
        let configuration = try context.configuration(arguments)
        let variable = arguments.value(SignInDefinitions.variable) ?? variable(of: configuration)
        let words = arguments.rest("COMMAND")
        // Before a token is fetched, or requested from the server.
        let path = try path(of: words[0], context)
        let account = arguments.value(SignInDefinitions.account)
        let token = try await context.explaining(configuration, account: account) {
            let service = try await context.service(configuration, arguments)
            return try await service.settling {
                try await service.accessToken(for: account, deadline: context.deadline)
            }
        }
        SecretPrompt.restoreTerminal()
        var sink = ChildEnvironmentSink(variable: variable, path: path, arguments: words)
        if let error = failure(ChildEnvironmentSink.StartFailure.self, of: try token.pour(into: &sink)) {
            throw notStarted(words[0], error.number)
        }
        return .success
    }

    /// What the service's own tools read, or else `LATCHKEY_TOKEN`.
    private static func variable(of configuration: ProviderConfiguration) -> String {
        switch configuration.server {
        case .builtIn("github", _): "GITHUB_TOKEN"
        case .builtIn("gitlab", _): "GITLAB_TOKEN"
        default: "LATCHKEY_TOKEN"
        }
    }

    private static func path(of name: String, _ context: CommandContext) throws -> String {
        guard let path = DetachedProgram.path(of: name, in: context.environment["PATH"]) else {
            throw notStarted(name, ENOENT)
        }
        guard unsafe access(path, X_OK) == 0 else { throw notStarted(name, errno) }
        return path
    }

    /// As env(1) and shells tell the two apart: 127 for a program that isn't there, 126 for one that can't be started.
    private static func notStarted(_ name: String, _ number: Int32) -> CommandFailure {
        let shown = LoggableText(reviewed: "the name of a program on the command line", unredacted: name)
        guard number == ENOENT else {
            return CommandFailure(
                .programNotStarted, "run.not-started", "the program \(shown) can't be started (errno \(number))")
        }
        return CommandFailure(
            .programNotFound, "run.not-found", "there is no program \(shown)",
            hint: "give its path, or see whether it is installed")
    }
}
