public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeyOAuth
package import LatchkeyProcess
package import LatchkeySecrets
internal import LatchkeySystem

/// Signs in with one provider and keeps its sessions: any number of accounts, of which one is the current one.
///
///     let service = SignInService(provider: provider, store: vault, context: context)
///     let account = try await service.signIn(presenting: browser, deadline: .after(.seconds(300)))
///     let token = try await service.accessToken()
///
/// Sessions are refreshed before they end: once among all tasks, and once among all of this user's processes. A
/// refreshed session is stored before it is used. Every error is a ``SignInError``, which doesn't contain a secret.
public actor SignInService {
    package nonisolated let provider: OAuthProvider
    package nonisolated let sessions: SessionStore
    let context: SignInContext
    let identify: Identify?
    let steps: SignInSteps

    /// Says who an access token belongs to, in place of the provider's own way.
    package typealias Identify =
        @Sendable (borrowing Secret<AccessToken>, ScopeList?) async throws(SignInError) -> AccountIdentity

    var metadata: AuthorizationServerMetadata?
    /// The sign-in that is going on, and how many there were.
    var attempt: Task<Result<SessionSummary, SignInError>, Never>?
    var attemptCount = 0
    /// The refreshes that are going on, by account.
    var refreshes: [Octets: Pending<SignInError?>] = [:]
    /// The nonces of servers for proofs, and the loaded keys by thumbprint.
    let proofs = DPoPNonceCache()
    let signingKeys = SigningKeys()
    var signers: [Octets: DPoPProofSigner] = [:]
    /// The sessions that were read or saved last, and the account, for times when the store can't be reached.
    var handedOut: [Octets: Box<StoredSession>] = [:]
    var lastAccount: String?
    /// How often this service changed them: a read that began before mustn't undo it.
    var changeCount = 0

    /// Sends and reads nothing yet. Sessions have the service `latchkey:NAME` in the store, by the provider's name. Programs
    /// with different client IDs, the command line among them, need different names or stores: a program refuses the
    /// other's session (`.otherAuthority`), and its sign-in replaces it.
    public init(provider: OAuthProvider, store: any CredentialStore, context: SignInContext) {
        let sessions = SessionStore(store: store, provider: provider.name, leases: context.leases)
        self.init(provider: provider, sessions: sessions, context: context, identify: nil)
    }

    package init(
        provider: OAuthProvider, sessions: SessionStore, context: SignInContext, identify: Identify?,
        steps: SignInSteps = SignInSteps()
    ) {
        self.provider = provider
        self.sessions = sessions
        self.context = context
        self.identify = identify
        self.steps = steps
    }

    var log: RedactedLogger { context.log }

    // MARK: - Accounts

    /// Returns what can be shown of each account's session.
    ///
    /// Throws `.store` for a store that can't be read. No account is an empty list.
    public func accounts() async throws(SignInError) -> [SessionSummary] {
        try await mapError(SignInError.store, awaiting: await sessions.summaries())
    }

    /// Returns what can be shown of the session that requests use: that of the current account, or else of the only one.
    /// `nil` if no account is signed in, if none of several is the current one, and if the current one's session has
    /// ended.
    ///
    /// Throws `.store` for a store that can't be read.
    public func currentAccount() async throws(SignInError) -> SessionSummary? {
        try await mapError(
            SignInError.store,
            awaiting: provider.machine != nil
                ? try await sessions.load(provider.name)?.summary : try await sessions.currentSummary())
    }

    /// Makes an account the current one.
    ///
    /// Throws `.notSignedIn` for an account without a session, `.otherAuthority` for one whose session another server
    /// or client issued, and `.store`.
    public func use(_ account: String) async throws(SignInError) {
        _ = try await session(of: account)
        try await mapError(SignInError.store, awaiting: await sessions.setCurrentAccount(account))
        lastAccount = account
        changeCount += 1
    }

    /// The account to use: the one that was set, otherwise the current one, otherwise the only one.
    package func resolve(_ account: String?) async throws(SignInError) -> String {
        if let account { return account }
        if provider.machine != nil { return provider.name }
        let deadline: Deadline = lastAccount == nil ? .standard : .after(Self.patience)
        let count = changeCount
        let found: [String]
        do throws(SignInError) {
            found = try await mapError(
                SignInError.store, awaiting: await sessions.accountsInUse(deadline: deadline))
        } catch {
            guard let name = resolvedBefore(error) else { throw error }
            return name
        }
        if count == changeCount { lastAccount = found.count == 1 ? found[0] : nil }
        guard let name = found.first else { throw SignInError(.notSignedIn) }
        guard found.count == 1 else { throw SignInError(.noCurrentAccount) }
        return name
    }

    /// The session of an account, which must be this provider's.
    package func session(of account: String, deadline: Deadline = .standard) async throws(SignInError) -> StoredSession
    {
        let loaded: StoredSession? = try await mapError(
            SignInError.store, awaiting: await sessions.load(account, deadline: deadline))
        guard let session = loaded else { throw SignInError(.notSignedIn) }
        guard session.isOf(provider) else { throw SignInError(.otherAuthority) }
        return session
    }

    // MARK: - The server

    /// The server's metadata, requested once.
    func server(until deadline: Deadline = .after(.seconds(30))) async throws(SignInError)
        -> AuthorizationServerMetadata
    {
        if let metadata { return metadata }
        switch provider.server {
        case .endpoints(let known):
            metadata = known
            return known
        case .issuer(let issuer):
            do throws(OAuthError) {
                let found = try await AuthorizationServerMetadata.discover(
                    issuer, over: context.http, timeout: min(deadline.remaining, .seconds(30)), log: log)
                try provider.check(found)
                metadata = found
                return found
            } catch {
                throw .oauth(error)
            }
        }
    }

    func tokenEndpoint(_ server: AuthorizationServerMetadata, dpop: DPoPProofSigner?) throws(OAuthError)
        -> TokenEndpoint
    {
        tokenEndpoint(server, try provider.client, dpop: dpop)
    }

    /// Tokens that it refuses are revoked in the provider's way.
    func tokenEndpoint(_ server: AuthorizationServerMetadata, _ client: ClientConfiguration, dpop: DPoPProofSigner?)
        -> TokenEndpoint
    {
        var endpoint = TokenEndpoint(
            server: server, client: client, http: context.http, dpop: dpop, signingKeys: signingKeys, log: log,
            now: context.now)
        let revoker = TokenRevoker(
            provider: provider, server: server, http: context.http, dpop: dpop, log: log,
            timeout: TokenEndpoint.timeoutOfRevocation)
        endpoint.revokes = { tokens, authentication in await revoker.revoke(tokens, authentication) }
        return endpoint
    }

    // MARK: - Keys

    /// Makes the key of a sign-in, where the provider wants one.
    func newSigner() throws(OAuthError) -> DPoPProofSigner? {
        guard provider.usesDPoP else { return nil }
        return DPoPProofSigner(
            key: try .generate(random: context.random), memory: proofs, random: context.random, now: context.now)
    }

    /// The signer of the key that a session is bound to; `nil` for bearer tokens. Throws `.keyLost`.
    package func signer(of session: borrowing StoredSession) async throws(SignInError) -> DPoPProofSigner? {
        guard let thumbprint = session.keyThumbprint else { return nil }
        if let signer = signers[Octets(thumbprint)] { return signer }
        let key: ES256Key? = try await mapError(SignInError.store, awaiting: await sessions.loadKey(thumbprint))
        guard let key else { throw SignInError(.keyLost) }
        let signer = DPoPProofSigner(key: key, memory: proofs, random: context.random, now: context.now)
        signers[Octets(thumbprint)] = signer
        return signer
    }

    // MARK: - The client's secret

    /// The key of a provider's client secret in the store.
    ///
    /// Throws `permissionDenied` if the client ID can't be a credential's name.
    public static func clientSecretKey(of provider: OAuthProvider) throws(StoreError) -> CredentialKey {
        return try mapError(
            { (error: InvalidValue) in StoreError(.permissionDenied, "the client id can't be a key: \(error.cause)") },
            of: CredentialKey(
                service: SessionStore.service(ofProvider: provider.name), account: provider.clientID,
                kind: .clientSecret))
    }

    func clientSecret() async throws(SignInError) -> Secret<ClientSecret>? {
        if provider.proof == .none { return nil }
        if let given = steps.clientSecret { return given.secret.duplicate() }
        let record: CredentialRecord<ClientSecret>? = try await mapError(
            SignInError.store,
            awaiting: await sessions.store.read(
                try sessions.key(provider.clientID, kind: .clientSecret), as: ClientSecret.self))
        if let record { return record.takeSecret() }
        if case .secret = provider.proof { throw SignInError(.clientSecretMissing) }
        return nil
    }

    /// - Parameter basicForm: how the server took the secret before; `nil` to find out.
    func authentication(
        _ secret: borrowing Secret<ClientSecret>?, basicForm: ClientAuthentication.BasicForm? = nil
    ) throws(OAuthError) -> ClientAuthentication {
        switch provider.proof {
        case .none: return .none
        case .secret(let method), .secretIfPresent(let method):
            guard let secret = secret?.duplicate() else { return .none }
            var authentication: ClientAuthentication
            switch method {
            case .none: return .none
            case .secretBasic: authentication = try .secretBasic(secret, form: basicForm)
            case .secretPost: authentication = try .secretPost(secret, form: basicForm)
            case .privateKeyJWT:
                return try .privateKeyJWT(secret, audience: provider.authority, now: context.now)
            }
            authentication.triesOtherMethod = provider.triesOtherAuthentication
            return authentication
        }
    }
}

