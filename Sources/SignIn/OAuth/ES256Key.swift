internal import LatchkeyCredentials
internal import LatchkeyCrypto
package import LatchkeyJSON
package import LatchkeyLog

/// A key on P-256 that signs with ES256 (RFC 7518 section 3.4): the one that tokens are bound to (RFC 9449), or the one
/// that proves a client (RFC 7523). Its private half leaves guarded memory for a credential store alone.
package struct ES256Key: ~Copyable, Sendable {
    private let scalar: Secret<PrivateKey>
    /// The coordinates of the public point, base64url.
    let x: String
    let y: String
    /// The base64url text of the SHA-256 thumbprint of the public key (RFC 7638), 43 characters: `jkt`.
    package let thumbprint: String

    /// Makes a fresh key.
    ///
    /// Throws `.noRandomOctets` when the generator refuses, `.invalidConfiguration(.signingKey)` when it gives what is
    /// no key, which happens to one in 2^32 numbers: each of four tries has to fail. `.noLibrary`.
    package static func generate(random: RandomSource = .system) throws(OAuthError) -> ES256Key {
        for _ in 0..<4 {
            let scalar: Secret<PrivateKey> = try mapError(
                OAuthError.random,
                of: random.secret(byteCount: P256.scalarByteCount, for: PrivateKey.self))
            do throws(LibraryFailure) {
                if let key = try ES256Key(scalar: scalar) { return key }
            } catch {
                throw OAuthError(.noLibrary(error))
            }
        }
        throw OAuthError(.invalidConfiguration(.signingKey))
    }

    /// Returns `nil` unless the scalar has 32 bytes and is valid for the curve.
    init?(scalar: consuming Secret<PrivateKey>) throws(LibraryFailure) {
        guard let point = try P256.publicKey(of: scalar) else { return nil }
        self.scalar = scalar
        x = Base64URL.encode(point.span.extracting(first: 32))
        y = Base64URL.encode(point.span.extracting(last: 32))
        thumbprint = JWKThumbprint.ofP256(x: x, y: y)
    }

    /// The 64 bytes of an ES256 signature.
    borrowing func sign(_ message: Span<UInt8>) throws(OAuthError) -> [UInt8] {
        guard let signature = try mapError({ OAuthError(.noLibrary($0)) }, of: P256.signature(of: message, key: scalar))
        else {
            throw OAuthError(.invalidConfiguration(.signingKey))
        }
        return signature
    }

    /// A JSON Web Signature in compact form (RFC 7515 section 7.1).
    borrowing func signed(
        header: String, payload: borrowing Secret<MessageBody>
    ) throws(OAuthError) -> Secret<MessageBody> {
        var text = SecretBuilder(capacity: 1008, limit: 64 << 10)
        let header = Array(header.utf8)
        try mappingError(OAuthError.tooLarge) { () throws(SecretBuilder.LimitExceeded) in
            try text.append(publicText: Base64URL.encode(header.span) + ".")
            try payload.withExposedBytes { (bytes) throws(SecretBuilder.LimitExceeded) in
                try text.append(base64URLOf: bytes)
            }
        }
        let signature = try text.withExposedBytes { (bytes) throws(OAuthError) in try sign(bytes) }
        try mappingError(OAuthError.tooLarge) { () throws(SecretBuilder.LimitExceeded) in
            try text.append(UInt8(ascii: "."))
            try text.append(base64URLOf: signature.span)
        }
        return text.finish(as: MessageBody.self)
    }

    // MARK: - Of a client

    /// Seconds that an assertion is valid. A request takes less.
    static let assertionLifetime: Int64 = 60

    /// Returns an assertion, which authenticates the client in one request (RFC 7523 section 2.2). The header names the
    /// key by its thumbprint, as `publicJWK` does.
    borrowing func assertion(
        clientID: String, audience: String, issued: UnixTime
    ) throws(OAuthError) -> Secret<MessageBody> {
        let identifier: Secret<MessageBody> = try mapError(
            OAuthError.random, of: RandomSource.system.secret(byteCount: 16, for: MessageBody.self))
        let payload = try mappingError(OAuthError.unwritable) { () throws(JSONError) in
            var json = JSONWriter(limit: 32 << 10)
            try json.member("iss", publicText: clientID)
            try json.member("sub", publicText: clientID)
            try json.member("aud", publicText: audience)
            try json.member("jti", secret: identifier.base64URLEncoded())
            try json.member("iat", integer: issued.seconds)
            try json.member("exp", integer: issued.advanced(bySeconds: Self.assertionLifetime).seconds)
            return try json.finish(as: MessageBody.self)
        }
        return try signed(header: #"{"typ":"JWT","alg":"ES256","kid":"\#(thumbprint)"}"#, payload: payload)
    }

    /// The members of the public half as a JSON Web Key (RFC 7517), to register at a server.
    package var publicJWK: [(name: StaticString, value: String)] {
        [
            ("kty", "EC"), ("crv", "P-256"), ("x", x), ("y", y), ("use", "sig"), ("alg", "ES256"), ("kid", thumbprint),
        ]
    }

    /// Reads a private key as other programs write it: PEM, in PKCS #8 or by SEC 1, or a JSON Web Key.
    ///
    /// Throws `.invalidConfiguration(.clientKey)` for anything else, such as an encrypted key or one of another curve;
    /// `.noLibrary`.
    package static func read(_ text: borrowing Secret<PrivateKey>) throws(OAuthError) -> ES256Key {
        let key: ES256Key? = try mappingError({ OAuthError(.noLibrary($0)) }) { () throws(LibraryFailure) in
            if let scalar = try P256.privateKey(pem: text) { return try ES256Key(scalar: scalar) }
            return try ES256Key(decoding: text)
        }
        guard let key else { throw OAuthError(.invalidConfiguration(.clientKey)) }
        return key
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
            let key = try ES256Key(scalar: scalar),
            (try? document.publicText(x, limit: 64))?.hasSameOctets(as: key.x) == true,
            (try? document.publicText(y, limit: 64))?.hasSameOctets(as: key.y) == true
        else { return nil }
        self = key
    }
}

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
