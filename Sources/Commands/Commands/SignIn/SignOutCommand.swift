internal import LatchkeySignIn

/// `latchkey sign-out PROVIDER` and `latchkey sign-out --everywhere`.
enum SignOutCommand {
    private static let everywhere = CommandOption.flag(
        "--everywhere", help: "all accounts at PROVIDER, or at all providers")

    static let command = Command(
        "sign-out", topic: .signIns, summary: "sign out: revoke the session's tokens and delete the session",
        operands: [.optional("PROVIDER", help: "provider's name from latchkey provider list")],
        options: [SignInOptions.account, everywhere, SignInOptions.certificateAuthority],
        details: """
            --everywhere signs out each account at PROVIDER, or at all providers. If one account fails, the others are signed out anyway.
            """,
        examples: ["latchkey sign-out github", "latchkey sign-out --everywhere"], runs: { _ in .worker },
        usesNetwork: true
    ) { arguments, context in
        guard arguments.has(everywhere) else {
            guard arguments.optionalOperand("PROVIDER") != nil else {
                throw CommandFailure(
                    .usage, "usage.missing-operand", "PROVIDER is missing",
                    hint: "add a name from `latchkey provider list`, or --everywhere")
            }
            let configuration = try context.configuration(arguments)
            let done = try await signOut(
                arguments.value(SignInOptions.account), configuration, arguments, context)
            try context.output.tell(done.message, json: done.json(configuration.name))
            if let failure = done.failure { throw failure }
            return .success
        }
        guard arguments.value(SignInOptions.account) == nil else {
            throw CommandFailure(
                .usage, "sign-out.one-or-all", "--account and --everywhere can't be combined",
                hint: "remove one of the options")
        }
        try await signOutEverywhere(arguments, context)
        return .success
    }

    /// The outcome for one session: the deletion here, and the server's response.
    private struct Done {
        let account: String
        let message: LogMessage
        let tokens: StaticString
        /// That the server still accepts the tokens, as far as is known: it must not go unnoticed.
        var failure: CommandFailure?

        func json(_ provider: ProviderName) -> JSONOutput {
            .object([
                ("provider", .message("\(provider)")), ("account", .text(Account(account).text)),
                ("session", .message("deleted")), ("tokens", .message("\(tokens)")),
            ])
        }
    }

    /// Ends one session. Throws when there is none, or it could not be deleted.
    private static func signOut(
        _ account: String?, _ configuration: ProviderConfiguration, _ arguments: ParsedArguments,
        _ context: CommandContext
    ) async throws -> Done {
        if let done = try await forgetEnd(account, configuration, context) { return done }
        return try await context.explaining(configuration, account: account) {
            let report = await (try context.service(configuration, arguments)).signOut(account)
            switch report.deletion {
            case .failed(let error) where report.revocation == .revoked:
                throw CommandFailure(
                    error, "the tokens were revoked, but the session couldn't be deleted: \(error.cause)",
                    hint: "run `latchkey sign-out` again once the store can be written")
            case .failed(let error): throw error
            case .absent:
                let error = SignInError(.notSignedIn)
                let ended = (try? await context.sessions(configuration).endedSessions()) ?? []
                guard account == nil, ended.isEmpty else { throw error }
                // Nothing is left to do.
                throw CommandFailure(error, "no account is signed in at \"\(configuration.name)\"", hint: nil)
            case .deleted: break
            }
            let name = report.account ?? ""
            switch report.revocation {
            case .revoked: return Done(account: name, message: "\(report)", tokens: "revoked")
            case .unsupported: return Done(account: name, message: "\(report)", tokens: "unsupported")
            case .notNeeded: return Done(account: name, message: "\(report)", tokens: "not-needed")
            case .failed(let error):
                return Done(
                    account: name, message: "the session of \(Account(name)) was deleted", tokens: "failed",
                    failure: CommandFailure(
                        error,
                        "the tokens weren't revoked and may still work: \(error.cause)",
                        hint: "end the session on the server's page of connected applications"))
            }
        }
    }

    /// Of a session that the server has ended nothing is left but that it is remembered.
    private static func forgetEnd(
        _ account: String?, _ configuration: ProviderConfiguration, _ context: CommandContext
    ) async throws -> Done? {
        let sessions = try await context.sessions(configuration)
        let ended = try await sessions.endedSessions(deadline: context.deadline)
        let current = try await sessions.currentAccount(deadline: context.deadline)
        let names = try await sessions.accounts(deadline: context.deadline)
        let isMeant = { (name: String) in
            (account ?? current).map { $0.hasSameOctets(as: name) } ?? (names.isEmpty && ended.count == 1)
        }
        guard let session = ended.first(where: { isMeant($0.account) }) else { return nil }
        let lease = try await sessions.lease(session.account, deadline: context.deadline)
        // Somebody may have signed in since: that session is revoked, too.
        guard try await sessions.load(session.account, deadline: context.deadline) == nil else { return nil }
        try await sessions.delete(session.account, deadline: context.deadline)
        lease.release()
        let account = Account(session.account)
        return Done(
            account: session.account,
            message: """
                the server had ended the session of \(account), as it said at \(LocalMoment(session.noticed)); its tokens \
                were deleted then
                """, tokens: "not-needed")
    }

    /// Every account at a provider, or at all of them. One that fails keeps no other from being signed out; the first
    /// failure is what the command ends with.
    private static func signOutEverywhere(_ arguments: ParsedArguments, _ context: CommandContext) async throws {
        let names =
            if let name = arguments.optionalOperand("PROVIDER") {
                [try context.configuration(named: name).name]
            } else {
                try context.providers.names()
            }
        var failure: (any Error)?
        var done: [JSONOutput] = []
        var count = 0
        func report(_ error: any Error, of place: LogMessage) {
            if let error = error as? any RedactedError { context.output.note("\(place): \(error.cause)") }
            failure = failure ?? error
        }
        for provider in names {
            do {
                guard let configuration = try context.providers.read(provider) else { continue }
                let sessions = try await context.sessions(configuration)
                let names = try await sessions.accounts(deadline: context.deadline)
                let ended = try await sessions.endedSessions(deadline: context.deadline).map(\.account)
                for name in names + ended.filter({ !names.contains($0) }) {
                    count += 1
                    let place: LogMessage = "\(provider) \(Account(name))"
                    do {
                        let one = try await signOut(name, configuration, arguments, context)
                        done.append(one.json(provider))
                        if !context.output.isJSON { context.output.note("\(place): \(one.message)") }
                        if let cause = one.failure { report(cause, of: place) }
                    } catch {
                        report(error, of: place)
                    }
                }
            } catch {
                report(error, of: "\(provider)")
            }
        }
        if context.output.isJSON { try context.output.write(.array(done)) }
        if let failure { throw failure }
        guard count > 0 else {
            throw CommandFailure(
                .notFound, "sign-in.not-signed-in", "no account is signed in",
                hint: "run `latchkey accounts` to see the accounts")
        }
    }
}
