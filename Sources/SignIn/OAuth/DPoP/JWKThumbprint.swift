internal import LatchkeySecrets

/// Thumbprints of public keys (RFC 7638): the SHA-256 of their required members in order, as base64url.
enum JWKThumbprint {
    /// Of a key on P-256. The coordinates are base64url.
    static func ofP256(x: String, y: String) -> String {
        of(json: #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#)
    }

    /// Of the text that RFC 7638 section 3.2 hashes.
    static func of(json: String) -> String {
        let bytes = Array(json.utf8)
        let digest = SHA256.digest(bytes.span)
        return Base64URL.encode(digest.span)
    }
}
