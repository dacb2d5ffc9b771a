package import LatchkeyHTTP
package import LatchkeyLog

/// Sends requests with an access token: as a bearer (RFC 6750), or with a proof of the key that it is bound to (RFC
/// 9449 section 7).
package struct ResourceClient: Sendable {
    private let http: any HTTPTransport
    private let dpop: DPoPProofSigner?
    private let log: RedactedLogger

    /// - Parameter dpop: the signer of the key that the token is bound to; `nil` for a bearer token.
    package init(http: any HTTPTransport, dpop: DPoPProofSigner? = nil, log: RedactedLogger = .disabled) {
        self.http = http
        self.dpop = dpop
        self.log = log
    }

    /// Returns the response with any status. If the server rejects the proof for a missing nonce or our clock, the
    /// request is sent once more with a new proof.
    ///
    /// Throws `.networkError`, or `.invalidResponse(.malformedToken)` for a token with invalid characters for a field.
    package func send(
        _ request: borrowing GuardedRequest, token: borrowing Secret<AccessToken>,
        limits: TransferLimits = TransferLimits()
    ) async throws(OAuthError) -> GuardedResponse {
        var first = Self.copy(request)
        guard let dpop else {
            try first.authorize(bearer: token)
            return try await transfer(first, limits)
        }
        let hash = DPoPProof.hash(of: token)
        try first.authorize(dpop: token)
        let basis = try dpop.prove(&first, tokenHash: hash)
        let response = try await transfer(first, limits)
        guard dpop.learn(from: response, of: request.url, sent: basis), Self.requiresAnotherProof(response) else {
            return response
        }
        log.debug("the server requires a new proof; sending the request once more")
        var second = Self.copy(request)
        try second.authorize(dpop: token)
        let newBasis = try dpop.prove(&second, tokenHash: hash)
        let last = try await transfer(second, limits)
        _ = dpop.learn(from: last, of: request.url, sent: newBasis)
        return last
    }

    private static func copy(_ request: borrowing GuardedRequest) -> GuardedRequest {
        GuardedRequest(request.method, request.url, fields: request.fields, body: request.body?.duplicate())
    }

    /// RFC 9449 section 9: 401 with `use_dpop_nonce`; `invalid_dpop_proof` may be about the time.
    private static func requiresAnotherProof(_ response: borrowing GuardedResponse) -> Bool {
        guard response.status == 401 else { return false }
        return AuthenticateChallenge.all(of: response).contains {
            $0.scheme == "dpop" && ($0.error == .useDPoPNonce || $0.error == .invalidDPoPProof)
        }
    }

    /// The first known `error` of a response's challenges.
    package static func challengeError(in response: borrowing GuardedResponse) -> ServerErrorCode? {
        AuthenticateChallenge.all(of: response).lazy.compactMap(\.error).first
    }

    /// Whether it is the proof that a response refuses, and not the token (RFC 9449 sections 7.1 and 9).
    package static func isAboutProof(_ response: borrowing GuardedResponse) -> Bool {
        let error = challengeError(in: response)
        return error == .useDPoPNonce || error == .invalidDPoPProof
    }

    private func transfer(
        _ request: consuming GuardedRequest, _ limits: TransferLimits
    ) async throws(OAuthError) -> GuardedResponse {
        do throws(TransportError) {
            return try await http.send(request, limits: limits)
        } catch {
            throw .network(error)
        }
    }
}
