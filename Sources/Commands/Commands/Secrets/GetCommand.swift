internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

/// `latchkey get SERVICE ACCOUNT`.
enum GetCommand {
    private static let clip = CommandOption.flag("--clip", help: "copy it to the clipboard instead, for 45 seconds")

    static let command = Command(
        "get", summary: "write a secret to standard output", operands: KeyOperands.both, options: [clip, .raw],
        details: """
            get writes the secret's bytes unchanged and without a line break to a pipe or file. On a terminal it escapes
            control characters, which the terminal would obey, unless you add --raw. Exits with 1 if the secret isn't
            found. If another unlocked store has it, a hint says which.

            A program may save its own name beside service and account, as Python keyring does. Where nothing else is under
            the two, that is the secret; of several the one that was changed last. set and edit replace it in its place,
            and delete deletes all of them.

            With --clip it goes to the clipboard through wl-copy or xclip, or else through the terminal (OSC 52), and
            is taken away after 45 seconds, unless something else was copied. The terminal is waited for until then, or for
            Enter. wl-copy keeps it in a file of its own meanwhile. A clipboard manager may remember it for longer.
            """,
        examples: [
            "latchkey get example.org alice", "latchkey get example.org alice --clip",
            "latchkey get example.org alice --no-prompt --store vault",
        ]
    ) { arguments, context in
        let key = try arguments.credentialKey()
        // Before anybody is asked for anything.
        let clipboard = arguments.has(clip) ? try Clipboard(context) : nil
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        guard let record = try await store.read(key, as: Password.self, deadline: context.deadline) else {
            throw try await context.absence(of: key, in: store, view)
        }
        if let clipboard {
            try clipboard.copy(record.takeSecret())
        } else {
            try context.output.write(secret: record.takeSecret(), isRaw: arguments.has(.raw))
        }
        return .success
    }
}
