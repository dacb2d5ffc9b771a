internal import LatchkeySystem

/// A named way out for secrets: an HTTP header, a form body, a file descriptor, a child's environment.
///
/// There are few of them, each has a long name and a reason, and Tests/Evidence/Sinks.md lists them all; a test compares the list
/// with the sources.
public protocol SecretSink: ~Copyable {
    /// The error that `receive` and ``Secret/pour(into:)`` throw; `Never` for a sink that can't fail.
    associatedtype Failure: Error

    /// Why secrets may leave here.
    static var reason: StaticString { get }

    /// Takes the bytes of one secret. They are valid during the call alone.
    ///
    /// Throws when the bytes didn't leave, or not all of them.
    mutating func receive(_ bytes: Span<UInt8>) throws(Failure)
}

/// Writes secrets to an open file descriptor, byte for byte: standard output of `get`, a pipe to another program.
public struct FileDescriptorSecretSink: SecretSink {
    public static var reason: StaticString { "a person or program asked for the secret on this descriptor" }

    private let descriptor: Int32

    /// The descriptor must be open for writing, and blocking: EAGAIN is a failure. The caller closes the descriptor. A
    /// pipe without a reader raises SIGPIPE, which ends the process unless it ignores that signal (signal(7)). Text
    /// that `print` has buffered comes later.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes all bytes, repeating interrupted and partial writes (write(2)).
    ///
    /// Throws ``WriteFailure`` where write(2) fails; what was written before stays written.
    public mutating func receive(_ bytes: Span<UInt8>) throws(WriteFailure) {
        try mapError(
            { (error: SystemErrorNumber) in WriteFailure(number: error.number) },
            of: DescriptorBytes.write(bytes, to: descriptor))
    }

    /// An error of write(2).
    public struct WriteFailure: Error, Hashable, Sendable {
        /// Its errno.
        public let number: Int32
    }
}
