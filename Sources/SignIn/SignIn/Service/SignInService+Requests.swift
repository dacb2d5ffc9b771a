internal import LatchkeyCredentials
public import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

extension SignInService {
    /// Sends a request with an account's access token, and once more with a refreshed one when the server responds with
    /// 401.
    ///
    /// Where the session is bound to a key, each request carries a proof of it.
    ///
    /// The response is returned whatever its status; a 401 that stays, too, and one that says `use_dpop_nonce` or
    /// `invalid_dpop_proof` after the repeat that those get: it is the proof that isn't taken, and a new token needs
    /// one too.
    ///
    /// The token goes to the origins that the provider names (its server's, its account resource's, its `apiOrigins`);
    /// any other is refused, `.otherOrigin`, and nothing sent. Where the session names the one server that its tokens
    /// are for, another is refused: `.otherResource`. Redirects are not followed. Throws as `accessToken` does, or
    /// `.oauth` with `.networkError`.
    public func send(
        _ request: consuming GuardedRequest, account: String? = nil, limits: TransferLimits = TransferLimits()
    ) async throws(SignInError) -> GuardedResponse {
        // Where an account has a server of its own, its session says which.
        guard provider.knownAccount != nil || provider.origins.contains(request.url.origin) else {
            throw SignInError(.otherOrigin)
        }
        let name = try await resolve(account)
        let session = try await freshSession(name)
        let response = try await transfer(request, with: session, limits: limits, over: context.http)
        guard response.status == 401, !ResourceClient.isAboutProof(response) else { return response }
        do throws(SignInError) {
            guard try await self.session(of: name).refreshToken != nil else { return response }
            log.info("the server refused the access token; the session is refreshed")
            try await refresh(name, refused: Box(session.accessToken.duplicate()), deadline: .standard)
        } catch {
            switch error.code {
            case .sessionEnded, .refreshLost, .store, .tokensNotStored, .cancelled: throw error
            default:
                log.info("the session could not be refreshed: \(error)")
                return response
            }
        }
        return try await transfer(request, with: try await freshSession(name), limits: limits, over: context.http)
    }

    /// Sends a request with a session's token, and a proof of its key where it is bound to one, over any transport. A
    /// proof that the server doesn't take is made anew and sent once more. The response is returned whatever its
    /// status.
    package func transfer(
        _ request: borrowing GuardedRequest, with session: borrowing StoredSession, limits: TransferLimits,
        over http: any HTTPTransport
    ) async throws(SignInError) -> GuardedResponse {
        try Self.check(request.url, isFor: session)
        let resource = ResourceClient(http: http, dpop: try await signer(of: session), log: log)
        return try await mapError(
            SignInError.oauth, awaiting: await resource.send(request, token: session.accessToken, limits: limits))
    }

    private static func check(_ url: HTTPURL, isFor session: borrowing StoredSession) throws(SignInError) {
        if let resource = session.resource, !url.origin.hasSameOctets(as: resource) {
            throw SignInError(.otherResource)
        }
    }

    // MARK: - For a client of the caller's own

    /// Puts a session's token into a request, and a proof of its key where it is bound to one.
    package func signed(
        _ request: consuming GuardedRequest, with session: borrowing StoredSession
    ) async throws(SignInError) -> GuardedRequest {
        try Self.check(request.url, isFor: session)
        let signer = try await signer(of: session)
        guard signer != nil || !provider.usesDPoP else { throw SignInError(.keyLost) }
        try mappingError(SignInError.oauth) { () throws(OAuthError) in
            if let signer {
                try request.authorize(dpop: session.accessToken)
                _ = try signer.prove(&request, tokenHash: DPoPProof.hash(of: session.accessToken))
            } else {
                try request.authorize(bearer: session.accessToken)
            }
        }
        return request
    }

    /// Takes what a response that another client got says about proofs. Bearer tokens have nothing to learn.
    package func learn(
        from fields: [HeaderField], ofResponseAt url: HTTPURL, account name: String
    ) async throws(SignInError) {
        guard let signer = try await signer(of: try await session(of: name)) else { return }
        let empty: [UInt8] = []
        signer.learn(from: GuardedResponse(status: 200, fields: fields, body: Secret(copying: empty.span)), of: url)
    }
}
