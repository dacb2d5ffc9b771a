internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

/// `latchkey edit SERVICE ACCOUNT`.
enum EditCommand {
    static let command = Command(
        "edit", summary: "change a secret in an editor", operands: KeyOperands.both,
        details: """
            VISUAL or EDITOR names the editor; else it is `editor`, or `vi`. The file is in memory (XDG_RUNTIME_DIR or
            /dev/shm), never on a disk, and goes when the editor ends; an editor's own history is its own. A line
            break that the editor puts at the end of a secret that had none is taken off. Nothing is saved when the
            editor fails, or the file is empty. Exit status 1: there is no secret.
            """,
        examples: ["latchkey edit example.org alice"],
        startsPrograms: true
    ) { arguments, context in
        let key = try arguments.credentialKey()
        // Before anybody is asked for anything.
        let editor = try SecretEditor(context.environment)
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        guard let record = try await store.read(key, as: Password.self, deadline: context.deadline) else {
            throw try await context.absence(of: key, in: store, view)
        }
        let limit = store.capabilities.maximumSecretByteCount
        let secret = trimmed(try editor.edit(record.secret, limit: limit), like: record.secret)
        if secret.matches(record.secret) {
            context.output.note("the secret for \(key) is unchanged")
            return .success
        }
        guard !secret.isEmpty else {
            throw CommandFailure(
                .badData, "secret.empty", "the file was empty, and nothing was saved",
                hint: "latchkey delete takes a secret away")
        }
        let options = SaveOptions(contentType: secret.isText ? .text : .binary, condition: .matches(record.version))
        try await store.save(secret, for: key, options: options, deadline: context.deadline)
        context.output.note("saved the secret for \(key)")
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
        return .success
    }

    /// Without the line break that an editor puts at the end of a text, where there was none.
    private static func trimmed(
        _ edited: borrowing Secret<Password>, like original: borrowing Secret<Password>
    ) -> Secret<Password> {
        let isAdded = edited.endsWithLineBreak && !original.endsWithLineBreak
        return edited.withExposedBytes { Secret(copying: $0.extracting(first: $0.count - (isAdded ? 1 : 0))) }
    }
}
