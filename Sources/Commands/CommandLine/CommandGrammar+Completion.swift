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
        var reader = ArgumentReader(grammar: self)
        for word in words.dropLast() {
            let problem = failure(CommandFailure.self, of: try reader.take(word))
            if problem?.codeName.description == "usage.unknown-command" {
                return reader.result(.nothing, words.last ?? "")
            }
        }
        return reader.expected(words.last ?? "")
    }
}

extension ArgumentReader {
    fileprivate func expected(_ word: String) -> ExpectedWord {
        if let awaiting { return result(source(of: awaiting), word) }
        if !optionsEnded, word.hasPrefix("-") {
            let (name, value) = VariableName.split(word)
            guard let option = known.first(where: { $0.name.description == name }), let value else {
                let fresh = (known + [CommandGrammar.help]).filter {
                    $0.isRepeatable || values[$0.name.description] == nil
                }
                return result(.words(fresh.map { ($0.name, $0.help) }), word)
            }
            return result(source(of: option), String(value), before: "\(option.name)=")
        }
        if let command {
            if wantsHelp { return result(.nothing, word) }
            // An optional first operand is left out if nothing comes before `--`.
            let position = operands.count + (separation == 0 && command.operands.first?.isOptional == true ? 1 : 0)
            guard position < command.operands.count else {
                return result(command.operands.last?.takesRest == true ? .files : .nothing, word)
            }
            return result(source(of: command.operands[position], in: command), word)
        }
        return result(page == nil ? .words(commands()) : .nothing, word)
    }

    fileprivate func result(_ source: ExpectedWord.Source, _ word: String, before: String = "") -> ExpectedWord {
        // A descriptor is for the command itself to read.
        ExpectedWord(
            source: source, beginning: word, before: before,
            arguments: command.map { arguments(of: $0, withDescriptors: false) })
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
