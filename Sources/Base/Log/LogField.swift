internal import LatchkeySystem

/// A named value beside a message, such as `sign_in=1f0c…`: as closed to secrets and strings as the message is.
public struct LogField: Sendable, Hashable {
    /// Lower-case words joined by underscores, as they stand in the source; of another package's field, letters, digits
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

/// Ties the lines of one piece of work together, such as one sign-in. It is random and means nothing elsewhere.
public struct CorrelationID: Loggable, Sendable, Hashable {
    private let number: UInt64

    /// Draws a new one: 64 random bits.
    public init() {
        number = UInt64.random(in: 0 ... .max)
    }

    /// Safe: sixteen hexadecimal digits that were drawn for the log alone.
    public var logMessage: LogMessage { LogMessage(verbatim: Hexadecimal.encode(number)) }
}

/// Fields that come with everything the current task logs, and the tasks that it starts, whichever logger they use.
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
}
