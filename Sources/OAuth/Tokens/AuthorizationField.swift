public import HTTPTransport
public import Secrets
internal import Sodium

/// The sink that writes a token or a client secret into an `Authorization` field (RFC 9110 section 11.6.2).
///
/// It is the only way for an access token into a request; there is none into a URL.
public struct AuthorizationFieldSink: SecretSink, ~Copyable {
    public static var reason: StaticString { "a server takes tokens and client secrets in the Authorization field" }

    var output: SecretBuilder

    init(scheme: StaticString) {
        output = SecretBuilder(capacity: 496, limit: 128 << 10)
        do throws(SecretBuilder.LimitExceeded) {
            try output.append(publicText: scheme.description + " ")
        } catch {
            preconditionFailure("a scheme's name is short")
        }
    }

    /// Appends visible ASCII. Throws for an empty secret, a space, a control character or a byte outside ASCII: it
    /// could end the field and begin another (CWE-93).
    public mutating func receive(_ bytes: Span<UInt8>) throws(OAuthError) {
        guard ASCII.isVisible(bytes, limit: output.limit), !ASCII.contains(bytes, 0x20) else {
            throw OAuthError(.invalidResponse(.malformedToken))
        }
        do throws(SecretBuilder.LimitExceeded) {
            try output.append(bytes)
        } catch {
            throw OAuthError(.invalidConfiguration(.requestTooLarge))
        }
    }

    consuming func finish() -> Secret<MessageBody> { output.finish(as: MessageBody.self) }
}

extension HTTPRequest {
    /// Puts an access token into the request: `Authorization: Bearer …` (RFC 6750 section 2.1).
    ///
    /// Throws `.invalidResponse(.malformedToken)` for a token that can't stand in a field.
    public mutating func authorize(bearer token: borrowing Secret<AccessToken>) throws(OAuthError) {
        var sink = AuthorizationFieldSink(scheme: "Bearer")
        try token.pour(into: &sink)
        authorization = sink.finish()
    }

    /// Puts a client's credentials into the request: `Authorization: Basic …` (RFC 6749 section 2.3.1, RFC 7617).
    ///
    /// - Parameter formEncoded: as RFC 6749 says. Some servers take the two parts raw.
    public mutating func authorize(
        clientID: String, secret: borrowing Secret<ClientSecret>, formEncoded: Bool = true
    ) throws(OAuthError) {
        authorization = try BasicCredentials.field(clientID: clientID, secret: secret, formEncoded: formEncoded)
    }
}

/// `Basic` and the base64 text of `id:secret`.
enum BasicCredentials {
    static func field(
        clientID: String, secret: borrowing Secret<ClientSecret>, formEncoded: Bool
    ) throws(OAuthError) -> Secret<MessageBody> {
        var pair = SecretBuilder(capacity: 240, limit: 32 << 10)
        do throws(SecretBuilder.LimitExceeded) {
            if formEncoded {
                let id = Array(clientID.utf8)
                try PercentEncoding.append(id.span, to: &pair, space: .plus)
                try pair.append(UInt8(ascii: ":"))
                try secret.withExposedBytes { (bytes) throws(SecretBuilder.LimitExceeded) in
                    try PercentEncoding.append(bytes, to: &pair, space: .plus)
                }
            } else {
                try pair.append(publicText: clientID + ":")
                try pair.append(secret)
            }
        } catch {
            throw OAuthError(.invalidConfiguration(.requestTooLarge))
        }
        let text = pair.withExposedBytes { bytes in
            Secret<MessageBody>(byteCount: Base64Codec.encodedByteCount(bytes.count)) {
                Base64Codec.encode(bytes, into: &$0)
            }
        }
        var sink = AuthorizationFieldSink(scheme: "Basic")
        try text.pour(into: &sink)
        return sink.finish()
    }

    /// Whether the two ways to write the credentials differ, so that a second try makes sense.
    static func encodingMatters(clientID: String, secret: borrowing Secret<ClientSecret>) throws(OAuthError) -> Bool {
        let encoded = try field(clientID: clientID, secret: secret, formEncoded: true)
        let raw = try field(clientID: clientID, secret: secret, formEncoded: false)
        return !encoded.matches(raw)
    }
}
