internal import Glibc

/// The options that every command takes.
package enum GlobalOptions {
    package static let store = store(help: "store to use")
    package static let passphraseDescriptor = CommandOption.value(
        "--passphrase-fd", "N", form: .descriptor,
        help: "file descriptor, 3 or above, to read the vault's passphrase from")
    package static let createCollection = CommandOption.flag(
        "--create-collection", help: "create the collection if it doesn't exist; the keyring asks for a password")
    package static let allStores = CommandOption.flag(
        "--all-stores", help: "read all stores; change a secret in the store that has it")
    package static let noPrompt = CommandOption.flag("--no-prompt", help: "never ask a question; fail instead")
    package static let timeout = CommandOption.value(
        "--timeout", "SECONDS", form: .seconds,
        help: "time limit for stores and servers (default: 30), or for you to sign in (default: 600)")
    package static let logLevel = CommandOption.value(
        "--log-level", "LEVEL", form: .choice(["error", "warning", "info", "debug", "trace"]),
        help: "error, warning, info, debug or trace (default: warning)")
    package static let logFormat = CommandOption.value(
        "--log-format", "FORMAT", form: .choice(["text", "json", "journal"]),
        help: "text, json or journal (default: text)")

    /// With what the stores of a catalogue add.
    package static func all(_ catalogue: StoreCatalogue) -> [CommandOption] {
        let names = catalogue.backends.filter(\.isPersistent).map { "\($0.name)" as LogMessage }
        return [store(help: "store to use: \(LogMessage.joined(names, separator: " or "))")]
            + catalogue.backends.compactMap(place)
            + [createCollection, allStores, passphraseDescriptor, noPrompt, timeout, json, logLevel, logFormat]
    }

    /// The words of a command line that choose the store. Asks no question.
    static func storeArguments(_ arguments: ParsedArguments, _ catalogue: StoreCatalogue) -> [String] {
        let named = ([store] + catalogue.backends.compactMap(place)).compactMap { option in
            arguments.value(option).map { value in
                // Tools run in other folders.
                let isPath = option.name.text == "--vault" && !VaultLocation.isDatabase(value)
                return "\(option.name)=\(isPath ? AbsolutePath.of(value) : value)"
            }
        }
        return named + (arguments.has(allStores) ? [allStores.name.text] : []) + [noPrompt.name.text]
    }

    private static func store(help: LogMessage) -> CommandOption { .value(named: "--store", "STORE", help: help) }

    /// The option that says where a store is.
    static func place(of backend: StoreBackend) -> CommandOption? {
        backend.place.map {
            .value(named: "--\($0.word)", $0.placeholder, help: "\($0.help); means --store \(backend.name)")
        }
    }

    package static let json = CommandOption.flag("--json", help: "print results and errors as JSON")
}

/// A descriptor that the program's caller left open for a secret.
package struct PassedDescriptor {
    package let number: Int32

    /// Takes it over: programs that are started from here don't get it.
    fileprivate init(_ number: Int32, of option: CommandOption) throws(CommandFailure) {
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0 else {
            throw CommandFailure(
                .refused, "passphrase.closed-descriptor",
                "\(option.name) names descriptor \(number), which isn't open",
                hint: "open the descriptor for this command: \(option.name) \(number) \(number)<FILE")
        }
        guard isatty(number) == 0 else {
            throw CommandFailure(
                .refused, "passphrase.terminal", "descriptor \(number) is a terminal, which would show the passphrase",
                hint: "remove \(option.name): Latchkey then asks for the passphrase")
        }
        _ = fcntl(number, F_SETFD, flags | FD_CLOEXEC)
        self.number = number
    }
}

extension ParsedArguments {
    /// The descriptor that an option names, or `nil` without the option.
    package func passedDescriptor(_ option: CommandOption) throws(CommandFailure) -> PassedDescriptor? {
        guard let number = descriptor(option) else { return nil }
        return try PassedDescriptor(number, of: option)
    }
}
