/// `latchkey generate [SERVICE ACCOUNT]`.
enum GenerateCommand {
    private static let length = CommandOption.value(
        "--length", "N", form: .count(1024), help: "number of characters (default: 24)")
    private static let alphabet = CommandOption.value(
        "--alphabet", "SET", form: .choice(["alphanumeric", "printable", "digits", "hexadecimal"]),
        help: "characters to choose from (default: alphanumeric)")
    private static let words = CommandOption.value(
        "--words", "N", form: .count(64), help: "number of pronounceable words, of 16 bits each, instead of characters")
    private static let label = CommandOption.value(
        "--label", "TEXT", help: "label shown by keyring applications (default: SERVICE and ACCOUNT)")
    private static let force = CommandOption.flag("--force", help: "replace an existing secret without asking")

    static let command = Command(
        "generate", summary: "generate a random secret",
        operands: [
            .optional(
                "SERVICE", help: "service to save the secret for; without it, the secret goes to standard output"),
            .optional(
                "ACCOUNT", help: "account to save it for (default: the service's only account, or your login name)"),
        ],
        options: [length, alphabet, words, label, force],
        details: """
            24 of 62 characters have 142 bits. Each word of five letters has 16 bits, so five words have 80. generate asks
            at a terminal before it replaces a secret; without a terminal, add --force.
            """,
        examples: [
            "latchkey generate example.org alice", "latchkey generate --words 5", "latchkey generate --length 40",
        ]
    ) { arguments, context in
        try check(arguments)
        guard let service = arguments.optionalOperand("SERVICE") else {
            try context.output.write(secret: try make(arguments))
            return .success
        }
        let name = try CredentialName(service: service, account: arguments.optionalOperand("ACCOUNT"))
        let view = try await context.openView()
        let (key, store) = try await context.findOrName(name, in: view)
        let condition = try await context.conditionToReplace(key, in: store, isForced: arguments.has(force))
        let options = SaveOptions(label: arguments.value(label), contentType: .text, condition: condition)
        try await store.save(try make(arguments), for: key, options: options, deadline: context.deadline)
        context.output.note("stored a new secret for \(key) in \(store.identity)")
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
        return .success
    }

    private static func check(_ arguments: ParsedArguments) throws(CommandFailure) {
        if arguments.has(words), let other = [length, alphabet].first(where: arguments.has) {
            throw CommandFailure(
                .usage, "generate.contradiction", "\(words.name) and \(other.name) can't be combined",
                hint: "remove one of the options")
        }
        if arguments.optionalOperand("SERVICE") == nil, let other = [label, force].first(where: arguments.has) {
            throw CommandFailure(
                .usage, "generate.contradiction", "\(other.name) needs SERVICE",
                hint: "add SERVICE to save the secret, or remove \(other.name)")
        }
    }

    private static func make(_ arguments: ParsedArguments) throws -> Secret<Password> {
        if let count = arguments.count(words) { return try SecretGenerator.words(count) }
        return try SecretGenerator.characters(
            arguments.count(length) ?? 24,
            of: arguments.value(alphabet).flatMap(SecretGenerator.Alphabet.init) ?? .alphanumeric)
    }
}

extension CommandContext {
    /// The condition under which a command that isn't `set` may save under a key: that nothing is there, or still what
    /// the person agreed to replace.
    func conditionToReplace(
        _ key: CredentialKey, in store: any CredentialStore, isForced: Bool
    ) async throws -> WriteCondition {
        guard let version = try await store.read(key, as: Password.self, deadline: deadline)?.version else {
            return .absent
        }
        if isForced { return .matches(version) }
        guard SecretInput.isTerminal() else {
            throw CommandFailure(
                .cannotWrite, "secret.exists", "\"\(key)\" already has a secret, which was not changed",
                hint: "add --force to replace the secret")
        }
        let isAgreed = try mapError(
            { (error: PromptError) in
                CommandFailure(error, otherwise: "add --force to replace the secret without a question")
            }, of: prompt.confirm("Replace the secret for \(key)?"))
        guard isAgreed else {
            throw CommandFailure(
                .refused, "secret.kept", "the secret for \"\(key)\" was not changed",
                hint: "answer y, or add --force to replace the secret without a question")
        }
        return .matches(version)
    }
}
