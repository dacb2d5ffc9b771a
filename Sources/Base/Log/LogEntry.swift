internal import Glibc
internal import LatchkeySystem
internal import Synchronization

/// How much a message matters.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable, Loggable {
    /// Each step, for finding a fault in the library.
    case trace
    /// Information for a developer of the program.
    case debug
    /// Information for an operator: the lowest level that is written by default.
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

    /// Safe: one of five fixed words.
    public var logMessage: LogMessage { "\(name)" }

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// The part of a program a message comes from, such as `latchkey.github.auth`.
public struct LogCategory: Sendable, Loggable, ExpressibleByStringLiteral {
    package var name: String { logMessage.text }
    /// Safe: from the source, or escaped.
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
    /// The fields that the logger adds to each message, in that order, then `errno` if the message shows a system's
    /// error.
    public let fields: [LogField]

    package init(
        level: LogLevel, category: LogCategory, message: LogMessage, timeNanoseconds: Int64, fields: [LogField] = []
    ) {
        self.level = level
        self.category = category
        self.message = message
        self.timeNanoseconds = timeNanoseconds
        self.fields = message.fields.isEmpty ? fields : fields.adding(message.fields)
    }

    /// The time for `timeNanoseconds`.
    package static func now() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}

/// A named value beside a message, such as `sign_in=1f0c…`: as closed to secrets and strings as the message is.
public struct LogField: Sendable, Hashable {
    /// Lower-case words joined by underscores, verbatim from the source. A field of another package has letters, digits
    /// and `_`, `-` and `.`.
    public let name: String
    /// The value's `logMessage`, made when the field was added.
    public let value: LogMessage

    package init(_ name: StaticString, _ value: some Loggable) {
        self.name = name.description
        self.value = value.logMessage
    }

    /// - Parameters:
    ///   - foreign: another package's name, of the characters that a name may have.
    ///   - value: the value, made inert.
    package init(foreign: String, _ value: LogMessage) {
        name = foreign
        self.value = value
    }
}

extension [LogField] {
    /// The first field of a name counts.
    func adding(_ others: [LogField]) -> [LogField] {
        self + others.filter { other in !contains { $0.name == other.name } }
    }
}

/// A random mark of the lines of one piece of work, such as one sign-in.
public struct CorrelationID: Loggable, Sendable, Hashable {
    private let number: UInt64

    /// Draws a new one: 64 random bits.
    public init() {
        number = UInt64.random(in: 0 ... .max)
    }

    /// Safe: sixteen hexadecimal digits that were drawn for the log alone.
    public var logMessage: LogMessage { LogMessage(verbatim: Hexadecimal.encode(number)) }
}

/// The fields of all lines of the current task and the tasks that it starts, for every logger.
public enum LogContext {
    @TaskLocal package static var fields: [LogField] = []

    /// Runs `body` with a field added. Tasks that it starts keep the field to their end.
    ///
    ///     let task = LogContext.with("sign_in", CorrelationID()) { Task { … } }
    ///
    /// Throws what `body` throws.
    public static func with<Result, Failure: Error>(
        _ name: StaticString, _ value: some Loggable, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let field = LogField(name, value)
        let outcome: Swift.Result<Result, Failure> = $fields.withValue(
            fields.filter { $0.name != field.name } + [field]
        ) {
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// The same for an asynchronous `body`. Throws what it throws.
    public static func with<Result, Failure: Error>(
        _ name: StaticString, _ value: some Loggable, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let field = LogField(name, value)
        let outcome: Swift.Result<Result, Failure> = await $fields.withValue(
            fields.filter { $0.name != field.name } + [field]
        ) { () async -> Swift.Result<Result, Failure> in
            await Swift.Result<Result, Failure>(awaiting: try await body())
        }
        return try outcome.get()
    }
}

/// Keeps records in memory, for tests.
public final class MemoryLogSink: LogSink {
    private let kept = Mutex<[LogEntry]>([])

    /// Starts empty. The sink keeps all records until its end.
    public init() {}

    public func write(_ record: LogEntry) {
        kept.withLock { $0.append(record) }
    }

    /// All records so far, oldest first.
    public var records: [LogEntry] { kept.withLock { $0 } }
}
