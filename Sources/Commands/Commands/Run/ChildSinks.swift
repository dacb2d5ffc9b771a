internal import CLatchkeyLinux
internal import Glibc

/// Puts secrets only into the environment of one started program.
///
/// Guarded memory contains the variables' text. This process's environment never contains it.
struct ChildEnvironmentSink: SecretSink, ~Copyable {
    static var reason: StaticString { "the person runs a program that takes its secrets from variables" }

    /// Why a secret can't be in a variable.
    enum Unfit: Error, Hashable, Sendable {
        /// A NUL byte ends a variable.
        case containsNUL
        /// execve(2) takes so many bytes in a variable, its name included.
        case tooLong(limit: Int)
    }

    /// `NAME=VALUE` with a NUL behind each.
    private var text = SecretBuilder()
    /// Where each variable's text begins; a later one takes the place of one before.
    private var starts: [String: Int] = [:]
    /// The variable that the next secret is for.
    private var name = ""

    /// MAX_ARG_STRLEN of the kernel, with the NUL.
    private static var limit: Int { 32 * sysconf(Int32(_SC_PAGESIZE)) }

    mutating func put<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, into name: String
    ) throws(Unfit) {
        self.name = name
        try secret.pour(into: &self)
    }

    /// Adds a variable that isn't secret.
    mutating func put(text value: String, into name: String) throws(Unfit) {
        self.name = name
        try receive(value.utf8.span)
    }

    mutating func receive(_ bytes: Span<UInt8>) throws(Unfit) {
        for index in bytes.indices where bytes[index] == 0 { throw .containsNUL }
        let start = text.byteCount
        guard name.utf8.count + bytes.count + 2 <= Self.limit else { throw .tooLong(limit: Self.limit) }
        try mappingError({ (_: SecretBuilder.LimitExceeded) in Unfit.tooLong(limit: Self.limit) }) {
            () throws(SecretBuilder.LimitExceeded) in
            try text.append(publicText: name + "=")
            try text.append(bytes)
            try text.append(0)
        }
        starts[name] = start
    }

    /// Lends the program's environment as execve(2) takes it: this process's variables, without `LATCHKEY_…` (they tell
    /// where keys are) and without those that were set here, followed by those that were set here.
    @unsafe func withEnvironment<Result>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let name = unsafe String(
                decoding: UnsafeRawBufferPointer(start: entry, count: strcspn(entry, "=")), as: UTF8.self)
            // The second is what hardening has set for this process alone.
            let isOurs = unsafe name.hasPrefix("LATCHKEY_") || strcmp(entry, "SWIFT_BACKTRACE=enable=no") == 0
            if starts[name] == nil && !isOurs { unsafe variables.append(entry) }
            unsafe next += 1
        }
        return text.withExposedBytes { text in
            unsafe text.withUnsafeBytes { text in
                for start in starts.values.sorted() {
                    // execve only reads it.
                    let entry = unsafe UnsafeMutableRawPointer(mutating: text.baseAddress! + start)
                    unsafe variables.append(entry.assumingMemoryBound(to: CChar.self))
                }
                return unsafe body(variables + [nil])
            }
        }
    }
}

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
