public import LatchkeyCredentials
public import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
public import LatchkeySignIn
internal import LatchkeySystem

/// Signs in accounts of AT Protocol (Bluesky and others) and keeps their sessions: OAuth with pushed requests, PKCE,
/// and tokens that are bound to a key.
///
///     let client = ATProtocolClient(configuration: configuration, store: vault, context: context)
///     let session = try await client.authenticate(
///         handle: "alice.example.org", presenting: browser, deadline: deadline)
///     let response = try await client.send(GuardedRequest(.get, url))
///
/// Each account has a server, which refers to the server that authorizes. Each sign-in looks up both from the handle or
/// the DID, and verifies them in both directions. Sessions work as those of a `SignInService`: refreshed before they
/// end, once among all tasks and processes, and stored before they are used. Every error is an ``ATProtocolError``,
/// which doesn't contain a secret.
public actor ATProtocolClient {
    /// The configuration of the initialiser.
    public nonisolated let configuration: ATProtocolConfiguration
    package nonisolated let sessions: SessionStore
    nonisolated let store: any CredentialStore
    nonisolated let context: SignInContext
    nonisolated let resolver: any IdentityResolver
    /// Refreshes and proofs of one account go through one service.
    private var services: [Octets: SignInService] = [:]
    /// Whether `authenticate` is going on.
    var isAuthenticating = false

    /// Makes the client, without a request or a check. An invalid configuration is an error of the first sign-in.
    ///
    /// - Parameters:
    ///   - configuration: our client, and the address for responses.
    ///   - store: the store for sessions and the keys of their tokens.
    ///   - context: the transport, clock and other parts. The transport has to limit its connections to the addresses
    ///     that `configuration.reach` permits: a `CurlTransport` does.
    ///   - resolver: the lookup of accounts; by default a ``NetworkIdentityResolver`` over the context's transport.
    public init(
        configuration: ATProtocolConfiguration, store: any CredentialStore, context: SignInContext,
        resolver: (any IdentityResolver)? = nil
    ) {
        self.configuration = configuration
        self.store = store
        var context = context
        context.http = context.http.reaching(configuration.reach.addresses)
        self.context = context
        sessions = SessionStore(store: store, provider: configuration.provider.text, leases: context.leases)
        self.resolver =
            resolver
            ?? NetworkIdentityResolver(http: context.http, reach: configuration.reach, log: context.log)
    }

    nonisolated var log: RedactedLogger { context.log }

    // MARK: - Sessions

    /// Returns what can be shown of the session that requests use: that of the current account, or else of the only one.
    /// Its `subject` is the account's DID. `nil` if no account is signed in, if none of several is the current one, and if
    /// the current one's session has ended: sign it out, or in again.
    ///
    /// Throws `.signIn` when the store can't be read.
    public func currentSession() async throws(ATProtocolError) -> SessionSummary? {
        try await stored(await sessions.currentSummary())
    }

    /// Returns what can be shown of each account's session.
    ///
    /// Throws `.signIn` when the store can't be read. No account is an empty list.
    public func accounts() async throws(ATProtocolError) -> [SessionSummary] {
        try await stored(await sessions.summaries())
    }

    /// Sends a request with an account's token and a proof of its key, to the account's own server alone; see
    /// `SignInService.send`.
    ///
    /// Throws `.otherServer` for any other address, `.keyLost`, `.signIn`, and after a refresh `.subjectMismatch` or
    /// `.scopeMissing`.
    public func send(
        _ request: consuming GuardedRequest, account: String? = nil, limits: TransferLimits = TransferLimits()
    ) async throws(ATProtocolError) -> GuardedResponse {
        let (service, name) = try await service(of: account)
        do throws(SignInError) {
            return try await service.send(request, account: name, limits: limits)
        } catch {
            throw ATProtocolError.signIn(error)
        }
    }

    /// Revokes an account's tokens, and deletes its session and its key even if the server can't be reached.
    @discardableResult
    public func signOut(_ account: String? = nil) async -> SignOutReport {
        do throws(ATProtocolError) {
            let (service, name) = try await service(of: account)
            let report = await service.signOut(name)
            services[Octets(name)] = nil
            return report
        } catch {
            guard case .signIn(let cause) = error.code else {
                return SignOutReport(account: account, revocation: .notNeeded, deletion: .failed(.cancelled))
            }
            if Self.isUnusable(cause), let name = try? await resolve(account) {
                return await deleteUnusable(name, cause)
            }
            let isAbsent = cause.code == .notSignedIn
            // If the server ended the session, the account may still be the current one.
            if isAbsent, let name = try? await resolve(account),
                let error = await failure(StoreError.self, awaiting: try await deleteUnderLease(name))
            {
                return SignOutReport(account: name, revocation: .notNeeded, deletion: .failed(.store(error)))
            }
            return SignOutReport(
                account: account, revocation: .notNeeded, deletion: isAbsent ? .absent : .failed(cause))
        }
    }

    /// Whether a session can't be read, or doesn't contain its account and server.
    private static func isUnusable(_ error: SignInError) -> Bool {
        switch error.code {
        case .otherAuthority: true
        case .store(let error): error.code == .corrupted
        default: false
        }
    }

    private func deleteUnusable(_ account: String, _ cause: SignInError) async -> SignOutReport {
        let deletion: Result<Bool, StoreError> = await Result(awaiting: try await deleteUnderLease(account))
        switch deletion {
        case .success(let existed):
            services[Octets(account)] = nil
            return SignOutReport(
                account: account, revocation: .failed(cause), deletion: existed ? .deleted : .absent)
        case .failure(let error):
            return SignOutReport(account: account, revocation: .notNeeded, deletion: .failed(.store(error)))
        }
    }

    private func deleteUnderLease(_ account: String) async throws(StoreError) -> Bool {
        let lease = try await sessions.lease(account, deadline: .standard)
        let existed = try await sessions.delete(account)
        lease.release()
        return existed
    }

    /// Waits until the refreshes that are going on have ended; see `SignInService.finishRefreshes`.
    public func finishRefreshes() async {
        for service in Array(services.values) { await service.finishRefreshes() }
    }

    // MARK: - One account's service

    /// The service of an account that is signed in, for what every provider's sessions have in common.
    ///
    /// - Parameter account: by default the current account.
    package func service(of account: String?) async throws(ATProtocolError) -> (SignInService, account: String) {
        let name = try await resolve(account)
        guard let session = try await stored(await sessions.load(name)) else {
            throw ATProtocolError(.signIn(SignInError(.notSignedIn)))
        }
        if let known = services[Octets(name)], let subject = session.subject,
            known.provider.authority.hasSameOctets(as: session.authority),
            known.provider.clientID.hasSameOctets(as: session.clientID),
            known.provider.knownAccount?.subject.hasSameOctets(as: subject) == true
        {
            return (known, name)
        }
        guard let subject = session.subject, let resource = session.resource else {
            throw ATProtocolError(.signIn(SignInError(.otherAuthority)))
        }
        let provider = try mappingError(ATProtocolError.oauth) { () throws(OAuthError) in
            try self.provider(
                .issuer(try Issuer(session.authority)), clientID: session.clientID, subject: subject,
                resource: resource)
        }
        let service = SignInService(provider: provider, store: store, context: context)
        services[Octets(name)] = service
        return (service, name)
    }

    func keep(_ service: SignInService, for account: String) {
        services[Octets(account)] = service
    }

    private func resolve(_ account: String?) async throws(ATProtocolError) -> String {
        // A session has a handle's lower-case form.
        if let account { return (try? ATProtocolHandle(account))?.text ?? account }
        let found = try await stored(await sessions.accountsInUse())
        guard let name = found.first else { throw ATProtocolError(.signIn(SignInError(.notSignedIn))) }
        guard found.count == 1 else { throw ATProtocolError(.signIn(SignInError(.noCurrentAccount))) }
        return name
    }

    /// The provider that an account has.
    func provider(
        _ server: OAuthProvider.Server, clientID: String, subject: String, resource: String
    ) throws(OAuthError) -> OAuthProvider {
        var provider = try OAuthProvider(
            name: configuration.provider, server: server, clientID: clientID, scopes: configuration.scopes,
            redirect: configuration.redirect, account: .nowhere, usesDPoP: true)
        provider.pushes = .requiredWithProof
        provider.knownAccount = OAuthProvider.KnownAccount(
            subject: subject, resource: resource, requiredScopes: ["atproto"])
        return provider
    }

    func stored<Result: ~Copyable>(
        _ value: @autoclosure () async throws(StoreError) -> Result
    ) async throws(ATProtocolError) -> Result {
        try await mapError({ (error: StoreError) in ATProtocolError.signIn(.store(error)) }, awaiting: await value())
    }
}

