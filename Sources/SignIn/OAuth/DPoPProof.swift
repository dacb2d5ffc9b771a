package import LatchkeyCredentials
internal import LatchkeyCrypto
package import LatchkeyHTTP
package import LatchkeyJSON
package import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem

/// A proof (RFC 9449 section 4.2), written as a JSON Web Signature in compact form.
package struct DPoPProof {
    let method: String
    /// The target without query and fragment.
    let address: String
    /// Fresh for each request that is sent, a repeated one included.
    let identifier: String
    let issued: UnixTime
    /// The base64url text of the access token's SHA-256; `nil` where no token is sent.
    let tokenHash: String?
    /// The server's last nonce.
    let nonce: String?

    /// Seconds from `iat` to `exp` (RFC 7519 section 4.1.4). RFC 9449 leaves it to the server how long a proof is good;
    /// this is long enough that a clock which is behind by minutes is judged by `iat`.
    static let lifetime: Int64 = 300

    /// Random octets behind an identifier: 128 bits, where RFC 9449 section 4.2 wants 96.
    static let identifierByteCount = 16

    /// The address in the form for comparison (section 4.3): scheme and host in lower case, without the scheme's
    /// default port, with a slash for an empty path, and otherwise unchanged.
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

    /// Returns `nil` unless the scalar has 32 bytes and is valid for the curve.
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

/// Proves with each request that its sender has the key (RFC 9449), and learns from each response what the next proof
/// needs.
package final class DPoPProofSigner: Sendable {
    package let key: DPoPProofKey
    private let memory: DPoPNonceCache
    private let random: RandomSource
    private let now: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - memory: shared by all that speak to the same servers.
    ///   - now: the clock of this machine; a server's difference from it is learned.
    package init(
        key: consuming DPoPProofKey, memory: DPoPNonceCache = DPoPNonceCache(), random: RandomSource = .system,
        now: @escaping @Sendable () -> UnixTime = UnixTime.now
    ) {
        self.key = key
        self.memory = memory
        self.random = random
        self.now = now
    }

    /// The key's thumbprint: `jkt`, and `dpop_jkt` of an authorization request.
    package var thumbprint: String { key.thumbprint }

    /// The data for a proof.
    package struct Basis: Sendable {
        fileprivate let origin: DPoPNonceCache.Origin
    }

    package func basis(for url: HTTPURL) -> Basis { Basis(origin: memory.origin(of: url)) }

    /// Makes a fresh proof for one request.
    ///
    /// - Parameter tokenHash: `DPoPProof.hash(of:)` of the access token that the request carries, if any.
    package func proof(
        for method: GuardedRequest.Method, _ url: HTTPURL, on basis: Basis, tokenHash: String?
    ) throws(OAuthError) -> Secret<MessageBody> {
        let identifier: Secret<OpenIDNonce> = try mapError(
            OAuthError.random,
            of: random.secret(byteCount: DPoPProof.identifierByteCount, for: OpenIDNonce.self))
        let proof = DPoPProof(
            method: method.rawValue, address: DPoPProof.address(of: url),
            identifier: identifier.withExposedBytes { Base64URL.encode($0) },
            issued: now().advanced(bySeconds: basis.origin.skew), tokenHash: tokenHash,
            nonce: basis.origin.nonce)
        return try proof.signed(by: key)
    }

    /// Puts a fresh proof into a request.
    package func prove(_ request: inout GuardedRequest, tokenHash: String?) throws(OAuthError) -> Basis {
        let basis = basis(for: request.url)
        request.proof = try proof(for: request.method, request.url, on: basis, tokenHash: tokenHash)
        return basis
    }

    /// Learns the nonce and the clock from another client's response.
    package func learn(from response: borrowing GuardedResponse, of url: HTTPURL) {
        memory.learn(from: response, of: url, now: now())
    }

    /// Takes what a response says about proofs. Returns whether another proof than the one sent would be made now, so
    /// that sending the request once more makes sense.
    func learn(from response: borrowing GuardedResponse, of url: HTTPURL, sent: Basis) -> Bool {
        memory.learn(from: response, of: url, now: now()) != sent.origin
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
