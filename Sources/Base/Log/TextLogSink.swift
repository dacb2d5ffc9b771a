internal import Glibc
internal import Synchronization

/// Writes a record as one line of text: `2026-01-02T03:04:05.678Z info latchkey.store: message`.
///
/// The caller never waits for a full descriptor or a slow reader. The sink drops and counts such records, and writes
/// the count before the next record.
public struct TextLogSink: LogSink {
    private let descriptor: Int32
    private let channel: LineChannel

    /// - Parameters:
    ///   - descriptor: an open file descriptor (default: standard error). The sink doesn't close it.
    ///   - format: the format of a line.
    ///   - trouble: called once, when the first record is lost.
    public init(
        descriptor: Int32 = 2, format: LogLineFormat = .text, reporting trouble: (@Sendable (LogTrouble) -> Void)? = nil
    ) {
        self.descriptor = descriptor
        channel = LineChannel(format: format, report: trouble)
    }

    /// How many records were lost since the last that could be written.
    package var lostRecordCount: Int { channel.lostCount }

    public func write(_ record: LogEntry) { channel.report(channel.write(record, to: descriptor)) }
}

/// Writes lines to a descriptor, even with a full disk, or a closed or slow reader.
///
/// A line is one write(2) if the system allows it, so that lines of several processes don't mix. A stopped reader
/// delays the caller once by a tenth of a second. The channel then drops lines until the reader reads again.
final class LineChannel: Sendable {
    private static let timeoutMilliseconds: Int32 = 100

    private let format: LogLineFormat
    private let lost: LostRecords
    /// Whether a line was cut off: the next one begins on its own.
    private let isMidLine = Mutex(false)

    init(format: LogLineFormat, report: (@Sendable (LogTrouble) -> Void)?) {
        self.format = format
        lost = LostRecords(report: report)
    }

    /// How many records were lost since the last that could be written.
    var lostCount: Int { lost.count }

    /// Returns what to report after all locks are released, because the listener may log it to the same sink.
    func write(_ record: LogEntry, to descriptor: Int32) -> LogTrouble? {
        isMidLine.withLock { isMidLine in
            let count = lost.count
            var text = format.line(record)
            if let note = lost.note(before: record) { text = format.line(note) + text }
            if isMidLine { text = "\n" + text }
            let timeout = count > 0 ? 0 : Self.timeoutMilliseconds
            if let number = Self.write(text, to: descriptor, timeout: timeout, isMidLine: &isMidLine) {
                return lost.add(number: number)
            }
            isMidLine = false
            lost.forget(count)
            return nil
        }
    }

    /// A record that got no descriptor at all.
    func lose(number: Int32) -> LogTrouble? { lost.add(number: number) }

    func report(_ trouble: LogTrouble?) { lost.report(trouble) }

    /// Returns the errno of a failure, or `nil`.
    private static func write(_ text: String, to descriptor: Int32, timeout: Int32, isMidLine: inout Bool) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            let kind = kind(of: descriptor)
            let pieceByteCount = bytes.count > Int(PIPE_BUF) && kind != S_IFREG ? Int(PIPE_BUF) : bytes.count
            let own = kind == S_IFREG ? nil : DescriptorBytes.withoutWaiting(descriptor)
            defer { if let own { close(own) } }
            let target = own ?? descriptor
            var written = 0
            // The time begins when the descriptor first isn't ready.
            var end: ContinuousClock.Instant?
            func left() -> Duration {
                let last = end ?? .now + .milliseconds(Int(timeout))
                end = last
                return max(.zero, ContinuousClock.now.duration(to: last))
            }
            while written < bytes.count {
                // A pipe that is ready takes PIPE_BUF bytes without waiting.
                var wanted = pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
                var ready = kind == S_IFREG ? 1 : unsafe poll(&wanted, 1, 0)
                if ready == 0 { ready = unsafe poll(&wanted, 1, Int32(left() / .milliseconds(1))) }
                // A signal doesn't mean that the descriptor is ready.
                if ready < 0, errno == EINTR { continue }
                if ready == 0 { return EAGAIN }
                let pieceEnd = min(written + pieceByteCount, bytes.count)
                let piece = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[written..<pieceEnd])
                switch unsafe PipeSafeWrite.write(piece, to: target, isSocket: kind == S_IFSOCK) {
                case .success(let count):
                    written += count
                    isMidLine = true
                case .failure(let failure):
                    // Another program was sooner.
                    guard failure.number == EAGAIN, left() > .zero else { return failure.number }
                }
            }
            return nil
        }
    }

    /// The kind of file, such as `S_IFREG`, or 0.
    private static func kind(of descriptor: Int32) -> mode_t {
        (try? FileStatus.of(descriptor: descriptor)).map { $0.mode & S_IFMT } ?? 0
    }
}

/// The failure of a sink to write. The sink reports its first failure.
public struct LogTrouble: Loggable, Sendable, Hashable {
    /// The system's errno: `ENOSPC` for a full disk, `EPIPE` for a pipe without a reader, `EAGAIN` for a reader that is
    /// too slow.
    public let number: Int32

    /// Safe: an error number.
    public var logMessage: LogMessage { "can't write the log: \(SystemErrorNumber(number)); records are lost" }
}

