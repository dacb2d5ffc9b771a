package import LatchkeyLog

/// A word of the command line that is no option.
package struct CommandOperand: Sendable {
    package let name: StaticString
    package let isOptional: Bool
    /// Whether all words from the first one on are its own, those with a hyphen too: another program's command line.
    package let takesRest: Bool
    package let help: StaticString

    package static func required(_ name: StaticString, help: StaticString) -> CommandOperand {
        CommandOperand(name: name, isOptional: false, takesRest: false, help: help)
    }

    package static func optional(_ name: StaticString, help: StaticString) -> CommandOperand {
        CommandOperand(name: name, isOptional: true, takesRest: false, help: help)
    }

    /// The last operand: at least one word, and all that follow it.
    package static func rest(_ name: StaticString, help: StaticString) -> CommandOperand {
        CommandOperand(name: name, isOptional: false, takesRest: true, help: help)
    }

    /// `NAME`, `[NAME]` or `NAME...`.
    var usage: LogMessage {
        if isOptional { return "[\(name)]" }
        return takesRest ? "\(name)..." : "\(name)"
    }
}

/// A command as people see it. Parsing, `--help` and suggestions come from this one value.
package struct CommandDefinition: Sendable {
    /// One or two words: `get`, `vault init`.
    package let words: [StaticString]
    /// What it does, in a phrase without a full stop.
    package let summary: StaticString
    package let operands: [CommandOperand]
    package let options: [CommandOption]
    /// More about it: whole lines.
    package let details: StaticString

    package init(
        _ words: StaticString..., summary: StaticString, operands: [CommandOperand] = [],
        options: [CommandOption] = [], details: StaticString = ""
    ) {
        precondition((1...2).contains(words.count), "a command has one word or two")
        self.words = words
        self.summary = summary
        self.operands = operands
        self.options = options
        self.details = details
    }

    /// The words with spaces between them.
    package var name: String { words.map(\.description).joined(separator: " ") }

    /// `set [OPTIONS] SERVICE ACCOUNT`.
    var usage: String {
        ([name, "[OPTIONS]"] + operands.map(\.usage.description)).joined(separator: " ")
    }
}

/// All commands of a program, with the options that each of them takes.
package struct CommandGrammar: Sendable {
    package let program: StaticString
    package let summary: StaticString
    package let version: StaticString
    package let globalOptions: [CommandOption]
    package let commands: [CommandDefinition]
    /// Lines at the end of the program's help: the environment.
    package let details: LogMessage

    package init(
        program: StaticString, summary: StaticString, version: StaticString, globalOptions: [CommandOption],
        commands: [CommandDefinition], details: LogMessage = ""
    ) {
        self.program = program
        self.summary = summary
        self.version = version
        self.globalOptions = globalOptions
        self.commands = commands
        self.details = details
    }

    static let help = CommandOption.flag("--help", help: "show this help and end")
    static let versionOption = CommandOption.flag("--version", help: "show the version and end")

    func commands(startingWith word: String) -> [CommandDefinition] {
        commands.filter { $0.words[0].description == word }
    }
}
