package import LatchkeyLog

/// The request of a command line.
package enum CommandLineRequest: Sendable {
    case run(ParsedArguments)
    /// Show the help of the program, of a group such as `vault`, or of a command.
    case help(HelpText)
    /// Show what the program is for: its name stood alone.
    case introduction(HelpText)
    case version
}

extension CommandGrammar {
    /// Reads a command line without its program name. Arguments are bytes, and invalid ones aren't repaired.
    ///
    /// Options may come before and after operands, as `--name value` or `--name=value`. Every word is an operand after
    /// `--`, and after the first word of an operand that takes the rest.
    package func parse(_ arguments: [[UInt8]]) throws(CommandFailure) -> CommandLineRequest {
        var reader = ArgumentReader(grammar: self)
        for (index, bytes) in arguments.enumerated() {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw CommandFailure(
                    .usage, "usage.invalid-utf-8", "argument \(index + 1) isn't valid UTF-8",
                    hint: "write names and paths in UTF-8")
            }
            try reader.take(text)
        }
        return try reader.finish()
    }
}

/// The state of reading one command line, which may be unfinished.
struct ArgumentReader {
    let grammar: CommandGrammar
    private(set) var group: String?
    private(set) var command: CommandDefinition?
    private(set) var operands: [String] = []
    private(set) var values: [String: [String]] = [:]
    /// The option whose value comes next.
    private(set) var awaiting: CommandOption?
    private(set) var optionsEnded = false
    /// How many operands stood before `--`.
    private(set) var separation: Int?
    private(set) var wantsHelp = false
    /// The page that `help` is to show.
    private(set) var page: HelpText?
    private var isEmpty = true
    private var wantsVersion = false

    init(grammar: CommandGrammar) {
        self.grammar = grammar
    }

    mutating func take(_ text: String) throws(CommandFailure) {
        isEmpty = false
        if let option = awaiting {
            guard !text.hasPrefix("--") else { throw missingValue(option) }
            awaiting = nil
            try set(option, to: text)
        } else if optionsEnded || !text.hasPrefix("-") || text == "-" {
            try takeWord(text)
        } else if text == "--" {
            optionsEnded = true
            separation = operands.count
        } else {
            try takeOption(text)
        }
    }

    mutating func finish() throws(CommandFailure) -> CommandLineRequest {
        if let awaiting { throw missingValue(awaiting) }
        if wantsHelp { return .help(page ?? HelpText(grammar: grammar, group: group, command: command)) }
        if wantsVersion { return .version }
        if isEmpty, grammar.introduction.utf8CodeUnitCount > 0 {
            return .introduction(HelpText(grammar.introduction))
        }
        guard let command else { throw incomplete() }
        if command.name == CommandGrammar.versionCommand.name { return .version }
        for (operand, word) in zip(command.operands, command.assign(operands)) {
            if word == nil && !operand.isOptional {
                throw CommandFailure(
                    .usage, "usage.missing-operand", "\(operand.name) is missing", hint: usageHint(command))
            }
            if let word, let problem = operand.problem(with: word) {
                throw CommandFailure(.usage, "usage.bad-value", problem, hint: usageHint(command))
            }
        }
        if let option = command.options.first(where: { $0.isRequired && values[$0.name.description] == nil }) {
            throw CommandFailure(
                .usage, "usage.missing-option", "\(option.name) is missing", hint: usageHint(command))
        }
        return .run(arguments(of: command, withDescriptors: true))
    }

    func arguments(of command: CommandDefinition, withDescriptors: Bool) -> ParsedArguments {
        var values = values
        if !withDescriptors {
            for option in known { if case .descriptor = option.form { values[option.name.description] = nil } }
        }
        return ParsedArguments(
            command: command, globalOptions: grammar.globalOptions, values: values, operands: operands,
            separation: separation)
    }

    // MARK: - Words

