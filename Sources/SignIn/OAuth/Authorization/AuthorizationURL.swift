public import LatchkeyLog
public import LatchkeySecrets

/// What the guarded memory of an ``AuthorizationURL`` is for.
public enum AuthorizationAddress: SecretPurpose { public static var name: StaticString { "authorization URL" } }

/// The whole address a browser is sent to, `state` inside: noncopyable and in guarded memory.
///
/// It leaves through a sink alone: a `Location` field, the person's terminal, a browser over D-Bus. What may be shown
/// and logged is `publicPart`.
public struct AuthorizationURL: ~Copyable, Sendable {
    private let whole: Secret<AuthorizationAddress>
    /// Origin and path, without the query.
    public let publicPart: LoggableText

    init(whole: consuming Secret<AuthorizationAddress>, publicPart: LoggableText) {
        self.whole = whole
        self.publicPart = publicPart
    }

    /// Passes the whole URL, ASCII, to a named sink. Throws what the sink throws, and nothing else.
    public borrowing func pour<Sink: SecretSink & ~Copyable>(into sink: inout Sink) throws(Sink.Failure) {
        try whole.pour(into: &sink)
    }

    /// Ends the URL and returns the whole address, still in guarded memory.
    package consuming func takeAddress() -> Secret<AuthorizationAddress> { whole }

    /// Returns a second copy in guarded memory, for an agent that hands it over later.
    package borrowing func duplicate() -> AuthorizationURL {
        AuthorizationURL(whole: whole.duplicate(), publicPart: publicPart)
    }
}
