internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey provider remove NAME`.
enum ProviderRemoveCommand {
    static let command = Command(SignInDefinitions.providerRemove) { arguments, context in
        let configuration = try context.configuration(named: arguments.operand("NAME"))
        let service = try await context.service(configuration, arguments)
        let accounts = try await service.accounts()
        guard accounts.isEmpty else {
            throw CommandFailure(
                .refused, "provider.in-use", "\(accounts.count) accounts are signed in at \(configuration.name)",
                hint: "sign out first: latchkey sign-out \(configuration.name)")
        }
        try await service.sessions.store.delete(
            SignInService.clientSecretKey(of: service.provider), condition: .none, deadline: context.deadline)
        if case .builtIn(let name, let host?) = configuration.server {
            try await BuiltInProvider.named(name)?.forgetRegistration(
                of: configuration.name, at: host, in: service.sessions.store, deadline: context.deadline)
        }
        _ = try context.providers.remove(configuration.name)
        context.output.note("removed the provider \(configuration.name)")
        return .success
    }
}
