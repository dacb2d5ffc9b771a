internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySignIn
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// `latchkey token PROVIDER`.
enum TokenCommand {
    static let command = Command(
        "token", topic: .signIns, summary: "write a valid access token to standard output",
        operands: [SignInOptions.provider], options: [SignInOptions.account, SignInOptions.certificateAuthority],
        details: """
            The token is written without a newline. If it has expired, token refreshes it first; concurrent processes share one refresh.
            """,
        examples: ["latchkey token github | wl-copy"],
        // Which descriptor holds is read once.
        runs: { $0.has(GlobalOptions.passphraseDescriptor) ? .worker : .oneThread }, usesNetwork: true
    ) { arguments, context in
        let session: StoredSession
        if WorkerProcess.isThis {
            session = try await refreshedSession(arguments, context)
        } else if let kept = try? await context.askingNobody.freshSession(arguments) {
            session = kept
        } else {
            // The network, a question, or what is wrong: one process says it all.
            ChildProcess.end(like: try WorkerProcess.run())
        }
        try context.output.write(secret: session.accessToken)
        if session.keyThumbprint != nil {
            context.output.note(
                "the token works only with its key, which stays in the store; use `latchkey request`")
        }
        return .success
    }

    private static func refreshedSession(
        _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> StoredSession {
        let configuration = try context.configuration(arguments)
        let account = arguments.value(SignInOptions.account)
        return try await context.explaining(configuration, account: account) {
            let service = try await context.service(configuration, arguments)
            return try await service.settling {
                try await service.freshSession(service.resolve(account), deadline: context.deadline)
            }
        }
    }
}

extension CommandContext {
    /// The stored session for a command line; `nil` if its token has to be refreshed first.
    func freshSession(_ arguments: ParsedArguments) async throws -> StoredSession? {
        let service = try await service(try configuration(arguments), arguments)
        let session = try await service.session(
            of: service.resolve(arguments.value(SignInOptions.account)), deadline: deadline)
        if session.isFresh(at: .now()) { return session }
        return nil
    }
}
