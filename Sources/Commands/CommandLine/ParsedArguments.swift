internal import LatchkeyLog

/// The options and operands of a command line, checked against the definition of its command.
package struct ParsedArguments: Sendable {
    package let command: CommandDefinition
    private let globalOptions: [CommandOption]
    private let values: [String: [String]]
    /// The words that aren't options, verbatim.
    package let operands: [String]
    /// How many of them stood before `--`; `nil` without it.
    package let separation: Int?
    /// The word of each operand in the definition; `nil` for one that was left out.
    private let assigned: [String?]

    init(
        command: CommandDefinition, globalOptions: [CommandOption], values: [String: [String]], operands: [String],
        separation: Int? = nil
    ) {
        self.command = command
        self.globalOptions = globalOptions
        self.values = values
        self.operands = operands
        self.separation = separation
        assigned = command.assign(operands)
    }

    /// Whether a flag is set.
    package func has(_ option: CommandOption) -> Bool { !all(option).isEmpty }

    /// The value of an option, or `nil` when it wasn't given.
    package func value(_ option: CommandOption) -> String? { all(option).first }

    /// All values of an option that can be repeated, in order.
    package func all(_ option: CommandOption) -> [String] {
        let isDefined =
            command.options.contains { $0.name == option.name } || globalOptions.contains { $0.name == option.name }
        precondition(isDefined, "\(command.name) has no option \(option.name)")
        return values[option.name.description] ?? []
    }

    /// The value of an option in seconds.
    package func seconds(_ option: CommandOption) -> Duration? { value(option).flatMap(Seconds.parse) }

    /// The value of an option that is a time with its unit.
    package func timeSpan(_ option: CommandOption) -> Duration? { value(option).flatMap(TimeSpan.parse) }

    /// The value of an option that is a number.
    package func count(_ option: CommandOption) -> Int? { value(option).flatMap { Int($0) } }

    /// The value of an option that is a descriptor's number.
    package func descriptor(_ option: CommandOption) -> Int32? { value(option).flatMap(DescriptorNumber.parse) }

    /// Whether a command takes an operand.
    package func takes(operand name: String) -> Bool { command.operands.contains { $0.name.description == name } }

    /// An operand that the command requires.
    package func operand(_ name: String) -> String {
        guard let text = optionalOperand(name) else { preconditionFailure("\(name) is not required") }
        return text
    }

    /// An operand that may be left out.
    package func optionalOperand(_ name: String) -> String? {
        guard let index = command.operands.firstIndex(where: { $0.name.description == name }) else {
            preconditionFailure("\(command.name) has no operand \(name)")
        }
        return assigned[index]
    }
}

extension CommandDefinition {
    /// Assigns the words to the operands. An optional operand gets a word if the required ones don't need all words, so it
    /// may come before a required one: `request PROVIDER [METHOD] URL`.
    func assign(_ words: [String]) -> [String?] {
        var surplus = words.count - operands.count { !$0.isOptional }
        var rest = words[...]
        return operands.map { operand in
            if operand.isOptional {
                guard surplus > 0 else { return nil }
                surplus -= 1
            }
            return rest.popFirst()
        }
    }
}
