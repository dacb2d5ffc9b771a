internal import LatchkeyLog
internal import LatchkeyProcess

/// The help of a program, a group of commands or a command, made from the definitions alone.
package struct HelpText: Sendable {
    private enum Part {
        /// Paragraphs, whose lines are as long as the source's where nothing else is known.
        case text(String)
        case title(String)
        /// Two columns, the left one as wide as its longest entry, or as `left`.
        case columns([(String, String)], left: Int? = nil)
        /// Command lines to copy.
        case examples([StaticString])
        case space
    }

    private let parts: [Part]

    init(_ text: StaticString) {
        parts = Self.paragraphs(of: text)
    }

    /// Paragraphs, of which some are rows with two spaces before and in between.
    private static func paragraphs(of text: StaticString) -> [Part] {
        Array(
            text.description.split(separator: "\n\n").map { paragraph in
                [paragraph.hasPrefix("  ") ? columns(of: paragraph) : .text(String(paragraph))]
            }.joined(separator: [.space]))
    }

    private static func columns(of paragraph: Substring) -> Part {
        var left = 0
        let rows = paragraph.split(separator: "\n").map { row in
            let row = row.dropFirst(2)
            let name = row.split(separator: "  ", maxSplits: 1).first ?? row
            let meaning = row.dropFirst(name.count).drop { $0 == " " }
            left = row.count - meaning.count - 2
            return (String(name), String(meaning))
        }
        return .columns(rows, left: left)
    }

    init(grammar: CommandGrammar, group: String?, command: CommandDefinition?) {
        if let command {
            parts = Self.help(of: command, in: grammar)
        } else if let group {
            parts = Self.help(ofGroup: group, in: grammar)
        } else {
            parts = Self.overview(of: grammar)
        }
    }

    /// The pages that the grammar itself is shown on.
    static let lists: [(name: StaticString, summary: StaticString)] = [
        ("commands", "list all commands"), ("options", "list the options of every command"),
    ]

    /// A page of `help`, or `nil` where there is none of that name.
    init?(page name: String, of grammar: CommandGrammar) {
        switch name {
        case "commands": parts = Self.commands(of: grammar)
        case "options": parts = [.title("options of every command"), .columns(Self.everywhere(grammar))]
        default:
            guard let page = grammar.pages.first(where: { $0.name.description == name }) else { return nil }
            parts = Array(
                page.sections.map { section in
                    [.title(section.title.description), .columns(section.rows.map { ($0.name.text, $0.meaning.text) })]
                }.joined(separator: [.space]))
        }
    }

    // MARK: - Contents

    /// The everyday commands by topic, and the groups of the others. The text fits on a screen.
    private static func overview(of grammar: CommandGrammar) -> [Part] {
        let pages =
            [("COMMAND", "explain a command or a group, with examples")]
            + (lists + grammar.pages.map { ($0.name, $0.summary) }).map { ($0.description, $1.description) }
        let groups = grammar.groups.map { ($0.word.description, $0.summary.description) }
        return [
            .text("\(grammar.program): \(grammar.summary)"), .space,
            .text("usage: \(grammar.program) COMMAND [OPTIONS]"), .space,
        ] + sections(of: grammar.commands.filter { $0.words.count == 1 && $0.topic != .program })
            + (groups.isEmpty ? [] : [.title("groups of commands"), .columns(groups), .space])
            + [.title("more help"), .columns(pages.map { ("\(grammar.program) help \($0)", $1) })]
    }

    /// All commands, by what they are about.
    private static func commands(of grammar: CommandGrammar) -> [Part] { sections(of: grammar.commands).dropLast() }

    private static func sections(of commands: [CommandDefinition]) -> [Part] {
        let width = commands.map(\.name.count).max()
        return CommandTopic.allCases.flatMap { (topic) -> [Part] in
            let rows = commands.filter { $0.topic == topic }.map { ($0.name, $0.summary.description) }
            return rows.isEmpty ? [] : [.title(topic.rawValue), .columns(rows, left: width), .space]
        }
    }

    private static func help(ofGroup group: String, in grammar: CommandGrammar) -> [Part] {
        let about = grammar.groups.filter { $0.word.description == group }.flatMap {
            paragraphs(of: $0.about) + [.space]
        }
        return about + [
            .text("usage: \(grammar.program) \(group) COMMAND [OPTIONS]"), .space, .title("commands"),
            .columns(grammar.commands(startingWith: group).map { ($0.name, $0.summary.description) }), .space,
            .text("Run `\(grammar.program) help \(group) COMMAND` to read about a command, with examples."),
        ]
    }

    private static func help(of command: CommandDefinition, in grammar: CommandGrammar) -> [Part] {
        var parts: [Part] = [
            .text("\(grammar.program) \(command.name): \(command.summary)"), .space,
            .text("usage: \(grammar.program) \(command.usage)"),
        ]
        if !command.operands.isEmpty {
            parts += [.space, .columns(command.operands.map { ($0.name.description, $0.help.description) })]
        }
        if !command.options.isEmpty {
            let options = command.options.map { ($0.usage.description, $0.help.text) }
            parts += [.space, .title("options"), .columns(options)]
        }
        let examples = command.examples
        if !examples.isEmpty { parts += [.space, .title("examples"), .examples(examples)] }
        if command.details.utf8CodeUnitCount > 0 { parts += [.space] + paragraphs(of: command.details) }
        let aliases = grammar.aliases.filter { $0.command.description == command.name }
        for alias in aliases { parts += [.space, .text("`\(grammar.program) \(alias.word)` does the same.")] }
        return parts + [
            .space, .text("Run `\(grammar.program) help options` for the options of every command, such as --store."),
        ]
    }

    private static func everywhere(_ grammar: CommandGrammar) -> [(String, String)] {
        (grammar.globalOptions + [CommandGrammar.help, CommandGrammar.versionOption]).map {
            ($0.usage.description, $0.help.text)
        }
    }

    // MARK: - As lines

    package var text: String { text(width: nil) }

    /// Whole lines.
    ///
    /// - Parameter width: how many columns a line may have; `nil`: any number.
    package func text(width: Int?) -> String {
        parts.map { part in
            switch part {
            // Longer lines are hard to read, however wide the terminal is.
            case .text(let text): (width.map { WrappedText.paragraphs(text, width: min($0, 100)) } ?? text) + "\n"
            case .title(let title): "\(title):\n"
            case .columns(let rows, let left): Self.columns(rows, left: left, width: width)
            case .examples(let examples):
                examples.map { example in
                    "  \(width.map { WrappedText.command("\(example)", width: $0 - 2) } ?? "\(example)")\n"
                }.joined()
            case .space: "\n"
            }
        }.joined()
    }

    private static func columns(_ rows: [(String, String)], left: Int?, width: Int?) -> String {
        let left = left ?? rows.map(\.0.count).max() ?? 0
        guard let width else { return rows.map { line($0, left) + $1 + "\n" }.joined() }
        // A right column that would be narrow goes below the left one.
        let isBelow = width - left - 4 < 24
        let margin = isBelow ? 6 : left + 4
        let indentation = String(repeating: " ", count: margin)
        return rows.map { name, meaning in
            let lines = WrappedText.lines(meaning, width: width - margin)
            let first = isBelow ? "  \(name)\n\(indentation)" : line(name, left)
            return first + lines.joined(separator: "\n" + indentation) + "\n"
        }.joined()
    }

    private static func line(_ name: String, _ left: Int) -> String {
        "  " + name + String(repeating: " ", count: left - name.count + 2)
    }
}

extension WrappedText {
    /// Paragraphs with an empty line between them. The lines of one are joined before.
    static func paragraphs(_ text: String, width: Int) -> String {
        text.split(separator: "\n\n").map { paragraph in
            lines(paragraph.split(separator: "\n").joined(separator: " "), width: width).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// A command that a shell still takes as one: lines end in a backslash, and none inside quotes.
    static func command(_ text: String, width: Int) -> String {
        var parts: [String] = []
        for word in text.split(separator: " ") {
            if let last = parts.last, !last.count(where: { $0 == "'" }).isMultiple(of: 2) {
                parts[parts.count - 1] += " \(word)"
            } else {
                parts.append(String(word))
            }
        }
        var lines: [String] = []
        for part in parts {
            if let line = lines.last, line.count + 1 + part.count <= width - 2 {
                lines[lines.count - 1] += " \(part)"
            } else {
                lines.append(lines.isEmpty ? part : "    \(part)")
            }
        }
        return lines.joined(separator: " \\\n  ")
    }
}
