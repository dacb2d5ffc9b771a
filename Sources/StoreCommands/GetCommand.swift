internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal

/// `latchkey get SERVICE ACCOUNT`.
enum GetCommand {
    static let command = Command(
        CommandDefinition(
            "get", summary: "write a secret to standard output", operands: KeyOperands.both,
            details: """
                The secret's bytes are written as they are, without a line break. Exit status 1: there is none;
                the hint names another store that has it and can be looked into without asking anybody.
                """)
    ) { arguments, context in
        let key = try arguments.credentialKey()
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        guard let record = try await store.read(key, as: Password.self, deadline: context.deadline) else {
            throw try await context.absence(of: key, in: store, view)
        }
        try context.output.write(secret: record.takeSecret())
        return .success
    }
}
