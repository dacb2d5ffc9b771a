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
        try await mapError(SignInError.store, awaiting: await sessions.checkLease(account ?? provider.name))
        let secret = try await clientSecret()
        let server = try await server(until: deadline)
        return try await attemptSignIn(
            provider, server, secret, presenting: agent, account: account, deadline: deadline)
    }

    /// Refuses impossible requests before the user is asked.
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
            try await mapError(SignInError.oauth, awaiting: await endpoint.check(of: tokens, authentication))
            return tokens
        }
        do throws(OAuthError) {
            return try await endpoint.exchange(callback, authentication: authentication)
        } catch {
            throw .oauth(error)
        }
    }

    /// The address to send the user to. The request is pushed first if the server has the endpoint, or if the provider
    /// requires it.
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

// MARK: - Device

extension SignInService {
    /// Signs a person in who confirms on another device (RFC 8628).
    ///
    /// - Parameters:
    ///   - prompt: shows the person what to enter where.
    ///   - clock: what waits between two questions to the server.
    @discardableResult
    package func signIn(
        showing prompt: any DevicePrompt, account: String? = nil, deadline: Deadline, clock: PollClock = .continuous
    ) async throws(SignInError) -> SessionSummary {
        let provider = provider
        return try await superseding { () async throws(SignInError) in
            try await self.attemptSignIn(
                provider, showing: prompt, account: account, deadline: deadline, clock: clock)
        }
    }

    private func attemptSignIn(
        _ provider: OAuthProvider, showing prompt: any DevicePrompt, account: String?, deadline: Deadline,
        clock: PollClock
    ) async throws(SignInError) -> SessionSummary {
        try await refuseEarly(provider, account)
        let secret = try await clientSecret()
        let server = try await server(until: deadline)
        let signer = try mapError(SignInError.oauth, of: newSigner())
        let client = try mapError(SignInError.oauth, of: provider.client)
        let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
        guard
            let endpoint = DeviceAuthorizationEndpoint(server: server, client: client, http: context.http, log: log)
        else { throw .oauth(OAuthError(.invalidMetadata(.withoutDeviceGrant))) }
        do throws(SignInError) {
            let device: DeviceAuthorization = try await mapError(
                SignInError.oauth, awaiting: await endpoint.begin(authentication: authentication))
            try await mapError(SignInError.userAgent, awaiting: await prompt.show(device))
            let tokens = try await poll(device, server, authentication, signer, deadline: deadline, clock: clock)
            // The terminal shows the code and a countdown: no place for a question.
            let summary = try await keep(
                tokens, named: account, server: server, secret: secret, signer: signer, mayAsk: false)
            await prompt.finish(.signedIn)
            return summary
        } catch {
            await prompt.finish(.failed(error))
            throw error
        }
    }

    private func poll(
        _ device: borrowing DeviceAuthorization, _ server: AuthorizationServerMetadata,
        _ authentication: borrowing ClientAuthentication, _ signer: DPoPProofSigner?, deadline: Deadline,
        clock: PollClock
    ) async throws(SignInError) -> TokenResponse {
        return try await mapError(
            SignInError.oauth,
            awaiting: await tokenEndpoint(server, dpop: signer).poll(
                device, authentication: authentication, timeout: deadline.remaining, clock: clock))
    }
}

// MARK: - Resume

extension SignInService {
    /// A sign-in that has begun, and goes on when its response comes: maybe in another process.
    package struct BegunSignIn: ~Copyable, Sendable {
        package let pending: PendingAuthorization
        /// Where to send the person.
        package let url: AuthorizationURL
        /// Of the key that the tokens will be bound to.
        package let signer: DPoPProofSigner?
    }

    /// Makes what a sign-in needs, and pushes its request where that is the provider's way. Nothing is stored.
    package func begin(redirect: RedirectURI) async throws(SignInError) -> BegunSignIn {
        try await refuseEarly(provider, nil)
        let secret = try await clientSecret()
        let server = try await server()
        let signer = try mapError(SignInError.oauth, of: newSigner())
        let pending = try mapError(
            SignInError.oauth,
            of: AuthorizationRequest(server: server, client: provider.client, redirect: redirect, dpop: signer).begin(
                random: context.random))
        let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
        let url = try await address(of: pending, provider, authentication, signer)
        return BegunSignIn(pending: pending, url: url, signer: signer)
    }

    /// Makes the signer of a key that `begin` made, maybe in another process.
    package func signer(with key: consuming ES256Key) -> DPoPProofSigner {
        DPoPProofSigner(key: key, memory: proofs, random: context.random, now: context.now)
    }

    /// Validates a response, exchanges it, and keeps the session as `signIn` does.
    package func resume(
        _ pending: consuming PendingAuthorization, with response: consuming AuthorizationResponse,
        signer: DPoPProofSigner?, account: String?
    ) async throws(SignInError) -> SessionSummary {
        let secret = try await clientSecret()
        let server = try await server()
        let tokens: TokenResponse
        do throws(SignInError) {
            let callback = try Self.validate(response, pending)
            let endpoint = try mapError(SignInError.oauth, of: tokenEndpoint(server, dpop: signer))
            let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
            tokens = try await exchange(callback, at: endpoint, authentication)
        } catch {
            log.info("the sign-in failed: \(error)")
            throw error
        }
        let summary = try await keep(tokens, named: account, server: server, secret: secret, signer: signer)
        log.info("signed in; the session has the scopes \(summary.scopes)")
        return summary
    }
}

