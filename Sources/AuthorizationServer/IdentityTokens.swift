internal import Glibc
internal import Secrets
internal import Sodium

/// Makes the server's ID tokens (OpenID Connect Core section 2): JSON Web Tokens signed with Ed25519 (RFC 8037).
struct IdentityTokens: ~Copyable, Sendable {
    private let seed: Secret<PrivateKey>
    /// The public half, as the key set gives it.
    let publicKey: String

    static let lifetimeSeconds = 600

    init() throws(RandomSourceError) {
        let seed = try Secret<PrivateKey>.random(byteCount: Ed25519.seedByteCount)
        let key = seed.withExposedBytes { Ed25519.publicKey(seed: $0) }
        publicKey = Base64URL.encode(key.span)
        self.seed = seed
    }

    /// The JSON Web Key Set (RFC 7517 section 5).
    var keySet: String {
        let key = JSONText.object([
            ("kty", "\"OKP\""), ("crv", "\"Ed25519\""), ("alg", "\"EdDSA\""), ("use", "\"sig\""), ("kid", "\"1\""),
            ("x", JSONText.quoted(publicKey)),
        ])
        return JSONText.object([("keys", "[\(key)]")])
    }

    /// Returns a token about `subject`.
    ///
    /// - Parameter nonce: from the authorization request, of unreserved characters; `nil` after a refresh.
    func token(issuer: String, subject: String, audience: String, nonce: KeptSecret?) -> KeptSecret {
        let now = Int(time(nil))
        var payload = SecretText()
        payload.add(
            "{\"iss\":\(JSONText.quoted(issuer)),\"sub\":\(JSONText.quoted(subject))"
                + ",\"aud\":\(JSONText.quoted(audience)),\"iat\":\(now),\"exp\":\(now + Self.lifetimeSeconds)")
        if let nonce {
            payload.add(",\"nonce\":\"")
            payload.add(nonce)
            payload.add("\"")
        }
        payload.add("}")
        let header = Array(#"{"alg":"EdDSA","typ":"JWT","kid":"1"}"#.utf8)
        var input = SecretText()
        input.add(Base64URL.encode(header.span) + ".")
        input.add(KeptSecret("payload", payload.finish().base64URLEncoded()))
        let signed = input.finish()
        let signature = signed.withExposedBytes { message in
            seed.withExposedBytes { Ed25519.signature(of: message, seed: $0) }
        }
        var token = SecretText()
        token.add(KeptSecret("signed", signed.duplicate()))
        token.add("." + Base64URL.encode(signature.span))
        return KeptSecret("id_token", token.finish())
    }
}
