internal import LatchkeyCredentials
public import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeySignIn

extension OAuthAuthenticator {
    // MARK: - Sending

    /// Sends a request with the login's token, and a proof of its key if it is bound to one.
    ///
    /// In automatic mode a person signs in first if there is no login; otherwise the call throws `.loginRequired` and
    /// sends nothing. The response-status provider decides what a response means for the login. A request is sent at
    /// most twice. The response is returned whatever its status. Redirects aren't followed, so the token goes nowhere
    /// else.
    ///
    /// Throws `.otherOrigin`, `.loginRequired`, otherwise as ``authenticate()``; `.signIn` with `.oauth(.networkError)`
    /// if no complete response arrives.
    public func response(
        for request: consuming GuardedRequest, limits: TransferLimits = TransferLimits()
    ) async throws(Failure) -> GuardedResponse {
        try await response(for: request, limits: limits, over: configuration.responses ?? configuration.context.http)
    }

    /// The same over any transport.
    package func response(
        for request: borrowing GuardedRequest, limits: TransferLimits, over http: any HTTPTransport
    ) async throws(Failure) -> GuardedResponse {
        try checkOrigin(of: request.url)
        let session = try await usableSession()
        let response = try await transfer(request, session, limits, over: http)
        let action = configuration.tokens.responseStatusProvider.action(for: response)
        guard action != .accept, try await mend(action, after: session) else { return response }
        let mended = try await mapError(Failure.signIn, awaiting: await freshSession())
        return try await transfer(request, mended, limits, over: http)
    }

    private func transfer(
        _ request: borrowing GuardedRequest, _ session: borrowing StoredSession, _ limits: TransferLimits,
        over http: any HTTPTransport
    ) async throws(Failure) -> GuardedResponse {
        return try await mapError(
            Failure.signIn, awaiting: await service.transfer(request, with: session, limits: limits, over: http))
    }

    private func checkOrigin(of url: HTTPURL) throws(Failure) {
        guard configuration.origins.permit(url.origin, of: service.provider) else {
            throw Failure(.otherOrigin)
        }
    }

    // MARK: - When the token was refused

    /// Gets another token than the one that was refused. Returns false when there is none to be had now and the
    /// response stays what it is.
    private func mend(
        _ action: ResponseRule.Action, after session: borrowing StoredSession
    ) async throws(Failure) -> Bool {
        var hasEnded = false
        if action != .authorize, session.refreshToken != nil {
            switch try await refresh(after: session) {
            case .done: return true
            case .notNow: return false
            case .refused(let error):
                guard action == .refreshOrAuthorize else { throw .signIn(error) }
                hasEnded = true
            }
        }
        guard action != .refresh else { return false }
        if try await hasOtherToken(than: session) { return true }
        // The existing login is useless, but without a person the response is returned unchanged.
        guard configuration.mode == .automatic || hasEnded else { return false }
        try await authenticateUnasked()
        return true
    }

    private enum Refresh {
        case done
        /// The server could not be reached; the session stays.
        case notNow
        /// The person has to sign in again.
        case refused(SignInError)
    }

    private func refresh(after session: borrowing StoredSession) async throws(Failure) -> Refresh {
        log.info("the server refused the access token; refreshing the session")
        let refused = Box(session.accessToken.duplicate())
        do throws(SignInError) {
            try await service.refresh(session.account, refused: refused, deadline: .standard)
            return .done
        } catch {
            if error.code == .cancelled { throw .cancelled }
            log.info("can't refresh the session: \(error)")
            switch error.code {
            case .tokensNotStored, .accountMismatch, .scopeMissing: throw .signIn(error)
            default: return Self.needsPerson(error) ? .refused(error) : .notNow
            }
        }
    }

    /// Whether another process or task has signed in, or refreshed, since.
    private func hasOtherToken(than session: borrowing StoredSession) async throws(Failure) -> Bool {
        do throws(SignInError) {
            return !(try await service.session(of: session.account).accessToken.matches(session.accessToken))
        } catch {
            if Self.needsPerson(error) { return false }
            throw .signIn(error)
        }
    }

    // MARK: - For a client of the caller's own

    /// Signs a request for the caller's own HTTP client: sets `authorization`, and `proof` if the token is bound to a
    /// key.
    ///
    /// Both are secrets. Only a sink, such as `CallersOwnHTTPClientFieldSink`, can put them into the fields
    /// `Authorization` and `DPoP`. A proof is for this method and address, and valid once for a short time. Pass the
    /// response to ``learn(from:ofResponseAt:)``; after a 401 with a new nonce, sign the request once more.
    ///
    /// Throws `.otherOrigin` first, `.loginRequired` if the authenticator may not ask a person, otherwise as
    /// ``authenticate()``.
    public func authenticated(_ request: consuming GuardedRequest) async throws(Failure) -> GuardedRequest {
        try checkOrigin(of: request.url)
        let session = try await usableSession()
        do throws(SignInError) {
            return try await service.signed(request, with: session)
        } catch {
            throw Failure.signIn(error)
        }
    }

    /// Reads the nonce and the time for the next proof from a response that another client received. Has no effect for
    /// bearer tokens.
    ///
    /// Throws `.signIn` if there is no login, or if its store can't be read.
    ///
    /// - Parameters:
    ///   - fields: the response's `DPoP-Nonce` and `Date`; others are ignored.
    ///   - url: the address of the request.
    public func learn(from fields: [HeaderField], ofResponseAt url: HTTPURL) async throws(Failure) {
        try await mapError(
            Failure.signIn,
            awaiting: await service.learn(from: fields, ofResponseAt: url, account: try await account()))
    }
}
