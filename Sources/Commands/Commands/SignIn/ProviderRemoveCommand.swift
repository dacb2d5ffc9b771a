internal import LatchkeySignIn

/// `latchkey provider remove PROVIDER`.
enum ProviderRemoveCommand {
    static let command = Command(
        "provider", "remove", summary: "remove a server and its client secret", operands: [SignInOptions.provider],
        examples: ["latchkey provider remove work"]
    ) { arguments, context in
        let configuration = try context.configuration(arguments)
        let sessions = try await context.sessions(configuration)
        let accounts = try await sessions.accounts(deadline: context.deadline)
        guard accounts.isEmpty else {
            throw CommandFailure(
                .refused, "provider.in-use",
                "\(LogMessage.counted(accounts.count, "account is", "accounts are")) signed in at \(configuration.name)",
                hint: "to sign out, run `latchkey sign-out \(configuration.name) --everywhere`")
        }
        try await sessions.store.delete(
            SignInService.clientSecretKey(of: configuration.provider()), condition: .none, deadline: context.deadline)
        if case .builtIn(let name, let host?) = configuration.server {
            try await BuiltInProvider.named(name)?.forgetRegistration(
                of: configuration.name, at: host, in: sessions.store, deadline: context.deadline)
        }
        for ended in try await sessions.endedSessions(deadline: context.deadline) {
            try await sessions.delete(ended.account, deadline: context.deadline)
        }
        try await sessions.setCurrentAccount(nil, deadline: context.deadline)
        _ = try context.providers.remove(configuration.name)
        try context.output.tell(
            "removed the provider \(configuration.name)",
            json: .object([("provider", .message("\(configuration.name)")), ("change", .message("removed"))]))
        return .success
    }
}
