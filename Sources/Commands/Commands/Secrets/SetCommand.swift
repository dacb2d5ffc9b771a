/// `latchkey set SERVICE [ACCOUNT]`.
enum SetCommand {
    private static let label = CommandOption.value(
        "--label", "TEXT", help: "label shown by keyring applications (default: SERVICE and ACCOUNT)")

    static let force = CommandOption.flag("--force", help: "at a terminal, replace without asking")
    private static let allowEmpty = CommandOption.flag("--allow-empty", help: "allow a secret of 0 bytes")
    private static let trim = CommandOption.flag("--trim", help: "remove one newline from the end of piped input")

    static let command = Command(
        "set", summary: "store a secret",
        operands: [
            KeyOperands.both[0],
            .optional(
                "ACCOUNT",
                help: "account that the secret belongs to (default: the service's only account, or your login name)"),
        ],
        options: [label, force, allowEmpty, trim],
        details: """
            Piped input is stored unchanged, including a final newline, unless you add --trim. At a terminal, set asks for
            the secret twice and doesn't show what you type. At a terminal, set also asks before it replaces a secret, and
            stores nothing if another process changes the secret while you type. If another unlocked store has a secret for
            the same account, a warning says which.
            """,
        examples: [
            "latchkey set example.org alice", "printf %s s3cret | latchkey set example.org alice",
            "latchkey set example.org alice --trim < FILE",
        ]
    ) { arguments, context in
        let name = try arguments.credentialName()
        let view = try await context.openView()
        let (key, store) = try await context.findOrName(name, in: view)
        let isTyped = SecretInput.isTerminal()
        let condition =
            isTyped && !arguments.has(force)
            ? try await context.conditionToReplace(key, in: store, isForced: false) : .none
        var secret = try secret(
            for: key, limit: store.capabilities.maximumSecretByteCount, isTyped: isTyped, context)
        if !isTyped && secret.endsWithLineBreak {
            if arguments.has(trim) {
                secret = secret.withoutLineBreak()
            } else {
                context.output.note("the secret ends with a newline, which is stored too; to remove it, add --trim")
            }
        }
        guard !secret.isEmpty || arguments.has(allowEmpty) else {
            throw CommandFailure(
                .badData, "secret.empty", "nothing was stored because the secret is empty",
                hint: "to store an empty secret, add --allow-empty")
        }
        let options = SaveOptions(
            label: arguments.value(label), contentType: secret.isText ? .text : .binary, condition: condition)
        do {
            try await store.save(secret, for: key, options: options, deadline: context.deadline)
        } catch let error as StoreError where error.code == .conflict && condition != .none {
            throw CommandFailure(
                error, "another process changed the secret for \"\(key)\" while you typed, so nothing was stored",
                hint: "run the command again")
        }
        context.output.note("stored the secret for \(key) in \(store.identity)")
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
        return .success
    }

    private static func secret(
        for key: CredentialKey, limit: Int, isTyped: Bool, _ context: CommandContext
    ) throws -> Secret<Password> {
        if isTyped {
            return try mapError(
                { (error: PromptError) in
                    CommandFailure(error, otherwise: "pipe the secret in, as in `latchkey set … < FILE`")
                },
                of: context.prompt.askTwice(
                    "Secret for \(key)", again: "Repeat it", as: Password.self, limit: limit))
        }
        return try SecretInput.readAll(as: Password.self, limit: limit)
    }
}

extension CommandContext {
    /// `find`, for a secret that may be new: the account of a service's first one is the login name, unless named.
    func findOrName(
        _ name: CredentialName, in view: StoreView
    ) async throws -> (key: CredentialKey, store: any CredentialStore) {
        let absence = CommandFailure(
            .usage, "usage.missing-operand", "ACCOUNT is missing, and neither LOGNAME nor USER is set",
            hint: "add the account after SERVICE")
        return try await find(
            name, in: view, otherwise: environment["LOGNAME"] ?? environment["USER"], absence: absence)
    }
}
