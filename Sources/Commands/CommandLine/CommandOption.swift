package import LatchkeyLog

/// An option of a command: the parser, the help and the completions read it.
package struct CommandOption: Sendable {
    /// The form of an option's value.
    package enum ValueForm: Sendable {
        case text
        /// One of some words, which are made when they are needed.
        case oneOf(@Sendable () -> [StaticString])
        /// A number of seconds above zero, such as `2` or `0.5`.
        case seconds
        /// A time from a second to seven days: a number and `s`, `m`, `h` or `d`.
        case timeSpan
        /// The number of a file descriptor that is none of the standard ones.
        case descriptor
        /// The name and the value of an environment variable: `NAME=VALUE`.
        case assignment
        /// The name of an environment variable, with or without a value.
        case variable
        /// A number from 1 to this one, in decimal digits.
        case count(Int)

        /// One of these words.
        package static func choice(_ words: @escaping @autoclosure @Sendable () -> [StaticString]) -> ValueForm {
            .oneOf(words)
        }
    }

    /// The name with its two hyphens, such as `--store`.
    package let name: LogMessage
    /// The placeholder for the value in the help, or `nil` for an option without a value.
    package let placeholder: StaticString?
    package let form: ValueForm
    package let isRepeatable: Bool
    /// Whether the command line is wrong without it.
    package let isRequired: Bool
    package let help: LogMessage

    /// An option without a value.
    package static func flag(_ name: StaticString, help: StaticString) -> CommandOption {
        CommandOption(
            name: name.logMessage, placeholder: nil, form: .text, isRepeatable: false, isRequired: false,
            help: help.logMessage)
    }

    /// An option with a value.
    package static func value(
        _ name: StaticString, _ placeholder: StaticString, form: ValueForm = .text, repeats: Bool = false,
        isRequired: Bool = false, help: StaticString
    ) -> CommandOption {
        CommandOption(
            name: name.logMessage, placeholder: placeholder, form: form, isRepeatable: repeats, isRequired: isRequired,
            help: help.logMessage)
    }

    /// An option with a value that isn't known before the program runs.
    package static func value(
        named name: LogMessage, _ placeholder: StaticString, help: LogMessage
    ) -> CommandOption {
        CommandOption(
            name: name, placeholder: placeholder, form: .text, isRepeatable: false, isRequired: false, help: help)
    }

    /// The option in a usage line: `--store STORE`.
    var usage: LogMessage {
        guard let placeholder else { return name }
        return isRepeatable ? "\(name) \(placeholder)…" : "\(name) \(placeholder)"
    }
}

extension CommandOption {
    /// Returns what is wrong with a value, or `nil`. The value itself isn't repeated: it may be a secret gone astray.
    func problem(with value: String) -> LogMessage? {
        switch form {
        case .text:
            return value.isEmpty ? "\(name) needs a value that is not empty" : nil
        case .oneOf(let makeWords):
            let words = makeWords()
            if words.contains(where: { $0.description == value }) { return nil }
            return "\(name) takes \(LogMessage.joined(words.map { "\($0)" }, separator: ", "))"
        case .seconds:
            return Seconds.parse(value) == nil ? "\(name) takes a number of seconds above 0, up to 86400" : nil
        case .timeSpan:
            return TimeSpan.parse(value) == nil ? "\(name) takes a time from 1s to 7d, such as 90s, 15m or 8h" : nil
        case .assignment, .variable:
            let assigned = VariableName.split(value)
            guard VariableName.isValid(String(assigned.name)) else {
                return "\(name) takes a variable's name first: letters, digits and underscores, no digit at its start"
            }
            if case .assignment = form, assigned.value == nil { return "\(name) takes \(placeholder ?? "")" }
            return nil
        case .count(let most):
            return Count.parse(value, upTo: most) == nil ? "\(name) takes a number from 1 to \(most)" : nil
        case .descriptor:
            return DescriptorNumber.parse(value) == nil ? "\(name) takes the number of a descriptor, from 3 on" : nil
        }
    }
}

/// The name of an environment variable (POSIX.1-2017, Base Definitions 8.1), lower-case letters allowed.
package enum VariableName {
    /// The parts of `NAME=VALUE`, or of `NAME` alone.
    package static func split(_ text: String) -> (name: Substring, value: Substring?) {
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (text[...], nil) }
        return (text[..<sign], text[text.utf8.index(after: sign)...])
    }

    package static func isValid(_ text: String) -> Bool {
        guard (1...255).contains(text.utf8.count), let first = text.utf8.first else { return false }
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        return !isDigit(first)
            && text.utf8.allSatisfy { isDigit($0) || $0 == 0x5F || (0x61...0x7A).contains($0 | 0x20) }
    }
}

/// Reads a number of seconds.
enum Seconds {
    static func parse(_ text: String) -> Duration? {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, let number = Double(text), number > 0, number <= 86400 else { return nil }
        return .milliseconds(max(1, Int(number * 1000)))
    }
}

/// Reads a time with its unit: `90s`, `15m`, `8h`, `1d`.
enum TimeSpan {
    static func parse(_ text: String) -> Duration? {
        let seconds: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ seconds[$0] }) else { return nil }
        let digits = text.dropLast()
        guard (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(digits), (1...7 * 86_400).contains(number * unit)
        else { return nil }
        return .seconds(number * unit)
    }
}

/// Reads a number of things.
enum Count {
    static func parse(_ text: String, upTo most: Int) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(text), number >= 1, number <= most
        else { return nil }
        return number
    }
}

/// Reads the number of a file descriptor. The standard ones are refused: they are for data and messages.
enum DescriptorNumber {
    static func parse(_ text: String) -> Int32? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(text), number > 2 else {
            return nil
        }
        return number
    }
}