/// Counts the records that a sink lost, reports the first, and says how many there were once it can write again.
final class LostRecords: Sendable {
    private struct State {
        var count = 0
        var number: Int32 = 0
        var hasReported = false
    }

    private let state = Mutex(State())
    private let listener: (@Sendable (LogTrouble) -> Void)?

    init(report listener: (@Sendable (LogTrouble) -> Void)?) {
        self.listener = listener
    }

    var count: Int { state.withLock { $0.count } }

    /// Returns the first trouble, for `report`.
    func add(number: Int32) -> LogTrouble? {
        state.withLock { state in
            state.count += 1
            state.number = number
            defer { state.hasReported = true }
            return state.hasReported ? nil : LogTrouble(number: number)
        }
    }

    func report(_ trouble: LogTrouble?) {
        if let trouble { listener?(trouble) }
    }

    /// The note before the next record about lost ones, or `nil` for none.
    func note(before record: LogEntry) -> LogEntry? {
        let (count, number) = state.withLock { ($0.count, $0.number) }
        guard count > 0 else { return nil }
        return LogEntry(
            level: .warning, category: "latchkey.log",
            message: "\(count) records were lost here: \(SystemErrorNumber(number))",
            timeNanoseconds: record.timeNanoseconds)
    }

    /// The note of `count` records has been written.
    func forget(_ count: Int) {
        state.withLock { $0.count -= min(count, $0.count) }
    }
}

/// write(2) that returns what is wrong, and raises no signal that would end the process.
package enum PipeSafeWrite {
    /// Writes all of `text`. Returns the errno of a failure, or `nil`.
    package static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[written...])
                switch unsafe write(rest, to: descriptor) {
                case .success(let count): written += count
                case .failure(let failure): return failure.number
                }
            }
            return nil
        }
    }

    /// Calls write(2), again after a signal, and returns the number of written bytes.
    ///
    /// A pipe without a reader would raise SIGPIPE. A file at its limit would raise SIGXFSZ. This thread blocks both
    /// signals and then removes them, so that other waits for these signals aren't affected.
    ///
    /// - Parameter isSocket: whether to call `DescriptorBytes.writeOnce`, which doesn't wait for a socket.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, isSocket: Bool = false
    ) -> Result<Int, SystemErrorNumber> {
        func call() -> Int {
            unsafe isSocket
                ? DescriptorBytes.writeOnce(bytes, to: descriptor)
                : Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        }
        var (held, before) = (sigset_t(of: [SIGPIPE, SIGXFSZ]), sigset_t())
        unsafe pthread_sigmask(SIG_BLOCK, &held, &before)
        var count = call()
        while count < 0 && errno == EINTR { count = call() }
        let number = errno
        if count < 0, let signal = number == EPIPE ? SIGPIPE : number == EFBIG ? SIGXFSZ : nil,
            unsafe sigismember(&before, signal) == 0
        {
            var raised = sigset_t(of: [signal])
            var atOnce = timespec()
            _ = unsafe sigtimedwait(&raised, nil, &atOnce)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        if count > 0 { return .success(count) }
        return .failure(SystemErrorNumber(count == 0 ? EIO : number))
    }
}

/// Appends lines to a file. If another program renames or removes the file (logrotate(8)), the sink makes a new file of
/// that name, without a signal or a restart, and without losing or cutting a line.
///
/// The sink creates the file with mode 0600. It refuses a link, so that another user can't redirect the log. It drops
/// and counts lines that can't be written; see ``TextLogSink``.
public final class FileLogSink: LogSink {
    private struct Open: ~Copyable {
        let descriptor: Int32
        let device: dev_t
        let inode: ino_t
        deinit { close(descriptor) }
    }

    private let path: String
    private let channel: LineChannel
    private let open = Mutex<Open?>(nil)

    /// - Parameters:
    ///   - path: the file, in an existing folder. The sink opens it at the first record.
    ///   - format: the format of a line.
    ///   - trouble: called once, when the first record is lost.
    public init(
        path: String, format: LogLineFormat = .text, reporting trouble: (@Sendable (LogTrouble) -> Void)? = nil
    ) {
        self.path = path
        channel = LineChannel(format: format, report: trouble)
    }

    /// How many records were lost since the last that could be written.
    package var lostRecordCount: Int { channel.lostCount }

    public func write(_ record: LogEntry) {
        let trouble: LogTrouble? = open.withLock { open in
            let isCurrent =
                switch open {
                case .some(let file): isAtPath(file.device, file.inode)
                case .none: false
                }
            if !isCurrent {
                open = nil
                guard let file = openFile() else { return channel.lose(number: errno) }
                open = consume file
            }
            switch open {
            case .some(let file): return channel.write(record, to: file.descriptor)
            case .none: return nil
            }
        }
        channel.report(trouble)
    }

    private func isAtPath(_ device: dev_t, _ inode: ino_t) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }

    /// Returns `nil` and sets errno on failure.
    private func openFile() -> Open? {
        guard !path.utf8.contains(0) else {
            errno = EINVAL
            return nil
        }
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        let descriptor = unsafe Glibc.open(path, flags, mode_t(0o600))
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            errno = EINVAL
            return nil
        }
        return Open(descriptor: descriptor, device: status.st_dev, inode: status.st_ino)
    }
}
