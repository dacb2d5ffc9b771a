package import LatchkeyLog

/// What is wrong with a command line.
///
/// What a person typed is repeated only where it looks like a name of ours: a secret typed in the wrong place must not
/// turn up in an error, which may be kept in a log.
package struct UsageError: CommandError, Hashable {
    package enum Problem: Sendable, Hashable {
        case noCommand, unknownCommand, unknownOption, missingValue, unexpectedValue, repeatedOption, badValue
        case missingOperand, tooManyOperands, invalidUTF8
    }

    package let problem: Problem
    package let cause: LogMessage
    package let hint: LogMessage?

    package init(_ problem: Problem, _ cause: LogMessage, hint: LogMessage?) {
        self.problem = problem
        self.cause = cause
        self.hint = hint
    }

    package var codeName: StaticString {
        switch problem {
        case .noCommand: "usage.no-command"
        case .unknownCommand: "usage.unknown-command"
        case .unknownOption: "usage.unknown-option"
        case .missingValue: "usage.missing-value"
        case .unexpectedValue: "usage.unexpected-value"
        case .repeatedOption: "usage.repeated-option"
        case .badValue: "usage.bad-value"
        case .missingOperand: "usage.missing-operand"
        case .tooManyOperands: "usage.too-many-operands"
        case .invalidUTF8: "usage.invalid-utf-8"
        }
    }

    package var exitStatus: ExitStatus { .usage }

    /// The text, when it looks like the name of a command or an option.
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
