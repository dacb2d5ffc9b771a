package import LatchkeyCredentials
package import LatchkeyHTTP
internal import LatchkeyJSON
internal import LatchkeyLog
package import LatchkeySecrets

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

    func signed(by key: borrowing ES256Key) throws(OAuthError) -> Secret<MessageBody> {
        let payload = try mapError(OAuthError.unwritable, of: payload())
        return try key.signed(header: Self.header(x: key.x, y: key.y), payload: payload)
    }
}

/// Proves with each request that its sender has the key (RFC 9449), and learns from each response what the next proof
/// needs.
package final class DPoPProofSigner: Sendable {
    package let key: ES256Key
    private let memory: DPoPNonceCache
    private let random: RandomSource
    private let now: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - memory: shared by all that speak to the same servers.
    ///   - now: the clock of this machine; a server's difference from it is learned.
    package init(
        key: consuming ES256Key, memory: DPoPNonceCache = DPoPNonceCache(), random: RandomSource = .system,
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
        let identifier: Secret<MessageBody> = try mapError(
            OAuthError.random,
            of: random.secret(byteCount: DPoPProof.identifierByteCount, for: MessageBody.self))
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