    private mutating func takeWord(_ text: String) throws(CommandFailure) {
        if command == nil, group == nil, let aliased = grammar.command(aliased: text) {
            command = aliased
        } else if let command {
            let takesRest = command.operands.last?.takesRest ?? false
            guard operands.count < command.operands.count || takesRest else {
                let hint: LogMessage = "\(usageHint(command)); never pass a secret as an argument"
                throw CommandFailure(.usage, "usage.too-many-operands", "too many arguments", hint: hint)
            }
            operands.append(text)
            if takesRest && operands.count >= command.operands.count { optionsEnded = true }
        } else if let group {
            let members = grammar.commands(startingWith: group)
            command = members.first { $0.words.count == 2 && $0.words[1].description == text }
            if command == nil {
                throw unknownCommand(
                    text, after: members[0].words[0], words: members.compactMap { $0.words.dropFirst().first })
            }
        } else if text == CommandGrammar.helpCommand.name, !wantsHelp {
            wantsHelp = true
        } else if wantsHelp, page == nil, let found = HelpText(page: text, of: grammar) {
            page = found
        } else {
            let found = grammar.commands(startingWith: text)
            if let first = found.first {
                if first.words.count == 1 { command = first } else { group = text }
            } else {
                throw unknownCommand(text, after: nil, words: grammar.commands.map { $0.words[0] })
            }
        }
    }

    private func unknownCommand(_ text: String, after group: StaticString?, words: [StaticString]) -> CommandFailure {
        let prefix: LogMessage = group.map { "\($0) " } ?? ""
        let hint: LogMessage =
            if let meant = grammar.meant(by: text, after: group) {
                "did you mean \(grammar.program) \(meant)?"
            } else if let near = Suggestion.nearest(to: text, in: words) {
                "did you mean \(grammar.program) \(prefix)\(near)?"
            } else {
                "run `\(grammar.program) \(prefix)--help`"
            }
        let cause: LogMessage =
            if let name = CommandFailure.name(text) {
                "unknown command \"\(prefix)\(name)\""
            } else {
                "unknown command"
            }
        return CommandFailure(.usage, "usage.unknown-command", cause, hint: hint)
    }

    private func incomplete() -> CommandFailure {
        guard let group, let first = grammar.commands(startingWith: group).first else {
            return CommandFailure(
                .usage, "usage.no-command", "COMMAND is missing", hint: "run `\(grammar.program) --help`")
        }
        let words = grammar.commands(startingWith: group).compactMap { $0.words.dropFirst().first }
        return CommandFailure(
            .usage, "usage.no-command", "\(first.words[0]) needs a command",
            hint: "use one of \(LogMessage.joined(words.map { "\($0)" }, separator: ", "))")
    }

    // MARK: - Options

    private mutating func takeOption(_ text: String) throws(CommandFailure) {
        let parts = VariableName.split(text)
        let (name, value) = (String(parts.name), parts.value.map { String($0) })
        if value == nil && (name == "--help" || name == "-h") {
            // `help --help`
            if wantsHelp && group == nil && command == nil { command = grammar.command(named: "help") }
            wantsHelp = true
        } else if value == nil && name == "--version" {
            wantsVersion = true
        } else if let option = all.first(where: { $0.name.description == name }) {
            try takeKnown(option, value)
        } else {
            throw unknownOption(name)
        }
    }

    private mutating func takeKnown(_ option: CommandOption, _ value: String?) throws(CommandFailure) {
        if option.placeholder == nil {
            guard value == nil else {
                throw CommandFailure(
                    .usage, "usage.unexpected-value", "\(option.name) takes no value", hint: usageHint(command))
            }
            try set(option, to: "")
        } else if let value {
            try set(option, to: value)
        } else {
            awaiting = option
        }
    }

    private mutating func set(_ option: CommandOption, to value: String) throws(CommandFailure) {
        let name = option.name.description
        if option.placeholder != nil, let problem = option.problem(with: value) {
            throw CommandFailure(.usage, "usage.bad-value", problem, hint: usageHint(command))
        }
        guard option.isRepeatable || values[name] == nil else {
            throw CommandFailure(
                .usage, "usage.repeated-option", "\(option.name) is set twice", hint: "set \(option.name) once")
        }
        values[name, default: []].append(value)
    }

    var known: [CommandOption] { (command?.options ?? []) + grammar.globalOptions }

    private var all: [CommandOption] { known + [CommandGrammar.help, CommandGrammar.versionOption] }

