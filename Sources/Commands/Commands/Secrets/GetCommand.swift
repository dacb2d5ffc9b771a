/// `latchkey get SERVICE ACCOUNT`.
enum GetCommand {
    private static let clip = CommandOption.flag(
        "--clip", help: "copy the secret to the clipboard for 45 seconds instead")

    static let command = Command(
        "get", summary: "write a secret to standard output", operands: KeyOperands.both, options: [clip, .raw],
        details: """
            get writes the secret's bytes unchanged and without a newline to a pipe or file. On a terminal it escapes
            control characters, which the terminal would obey, unless you add --raw. Exits with 1 if the secret isn't
            found. If another unlocked store has it, a hint says which.

            Without ACCOUNT, get writes the secret of the service's only account. If the service has several, get lists
            them and exits with 64. SERVICE may also be the host of a login that was imported, such as github.com for
            git:https://github.com or gh:github.com.

            Other programs may store items with more attributes beside service and account. If only such items match, get
            returns the most recently changed one.

            --clip uses wl-copy or xclip, or else asks the terminal (OSC 52). The secret is removed after 45 seconds,
            unless something else was copied. With the terminal's clipboard, get waits until you press Enter, or 45
            seconds. wl-copy stores the secret in a file until then. A clipboard manager may remember it for longer.
            """,
        examples: [
            "latchkey get example.org alice", "latchkey get example.org", "latchkey get example.org alice --clip",
            "latchkey get example.org alice --no-prompt --store vault",
        ]
    ) { arguments, context in
        let name = try arguments.credentialName()
        // Before any question.
        let clipboard = arguments.has(clip) ? try Clipboard(context) : nil
        let view = try await context.openView()
        var (key, store) = try await context.find(name, in: view, includesHosts: true)
        var found = try await store.read(key, as: Password.self, deadline: context.deadline)
        if found == nil, let host = try await context.findHost(name, in: view) {
            (key, store) = host
            found = try await store.read(key, as: Password.self, deadline: context.deadline)
        }
        guard let record = found.take() else { throw try await context.absence(of: key, in: store, view) }
        if let clipboard {
            try clipboard.copy(record.takeSecret())
        } else {
            try context.output.write(secret: record.takeSecret(), isRaw: arguments.has(.raw))
        }
        return .success
    }
}
