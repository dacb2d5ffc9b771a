internal import LatchkeyJSON
internal import LatchkeyOAuth
internal import LatchkeySignIn

/// `latchkey token PROVIDER`.
enum TokenCommand {
    static let id = CommandOption.flag("--id", help: "use the ID token, which says who signed in (scope openid)")

    static let command = Command(
        "token", topic: .signIns, summary: "write a valid access token to standard output",
        operands: [SignInOptions.provider], options: [SignInOptions.account, id, SignInOptions.certificateAuthority],
        details: """
            The token is written without a newline. If it has expired, token refreshes it first; concurrent processes share one refresh.
            With --json, the token is in an object with its type, its end and its scopes.
            """,
        examples: ["latchkey token github | wl-copy", "latchkey token work --id", "latchkey token work --json"],
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
        try write(session, kind(arguments), context)
        if session.keyThumbprint != nil, kind(arguments) == .access { context.output.note(bound) }
        return .success
    }

    static let bound: LogMessage = "the token works only with its key, which stays in the store; use `latchkey request`"

    /// The token that the command line asks for.
    static func kind(_ arguments: ParsedArguments) -> StoredSession.Token { arguments.has(id) ? .id : .access }

    private static func write(
        _ session: borrowing StoredSession, _ kind: StoredSession.Token, _ context: CommandContext
    ) throws {
        // A fresh session has the wanted token.
        guard let token = session.bearer(kind) else { throw SignInError(.noIDToken) }
        guard context.output.isJSON else { return try context.output.write(secret: token) }
        var answer = JSONWriter()
        try answer.member("token", secret: token)
        let type = kind == .id ? "ID token" : session.keyThumbprint == nil ? "Bearer" : "DPoP"
        try answer.member("type", publicText: type)
        if let expiry = session.end(of: kind) {
            try answer.member("expires", publicText: Moment(expiry).text)
        }
        try answer.member("scopes", publicTexts: session.scopes.scopes)
        try context.output.write(secret: answer.finish(as: MessageBody.self))
    }

    private static func refreshedSession(
        _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> StoredSession {
        let configuration = try context.configuration(arguments)
        let account = arguments.value(SignInOptions.account)
        return try await context.explaining(configuration, account: account) {
            let service = try await context.service(configuration, arguments)
            return try await service.settling {
                try await service.freshSession(
                    service.resolve(account), with: kind(arguments), deadline: context.deadline)
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
        if session.isFresh(at: .now(), TokenCommand.kind(arguments)) { return session }
        return nil
    }
}
