internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

/// `latchkey delete SERVICE ACCOUNT`.
enum DeleteCommand {
    static let command = Command(
        "delete", summary: "delete a secret", operands: KeyOperands.both,
        details: "Exit status 1: there is none.",
        examples: ["latchkey delete example.org alice"]
    ) { arguments, context in
        let key = try arguments.credentialKey()
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        guard try await store.delete(key, condition: .none, deadline: context.deadline) else {
            throw try await context.absence(of: key, in: store, view)
        }
        context.logger.info("deleted \(key) from \(store.identity)")
        // Where the same secret lives twice, the second one must not come to light again.
        for other in view.stores where other.identity != store.identity {
            if try await other.delete(key, condition: .none, deadline: context.deadline) {
                context.logger.info("deleted \(key) from \(other.identity)")
            }
        }
        return .success
    }
}