/// All the ways that a program can sign a person in; the session decides which is used.
package struct SignInMethods: Sendable {
    package var sessionEnvironment: SessionEnvironment
    /// The environment for starting browsers: that of the process.
    package var environment: [String: String]
    /// In place of the choice.
    package var wanted: SignInMethod?
    /// Private windows; see `BrowserChoice`.
    package var ephemeral = false
    /// Where to ask; `nil`: questions are forbidden.
    package var terminal: (any PromptTerminal)?
    /// Where to show codes for other devices; `nil`: nowhere.
    package var devicePrompt: (any DevicePrompt)?
    /// The private-use schemes whose handler is installed, and passes addresses on to `redirects`.
    package var handledSchemes: Set<String> = []
    /// Where to wait for handlers.
    package var redirects: RedirectFolder?
    /// Is told which way it is and why, before the person is bothered; not where that way turns out not to be there.
    package var announce: @Sendable (SignInChoice) -> Void = { _ in }

    /// The methods that a program's environment offers: a browser if a display is available; if the caller can ask,
    /// also a terminal to paste at or to show a code on.
    package init(
        environment: ProgramEnvironment, terminal: (any PromptTerminal)? = nil, devicePrompt: (any DevicePrompt)? = nil
    ) {
        self.init(
            sessionEnvironment: SessionEnvironment(environment: environment.variables, hasTerminal: terminal != nil),
            environment: environment.variables)
        self.terminal = terminal
        self.devicePrompt = devicePrompt
        redirects = .standard(in: environment)
    }

    /// - Parameter session environment: of the session; its `hasTerminal` counts only together with `terminal`.
    package init(sessionEnvironment: SessionEnvironment, environment: [String: String]) {
        self.sessionEnvironment = sessionEnvironment
        self.environment = environment
    }
}

