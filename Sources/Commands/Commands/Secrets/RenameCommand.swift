/// `latchkey rename SERVICE [ACCOUNT] --to [SERVICE/]ACCOUNT`.
enum RenameCommand {
    private static let new = CommandOption.value(
        "--to", "[SERVICE/]ACCOUNT", isRequired: true, help: "new account, or new service and account")
    private static let force = CommandOption.flag(
        "--force", help: "replace the secret that the new name has without asking")

    static let command = Command(
        "rename", summary: "rename a secret", operands: KeyOperands.both, options: [new, force],
        details: """
            rename copies the secret to the new name, verifies the copy, and then deletes the secret under the old name.
            After an interruption both may exist. If the new name has a secret already, rename asks before it replaces that
            secret; without a terminal, add --force. In --to, the last slash divides SERVICE and ACCOUNT: write %2F for a
            slash in ACCOUNT, and %25 for a percent sign. Exits with 1 if there is no secret under the old name, and with
            73 if another process changed one of the two: then nothing is renamed.
            """,
        examples: [
            "latchkey rename example.org alice --to ada", "latchkey rename example.org alice --to example.com/ada",
        ]
    ) { arguments, context in
        let name = try arguments.credentialName()
        let target = try target(arguments)
        let view = try await context.openView()
        let (old, store) = try await context.find(name, in: view)
        let new = try CredentialKey(service: target.service ?? old.service, account: target.account)
        guard old != new else {
            throw CommandFailure(
                .usage, "rename.same-name", "\"\(new)\" is the secret's name already",
                hint: "pass another name with \(Self.new.name)")
        }
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
        context.output.note("renamed \(old) to \(new)")
        try await context.warnOfOtherPlaces(of: new, savedIn: store, view)
        return .success
    }

    /// The value of --to: an account, or a service and an account.
    private static func target(_ arguments: ParsedArguments) throws -> (service: String?, account: String) {
        let text = arguments.value(new) ?? ""
        // The words may be a secret gone astray.
        let isAccount = !text.utf8.contains(UInt8(ascii: "/"))
        guard let name = SecretReference.name(of: isAccount ? "service/" + text : text), let account = name.account
        else {
            throw CommandFailure(
                .usage, "usage.bad-value", "\(new.name) isn't [SERVICE/]ACCOUNT",
                hint: "write %2F for a slash in ACCOUNT, and %25 for a percent sign")
        }
        return (isAccount ? nil : name.service, account)
    }

    /// A label that a store made from the old name is made anew; a person's own stays.
    private static func label(of metadata: CredentialMetadata) -> String? {
        let key = metadata.key
        let made = ["\(key.service): \(key.account)", "Password for '\(key.account)' on '\(key.service)'"]
        return made.contains(metadata.label) ? nil : metadata.label
    }
}
