internal import LatchkeyLog

/// The help of a program, a group of commands or a command, made from the definitions alone.
package struct HelpText: Sendable {
    /// Whole lines.
    package let text: String

    init(grammar: CommandGrammar, group: String?, command: CommandDefinition?) {
        if let command {
            text = Self.help(of: command, in: grammar)
        } else {
            text = Self.overview(of: grammar, group: group)
        }
    }

    private static func overview(of grammar: CommandGrammar, group: String?) -> String {
        let commands = group.map { grammar.commands(startingWith: $0) } ?? grammar.commands
        let words = [grammar.program.description, group, "COMMAND [OPTIONS]"].compactMap { $0 }
        var text = group == nil ? "\(grammar.program): \(grammar.summary)\n\n" : ""
        text += "usage: \(words.joined(separator: " "))\n\ncommands:\n"
        text += columns(commands.map { ($0.name, $0.summary.description) })
        text += "\neverywhere:\n" + columns(everywhere(grammar))
        if group == nil {
            text += "\nexit status:\n"
            text += columns(ExitStatus.allCases.map { (String($0.rawValue), $0.meaning.description) })
            text += lines(grammar.details.text)
        }
        return text + "\n\(grammar.program) COMMAND --help says more about a command.\n"
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
        text += "\neverywhere:\n" + columns(everywhere(grammar))
        return text + lines(command.details.description)
    }

    private static func everywhere(_ grammar: CommandGrammar) -> [(String, String)] {
        (grammar.globalOptions + [CommandGrammar.help, CommandGrammar.versionOption]).map {
            ($0.usage, $0.help.text)
        }
    }

    private static func lines(_ text: String) -> String { text.isEmpty ? "" : "\n\(text)\n" }

    /// Two columns, the left one as wide as its longest entry.
    private static func columns(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.count + 2) + right + "\n"
        }.joined()
    }
}
