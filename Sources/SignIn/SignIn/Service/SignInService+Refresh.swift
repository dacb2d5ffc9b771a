public import LatchkeyCredentials
public import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
public import LatchkeySecrets
package import LatchkeySystem

extension SignInService {
    /// Returns an account's access token, and refreshes it first if it ends within a minute (or a quarter of its life).
    ///
    /// Throws `.notSignedIn`, `.noCurrentAccount`, `.otherAuthority`, `.keyLost`, `.sessionEnded` (`.refreshLost` after
    /// an interrupted refresh), `.tokensNotStored`, or why the refresh failed. The session survives network trouble; a
    /// token that is still valid for some seconds is returned anyway. If the store can't be reached, the token that was
    /// read before is returned until it is about to end, without a refresh.
    ///
    /// - Parameters:
    ///   - account: the account (default: the current one).
    ///   - deadline: the time limit for the store, until a request is sent. Its response is waited for and stored.
    public func accessToken(
        for account: String? = nil, deadline: Deadline = .standard
    ) async throws(SignInError) -> Secret<AccessToken> {
        try await freshSession(try await resolve(account), deadline: deadline).accessToken.duplicate()
    }

    /// Returns an account's session, refreshed first when the wanted token is about to end; see `accessToken`.
    ///
    /// Throws `.noIDToken` if that token is wanted and the server gives none.
    package func freshSession(
        _ name: String, with token: StoredSession.Token = .access, deadline: Deadline = .standard
    ) async throws(SignInError) -> StoredSession {
        if let machine = provider.machine {
            let session = try await machineSession(name, machine, deadline: deadline)
            guard token == .access || session.idToken != nil else { throw SignInError(.noIDToken) }
            return session
        }
        let session = try await sessionOrMemory(of: name, deadline: deadline)
        let now = context.now()
        if session.isFresh(at: now, token) { return session }
        guard token == .access || session.idToken != nil else { throw SignInError(.noIDToken) }
        let isUsable = session.isUsable(at: now, token)
        guard session.refreshToken != nil else {
            if isUsable { return session }
            throw SignInError(.sessionEnded)
        }
        if let error = await failure(
            SignInError.self, awaiting: try await refresh(name, refused: nil, for: token, deadline: deadline))
        {
            guard isUsable, Self.leavesSession(error) else { throw error }
            log.info("can't refresh the session yet; its token is still valid: \(error)")
            return session
        }
        // The server may have taken longer than the caller had.
        let refreshed = try await sessionOrMemory(of: name, deadline: .standard)
        // If a refresh brings no ID token, only the last one is left.
        guard token == .access || refreshed.isUsable(at: context.now(), token) else { throw SignInError(.noIDToken) }
        return refreshed
    }

    /// Whether what went wrong may be over the next time: the network's trouble, or a store that could not take the
    /// response and was tried before the request.
    static func leavesSession(_ error: SignInError) -> Bool {
        switch error.code {
        case .oauth(let cause):
            switch cause.code {
            // These errors may come from the machine's network, such as a hotel's.
            case .invalidResponse(.notJSON), .invalidMetadata(.webPage), .networkError: true
            default: cause.isTransient
            }
        case .store: true
        default: false
        }
    }

    /// Refreshes a session, once for all concurrent callers.
    ///
    /// The refresh runs as a separate task. Cancelling a caller only ends that caller's wait: a rotated refresh token
    /// that has arrived is always stored.
    ///
    /// - Parameter refused: the access token that a server refused: refresh although the token hasn't ended, unless
    ///   another process or task has refreshed it since.
    /// - Parameter token: the token that is about to end, if none was refused.
    package func refresh(
        _ account: String, refused: Box<Secret<AccessToken>>?, for token: StoredSession.Token = .access,
        deadline: Deadline
    ) async throws(SignInError) {
        let refresh: Pending<SignInError?>
        let running = refreshes[Octets(account)]
        if let running {
            refresh = running
        } else {
            refresh = Pending()
            refreshes[Octets(account)] = refresh
            Task {
                let failure = await failure(
                    SignInError.self,
                    awaiting: try await refreshUnderLease(account, refused: refused, token, deadline: deadline))
                refreshes[Octets(account)] = nil
                refresh.complete(failure)
            }
        }
        guard let outcome = await refresh.valueUnlessCancelled() else { throw .cancelled }
        guard let failure = outcome else { return }
        // The task that began it may have had less time to wait for the lease.
        guard running != nil, !deadline.hasPassed, case .store(let cause) = failure.code,
            cause.code == .busy || cause.code == .timedOut
        else { throw failure }
        try await self.refresh(account, refused: refused, for: token, deadline: deadline)
    }