// MARK: - Remembering

// If a store can't be reached, such as a database during a failover, a token that is still valid stays usable.

extension SignInService {
    /// How long to wait for the store if a remembered answer could be used instead.
    static let patience = Duration.seconds(3)

    /// The session from the store. If the store can't be reached, returns the last session that was read or saved, unless
    /// its token is about to end.
    func sessionOrMemory(of account: String, deadline: Deadline) async throws(SignInError) -> StoredSession {
        let kept = handedOut[Octets(account)].flatMap { $0.value.isFresh(at: context.now()) ? $0 : nil }
        let soon = kept == nil ? deadline : Deadline(min(deadline.instant, Deadline.after(Self.patience).instant))
        let count = changeCount
        switch await Result<StoredSession, SignInError>(awaiting: try await session(of: account, deadline: soon)) {
        case .success(let session):
            if count == changeCount { handedOut[Octets(account)] = Box(session.withoutRefreshToken) }
            return session
        case .failure(let error):
            guard case .store(let refusal) = error.code, refusal.code.isAbsenceOfStore else {
                handedOut[Octets(account)] = nil
                throw error
            }
            guard let kept else { throw error }
            log.warning("can't reach the store; using the last access token: \(error)")
            return kept.value.withoutRefreshToken
        }
    }

    /// The account that was resolved or chosen before, if the store can't tell.
    func resolvedBefore(_ error: SignInError) -> String? {
        guard case .store(let refusal) = error.code, refusal.code.isAbsenceOfStore else { return nil }
        return lastAccount
    }

    /// After a session is saved.
    func remember(_ session: borrowing StoredSession) {
        changeCount += 1
        handedOut[Octets(session.account)] = Box(session.withoutRefreshToken)
    }

    /// Called before or after the end of a session.
    func forget(_ account: String) {
        changeCount += 1
        guard let kept = handedOut.removeValue(forKey: Octets(account)) else { return }
        if let thumbprint = kept.value.keyThumbprint { signers[Octets(thumbprint)] = nil }
    }
}

extension StoreError.Code {
    /// The store gave no answer, which a refusal would be.
    fileprivate var isAbsenceOfStore: Bool { self == .unavailable || self == .timedOut || self == .busy }
}

// MARK: - Machines

extension SignInService {
    /// The machine's session, which is requested if there is none, or if its token is about to end: once for all callers.
    func machineSession(
        _ name: String, _ machine: MachineGrant, deadline: Deadline
    ) async throws(SignInError) -> StoredSession {
        let kept = try await storedSession(name, deadline)
        if let kept, kept.value.isFresh(at: context.now()) { return kept.value.marked(nil) }
        if let error = await failure(
            SignInError.self, awaiting: try await refresh(name, refused: nil, deadline: deadline))
        {
            guard let kept, kept.value.isUsable(at: context.now(), .access), Self.leavesSession(error) else {
                throw error
            }
            log.info("can't get another token yet; the last one is still valid: \(error)")
            return kept.value.marked(nil)
        }
        // The server may have taken longer than the caller had.
        return try await session(of: name, deadline: .standard)
    }

    /// The stored session, unless it is another server's or client's.
    private func storedSession(_ name: String, _ deadline: Deadline) async throws(SignInError) -> Box<StoredSession>? {
        let loaded: StoredSession? = try await mapError(
            SignInError.store, awaiting: await sessions.load(name, deadline: deadline))
        guard let session = loaded, session.isOf(provider) else { return nil }
        return Box(session)
    }

    func renew(
        _ name: String, by machine: MachineGrant, refused: Box<Secret<AccessToken>>?, deadline: Deadline
    ) async throws(SignInError) {
        if let kept = try await storedSession(name, deadline) {
            let isGood =
                refused.map { !kept.value.accessToken.matches($0.value) } ?? kept.value.isFresh(at: context.now())
            if isGood { return log.debug("another process or task has got a token") }
        }
        let server = try await server()
        let secret = try await clientSecret()
        let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
        let endpoint = try mapError(SignInError.oauth, of: tokenEndpoint(server, dpop: nil))
        let tokens = try await mapError(
            SignInError.oauth, awaiting: await endpoint.tokens(by: machine, authentication: authentication))
        let texts = TokensInText(tokens)
        let session = StoredSession(
            tokens, authority: provider.authority, clientID: provider.clientID, account: name, subject: nil,
            scopes: texts.plain(tokens.grantedScopes, log) ?? provider.scopes, resource: provider.resource,
            now: context.now())
        try await mapError(SignInError.store, awaiting: await sessions.save(session))
        log.info("got a token for this machine")
    }
}
