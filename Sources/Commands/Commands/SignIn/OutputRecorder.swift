internal import Glibc
internal import LatchkeyLog
internal import LatchkeyCommandLine

/// Keeps a copy of every byte that this process writes to standard output and standard error, whoever writes it.
///
/// Both descriptors lead into files without a name meanwhile; `passOn` shows what has come. It puts them back when it
/// ends.
struct OutputRecorder: ~Copyable {
    private struct Stream {
        let target: Int32
        let original: Int32
        let copy: Int32
        var bytes: [UInt8] = []
    }

    private var streams: [Stream] = []

    init(in folder: String) throws {
        for target in [Int32(1), 2] {
            let name = "\(folder)/output-\(target)"
            let copy = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, mode_t(0o600))
            let original = fcntl(target, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0, original >= 0, dup2(copy, target) == target else {
                throw CommandFailure(
                    .cannotWrite, "demo.cannot-record", "the output can't be recorded (errno \(errno))")
            }
            unsafe unlink(name)
            streams.append(Stream(target: target, original: original, copy: copy))
        }
    }

    deinit {
        for stream in streams {
            dup2(stream.original, stream.target)
            close(stream.original)
            close(stream.copy)
        }
    }

    /// Shows what was written since the last time.
    mutating func passOn() {
        for index in streams.indices {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe pread(streams[index].copy, &chunk, chunk.count, streams[index].bytes.count)
                guard count > 0 else { break }
                streams[index].bytes += chunk[..<count]
                unsafe chunk.withUnsafeBytes { bytes in
                    _ = unsafe write(streams[index].original, bytes.baseAddress, count)
                }
            }
        }
    }

    /// What was written to standard output and standard error.
    var standardOutput: [UInt8] { streams[0].bytes }
    var standardError: [UInt8] { streams[1].bytes }
}