    /// Waits until the refreshes that are going on have ended, cancelled task or not.
    ///
    /// Call this before the process ends, also when SIGTERM or SIGINT ends it: the server may have spent the refresh token,
    /// and a session whose new token isn't stored is lost.
    public func finishRefreshes() async {
        for refresh in Array(refreshes.values) { _ = await refresh.value() }
    }

    /// Reads the session again, refreshes it and stores it, under the lease, which excludes other processes.
    private func refreshUnderLease(
        _ account: String, refused: Box<Secret<AccessToken>>?, _ token: StoredSession.Token, deadline: Deadline
    ) async throws(SignInError) {
        let lease = try await mapError(SignInError.store, awaiting: await sessions.lease(account, deadline: deadline))
        if let machine = provider.machine {
            try await renew(account, by: machine, refused: refused, deadline: deadline)
            return lease.release()
        }
        let session = try await session(of: account, deadline: deadline)
        let isStale =
            if let refused { session.accessToken.matches(refused.value) } else {
                !session.isFresh(at: context.now(), token)
            }
        guard isStale else {
            log.debug("another process or task has refreshed the session")
            return
        }
        try await replaceTokens(of: session)
        lease.release()
    }

    /// Between the server's response and the store nothing waits for the network (Docs/Decisions/0023).
    private func replaceTokens(of session: borrowing StoredSession) async throws(SignInError) {
        let server = try await server()
        let secret = try await clientSecret()
        let signer = try await signer(of: session)
        let authentication = try mapError(
            SignInError.oauth, of: self.authentication(secret, basicForm: session.basicForm))
        var endpoint = try mapError(SignInError.oauth, of: tokenEndpoint(server, dpop: signer))
        // The scope may have been one sign-in's alone.
        if session.idToken != nil || session.scopes.includesOpenID { endpoint.expectsIDToken = true }
        let reserve = try await prepareStore(for: session)
        let tokens = try await refreshedTokens(of: session, at: endpoint, authentication)
        reserve.release()
        if let known = provider.knownAccount {
            if let error = failure(SignInError.self, of: try check(tokens, are: known, of: session.scopes)) {
                log.info("the session was not refreshed: \(error)")
                await endpoint.revoke(tokens, without: session.refreshToken?.duplicate(), authentication)
                throw error
            }
        }
        let granted = TokensInText(tokens).plain(tokens.grantedScopes, log)
        let refreshed = session.refreshed(with: tokens, granted: granted, now: context.now())
        try await mapError(
            { (error: StoreError) in SignInError(.tokensNotStored(error)) },
            awaiting: await sessions.save(refreshed, within: context.patience, log))
        remember(refreshed)
        log.info("the session was refreshed")
        try await checkIdentity(in: tokens, of: session, at: endpoint, authentication)
    }

    /// Makes sure, before the request, that its response can be stored: saves the session with room for longer tokens,
    /// and takes the descriptors that the next save needs.
    ///
    /// The saved session also has a mark. The mark stays while the server may have spent the refresh token and the
    /// store doesn't contain the new one, so that a later process recognizes an interrupted refresh after a kill or a
    /// power loss.
    private func prepareStore(for session: borrowing StoredSession) async throws(SignInError) -> DescriptorReserve {
        if session.refreshBegan != nil {
            log.warning("an earlier refresh didn't complete; the server may have spent the refresh token")
        }
        do throws(StoreError) {
            let reserve = try DescriptorReserve()
            try await sessions.save(session.marked(context.now()))
            return reserve
        } catch {
            log.info("can't refresh the session, because the store can't save it: \(error)")
            throw .store(error)
        }
    }

