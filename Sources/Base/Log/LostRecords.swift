internal import Synchronization

/// A sink could not write: the first time, it tells whoever made it.
public struct LogTrouble: Loggable, Sendable, Hashable {
    /// The system's errno: `ENOSPC` for a full disk, `EPIPE` for a pipe without a reader, `EAGAIN` for a reader that is
    /// too slow.
    public let number: Int32

    /// Safe: an error number.
    public var logMessage: LogMessage { "the log can't be written (errno \(number)); records are lost" }
}

/// Counts the records that a sink lost, reports the first, and says how many there were once it can write again.
final class LostRecords: Sendable {
    private struct State {
        var count = 0
        var number: Int32 = 0
        var hasReported = false
    }

    private let state = Mutex(State())
    private let report: (@Sendable (LogTrouble) -> Void)?

    init(report: (@Sendable (LogTrouble) -> Void)?) {
        self.report = report
    }

    var count: Int { state.withLock { $0.count } }

    func add(number: Int32) {
        let isFirst = state.withLock { state in
            state.count += 1
            state.number = number
            defer { state.hasReported = true }
            return !state.hasReported
        }
        if isFirst { report?(LogTrouble(number: number)) }
    }

    /// What must be said before the next record, or `nil` when nothing was lost.
    func note(before record: LogEntry) -> LogEntry? {
        let (count, number) = state.withLock { ($0.count, $0.number) }
        guard count > 0 else { return nil }
        return LogEntry(
            level: .warning, category: "latchkey.log", message: "\(count) records were lost here (errno \(number))",
            timeNanoseconds: record.timeNanoseconds)
    }

    /// The note of `count` records has been written.
    func forget(_ count: Int) {
        state.withLock { $0.count -= min(count, $0.count) }
    }
}
