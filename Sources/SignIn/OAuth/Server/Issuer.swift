internal import LatchkeyHTTP
public import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// A server's name for itself: an HTTPS or loopback URL without query and fragment, compared byte for byte
/// (RFC 8414 section 2, RFC 9207 section 2.4).
public struct Issuer: Sendable, Hashable, Loggable {
    /// As written: ASCII, as URLs are, so that equal texts have the same octets.
    public let text: String
    let url: HTTPURL

    /// Throws `.invalidConfiguration(.issuer)` for anything else.
    public init(_ text: String) throws(OAuthError) {
        url = try mapError({ (_: InvalidValue) in OAuthError(.invalidConfiguration(.issuer)) }, of: HTTPURL(text))
        guard url.isConfidential, url.query == nil else { throw OAuthError(.invalidConfiguration(.issuer)) }
        self.text = text
    }

    /// Safe: the configured name of a server, without a query.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "the configured name of a server, without a query", unredacted: text))"
    }
}