    private func refreshedTokens(
        of session: borrowing StoredSession, at endpoint: TokenEndpoint,
        _ authentication: borrowing ClientAuthentication
    ) async throws(SignInError) -> TokenResponse {
        let wasCutOff = session.refreshBegan != nil
        do throws(SignInError) {
            switch session.refreshToken {
            case .some(let token):
                return try await requestTokens(
                    for: token, session.idTokenSubject(at: provider), at: endpoint, authentication)
            case .none: throw .oauth(OAuthError(.sessionEnded))
            }
        } catch {
            log.info("the session was not refreshed: \(error)")
            guard case .oauth(let cause) = error.code, cause.code == .sessionEnded else {
                if !wasCutOff, !Self.leavesInDoubt(error) { await removeMark(of: session) }
                throw error
            }
            try await end(session.account)
            throw SignInError(wasCutOff ? .refreshLost : .sessionEnded)
        }
    }

    /// Deletes a session that is useless now: the person has to sign in again.
    private func end(_ account: String) async throws(SignInError) {
        forget(account)
        _ = try await mapError(SignInError.store, awaiting: await sessions.deleteSession(of: account))
        // Not to know why costs the person a question, and nothing else.
        if let error = await failure(StoreError.self, awaiting: try await sessions.rememberEnd(of: account)) {
            log.info("can't record that the session has ended: \(error)")
        }
    }

    /// A mark that can't be removed costs a warning at the next refresh, and nothing else.
    private func removeMark(of session: borrowing StoredSession) async {
        if let error = await failure(StoreError.self, awaiting: try await sessions.save(session.marked(nil))) {
            log.info("can't remove the mark of the started refresh: \(error)")
        }
    }

    /// Whether a server may have refreshed although it was not seen to.
    private static func leavesInDoubt(_ error: SignInError) -> Bool {
        guard case .oauth(let cause) = error.code else { return true }
        switch cause.code {
        case .networkError(let error):
            switch error.code {
            case .timedOut, .connectionLost, .malformedResponse, .bodyTooLarge, .other: return true
            default: return false
            }
        case .exchangeFailed(let status): return status >= 500 || status < 400 && cause.saysNoMore
        case .invalidResponse: return true
        default: return false
        }
    }

    /// How long a server may take to give its keys while others wait for the session.
    private static let timeoutOfKeys = Duration.seconds(10)

    /// Checks the signature of the ID token that a refresh brought, now that its tokens are stored. A server whose keys
    /// can't be had costs nothing; a token that isn't the server's ends the session.
    private func checkIdentity(
        in tokens: borrowing TokenResponse, of session: borrowing StoredSession, at endpoint: TokenEndpoint,
        _ authentication: borrowing ClientAuthentication
    ) async throws(SignInError) {
        if let error = await failure(
            OAuthError.self, awaiting: try await endpoint.checkSignature(of: tokens, timeout: Self.timeoutOfKeys))
        {
            switch error.code {
            case .invalidResponse(.idTokenSignature), .invalidResponse(.idTokenAlgorithm): break
            default:
                log.warning(
                    "can't check the signature of the refreshed ID token, so only the connection proves its origin: \(error)"
                )
                return
            }
            log.warning("the session was ended, because its new ID token isn't the server's: \(error)")
            await endpoint.revoke(tokens, authentication)
            try await end(session.account)
            throw SignInError(.sessionEnded)
        }
    }

