internal import Synchronization

/// The last line: stops a record that holds a secret in use, and lets all others through as they are.
///
///     let live = LiveSecrets()
///     let log = RedactedLogger("shop", sink: ScrubbingLogSink(over: TextLogSink(), secrets: live))
///     let watched = live.watch(token)
///
/// Messages can't hold a secret by their types; this is for what comes in as reviewed text, from servers, libraries and
/// child processes. In place of the record goes one that says that something was withheld, with its level and category.
public final class ScrubbingLogSink: LogSink {
    private let next: any LogSink
    private let secrets: LiveSecrets
    private let withheld = Atomic(0)

    /// Passes every record on to `next`, unchanged or replaced by a note that it was withheld.
    public init(over next: any LogSink, secrets: LiveSecrets) {
        self.next = next
        self.secrets = secrets
    }

    /// How many records were withheld.
    package var withheldRecordCount: Int { withheld.load(ordering: .relaxed) }

    public func write(_ record: LogEntry) {
        let isHeld = secrets.isHeld(by: record.message) || record.fields.contains { secrets.isHeld(by: $0.value) }
        guard isHeld else { return next.write(record) }
        withheld.add(1, ordering: .relaxed)
        secrets.countWithheld()
        next.write(
            .withheld(level: record.level, category: record.category, timeNanoseconds: record.timeNanoseconds))
    }
}

extension LogEntry {
    /// The replacement for a record that contains a secret.
    package static func withheld(level: LogLevel, category: LogCategory, timeNanoseconds: Int64) -> LogEntry {
        LogEntry(
            level: level, category: category, message: "withheld a record, because it contained a secret in use",
            timeNanoseconds: timeNanoseconds)
    }
}
