internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyJSON
package import LatchkeySecrets

/// What one proof says (RFC 9449 section 4.2), and how it is written: a JSON Web Signature in compact form.
package struct DPoPProof {
    let method: String
    /// The target without query and fragment.
    let address: String
    /// Fresh for each request that is sent, a repeated one included.
    let identifier: String
    let issued: UnixTime
    /// The base64url text of the access token's SHA-256; `nil` where no token is sent.
    let tokenHash: String?
    /// What the server gave last.
    let nonce: String?

    /// Seconds from `iat` to `exp` (RFC 7519 section 4.1.4). RFC 9449 leaves it to the server how long a proof is good;
    /// this is long enough that a clock which is behind by minutes is judged by `iat`.
    static let lifetime: Int64 = 300

    /// Random octets behind an identifier: 128 bits, where RFC 9449 section 4.2 wants 96.
    static let identifierByteCount = 16

    /// The address as section 4.3 compares it: scheme and host in lower case, without the scheme's own port, an empty
    /// path as a slash, all else as it is sent.
    static func address(of url: HTTPURL) -> String { url.origin + url.path }

    package static func hash(of token: borrowing Secret<AccessToken>) -> String {
        token.withExposedBytes { bytes in
            let digest = SHA256.digest(bytes)
            return Base64URL.encode(digest.span)
        }
    }

    static func header(x: String, y: String) -> String {
        #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","x":"\#(x)","y":"\#(y)","crv":"P-256"}}"#
    }

    func payload() throws(JSONError) -> Secret<MessageBody> {
        var json = JSONWriter(limit: 32 << 10)
        try json.member("jti", publicText: identifier)
        try json.member("htm", publicText: method)
        try json.member("htu", publicText: address)
        try json.member("iat", integer: issued.seconds)
        try json.member("exp", integer: issued.advanced(bySeconds: Self.lifetime).seconds)
        if let tokenHash { try json.member("ath", publicText: tokenHash) }
        if let nonce { try json.member("nonce", publicText: nonce) }
        return try json.finish(as: MessageBody.self)
    }

    func signed(by key: borrowing DPoPProofKey) throws(OAuthError) -> Secret<MessageBody> {
        var text = SecretBuilder(capacity: 1008, limit: 64 << 10)
        do {
            let payload = try payload()
            try text.append(publicText: key.proofHeader)
            try text.append(UInt8(ascii: "."))
            try payload.withExposedBytes { try text.append(base64URLOf: $0) }
            let signature = try text.withExposedBytes { (bytes) throws(OAuthError) in try key.sign(bytes) }
            try text.append(UInt8(ascii: "."))
            try text.append(base64URLOf: signature.span)
        } catch let error as OAuthError {
            throw error
        } catch {
            throw OAuthError(.invalidConfiguration(.requestTooLarge))
        }
        return text.finish(as: MessageBody.self)
    }
}
