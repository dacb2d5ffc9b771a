package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

extension SignInService {
    /// Signs a person in with a response that comes to a redirect address.
    @discardableResult
    package func signIn(
        presenting agent: any RedirectUserAgent, account: String? = nil, redirect: RedirectURI? = nil,
        deadline: Deadline = .after(.seconds(600))
    ) async throws(SignInError) -> SessionSummary {
        var provider = provider
        if let redirect { provider.redirect = redirect }
        return try await superseding { [provider] () async throws(SignInError) in
            try await self.attemptSignIn(provider, presenting: agent, account: account, deadline: deadline)
        }
    }

    /// Runs an attempt in a task of its own, after the one before it, which is cancelled.
    func superseding(
        _ body: @escaping @Sendable () async throws(SignInError) -> SessionSummary
    ) async throws(SignInError) -> SessionSummary {
        let previous = attempt
        previous?.cancel()
        attemptCount += 1
        let number = attemptCount
        let id = CorrelationID()
        let log = log.with("sign_in", id)
        let task = LogContext.with("sign_in", id) {
            Task { () async -> Result<SessionSummary, SignInError> in
                // The one before may still hold the port.
                _ = await previous?.value
                return await Result(awaiting: try await body())
            }
        }
        attempt = task
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if attemptCount == number { attempt = nil }
        switch result {
        case .success(let summary):
            log.info("signed in; the session has the scopes \(summary.scopes)")
            return summary
        case .failure(let error):
            let isSuperseded = attemptCount != number && !Task.isCancelled
            let error = isSuperseded ? SignInError(.superseded) : error
            log.info("the sign-in failed: \(error)")
            throw error
        }
    }

    private func attemptSignIn(
        _ provider: OAuthProvider, presenting agent: any RedirectUserAgent, account: String?, deadline: Deadline
    ) async throws(SignInError) -> SessionSummary {
        try await refuseEarly(provider, account)
        let secret = try await clientSecret()
        let server = try await server()
        return try await attemptSignIn(
            provider, server, secret, presenting: agent, account: account, deadline: deadline)
    }

    /// What can be refused without the person is refused before they are asked.
    func refuseEarly(_ provider: OAuthProvider, _ account: String?) async throws(SignInError) {
        if account == nil, identify == nil, provider.knownAccount == nil, provider.account == .nowhere,
            !provider.scopes.includesOpenID
        {
            throw SignInError(.accountNameNeeded)
        }
        if let account { _ = try mapError(SignInError.store, of: sessions.key(account)) }
        // A store that is locked or gone says so now, and not when there are tokens to keep.
        _ = try await mapError(SignInError.store, awaiting: await sessions.currentAccount())
    }

    private func attemptSignIn(
        _ provider: OAuthProvider, _ server: AuthorizationServerMetadata, _ secret: borrowing Secret<ClientSecret>?,
        presenting agent: any RedirectUserAgent, account: String?, deadline: Deadline
    ) async throws(SignInError) -> SessionSummary {
        let attempt: any UserAgentAttempt = try await mapError(
            SignInError.userAgent, awaiting: await agent.begin(provider.redirect))
        do throws(SignInError) {
            let signer = try mapError(SignInError.oauth, of: newSigner())
            let tokens = try await tokens(attempt, provider, server, secret, signer, deadline: deadline)
            let summary = try await keep(tokens, named: account, server: server, secret: secret, signer: signer)
            await attempt.finish(.signedIn)
            return summary
        } catch {
            await attempt.finish(.failed(error))
            throw error
        }
    }

    /// Sends the person to the server and exchanges the response.
    private func tokens(
        _ attempt: any UserAgentAttempt, _ provider: OAuthProvider, _ server: AuthorizationServerMetadata,
        _ secret: borrowing Secret<ClientSecret>?, _ signer: DPoPProofSigner?, deadline: Deadline
    ) async throws(SignInError) -> TokenResponse {
        let client = try mapError(SignInError.oauth, of: provider.client)
        let endpoint = tokenEndpoint(server, client, dpop: signer)
        let pending = try mapError(
            SignInError.oauth,
            of: AuthorizationRequest(server: server, client: client, redirect: attempt.redirect, dpop: signer).begin(
                random: context.random))
        let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
        let url = try await address(of: pending, provider, authentication, signer)
        let response: AuthorizationResponse
        do throws(UserAgentError) {
            response = try await attempt.present(url, gate: pending.responseGate(), deadline: deadline)
        } catch {
            throw error.code == .onlyForeignResponses ? .oauth(OAuthError(.stateMismatch)) : .userAgent(error)
        }
        return try await exchange(try Self.validate(response, pending), at: endpoint, authentication)
    }

    static func validate(
        _ response: consuming AuthorizationResponse, _ pending: consuming PendingAuthorization
    ) throws(SignInError) -> ValidatedCallback {
        do throws(OAuthError) {
            return try pending.validate(response)
        } catch {
            throw .oauth(error)
        }
    }

    func exchange(
        _ callback: consuming ValidatedCallback, at endpoint: TokenEndpoint,
        _ authentication: borrowing ClientAuthentication
    ) async throws(SignInError) -> TokenResponse {
        if let exchange = steps.exchange {
            let tokens = try await exchange(callback, endpoint, authentication)
            try await mapError(SignInError.oauth, awaiting: await endpoint.requireBinding(of: tokens, authentication))
            return tokens
        }
        do throws(OAuthError) {
            return try await endpoint.exchange(callback, authentication: authentication)
        } catch {
            throw .oauth(error)
        }
    }

    /// Where to send the person; the request is pushed before, if the server or the provider wants it.
    func address(
        of pending: borrowing PendingAuthorization, _ provider: OAuthProvider,
        _ authentication: borrowing ClientAuthentication, _ signer: DPoPProofSigner?
    ) async throws(SignInError) -> AuthorizationURL {
        let request = pending.request
        if let address = steps.address {
            let given = try await address(pending)
            let mustBePushed = provider.pushes != .whenOffered || request.server.requiresPushedRequests
            do throws(OAuthError) {
                return try pending.authorizationURL(provided: given, mustNamePushedRequest: mustBePushed)
            } catch {
                throw .oauth(error)
            }
        }
        return try await mappingError(SignInError.oauth) { () async throws(OAuthError) in
            guard
                let endpoint = PushedRequestEndpoint(
                    server: request.server, client: request.client, http: context.http, dpop: signer,
                    provesAtOnce: provider.pushes == .requiredWithProof, log: log)
            else {
                guard provider.pushes == .whenOffered, !request.server.requiresPushedRequests else {
                    throw OAuthError(.invalidMetadata(.withoutPushedRequests))
                }
                return try pending.authorizationURL()
            }
            return try await endpoint.push(pending, authentication: authentication)
        }
    }
}
