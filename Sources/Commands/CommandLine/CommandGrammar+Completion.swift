package import LatchkeyLog

/// The possible continuations of an unfinished command line.
package struct ExpectedWord: Sendable {
    /// Where the candidates come from.
    package enum Source: Sendable {
        /// Words of the grammar's own, with what each one means.
        case words([(word: LogMessage, help: LogMessage)])
        case stores, providers, services, accounts
        case files, programs
        case nothing
    }

    package let source: Source
    /// The typed beginning of the word; for `--option=value`, of the value.
    package let beginning: String
    /// The part before it in the same word: `--option=`.
    package let before: String
    /// The meaning of the words before it, as far as they are valid; `nil` before a command.
    package let arguments: ParsedArguments?
}

extension CommandGrammar {
    /// Reads an unfinished command line, its program name left out. Nothing in it is an error: what makes no sense
    /// leads to no candidates.
    package func expected(after words: [String]) -> ExpectedWord {
        var reader = UnfinishedLine(grammar: self)
        for word in words.dropLast() { reader.take(word) }
        return reader.expected(words.last ?? "")
    }
}

/// The state of reading an unfinished command line.
private struct UnfinishedLine {
    let grammar: CommandGrammar
    private var group: String?
    private var command: CommandDefinition?
    private var operands: [String] = []
    private var values: [String: [String]] = [:]
    private var awaiting: CommandOption?
    private var optionsEnded = false
    /// Whether no operand stood before `--`: an optional one is left out then.
    private var startsBehind = false
    private var wantsHelp = false
    private var isLost = false

    init(grammar: CommandGrammar) {
        self.grammar = grammar
    }

    private var options: [CommandOption] { (command?.options ?? []) + grammar.globalOptions }

    mutating func take(_ word: String) {
        if let option = awaiting {
            awaiting = nil
            set(option, word)
        } else if optionsEnded || !word.hasPrefix("-") || word == "-" {
            takeWord(word)
        } else if word == "--" {
            optionsEnded = true
            startsBehind = operands.isEmpty && command?.operands.first?.isOptional == true
        } else if let (option, value) = option(in: word) {
            if let value {
                set(option, value)
            } else if option.placeholder != nil {
                awaiting = option
            } else {
                set(option, "")
            }
        }
    }

    private func option(in word: String) -> (CommandOption, String?)? {
        let (name, value) = VariableName.split(word)
        guard let option = options.first(where: { $0.name.description == name }) else { return nil }
        return (option, value.map { String($0) })
    }

    private mutating func set(_ option: CommandOption, _ value: String) {
        // A descriptor is for the command itself to read.
        if case .descriptor = option.form { return }
        if option.placeholder == nil || option.problem(with: value) == nil {
            values[option.name.description, default: []].append(value)
        }
    }

    private mutating func takeWord(_ word: String) {
        if let command {
            operands.append(word)
            if command.operands.last?.takesRest == true && operands.count >= command.operands.count {
                optionsEnded = true
            }
        } else if let group {
            command = grammar.command(named: "\(group) \(word)")
            isLost = command == nil
        } else if let aliased = grammar.command(aliased: word) {
            command = aliased
        } else if word == CommandGrammar.helpCommand.name, !wantsHelp {
            wantsHelp = true
        } else if let first = grammar.commands(startingWith: word).first {
            if first.words.count == 1 { command = first } else { group = word }
        } else {
            isLost = true
        }
    }

    func expected(_ word: String) -> ExpectedWord {
        if isLost { return result(.nothing, word) }
        if let awaiting { return result(source(of: awaiting), word) }
        if !optionsEnded, word.hasPrefix("-") {
            guard let (option, value) = option(in: word), let value else {
                let fresh = (options + [CommandGrammar.help]).filter {
                    $0.isRepeatable || values[$0.name.description] == nil
                }
                return result(.words(fresh.map { ($0.name, $0.help) }), word)
            }
            return result(source(of: option), value, before: "\(option.name)=")
        }
        if let command {
            if wantsHelp { return result(.nothing, word) }
            let position = operands.count + (startsBehind ? 1 : 0)
            guard position < command.operands.count else {
                return result(command.operands.last?.takesRest == true ? .files : .nothing, word)
            }
            return result(source(of: command.operands[position], in: command), word)
        }
        return result(.words(commands()), word)
    }

    private func result(_ source: ExpectedWord.Source, _ word: String, before: String = "") -> ExpectedWord {
        let arguments = command.map {
            ParsedArguments(command: $0, globalOptions: grammar.globalOptions, values: values, operands: operands)
        }
        return ExpectedWord(source: source, beginning: word, before: before, arguments: arguments)
    }

    /// The words that a command begins or goes on with. The first word of several commands appears once.
    private func commands() -> [(word: LogMessage, help: LogMessage)] {
        if let group {
            return grammar.commands(startingWith: group).map { ("\($0.words[1])", "\($0.summary)") }
        }
        var words: [(word: LogMessage, help: LogMessage)] = []
        for command in grammar.commands {
            let first: LogMessage = "\(command.words[0])"
            if command.words.count == 1 {
                words.append((first, "\(command.summary)"))
            } else if words.last?.word != first {
                let group = grammar.commands(startingWith: command.words[0].description).map {
                    "\($0.words[1])" as LogMessage
                }
                words.append((first, .joined(group, separator: ", ")))
            }
        }
        guard wantsHelp else { return words }
        return words + (HelpText.lists + grammar.pages.map { ($0.name, $0.summary) }).map { ("\($0)", "\($1)") }
    }

    // MARK: - Values

    private func source(of option: CommandOption) -> ExpectedWord.Source {
        if case .oneOf(let words) = option.form { return .words(words().map { ("\($0)", "") }) }
        return option.placeholder.map { source(named: $0) } ?? .nothing
    }

    private func source(of operand: CommandOperand, in command: CommandDefinition) -> ExpectedWord.Source {
        if !operand.choices.isEmpty { return .words(operand.choices.map { ("\($0)", "") }) }
        return operand.takesRest ? .programs : source(named: operand.name)
    }

    /// The help calls the same thing by the same name everywhere.
    private func source(named name: StaticString) -> ExpectedWord.Source {
        switch name.description {
        case "STORE": .stores
        case "PROVIDER": .providers
        case "SERVICE": .services
        case "ACCOUNT": .accounts
        case "FILE", "PATH", "@FILE": .files
        default: .nothing
        }
    }
}