extension SignInService {
    /// Signs a user in, stores the session, and makes its account the current one.
    ///
    /// A new attempt cancels the one before it, which throws `.superseded`. If anything fails after a successful
    /// response of the server, its tokens are revoked where the server can. Each log line of an attempt has its
    /// `sign_in` field.
    ///
    /// Throws `.userAgent` (`.unavailable`, whose hint says what to do; `.userCancelled`; `.timedOut`), `.oauth` (such
    /// as `.accessDenied`, `.deviceCodeExpired`), `.store`, `.clientSecretMissing`, `.accountNameNeeded` or
    /// `.otherPerson`.
    ///
    /// - Parameters:
    ///   - agent: the user agent to sign in with.
    ///   - account: the name of the session (default: the server's name for the account).
    ///   - redirect: replaces the provider's redirect URI, for servers that compare ports. Device codes need none.
    ///   - deadline: the time limit for the user (default: ten minutes from now). A request to the server that has begun
    ///     may take 30 s more. Cancelling the task doesn't cut off the exchange of a response, so that no tokens are lost.
    @discardableResult
    public func signIn(
        presenting agent: UserAgent, account: String? = nil, redirect: RedirectURI? = nil,
        deadline: Deadline = .after(.seconds(600))
    ) async throws(SignInError) -> SessionSummary {
        switch agent.way {
        case .methods(let methods):
            try await signIn(by: methods, account: account, redirect: redirect, deadline: deadline)
        case .redirect(let make):
            try await signIn(
                presenting: make(log.category("latchkey.user-agent")), account: account, redirect: redirect,
                deadline: deadline)
        case .presenter(let presenter):
            try await signIn(
                presenting: PresentingUserAgent(presenter: presenter), account: account, redirect: redirect,
                deadline: deadline)
        case .device(let prompt): try await signIn(showing: prompt, account: account, deadline: deadline)
        case .unavailable: throw .userAgent(.unavailable(.noWay))
        }
    }

