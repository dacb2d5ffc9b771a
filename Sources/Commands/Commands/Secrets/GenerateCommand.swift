internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

/// `latchkey generate [SERVICE ACCOUNT]`.
enum GenerateCommand {
    private static let length = CommandOption.value(
        "--length", "N", form: .count(1024), help: "how many characters (24)")
    private static let alphabet = CommandOption.value(
        "--alphabet", "SET", form: .choice(["alphanumeric", "printable", "digits", "hexadecimal"]),
        help: "alphanumeric, printable, digits or hexadecimal (alphanumeric)")
    private static let words = CommandOption.value(
        "--words", "N", form: .count(64), help: "so many words that can be spoken instead, with 16 bits each")
    private static let label = CommandOption.value(
        "--label", "TEXT", help: "what keyring applications show; else the service and the account")
    private static let force = CommandOption.flag("--force", help: "replace a secret that is there")

    static let command = Command(
        "generate", summary: "make a random secret, and save it or write it to standard output",
        operands: [
            .optional("SERVICE", help: "what the secret is for: save it, and show it to nobody"),
            .optional("ACCOUNT", help: "whose it is"),
        ],
        options: [length, alphabet, words, label, force],
        details: """
            24 characters out of 62 have 142 bits; each word of five letters has 16, so five of them have 80. A secret that
            is there is replaced after a question at a terminal, and elsewhere with --force alone.
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
        let key = try CredentialKey(service: service, account: arguments.optionalOperand("ACCOUNT") ?? "")
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        let condition = try await context.conditionToReplace(key, in: store, isForced: arguments.has(force))
        let options = SaveOptions(label: arguments.value(label), contentType: .text, condition: condition)
        try await store.save(try make(arguments), for: key, options: options, deadline: context.deadline)
        context.output.note("saved a new secret for \(key)")
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
        return .success
    }

    private static func check(_ arguments: ParsedArguments) throws(CommandFailure) {
        if arguments.has(words), let other = [length, alphabet].first(where: arguments.has) {
            throw CommandFailure(
                .usage, "generate.contradiction", "\(words.name) and \(other.name) name two kinds of secrets",
                hint: "leave one of them out")
        }
        if arguments.optionalOperand("SERVICE") == nil, let other = [label, force].first(where: arguments.has) {
            throw CommandFailure(
                .usage, "generate.contradiction", "\(other.name) is for a secret that is saved",
                hint: "give SERVICE and ACCOUNT, or leave it out")
        }
        if arguments.optionalOperand("SERVICE") != nil && arguments.optionalOperand("ACCOUNT") == nil {
            throw CommandFailure(
                .usage, "usage.missing-operand", "ACCOUNT is missing",
                hint: "usage: latchkey generate [OPTIONS] [SERVICE] [ACCOUNT]")
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
                .cannotWrite, "secret.exists", "there is a secret for \(key) already, and it was left as it is",
                hint: "give --force to replace it")
        }
        try await confirmReplacing(key, in: store)
        return .matches(version)
    }
}
