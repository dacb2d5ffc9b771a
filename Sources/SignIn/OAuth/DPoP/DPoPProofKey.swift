internal import LatchkeyCrypto
package import LatchkeyJSON
package import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem

/// The key that tokens are bound to (RFC 9449): one of P-256, made here, whose private half leaves guarded memory for a
/// credential store alone.
package struct DPoPProofKey: ~Copyable, Sendable {
    private let scalar: Secret<PrivateKey>
    /// The coordinates of the public point, base64url.
    let x: String
    let y: String
    /// The base64url text of the SHA-256 thumbprint of the public key (RFC 7638), 43 characters: `jkt`.
    package let thumbprint: String
    /// The base64url text of the header that all its proofs have.
    let proofHeader: String

    /// Makes a fresh key.
    ///
    /// Throws `.noRandomOctets` when the generator refuses, `.invalidConfiguration(.signingKey)` when it gives what is
    /// no key, which happens to one in 2^32 numbers: each of four tries has to fail. `.noLibrary`.
    package static func generate(random: RandomSource = .system) throws(OAuthError) -> DPoPProofKey {
        for _ in 0..<4 {
            let scalar: Secret<PrivateKey> = try mapError(
                OAuthError.random,
                of: random.secret(byteCount: P256.scalarByteCount, for: PrivateKey.self))
            do throws(LibraryFailure) {
                if let key = try DPoPProofKey(scalar: scalar) { return key }
            } catch {
                throw OAuthError(.noLibrary(error))
            }
        }
        throw OAuthError(.invalidConfiguration(.signingKey))
    }

    /// Returns `nil` unless the scalar is 32 bytes, and one of the curve's.
    init?(scalar: consuming Secret<PrivateKey>) throws(LibraryFailure) {
        guard let point = try P256.publicKey(of: scalar) else { return nil }
        self.scalar = scalar
        x = Base64URL.encode(point.span.extracting(first: 32))
        y = Base64URL.encode(point.span.extracting(last: 32))
        thumbprint = JWKThumbprint.ofP256(x: x, y: y)
        let header = Array(DPoPProof.header(x: x, y: y).utf8)
        proofHeader = Base64URL.encode(header.span)
    }

    /// The 64 bytes of an ES256 signature.
    borrowing func sign(_ message: Span<UInt8>) throws(OAuthError) -> [UInt8] {
        guard let signature = try mapError({ OAuthError(.noLibrary($0)) }, of: P256.signature(of: message, key: scalar))
        else {
            throw OAuthError(.invalidConfiguration(.signingKey))
        }
        return signature
    }

    // MARK: - In a store

    /// Returns the key as a private JSON Web Key (RFC 7518 section 6.2), for a store.
    package borrowing func encoded() throws(JSONError) -> Secret<PrivateKey> {
        var json = JSONWriter(limit: 1024)
        try json.member("kty", publicText: "EC")
        try json.member("crv", publicText: "P-256")
        try json.member("x", publicText: x)
        try json.member("y", publicText: y)
        try json.member("d", secret: scalar.base64URLEncoded())
        return try json.finish(as: PrivateKey.self)
    }

    /// Reads what `encoded` wrote. Returns `nil` for anything else: another kind of key, or a public half that is not
    /// the private one's.
    package init?(decoding text: borrowing Secret<PrivateKey>) throws(LibraryFailure) {
        let limits = JSONLimits(byteCount: 4096, depth: 2, valueCount: 32)
        guard let document = try? JSONDocument(text.duplicate(as: MessageBody.self), limits: limits),
            let kind = document.member("kty"), document.isText(kind, "EC"),
            let curve = document.member("crv"), document.isText(curve, "P-256"),
            let x = document.member("x"), let y = document.member("y"), let d = document.member("d"),
            let encoded = try? document.secret(d, as: PrivateKey.self), let scalar = encoded.base64URLDecoded(),
            let key = try DPoPProofKey(scalar: scalar),
            (try? document.publicText(x, limit: 64))?.hasSameOctets(as: key.x) == true,
            (try? document.publicText(y, limit: 64))?.hasSameOctets(as: key.y) == true
        else { return nil }
        self = key
    }
}