    private func requestTokens(
        for token: borrowing Secret<RefreshToken>, _ subject: String?, at endpoint: TokenEndpoint,
        _ authentication: borrowing ClientAuthentication
    ) async throws(SignInError) -> TokenResponse {
        if let refresh = steps.refresh {
            let tokens = try await refresh(token, endpoint, authentication)
            try await mapError(
                SignInError.oauth,
                awaiting: await endpoint.check(of: tokens, without: token.duplicate(), authentication))
            return tokens
        }
        return try await mapError(
            SignInError.oauth,
            awaiting: await endpoint.refresh(token, subject: subject, authentication: authentication))
    }
}

// MARK: - Requests

extension SignInService {
    /// Sends a request with an account's access token. If the server responds with 401, refreshes the token and sends
    /// the request once more. If that refresh fails for now, such as for a server that can't be reached, the 401 is
    /// returned; the session stays.
    ///
    /// If the session is bound to a key, each request carries a proof of the key. The limits are those of each request; a
    /// refresh takes up to 30 s more.
    ///
    /// The response is returned whatever its status: also a second 401, and a second `use_dpop_nonce` or
    /// `invalid_dpop_proof`, because a new token would need a proof too.
    ///
    /// The token only goes to the origins of the provider (its server, its account resource, its `apiOrigins`). Other
    /// origins are refused with `.otherOrigin`, and no request is sent. If the session names the one server that its
    /// tokens are for, other servers are refused with `.otherResource`. Redirects aren't followed. Throws as
    /// `accessToken` does, or `.oauth` with `.networkError`; `.accountMismatch` or `.scopeMissing` if the refresh brought
    /// another account's tokens, or tokens without a required scope.
    public func send(
        _ request: consuming GuardedRequest, account: String? = nil, limits: TransferLimits = TransferLimits()
    ) async throws(SignInError) -> GuardedResponse {
        // If the account has a separate server, its session says which one.
        let isNamed = provider.origins.contains(request.url.origin)
        guard isNamed || provider.knownAccount != nil else { throw SignInError(.otherOrigin) }
        let name = try await resolve(account)
        let session = try await freshSession(name)
        guard isNamed || session.resource != nil else { throw SignInError(.otherOrigin) }
        let response = try await transfer(request, with: session, limits: limits, over: context.http)
        guard response.status == 401, !ResourceClient.isAboutProof(response) else { return response }
        do throws(SignInError) {
            let renews = try await self.session(of: name).refreshToken != nil || provider.machine != nil
            guard renews else { return response }
            log.info("the server refused the access token; refreshing the session")
            try await refresh(name, refused: Box(session.accessToken.duplicate()), deadline: .standard)
        } catch {
            switch error.code {
            case .sessionEnded, .refreshLost, .store, .tokensNotStored, .cancelled, .accountMismatch, .scopeMissing:
                throw error
            default:
                log.info("can't refresh the session: \(error)")
                return response
            }
        }
        return try await transfer(request, with: try await freshSession(name), limits: limits, over: context.http)
    }

    /// Sends a request with a session's token, and with a proof of its key if the session is bound to one, over any
    /// transport. If the server refuses a proof, a new one is sent once. The response is returned whatever its status.
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
        if let resource = session.resource, (try? HTTPURL(resource).origin) != url.origin {
            throw SignInError(.otherResource)
        }
    }

    // MARK: - For a client of the caller's own

    /// Adds a session's token to a request, and a proof of its key if the session is bound to one.
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

/// The sink that hands a field's value, the token inside, to an HTTP client of the caller's own.
public struct CallersOwnHTTPClientFieldSink: SecretSink, CustomReflectable {
    public static var reason: StaticString { "the caller's own HTTP client sends the request to the account's server" }

    /// The whole value of a field, such as `DPoP …`: a secret, as ordinary text from here on.
    public private(set) var unprotectedFieldValue = ""

    /// Starts empty. Secrets are appended, so each field needs a separate sink.
    public init() {}

    public mutating func receive(_ bytes: Span<UInt8>) {
        for index in bytes.indices { unprotectedFieldValue.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    }

    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
