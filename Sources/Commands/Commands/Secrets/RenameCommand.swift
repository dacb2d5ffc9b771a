internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

/// `latchkey rename SERVICE ACCOUNT [NEW-SERVICE] NEW-ACCOUNT`.
enum RenameCommand {
    private static let force = CommandOption.flag("--force", help: "replace a secret that the new name has")

    static let command = Command(
        "rename", summary: "give a secret another name",
        operands: KeyOperands.both + [
            .required("NEW", help: "whose it is from now on, or with NEW-ACCOUNT, what it is for"),
            .optional("NEW-ACCOUNT", help: "whose it is, where NEW is a service"),
        ],
        options: [force],
        details: """
            The copy under the new name is read back before the old secret is deleted. After an interruption both may
            be there. If the new name has a secret already, rename asks before it replaces that secret; without a
            terminal, add --force. Exits with 1 if there is no secret under the old name, and with 73 if another
            process changed one of the two meanwhile: nothing is renamed then.
            """,
        examples: ["latchkey rename example.org alice ada", "latchkey rename example.org alice example.com ada"]
    ) { arguments, context in
        let old = try arguments.credentialKey()
        let name = arguments.operand("NEW")
        let new =
            try arguments.optionalOperand("NEW-ACCOUNT").map { try CredentialKey(service: name, account: $0) }
            ?? CredentialKey(service: old.service, account: name)
        guard old != new else {
            throw CommandFailure(.usage, "rename.same-name", "the new name is the old one", hint: "give another one")
        }
        let view = try await context.openView()
        let store = try await view.store(for: old, deadline: context.deadline)
        guard let record = try await store.read(old, as: Password.self, deadline: context.deadline) else {
            throw try await context.absence(of: old, in: store, view)
        }
        let condition = try await context.conditionToReplace(new, in: store, isForced: arguments.has(force))
        let deadline = context.deadline
        try await store.save(
            copyOf: record, for: new, label: label(of: record.metadata), condition: condition, deadline: deadline
        ) { () async throws(StoreError) in
            try await store.delete(old, condition: .matches(record.version), deadline: deadline)
        }
        context.logger.info("renamed \(old) to \(new) in \(store.identity)")
        try await context.warnOfOtherPlaces(of: new, savedIn: store, view)
        return .success
    }

    /// A label that a store made from the old name is made anew; a person's own stays.
    private static func label(of metadata: CredentialMetadata) -> String? {
        let key = metadata.key
        let made = ["\(key.service): \(key.account)", "Password for '\(key.account)' on '\(key.service)'"]
        return made.contains(metadata.label) ? nil : metadata.label
    }
}
