internal import Credentials
internal import RedactedLog
internal import Terminal

/// `latchkey delete SERVICE ACCOUNT`.
enum DeleteCommand {
    static let command = Command(
        CommandDefinition(
            "delete", summary: "delete a secret", operands: KeyOperands.both,
            details: "Exit status 1: there is none.")
    ) { arguments, context in
        let key = try arguments.credentialKey()
        let store = try await context.openStore(for: key)
        guard try await store.delete(key, condition: .none, deadline: context.deadline) else {
            throw CommandFailure(absent: key, in: store)
        }
        context.logger.info("deleted \(key) from \(store.identity)")
        return .success
    }
}
