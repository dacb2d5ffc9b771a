package import LatchkeyCredentials
package import LatchkeyHTTP
package import LatchkeySecrets
internal import LatchkeySystem

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

    /// What a proof is made with.
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

    /// Takes what a response says about proofs that another client was given.
    package func learn(from response: borrowing GuardedResponse, of url: HTTPURL) {
        memory.learn(from: response, of: url, now: now())
    }

    /// Takes what a response says about proofs. Returns whether another proof than the one sent would be made now, so
    /// that sending the request once more makes sense.
    func learn(from response: borrowing GuardedResponse, of url: HTTPURL, sent: Basis) -> Bool {
        memory.learn(from: response, of: url, now: now()) != sent.origin
    }
}
