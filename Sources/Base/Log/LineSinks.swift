/// Writes a record as one line of text: `2026-01-02T03:04:05.678Z info latchkey.store: message`.
///
/// A descriptor that can't be written, or whose reader is gone or too slow, never stops the caller: records are dropped
/// and counted, and the count is the first line once there is room again.
public struct TextLogSink: LogSink {
    private let descriptor: Int32
    private let channel: LineChannel

    /// - Parameters:
    ///   - descriptor: an open file descriptor; standard error unless told otherwise. It is not closed.
    ///   - format: how a line looks.
    ///   - trouble: told once, when the first record is lost.
    public init(
        descriptor: Int32 = 2, format: LogLineFormat = .text, reporting trouble: (@Sendable (LogTrouble) -> Void)? = nil
    ) {
        self.descriptor = descriptor
        channel = LineChannel(format: format, report: trouble)
    }

    /// How many records were lost since the last that could be written.
    package var lostRecordCount: Int { channel.lostCount }

    public func write(_ record: LogEntry) { channel.write(record, to: descriptor) }
}
