internal import Synchronization

/// Keeps records in memory, for tests.
public final class MemoryLogSink: LogSink {
    private let kept = Mutex<[LogRecord]>([])

    public init() {}

    public func write(_ record: LogRecord) {
        kept.withLock { $0.append(record) }
    }

    /// All records so far, oldest first.
    public var records: [LogRecord] { kept.withLock { $0 } }
}
