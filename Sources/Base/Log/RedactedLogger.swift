/// Where log records go. A sink keeps its own order and must be callable from any thread.
public protocol LogSink: Sendable {
    /// Takes one record. A sink that can't write drops the record; it never throws into the work that is logged.
    func write(_ record: LogEntry)
}

/// Writes messages of one category to a sink.
///
/// A message below `minimumLevel` is not even made: its interpolations are not evaluated.
public struct RedactedLogger: Sendable {
    package let category: LogCategory
    package let minimumLevel: LogLevel
    private let sink: (any LogSink)?
    private var fields: [LogField] = []

    /// Makes a logger. Without a sink it drops everything.
    public init(_ category: LogCategory, minimumLevel: LogLevel = .info, sink: (any LogSink)?) {
        self.category = category
        self.minimumLevel = minimumLevel
        self.sink = sink
    }

    /// A logger that drops everything.
    public static let disabled = RedactedLogger("disabled", sink: nil)

    /// Returns a logger with the same sink and level for another category.
    public func category(_ category: LogCategory) -> RedactedLogger {
        var logger = RedactedLogger(category, minimumLevel: minimumLevel, sink: sink)
        logger.fields = fields
        return logger
    }

    /// Returns a logger that adds a field to each message; one of the same name is replaced.
    ///
    ///     let log = log.with("sign_in", CorrelationID())
    public func with(_ name: StaticString, _ value: some Loggable) -> RedactedLogger {
        var logger = self
        let field = LogField(name, value)
        logger.fields = fields.filter { $0.name != field.name } + [field]
        return logger
    }

    /// Returns a logger that keeps the fields of the current task's `LogContext`, for callbacks that other tasks run.
    package func keepingContext() -> RedactedLogger {
        var logger = self
        logger.fields = allFields
        return logger
    }

    /// Writes one record, with the logger's fields and those of ``LogContext``. Below the minimum level, or without a
    /// sink, the message is not evaluated.
    public func log(_ level: LogLevel, _ message: @autoclosure () -> LogMessage) {
        guard let sink, level >= minimumLevel else { return }
        let time = LogEntry.now()
        sink.write(
            LogEntry(level: level, category: category, message: message(), timeNanoseconds: time, fields: allFields))
    }

    private var allFields: [LogField] {
        let inherited = LogContext.fields
        if inherited.isEmpty { return fields }
        return inherited.filter { field in !fields.contains { $0.name == field.name } } + fields
    }

    /// Writes at the lowest level, which the default minimum, `info`, leaves out.
    public func trace(_ message: @autoclosure () -> LogMessage) { log(.trace, message()) }
    /// Writes at the level below `info`, which the default minimum leaves out.
    public func debug(_ message: @autoclosure () -> LogMessage) { log(.debug, message()) }
    /// Writes at the lowest level that a logger lets through unless told otherwise.
    public func info(_ message: @autoclosure () -> LogMessage) { log(.info, message()) }
    /// Writes at the level for what went wrong and didn't stop the work.
    public func warning(_ message: @autoclosure () -> LogMessage) { log(.warning, message()) }
    /// Writes at the highest level. It throws nothing and stops nothing.
    public func error(_ message: @autoclosure () -> LogMessage) { log(.error, message()) }
}