    /// Signs a person in by the way that fits the session (`SignInChoice`).
    func signIn(
        by methods: SignInMethods, account: String? = nil, redirect: RedirectURI? = nil,
        deadline: Deadline = .after(.seconds(600))
    ) async throws(SignInError) -> SessionSummary {
        try await refuseEarly(provider, account)
        let isNamed = redirect != nil
        let redirect = redirect ?? provider.redirect
        let choice = try await choice(among: methods, redirect, isNamed: isNamed, until: deadline)
        log.info("\(choice)")
        if choice.way == .device {
            guard let prompt = methods.devicePrompt else { throw .userAgent(.unavailable(.noTerminal)) }
            methods.announce(choice)
            return try await signIn(showing: prompt, account: account, deadline: deadline)
        }
        let agent: any RedirectUserAgent = try mapError(
            SignInError.userAgent, of: methods.agent(for: choice, redirect, log.category("latchkey.user-agent")))
        methods.announce(choice)
        return try await signIn(presenting: agent, account: account, redirect: redirect, deadline: deadline)
    }

    private func choice(
        among methods: SignInMethods, _ redirect: RedirectURI, isNamed: Bool, until deadline: Deadline
    ) async throws(SignInError) -> SignInChoice {
        var capabilities = SignInChoice.Capabilities(sessionEnvironment: methods.sessionEnvironment)
        capabilities.namesRedirect = isNamed
        capabilities.hasHandler = methods.redirects != nil && methods.handledSchemes.contains(redirect.scheme)
        if methods.terminal == nil { capabilities.sessionEnvironment.hasTerminal = false }
        if provider.codesNeedSecret, methods.wanted == nil {
            capabilities.lacksSecret = try await clientSecret() == nil
        }
        // A caller that can ask at a terminal, but runs without one, is a job, whose output may have no reader. A code is
        // shown there only if any other method would be refused.
        let canShow =
            methods.terminal == nil || capabilities.sessionEnvironment.hasTerminal || capabilities.lacksSecret
        // The metadata is requested only where it matters.
        capabilities.hasDeviceGrant = methods.devicePrompt != nil && canShow
        let choice = try chosen(capabilities, methods, redirect)
        guard choice.way == .device, methods.wanted == nil,
            try await server(until: deadline).deviceAuthorizationEndpoint == nil
        else { return choice }
        capabilities.hasDeviceGrant = false
        return try chosen(capabilities, methods, redirect)
    }

    private func chosen(
        _ capabilities: SignInChoice.Capabilities, _ methods: SignInMethods, _ redirect: RedirectURI
    ) throws(SignInError) -> SignInChoice {
        return try mapError(
            SignInError.userAgent, of: SignInChoice(capabilities, redirect: redirect.kind, wanted: methods.wanted))
    }
}

extension SignInMethods {
    fileprivate func agent(
        for choice: SignInChoice, _ redirect: RedirectURI, _ log: RedactedLogger
    ) throws(UserAgentError) -> any RedirectUserAgent {
        switch choice.way {
        case .browser: return BrowserUserAgent(.programs(try browsers), log: log)
        case .browserAndPaste:
            return BrowserAndPasteUserAgent(.programs(try browsers), terminal: try asked, log: log)
        case .paste where redirect.kind == .loopback && choice.reason != .asked:
            // A port may be forwarded here from where the browser is.
            return BrowserAndPasteUserAgent(nil, terminal: try asked, log: log)
        case .paste: return PasteUserAgent(terminal: try asked, log: log)
        case .scheme:
            guard let redirects else { throw .unavailable(.noHandler) }
            return SchemeUserAgent(.programs(try browsers), folder: redirects, log: log)
        case .device: throw .unavailable(.unsupportedRedirect)
        }
    }

    private var browsers: BrowserChoice {
        get throws(UserAgentError) { try BrowserChoice(environment: environment, ephemeral: ephemeral) }
    }

    private var asked: any PromptTerminal {
        get throws(UserAgentError) {
            guard let terminal else { throw .unavailable(.noTerminal) }
            return terminal
        }
    }
}
