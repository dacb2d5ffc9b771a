internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem

/// Puts a secret into a file that is in memory alone and can't be changed (memfd_create(2)), for a program that is
/// started: it inherits the descriptor.
struct ChildFileSink: SecretSink {
    static var reason: StaticString { "the person runs a program that reads its secret from a file" }

    /// The file, once there is one. A program that is started inherits it.
    private(set) var descriptor: Int32 = -1

    mutating func receive(_ bytes: Span<UInt8>) throws(SystemErrorNumber) {
        let file = unsafe bytes.withUnsafeBytes { bytes in
            unsafe latchkey_sealed_file("latchkey", bytes.baseAddress, bytes.count)
        }
        guard file >= 0 else { throw SystemErrorNumber(errno) }
        defer { close(file) }
        // Programs such as ssh refuse a key that others could read.
        guard fchmod(file, 0o400) == 0 else { throw SystemErrorNumber(errno) }
        // Shell scripts use the numbers below 10 as they like.
        descriptor = fcntl(file, F_DUPFD, 64)
        if descriptor < 0 { descriptor = fcntl(file, F_DUPFD, 10) }
        guard descriptor >= 0 else { throw SystemErrorNumber(errno) }
    }

    /// The file's path for a program and for what that starts, whether its descriptors are inherited or not.
    static func path(of descriptor: Int32, in process: pid_t) -> String { "/proc/\(process)/fd/\(descriptor)" }
}
