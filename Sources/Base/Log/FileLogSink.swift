internal import Glibc
internal import Synchronization

/// Appends lines to a file, and to a new one of that name after something has renamed or removed it (logrotate(8)): no
/// signal and no restart are needed, and no line is lost or cut between the two.
///
/// The file is made with mode 0600. A link at its place is refused, so that no other user can lead the log elsewhere. What
/// can't be written is dropped and counted; see ``TextLogSink``.
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
    ///   - path: the file, in a folder that exists. It is opened at the first record.
    ///   - format: how a line looks.
    ///   - trouble: told once, when the first record is lost.
    public init(
        path: String, format: LogLineFormat = .text, reporting trouble: (@Sendable (LogTrouble) -> Void)? = nil
    ) {
        self.path = path
        channel = LineChannel(format: format, report: trouble)
    }

    /// How many records were lost since the last that could be written.
    package var lostRecordCount: Int { channel.lostCount }

    public func write(_ record: LogEntry) {
        open.withLock { open in
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
            case .some(let file): channel.write(record, to: file.descriptor)
            case .none: break
            }
        }
    }

    private func isAtPath(_ device: dev_t, _ inode: ino_t) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }

    /// `nil`, with errno, when there is none.
    private func openFile() -> Open? {
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
