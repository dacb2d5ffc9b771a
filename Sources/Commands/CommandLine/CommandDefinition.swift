internal import LatchkeyLog

/// A word of the command line that isn't an option.
package struct CommandOperand: Sendable {
    package let name: StaticString
    package let isOptional: Bool
    /// Whether all words from the first one on are its own, those with a hyphen too: another program's command line.
    package let takesRest: Bool
    /// The words that it may be; none where it may be any.
    package let choices: [StaticString]
    package let help: StaticString

    package static func required(_ name: StaticString, help: StaticString) -> CommandOperand {
        CommandOperand(name: name, isOptional: false, takesRest: false, choices: [], help: help)
    }

    package static func optional(_ name: StaticString, help: StaticString) -> CommandOperand {
        CommandOperand(name: name, isOptional: true, takesRest: false, choices: [], help: help)
    }

    /// One of some words.
    package static func choice(_ name: StaticString, _ words: [StaticString], help: StaticString) -> CommandOperand {
        CommandOperand(name: name, isOptional: false, takesRest: false, choices: words, help: help)
    }

    /// The last operand: at least one word, and all that follow it.
    package static func rest(_ name: StaticString, help: StaticString) -> CommandOperand {
        CommandOperand(name: name, isOptional: false, takesRest: true, choices: [], help: help)
    }

    /// Returns what is wrong with a word, or `nil`. The word itself isn't repeated: it may be a secret gone astray.
    func problem(with word: String) -> LogMessage? {
        if choices.isEmpty || choices.contains(where: { $0.description == word }) { return nil }
        return "\(name) is one of \(LogMessage.joined(choices.map { "\($0)" }, separator: ", "))"
    }

    /// `NAME`, `[NAME]` or `-- NAME...`.
    var usage: LogMessage {
        if isOptional { return "[\(name)]" }
        return takesRest ? "-- \(name)..." : "\(name)"
    }
}

/// The topic of a command: the sections of the program's help, in order.
package enum CommandTopic: String, Sendable, CaseIterable {
    case secrets
    case signIns = "sign-ins"
    case programs
    case helpers = "helpers of other tools"
    case providers
    case stores
    case vault
    case keyring = "the served keyring"
    case program = "latchkey itself"
}

/// A command as people see it. Parsing, `--help`, suggestions and completions come from this one value.
package struct CommandDefinition: Sendable {
    /// One or two words: `get`, `vault init`.
    package let words: [StaticString]
    private let ownTopic: CommandTopic?
    /// The summary, a phrase without a full stop.
    package let summary: StaticString
    /// More about it: whole lines.
    package let details: StaticString
    // Made when they are needed: a call of a program needs those of one command.
    private let makeOperands: @Sendable () -> [CommandOperand]
    private let makeOptions: @Sendable () -> [CommandOption]
    private let makeExamples: @Sendable () -> [StaticString]

    /// - Parameter topic: by default that of its first word, or else secrets.
    package init(
        _ words: [StaticString], topic: CommandTopic? = nil, summary: StaticString,
        operands: @escaping @autoclosure @Sendable () -> [CommandOperand] = [],
        options: @escaping @autoclosure @Sendable () -> [CommandOption] = [], details: StaticString = "",
        examples: @escaping @autoclosure @Sendable () -> [StaticString] = []
    ) {
        precondition((1...2).contains(words.count), "a command has one word or two")
        self.words = words
        ownTopic = topic
        self.summary = summary
        self.details = details
        makeOperands = operands
        makeOptions = options
        makeExamples = examples
    }

    package var topic: CommandTopic {
        if let ownTopic { return ownTopic }
        return switch words[0].description {
        case "vault": .vault
        case "helper": .helpers
        case "keyring": .keyring
        case "provider", "scheme": .providers
        default: .secrets
        }
    }
    package var operands: [CommandOperand] { makeOperands() }
    package var options: [CommandOption] { makeOptions() }

    /// Command lines to copy, the plainest one first.
    package var examples: [StaticString] { makeExamples() }

    /// The words with spaces between them.
    package var name: String {
        words.count == 1 ? words[0].description : words[0].description + " " + words[1].description
    }

    /// `set [OPTIONS] SERVICE [ACCOUNT]`, with the required options at the end.
    var usage: LogMessage {
        LogMessage.joined(
            words.map { "\($0)" } + ["[OPTIONS]"] + operands.map(\.usage)
                + options.filter(\.isRequired).map(\.usage), separator: " ")
    }
}
