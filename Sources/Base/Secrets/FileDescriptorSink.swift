internal import LatchkeySystem

/// Writes secrets to an open file descriptor, byte for byte: standard output of `get`, a pipe to another program.
public struct FileDescriptorSecretSink: SecretSink {
    public static var reason: StaticString { "a person or program asked for the secret on this descriptor" }

    private let descriptor: Int32

    /// The descriptor must be open for writing, and blocking: EAGAIN is a failure. It stays the caller's to close.
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

    /// write(2) failed; `number` is its errno.
    public struct WriteFailure: Error, Hashable, Sendable {
        package let number: Int32
    }
}
