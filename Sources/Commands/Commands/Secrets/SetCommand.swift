internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// `latchkey set SERVICE ACCOUNT`.
enum SetCommand {
    private static let label = CommandOption.value(
        "--label", "TEXT", help: "what keyring applications show; else the service and the account")

    static let force = CommandOption.flag("--force", help: "at a terminal, replace without asking")
    private static let allowEmpty = CommandOption.flag("--allow-empty", help: "save a secret of no bytes as well")

    static let command = Command(
        "set", summary: "save a secret from standard input, or ask for it", operands: KeyOperands.both,
        options: [label, force, allowEmpty],
        details: """
            What a pipe or file holds is taken exactly, a line break at its end too. When standard input is a
            terminal, the secret is asked for there, twice and without echo, and a question comes before another
            one is replaced. When another store has a secret for the same account
            and can be looked into without asking anybody, a warning says so.
            """,
        examples: [
            "latchkey set example.org alice", "printf %s s3cret | latchkey set example.org alice",
        ]
    ) { arguments, context in
        let key = try arguments.credentialKey()
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        let isTyped = SecretInput.isTerminal()
        if isTyped && !arguments.has(force) { try await context.confirmReplacing(key, in: store) }
        let secret = try secret(
            for: key, limit: store.capabilities.maximumSecretByteCount, isTyped: isTyped, context)
        guard !secret.isEmpty || arguments.has(allowEmpty) else {
            throw CommandFailure(
                .badData, "secret.empty", "the secret is empty, and nothing was saved",
                hint: "give --allow-empty to save it all the same")
        }
        if !isTyped && context.output.tellsPerson && secret.endsWithLineBreak {
            context.output.note("the secret ends with a line break, which is part of it; `printf %s` writes none")
        }
        let options = SaveOptions(
            label: arguments.value(label), contentType: secret.isText ? .text : .binary)
        try await store.save(secret, for: key, options: options, deadline: context.deadline)
        context.logger.info("saved \(key) in \(store.identity)")
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
        return .success
    }

    private static func secret(
        for key: CredentialKey, limit: Int, isTyped: Bool, _ context: CommandContext
    ) throws -> Secret<Password> {
        if isTyped {
            return try mapError(
                { (error: PromptError) in
                    CommandFailure(error, otherwise: "give the secret on standard input, as in `latchkey set … < FILE`")
                },
                of: context.prompt.askTwice(
                    "Secret for \(key)", again: "The same again", as: Password.self, limit: limit))
        }
        return try SecretInput.readAll(as: Password.self, limit: limit)
    }
}

extension CommandContext {
    /// Asks the person before the secret under a key is lost. Throws where they want to keep it.
    func confirmReplacing(_ key: CredentialKey, in store: any CredentialStore) async throws {
        guard try await store.read(key, as: Password.self, deadline: deadline) != nil,
            try !mapError(
                { (error: PromptError) in
                    CommandFailure(error, otherwise: "give --force to replace it without a question")
                }, of: prompt.confirm("Replace the secret for \(key)?"))
        else { return }
        throw CommandFailure(
            .refused, "secret.kept", "the secret for \(key) was left as it is",
            hint: "give --force to replace it without a question")
    }
}
