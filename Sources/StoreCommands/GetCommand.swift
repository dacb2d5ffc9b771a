internal import Credentials
internal import RedactedLog
internal import Secrets
internal import Terminal

/// `latchkey get SERVICE ACCOUNT`.
enum GetCommand {
    static let command = Command(
        CommandDefinition(
            "get", summary: "write a secret to standard output", operands: KeyOperands.both,
            details: """
                The secret's bytes are written as they are, without a line break. Exit status 1: there is none.
                """)
    ) { arguments, context in
        let key = try arguments.credentialKey()
        let store = try await context.openStore(for: key)
        guard let record = try await store.read(key, as: Password.self, deadline: context.deadline) else {
            throw CommandFailure(absent: key, in: store)
        }
        try context.output.write(secret: record.takeSecret())
        return .success
    }
}

extension CommandFailure {
    /// Nothing is under a key.
    init(absent key: CredentialKey, in store: any CredentialStore) {
        self.init(
            .notFound, "credential.not-found", "there is no secret for \(key) in \(store.identity)",
            hint: "latchkey list shows what there is")
    }
}
