internal import Glibc
internal import Synchronization

/// Writes lines to a descriptor, whatever becomes of it: a full disk, a reader that is gone or too slow.
///
/// A line is one write(2) where the system allows it, so that lines of several processes don't mix. A reader that takes
/// nothing holds the caller up for a tenth of a second once; after that, lines are dropped until it reads again.
final class LineChannel: Sendable {
    private static let timeoutMilliseconds: Int32 = 100

    private struct State {
        /// A line was cut off: the next one begins on its own.
        var isMidLine = false
    }

    private let format: LogLineFormat
    private let lost: LostRecords
    private let state = Mutex(State())

    init(format: LogLineFormat, report: (@Sendable (LogTrouble) -> Void)?) {
        self.format = format
        lost = LostRecords(report: report)
    }

    /// How many records were lost since the last that could be written.
    var lostCount: Int { lost.count }

    func write(_ record: LogEntry, to descriptor: Int32) {
        state.withLock { state in
            let count = lost.count
            var text = format.line(record)
            if let note = lost.note(before: record) { text = format.line(note) + text }
            if state.isMidLine { text = "\n" + text }
            let timeout = count > 0 ? 0 : Self.timeoutMilliseconds
            if let number = Self.write(text, to: descriptor, timeout: timeout, isMidLine: &state.isMidLine) {
                lost.add(number: number)
            } else {
                state.isMidLine = false
                lost.forget(count)
            }
        }
    }

    /// A record that got no descriptor at all.
    func lose(number: Int32) { lost.add(number: number) }

    /// Returns the errno of a failure, or `nil`.
    private static func write(_ text: String, to descriptor: Int32, timeout: Int32, isMidLine: inout Bool) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            let pieceByteCount = bytes.count > Int(PIPE_BUF) && isPipe(descriptor) ? Int(PIPE_BUF) : bytes.count
            var written = 0
            while written < bytes.count {
                // A pipe that is ready takes PIPE_BUF bytes without waiting.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if unsafe poll(&wanted, 1, timeout) == 0 { return EAGAIN }
                let end = min(written + pieceByteCount, bytes.count)
                let piece = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[written..<end])
                switch unsafe PipeSafeWrite.write(piece, to: descriptor) {
                case .success(let count): written += count
                case .failure(let failure): return failure.number
                }
                isMidLine = true
            }
            return nil
        }
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }
}
