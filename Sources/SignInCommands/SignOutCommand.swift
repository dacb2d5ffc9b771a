internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey sign-out PROVIDER` and `latchkey sign-out --everywhere`.
enum SignOutCommand {
    static let command = Command(SignInDefinitions.signOut) { arguments, context in
        guard arguments.has(SignInDefinitions.everywhere) else {
            guard arguments.optionalOperand("PROVIDER") != nil else {
                throw CommandFailure(
                    .usage, "usage.missing-operand", "PROVIDER is missing",
                    hint: "name one from latchkey provider list, or give --everywhere")
            }
            let service = try await context.service(arguments)
            context.output.note(try await signOut(arguments.value(SignInDefinitions.account), service))
            return .success
        }
        guard arguments.value(SignInDefinitions.account) == nil else {
            throw CommandFailure(
                .usage, "sign-out.one-or-all", "--account and --everywhere can't be used together",
                hint: "leave one of them out")
        }
        try await signOutEverywhere(arguments, context)
        return .success
    }

    /// Ends one session, and says what was done.
    private static func signOut(_ account: String?, _ service: SignInService) async throws -> LogMessage {
        let report = await service.signOut(account)
        switch report.deletion {
        case .failed(let error): throw error
        case .absent: throw SignInError(.notSignedIn)
        case .deleted: break
        }
        // The session is gone from here; that the server still accepts its tokens must not go unnoticed.
        if case .failed(let error) = report.revocation { throw error }
        return "\(report)"
    }

    /// Every account at a provider, or at all of them. One that fails keeps no other from being signed out; the first
    /// failure is what the command ends with.
    private static func signOutEverywhere(_ arguments: ParsedArguments, _ context: CommandContext) async throws {
        let configurations =
            if let name = arguments.optionalOperand("PROVIDER") {
                [try context.configuration(named: name)]
            } else {
                try context.providers.names().compactMap { try context.providers.read($0) }
            }
        var failure: (any Error)?
        var count = 0
        for configuration in configurations {
            let service = try await context.service(configuration, arguments)
            for session in try await service.accounts() {
                count += 1
                let account = Account(session.account)
                do {
                    let report = try await signOut(session.account, service)
                    context.output.note("\(configuration.name) \(account): \(report)")
                } catch {
                    if let error = error as? any RedactedError {
                        context.output.note("\(configuration.name) \(account): \(error.cause)")
                    }
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        guard count > 0 else { throw SignInError(.notSignedIn) }
    }
}
