internal import Glibc

/// How much a message matters.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable, Loggable {
    /// Each step, for whoever looks for a fault in the library.
    case trace
    /// What a developer of the program wants to see.
    case debug
    /// What an operator wants to see: the least that is written unless told otherwise.
    case info
    /// Something went wrong and didn't stop the work.
    case warning
    /// The work couldn't be done.
    case error

    /// The name on command lines and in logs.
    package var name: StaticString {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// Safe: one of five words of ours.
    public var logMessage: LogMessage { "\(name)" }

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// The part of a program a message comes from, such as `latchkey.github.auth`.
public struct LogCategory: Sendable, Loggable, ExpressibleByStringLiteral {
    package var name: String { logMessage.text }
    /// Safe: stands in the source, or was made inert.
    public let logMessage: LogMessage

    public init(stringLiteral name: StaticString) {
        logMessage = "\(name)"
    }

    /// - Parameter foreign: another package's name for a part of the program, inert and bounded.
    package init(foreign: String) {
        logMessage = LogMessage(foreign: foreign)
    }
}

/// One line of a log, as a sink gets it. Its text can hold no secret: see ``LogMessage``.
public struct LogEntry: Sendable {
    /// A message below its logger's minimum level makes no entry.
    public let level: LogLevel
    /// Its logger's; see ``RedactedLogger/category(_:)``.
    public let category: LogCategory
    /// Made of literals in the source and ``Loggable`` values alone.
    public let message: LogMessage
    /// Nanoseconds since 1970-01-01T00:00:00Z (clock_gettime(2), CLOCK_REALTIME).
    public let timeNanoseconds: Int64
    /// What the logger adds to each of its messages, in the order it was added.
    public let fields: [LogField]

    package init(
        level: LogLevel, category: LogCategory, message: LogMessage, timeNanoseconds: Int64, fields: [LogField] = []
    ) {
        self.level = level
        self.category = category
        self.message = message
        self.timeNanoseconds = timeNanoseconds
        self.fields = fields
    }

    /// The time for `timeNanoseconds`.
    package static func now() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
