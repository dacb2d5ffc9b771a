/// A named way out for secrets: an HTTP header, a form body, a file descriptor, a child's environment.
///
/// There are few of them, each has a long name and a reason, and Docs/Evidence/Sinks.md lists them all; a test compares the list
/// with the sources.
public protocol SecretSink: ~Copyable {
    /// What `receive` throws and ``Secret/pour(into:)`` passes on; `Never` for a sink that can't fail.
    associatedtype Failure: Error

    /// Why secrets may leave here.
    static var reason: StaticString { get }

    /// Takes the bytes of one secret. They are valid during the call alone.
    ///
    /// Throws when the bytes didn't leave, or not all of them.
    mutating func receive(_ bytes: Span<UInt8>) throws(Failure)
}
