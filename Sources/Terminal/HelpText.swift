internal import LatchkeyLog

/// The help of a program, a group of commands or a command, made from the definitions alone.
package struct HelpText: Sendable {
    /// Whole lines.
    package let text: String

    init(text: String) {
        self.text = text
    }

    init(grammar: CommandGrammar, group: String?, command: CommandDefinition?) {
        if let command {
            text = Self.help(of: command, in: grammar)
        } else if let group {
            text = Self.help(ofGroup: group, in: grammar)
        } else {
            text = Self.overview(of: grammar)
        }
    }

    /// What a command can be, by what it is about; then the options that all of them take.
    private static func overview(of grammar: CommandGrammar) -> String {
        var text = "\(grammar.program): \(grammar.summary)\n\nusage: \(grammar.program) COMMAND [OPTIONS]\n"
        let width = grammar.commands.map(\.name.count).max() ?? 0
        for topic in CommandTopic.allCases {
            let commands = grammar.commands.filter { $0.topic == topic }
            if commands.isEmpty { continue }
            text += "\n\(topic.rawValue):\n" + columns(commands.map { ($0.name, $0.summary.description) }, width: width)
        }
        text += "\noptions of every command:\n" + columns(everywhere(grammar))
        text += "\nmore:\n"
        let pages = grammar.pages.map { ("\(grammar.program) help \($0.name)", $0.summary.description) }
        return text
            + columns([("\(grammar.program) help COMMAND", "explains a command, with examples")] + pages)
    }

    private static func help(ofGroup group: String, in grammar: CommandGrammar) -> String {
        let commands = grammar.commands(startingWith: group)
        return "usage: \(grammar.program) \(group) COMMAND [OPTIONS]\n\ncommands:\n"
            + columns(commands.map { ($0.name, $0.summary.description) })
            + "\n\(grammar.program) help \(group) COMMAND explains one, with examples.\n"
    }

    private static func help(of command: CommandDefinition, in grammar: CommandGrammar) -> String {
        var text = "\(grammar.program) \(command.name): \(command.summary)\n\n"
        text += "usage: \(grammar.program) \(command.usage)\n"
        if !command.operands.isEmpty {
            text += "\n" + columns(command.operands.map { ($0.name.description, $0.help.description) })
        }
        if !command.options.isEmpty {
            text += "\noptions:\n" + columns(command.options.map { ($0.usage, $0.help.text) })
        }
        if !command.examples.isEmpty {
            text += "\nexamples:\n" + command.examples.map { "  \($0)\n" }.joined()
        }
        if command.details.utf8CodeUnitCount > 0 { text += "\n\(command.details)\n" }
        return text + "\n\(grammar.program) help lists the options of every command, such as --store.\n"
    }

    init(_ page: HelpPage) {
        text = page.sections.map { section in
            "\(section.title):\n" + Self.columns(section.rows.map { ($0.name.text, $0.meaning.text) })
        }.joined(separator: "\n")
    }

    private static func everywhere(_ grammar: CommandGrammar) -> [(String, String)] {
        (grammar.globalOptions + [CommandGrammar.help, CommandGrammar.versionOption]).map {
            ($0.usage, $0.help.text)
        }
    }

    /// Two columns, the left one as wide as its longest entry.
    private static func columns(_ rows: [(String, String)], width: Int? = nil) -> String {
        let width = width ?? rows.map(\.0.count).max() ?? 0
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.count + 2) + right + "\n"
        }.joined()
    }
}
