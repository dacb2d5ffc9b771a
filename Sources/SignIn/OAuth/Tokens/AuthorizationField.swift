package import LatchkeyHTTP
package import LatchkeySecrets
internal import LatchkeySystem

/// The sink that writes a token or a client secret into an `Authorization` field (RFC 9110 section 11.6.2).
///
/// It is the only way for an access token into a request; there is none into a URL.
package struct AuthorizationFieldSink: SecretSink, ~Copyable {
    package static var reason: StaticString { "a server takes tokens and client secrets in the Authorization field" }

    var output: SecretBuilder

    init(scheme: StaticString) {
        output = SecretBuilder(capacity: 496, limit: 128 << 10)
        if failure(SecretBuilder.LimitExceeded.self, of: try output.append(publicText: scheme.description + " ")) != nil
        {
            preconditionFailure("a scheme's name is short")
        }
    }

    /// Appends visible ASCII. Throws for an empty secret, a space, a control character or a byte outside ASCII: it
    /// could end the field and begin another (CWE-93).
    package mutating func receive(_ bytes: Span<UInt8>) throws(OAuthError) {
        guard ASCII.isVisible(bytes, limit: output.limit), !ASCII.contains(bytes, 0x20) else {
            throw OAuthError(.invalidResponse(.malformedToken))
        }
        try mapError(
            OAuthError.tooLarge,
            of: output.append(bytes))
    }

    consuming func finish() -> Secret<MessageBody> { output.finish(as: MessageBody.self) }
}

extension GuardedRequest {
    /// Puts an access token into the request: `Authorization: Bearer …` (RFC 6750 section 2.1).
    ///
    /// Throws `.invalidResponse(.malformedToken)` for a token that can't stand in a field.
    package mutating func authorize(bearer token: borrowing Secret<AccessToken>) throws(OAuthError) {
        var sink = AuthorizationFieldSink(scheme: "Bearer")
        try token.pour(into: &sink)
        authorization = sink.finish()
    }

    /// Puts an access token that is bound to a key into the request: `Authorization: DPoP …` (RFC 9449 section 7.1).
    /// The proof comes from `ResourceClient`.
    package mutating func authorize(dpop token: borrowing Secret<AccessToken>) throws(OAuthError) {
        var sink = AuthorizationFieldSink(scheme: "DPoP")
        try token.pour(into: &sink)
        authorization = sink.finish()
    }

    /// Puts a client's credentials into the request: `Authorization: Basic …` (RFC 6749 section 2.3.1, RFC 7617).
    ///
    /// - Parameter formEncoded: as RFC 6749 says. Some servers take the two parts raw.
    package mutating func authorize(
        clientID: String, secret: borrowing Secret<ClientSecret>, formEncoded: Bool = true
    ) throws(OAuthError) {
        authorization = try BasicCredentials.field(clientID: clientID, secret: secret, formEncoded: formEncoded)
    }
}
