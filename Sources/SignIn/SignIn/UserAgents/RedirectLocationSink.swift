package import LatchkeySecrets

/// The sink that puts an authorization URL into the `Location` field of a redirect on a loopback address, so that the
/// `state` in it never stands on a command line.
package struct RedirectLocationSink: SecretSink, ~Copyable {
    package static var reason: StaticString {
        "the browser is led from a one-time link to the page that holds the state"
    }

    private var output = SecretBuilder(capacity: 1008, limit: 64 << 10)

    init() {}

    package mutating func receive(_ bytes: Span<UInt8>) throws(SecretBuilder.LimitExceeded) {
        try output.append(bytes)
    }

    consuming func finish() -> Secret<MessageBody> { output.finish(as: MessageBody.self) }
}
