internal import Glibc

/// Where log records go. A sink keeps its own order and must be callable from any thread.
public protocol LogSink: Sendable {
    /// Takes one record. A sink that can't write drops the record; it never throws into the work that is logged.
    func write(_ record: LogRecord)
}

/// Writes messages of one category to a sink.
///
/// A message below `minimumLevel` is not even made: its interpolations are not evaluated.
public struct Logger: Sendable {
    public let category: LogCategory
    public let minimumLevel: LogLevel
    private let sink: (any LogSink)?

    /// Makes a logger. Without a sink it drops everything.
    public init(_ category: LogCategory, minimumLevel: LogLevel = .info, sink: (any LogSink)?) {
        self.category = category
        self.minimumLevel = minimumLevel
        self.sink = sink
    }

    /// A logger that drops everything.
    public static let disabled = Logger("disabled", sink: nil)

    /// Returns a logger with the same sink and level for another category.
    public func category(_ category: LogCategory) -> Logger {
        Logger(category, minimumLevel: minimumLevel, sink: sink)
    }

    public func log(_ level: LogLevel, _ message: @autoclosure () -> LogMessage) {
        guard let sink, level >= minimumLevel else { return }
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        sink.write(
            LogRecord(
                level: level, category: category, message: message(),
                timeNanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)))
    }

    public func trace(_ message: @autoclosure () -> LogMessage) { log(.trace, message()) }
    public func debug(_ message: @autoclosure () -> LogMessage) { log(.debug, message()) }
    public func info(_ message: @autoclosure () -> LogMessage) { log(.info, message()) }
    public func warning(_ message: @autoclosure () -> LogMessage) { log(.warning, message()) }
    public func error(_ message: @autoclosure () -> LogMessage) { log(.error, message()) }
}
