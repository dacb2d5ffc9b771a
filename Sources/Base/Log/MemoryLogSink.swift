internal import Synchronization

/// Keeps records in memory, for tests.
public final class MemoryLogSink: LogSink {
    private let kept = Mutex<[LogEntry]>([])

    /// Starts empty. Records are kept, however many, until the sink goes.
    public init() {}

    public func write(_ record: LogEntry) {
        kept.withLock { $0.append(record) }
    }

    /// All records so far, oldest first.
    public var records: [LogEntry] { kept.withLock { $0 } }
}
