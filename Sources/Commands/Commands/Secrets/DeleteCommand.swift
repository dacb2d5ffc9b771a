/// `latchkey delete SERVICE [ACCOUNT]`.
enum DeleteCommand {
    static let command = Command(
        "delete", summary: "delete a secret", operands: KeyOperands.both, options: [.yes],
        details: """
            At a terminal, delete asks before it deletes. If the same secret is also in another store that --all-stores opens,
            delete deletes that copy too. In a keyring it deletes all items with that service and user, also of other programs.
            Exits with 1 if the secret isn't found.
            """,
        examples: ["latchkey delete example.org alice", "latchkey delete example.org alice --yes"]
    ) { arguments, context in
        let name = try arguments.credentialName()
        let view = try await context.openView()
        let (key, store) = try await context.find(name, in: view)
        if context.asks(arguments), try await store.read(key, as: Password.self, deadline: context.deadline) != nil,
            try !context.confirm("Delete the secret for \(key) from \(store.identity)?")
        {
            throw CommandFailure(
                .refused, "secret.kept", "the secret for \"\(key)\" was not deleted",
                hint: "answer y, or add --yes to delete without a question")
        }
        guard try await store.delete(key, condition: .none, deadline: context.deadline) else {
            throw try await context.absence(of: key, in: store, view)
        }
        context.output.note("deleted the secret for \(key) from \(store.identity)")
        // If the secret is in two places, the second copy must not reappear.
        for other in view.stores where other.identity != store.identity {
            if try await other.delete(key, condition: .none, deadline: context.deadline) {
                context.output.note("deleted the secret for \(key) from \(other.identity)")
            }
        }
        return .success
    }
}

extension CommandOption {
    /// For commands that ask before they change something.
    static let yes = flag("--yes", help: "don't ask for confirmation")
}

extension CommandContext {
    /// Whether a command that has the option `--yes` asks first: at a terminal, if the option isn't given.
    func asks(_ arguments: ParsedArguments) -> Bool { SecretInput.isTerminal() && !arguments.has(.yes) }

    /// Asks before something is deleted.
    func confirm(_ question: LogMessage) throws -> Bool {
        try mapError(
            { (error: PromptError) in CommandFailure(error, otherwise: "add --yes to go on without a question") },
            of: prompt.confirm(question))
    }
}