    private func unknownOption(_ name: String) -> CommandFailure {
        let others = grammar.commands.filter { $0.options.contains { $0.name.description == name } }
        let hint: LogMessage =
            if !operands.isEmpty, let rest = command?.operands.last, rest.takesRest {
                "if the option belongs to \(rest.name), write -- before \(rest.name); \(usageHint(command))"
            } else if !others.isEmpty {
                command == nil
                    ? "write it after its command: \(LogMessage.joined(others.map { $0.wordsMessage }))"
                    : "that is an option of \(LogMessage.joined(others.map { $0.wordsMessage })); \(usageHint(command))"
            } else if name == "-V" {
                "did you mean --version?"
            } else if let near = Suggestion.nearest(to: name, in: all.map(\.name)) {
                "did you mean \(near)?"
            } else if !name.hasPrefix("--") {
                "options begin with two hyphens, except -h; \(usageHint(command))"
            } else {
                usageHint(command)
            }
        let cause: LogMessage =
            if let shown = CommandFailure.name(name) { "unknown option \(shown)" } else {
                "unknown option"
            }
        return CommandFailure(.usage, "usage.unknown-option", cause, hint: hint)
    }

    private func missingValue(_ option: CommandOption) -> CommandFailure {
        CommandFailure(
            .usage, "usage.missing-value", "\(option.name) needs a value",
            hint: "write \(option.name) \(option.placeholder ?? ""), or \(option.name)=\(option.placeholder ?? "")")
    }

    private func usageHint(_ command: CommandDefinition?) -> LogMessage {
        guard let command else { return "run `\(grammar.program) --help`" }
        return "usage: \(grammar.program) \(command.usage)"
    }
}

extension CommandGrammar {
    /// The command that a word is another name of.
    func command(aliased word: String) -> CommandDefinition? {
        aliases.first { $0.word.description == word }.flatMap { command(named: $0.command.description) }
    }

    /// The command that a word of another program's means here, or the one that has it as its second word.
    fileprivate func meant(by text: String, after group: StaticString?) -> LogMessage? {
        let words = group.map { "\($0) \(text)" } ?? text
        if let synonym = synonyms.first(where: { $0.word.description == words }) { return "\(synonym.command)" }
        guard group == nil else { return nil }
        let found = commands.filter { $0.words.count == 2 && $0.words[1].description == text }
        return found.count == 1 ? "\(found[0].words[0]) \(found[0].words[1])" : nil
    }
}

extension CommandDefinition {
    /// The command's words.
    fileprivate var wordsMessage: LogMessage { LogMessage.joined(words.map { "\($0)" }, separator: " ") }
}

extension CommandFailure {
    // A secret in the wrong place must not get into an error, because a log may store the error.

    /// The text if it looks like the name of a command or an option. Errors repeat no other text that a person typed.
    package static func name(_ text: String) -> LoggableText? {
        let word = text.utf8.drop { $0 == UInt8(ascii: "-") }
        let looksLikeAName =
            (1...24).contains(word.count) && text.utf8.count - word.count <= 2
            && word.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
        guard looksLikeAName else { return nil }
        return LoggableText(
            reviewed: "24 lower-case letters at most where a name of ours is expected", unredacted: text)
    }
}

/// Finds the word that the user probably meant.
package enum Suggestion {
    /// Returns the nearest of `words`, or `nil` when none is near: at most one slip for each three letters.
    package static func nearest<Word: CustomStringConvertible>(to text: String, in words: some Sequence<Word>) -> Word?
    {
        guard text.utf8.count <= 64 else { return nil }
        let ranked = words.map { (word: $0, slips: slips(from: Array(text.utf8), to: Array($0.description.utf8))) }
        guard let best = ranked.min(by: { $0.slips < $1.slips }) else { return nil }
        let letters = best.word.description.utf8.drop { $0 == UInt8(ascii: "-") }.count
        return best.slips <= max(1, letters / 3) ? best.word : nil
    }

    /// The number of insertions, deletions, substitutions and swaps of neighbours between two words (optimal string
    /// alignment).
    static func slips(from: [UInt8], to: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for i in 0..<from.count {
            var row = [i + 1] + Array(repeating: 0, count: to.count)
            for j in 0..<to.count {
                let substituted = last[j] + (from[i] == to[j] ? 0 : 1)
                row[j + 1] = min(last[j + 1] + 1, row[j] + 1, substituted)
                if i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j] {
                    row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[to.count]
    }
}
