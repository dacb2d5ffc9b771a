/// `latchkey edit SERVICE [ACCOUNT]`.
enum EditCommand {
    static let command = Command(
        "edit", summary: "change a secret in an editor", operands: KeyOperands.both,
        details: """
            edit starts the editor that VISUAL or EDITOR names, otherwise `editor` or `vi`. The file is in memory
            (XDG_RUNTIME_DIR or /dev/shm), never on a disk, and edit removes it when the editor ends. The editor may store
            a history of its own. edit removes the newline that an editor adds to a secret that had none. If the editor
            fails or the file is empty, edit saves nothing. If saving fails, edit asks whether to try again. Exits with 1 if
            the secret isn't found.
            """,
        examples: ["latchkey edit example.org alice"],
        startsPrograms: true
    ) { arguments, context in
        let name = try arguments.credentialName()
        // Before any question.
        let editor = try SecretEditor(context.environment)
        let view = try await context.openView()
        let (key, store) = try await context.find(name, in: view)
        guard let record = try await store.read(key, as: Password.self, deadline: context.deadline) else {
            throw try await context.absence(of: key, in: store, view)
        }
        let limit = store.capabilities.maximumSecretByteCount
        var secret = try editor.edit(record.secret, limit: limit)
        // An editor puts one at the end of a text.
        if secret.endsWithLineBreak && !record.secret.endsWithLineBreak { secret = secret.withoutLineBreak() }
        if secret.matches(record.secret) {
            context.output.note("the secret for \(key) is unchanged")
            return .success
        }
        guard !secret.isEmpty else {
            throw CommandFailure(
                .badData, "secret.empty", "nothing was stored because the file was empty",
                hint: "to delete the secret, run `latchkey delete`")
        }
        var options = SaveOptions(contentType: secret.isText ? .text : .binary, condition: .matches(record.version))
        // Otherwise what the person typed would be lost.
        while let error = await failure(
            StoreError.self,
            awaiting: try await store.save(secret, for: key, options: options, deadline: context.deadline))
        {
            guard context.prompt.isPossible else { throw error }
            let explained: (any RedactedError)? = context.settings.explained(error)
            context.output.report(explained ?? error)
            let isConflict = error.code == .conflict
            guard try context.prompt.confirm(isConflict ? "Replace the secret for \(key)?" : "Try to save it again?")
            else {
                throw CommandFailure(
                    .refused, "secret.kept", "the secret for \"\(key)\" was not changed", hint: "edit it again")
            }
            if isConflict { options.condition = .none }
        }
        context.output.note("stored the secret for \(key) in \(store.identity)")
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
        return .success
    }
}
