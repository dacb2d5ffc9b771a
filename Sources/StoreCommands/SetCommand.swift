internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal

/// `latchkey set SERVICE ACCOUNT`.
enum SetCommand {
    private static let label = CommandOption.value(
        "--label", "TEXT", help: "what keyring applications show; else the service and the account")

    static let command = Command(
        CommandDefinition(
            "set", summary: "save a secret from standard input, or ask for it", operands: KeyOperands.both,
            options: [label],
            details: """
                What a pipe or file holds is taken exactly, a line break at its end too. When standard input is a
                terminal, the secret is asked for there, without echo. When another store has a secret for the same account
                and can be looked into without asking anybody, a warning says so.
                """)
    ) { arguments, context in
        let key = try arguments.credentialKey()
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        let secret = try secret(for: key, limit: store.capabilities.maximumSecretByteCount, context)
        let options = SaveOptions(
            label: arguments.value(label), contentType: isText(secret) ? .text : .binary)
        try await store.save(secret, for: key, options: options, deadline: context.deadline)
        context.logger.info("saved \(key) in \(store.identity)")
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
        return .success
    }

    private static func secret(
        for key: CredentialKey, limit: Int, _ context: CommandContext
    ) throws -> Secret<Password> {
        if SecretInput.isTerminal() {
            return try context.prompt.ask("Secret for \(key)", as: Password.self, limit: limit)
        }
        return try SecretInput.readAll(as: Password.self, limit: limit)
    }

    /// Other programs show text as text, and would damage other bytes on the way.
    private static func isText(_ secret: borrowing Secret<Password>) -> Bool {
        secret.withExposedBytes { bytes in (try? UTF8Span(validating: bytes)) != nil }
    }
}