// MARK: - Authorization

extension ATProtocolClient {
    // MARK: - In one call

    /// Signs an account in, stores its session, and makes it the current one.
    ///
    /// The session has the name of the handle, or of the DID if that was passed. Throws `.authorizationInProgress`
    /// during another authorization, also one that has begun in another process; `cancelAuthorization` ends that one.
    /// Throws `.authorizationCancelled`, `.presenterFailed` if the caller's own user interface failed,
    /// `.subjectMismatch`, `.scopeMissing`, and why the account or its server can't be used, such as `.handleNotFound`,
    /// `.handleMismatch` or `.requirementMissing`.
    ///
    /// - Parameters:
    ///   - handle: a handle or a DID.
    ///   - agent: the user agent to sign in with.
    ///   - deadline: the time limit for the person (default: ten minutes).
    @discardableResult
    public func authenticate(
        handle: String, presenting agent: UserAgent, deadline: Deadline = .after(.seconds(600))
    ) async throws(ATProtocolError) -> SessionSummary {
        do throws(ATProtocolError) {
            return try await authenticate(handle) { service, account throws(SignInError) in
                try await service.signIn(presenting: agent, account: account, deadline: deadline)
            }
        } catch {
            let failed = SignInError(.userAgent(UserAgentError(.unavailable(.pageFailed))))
            throw agent.isPresenter && error.code == .signIn(failed) ? ATProtocolError(.presenterFailed) : error
        }
    }

