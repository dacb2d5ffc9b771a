internal import Glibc

/// `latchkey config get|set|list`.
enum ConfigCommand {
    private static let name = CommandOperand.required(
        "NAME", help: "store, vault, collection, all-stores, key-file or passphrase-file")

    static let get = Command(
        "config", "get", topic: .program, summary: "print a setting of the configuration", operands: [name],
        details: """
            Exits with 1 if the configuration doesn't set NAME. get doesn't look at options and environment variables, which
            come before the configuration.
            """,
        examples: ["latchkey config get store"]
    ) { arguments, context in
        let name = try name(arguments, context)
        guard let value = try context.configurationFile.assignments().last(where: { $0.name == name })?.value else {
            throw CommandFailure(
                .notFound, "configuration.not-set", "the configuration doesn't set \(shown(name))",
                hint: "run `latchkey config list` to see what it sets")
        }
        try context.output.write(
            "\(shown(value))", json: .object([("name", .text(shown(name))), ("value", .text(shown(value)))]))
        return .success
    }

    static let set = Command(
        "config", "set", topic: .program, summary: "change a setting of the configuration",
        operands: [name, .optional("VALUE", help: "new value (default: none, which removes the setting)")],
        details: """
            set creates the configuration and its directory if they don't exist, and keeps comments and other lines. It checks
            VALUE first: a store must exist, and a path becomes absolute.

              store            store to use: secret-service or vault
              vault            the vault's PATH or URI
              collection       the keyring's collection: default, session, a label or a path
              all-stores       yes or no: whether every command reads all stores
              key-file         path of the vault's key file
              passphrase-file  path of a file that contains the vault's passphrase
            """,
        examples: ["latchkey config set store vault", "latchkey config set vault ~/secrets/vault"]
    ) { arguments, context in
        let name = try name(arguments, context)
        let value = try arguments.optionalOperand("VALUE").map { try checked($0, for: name, context) }
        try context.configurationFile.set(name, to: value)
        let file = context.configurationFile.shownPath
        try context.output.tell(
            value.map { "set \(shown(name)) to \(shown($0)) in \(file)" } ?? "removed \(shown(name)) from \(file)",
            json: .object([("name", .text(shown(name))), ("value", .optional(value.map(shown)))]))
        return .success
    }

    static let list = Command(
        "config", "list", topic: .program, summary: "list the settings of the configuration",
        examples: ["latchkey config list", "latchkey config list --json"]
    ) { arguments, context in
        let assignments = try context.configurationFile.assignments()
        if arguments.has(GlobalOptions.json) {
            try context.output.write(
                .array(
                    assignments.map { .object([("name", .text(shown($0.name))), ("value", .text(shown($0.value)))]) }))
            return .success
        }
        var table = TextTable("NAME", "VALUE")
        for assignment in assignments { table.append("\(shown(assignment.name))", "\(shown(assignment.value))") }
        try context.output.write(table, orNote: "no settings in \(context.configurationFile.shownPath)")
        return .success
    }

    private static func name(_ arguments: ParsedArguments, _ context: CommandContext) throws -> String {
        let name = arguments.operand("NAME")
        let names = StoreConfiguration.names(context.selector.catalogue)
        if names.contains(name) { return name }
        let near = Suggestion.nearest(to: name, in: names).map { "did you mean \(shown($0))? " as LogMessage } ?? ""
        let all = LogMessage.joined(names.map { "\(shown($0))" })
        throw CommandFailure(
            .usage, "usage.bad-value",
            "unknown setting\(CommandFailure.name(name).map { " \"\($0)\"" as LogMessage } ?? "")",
            hint: "\(near)the settings are \(all)")
    }

    /// The value, verbatim.
    private static func checked(_ value: String, for name: String, _ context: CommandContext) throws -> String {
        let catalogue = context.selector.catalogue
        if name == "store" {
            try catalogue.check(value, namedBy: "VALUE")
            _ = try context.selector.backend(NamedStore(name: value, source: .argument))
        }
        if name == "all-stores", value != "yes", value != "no" {
            throw CommandFailure(
                .usage, "usage.bad-value", "VALUE is neither yes nor no",
                hint: "write `latchkey config set all-stores yes` or `… no`")
        }
        let isPath = name.hasSuffix("-file") || catalogue.takesPath(name) && !VaultLocation.isDatabase(value)
        if isPath, value.hasPrefix("~"), !value.hasPrefix("~/") {
            throw CommandFailure(
                .usage, "usage.bad-value", "VALUE has a ~ without a slash after it",
                hint: "write a path, which may begin with ~/ for your home directory")
        }
        let written = isPath && !value.hasPrefix("~/") ? AbsolutePath.of(value) : value
        // Values that a line would change, such as spaces at an end, and others that reading refuses.
        let line = "\(name) = \(written)"
        let read = try StoreConfiguration.assignments(in: line, path: context.configurationFile.path)
        guard !value.isEmpty, written.utf8.count <= 4096, read.count == 1, read[0].value == written else {
            throw CommandFailure(
                .usage, "usage.bad-value",
                "VALUE is empty, longer than 4,096 bytes, or has a line break or spaces at an end",
                hint: value.isEmpty
                    ? "to remove the setting, run `latchkey config set \(shown(name))`"
                    : "pass VALUE on one line of at most 4,096 bytes, without spaces at its ends")
        }
        _ = try StoreConfiguration(
            parsing: line, path: context.configurationFile.path, home: context.environment.home, catalogue: catalogue)
        if catalogue.takesPath(name) { _ = try VaultLocation.checked(written) }
        let path = written.hasPrefix("~/") ? context.environment.home + written.dropFirst() : written
        if name.hasSuffix("-file"), unsafe access(path, F_OK) != 0 {
            let isKey = name == "key-file"
            context.output.warn(
                "no file at \(shown(path)) yet",
                hint: isKey ? "check the path, or create the key file with `latchkey vault init`" : "check the path")
        }
        return written
    }

    private static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "the configuration holds no secret", unredacted: text)
    }
}

extension StoreCatalogue {
    /// Whether a setting is a path, or may be one.
    fileprivate func takesPath(_ name: String) -> Bool {
        backends.contains {
            $0.place.map { $0.word.description == name && $0.placeholder.description.hasPrefix("PATH") } ?? false
        }
    }
}