    private func authenticate(
        _ handle: String,
        _ signIn: (SignInService, _ account: String) async throws(SignInError) -> SessionSummary
    ) async throws(ATProtocolError) -> SessionSummary {
        let identifier = try AccountIdentifier(handle)
        guard !isAuthenticating else { throw ATProtocolError(.authorizationInProgress) }
        isAuthenticating = true
        defer { isAuthenticating = false }
        try await refuseWhilePending()
        let destination = try await destination(of: identifier)
        let service = try service(for: destination)
        return try await mappingError(ATProtocolError.signIn) { () async throws(SignInError) in
            let summary = try await signIn(service, destination.account)
            keep(service, for: summary.account)
            return summary
        }
    }

    func service(for destination: Destination) throws(ATProtocolError) -> SignInService {
        return try mappingError(ATProtocolError.oauth) { () throws(OAuthError) in
            let provider = try provider(
                .endpoints(destination.server), clientID: destination.clientID, subject: destination.did.text,
                resource: destination.resource)
            return SignInService(provider: provider, store: store, context: context)
        }
    }
}

// MARK: - Callers requests

extension ATProtocolClient {
    /// Signs a request for the caller's own HTTP client: sets `authorization` and `proof`.
    ///
    /// Both are secrets. Only a sink, such as `CallersOwnHTTPClientFieldSink`, can put them into the fields
    /// `Authorization` and `DPoP`. The proof is for this method and address, and valid once for a short time. Pass the
    /// response to `learn(from:ofResponseAt:)`; after a 401 with a new nonce, sign the request once more.
    ///
    /// Throws `.otherServer` for a request to another server than the account's own, `.keyLost`, `.signIn`.
    public func authenticateResourceRequest(
        _ request: consuming GuardedRequest, account: String? = nil
    ) async throws(ATProtocolError) -> GuardedRequest {
        let (service, name) = try await service(of: account)
        do throws(SignInError) {
            return try await service.signed(request, with: try await service.freshSession(name))
        } catch {
            throw ATProtocolError.signIn(error)
        }
    }

    /// Reads the nonce and the time for the next proof from a response that another client received.
    ///
    /// Throws `.signIn` if the account has no session, or if its store can't be read. Missing fields aren't an error.
    ///
    /// - Parameters:
    ///   - fields: the response's `DPoP-Nonce` and `Date`; others are ignored.
    ///   - url: the address of the request.
    ///   - account: the account of the request; by default the current one.
    public func learn(
        from fields: [HeaderField], ofResponseAt url: HTTPURL, account: String? = nil
    ) async throws(ATProtocolError) {
        let (service, name) = try await service(of: account)
        try await mapError(
            ATProtocolError.signIn, awaiting: await service.learn(from: fields, ofResponseAt: url, account: name))
    }
}

// MARK: - Discovery

extension ATProtocolClient {
    /// Everything that is known before an account signs in.
    struct Destination: Sendable {
        let did: DID
        /// The name of the new session.
        let account: String
        let resource: String
        let server: AuthorizationServerMetadata
        let clientID: String
    }

    /// Checks the client, finds the account, and finds the server that authorizes for it, in this order.
    func destination(of identifier: AccountIdentifier) async throws(ATProtocolError) -> Destination {
        let clientID = try await checkedClientID()
        let identity = try await resolver.identity(of: identifier)
        try configuration.reach.check(identity.personalServer)
        log.debug("the account's own server is \(identity.personalServer)")
        let resource = try await ResourceMetadata.fetch(
            from: identity.personalServer, http: context.http, reach: configuration.reach, log: log)
        let server = try await server(resource.authorizationServer)
        return Destination(
            did: identity.did, account: identity.handle?.text ?? identity.did.text,
            resource: identity.personalServer.origin, server: server, clientID: clientID)
    }

    /// An authorization server that follows the profile.
    func server(_ issuer: Issuer) async throws(ATProtocolError) -> AuthorizationServerMetadata {
        let server = try await mapError(
            ATProtocolError.oauth,
            awaiting: await AuthorizationServerMetadata.discover(issuer, over: context.http, log: log))
        try configuration.reach.check(server)
        return server
    }

    /// The client's id; a redirect that it doesn't have is refused before any other request.
    private func checkedClientID() async throws(ATProtocolError) -> String {
        let (redirect, scopes) = (configuration.redirect, configuration.scopes)
        switch configuration.client {
        case .loopback:
            guard scopes.contains("atproto") else { throw .client(.withoutATProtoScope) }
            return try LoopbackClient.identifier(redirect: redirect, scopes: scopes)
        case .loaded(let document):
            try document.check(redirect, scopes)
            return document.clientID
        case .document(let url):
            let document = try await ClientDocument.fetch(
                from: url, http: context.http, reach: configuration.reach, log: log)
            try document.check(redirect, scopes)
            return document.clientID
        }
    }
}
