public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeyOAuth
package import LatchkeyProcess
internal import LatchkeySystem

/// All the ways that a program can sign a person in; the session decides which is used.
package struct SignInMethods: Sendable {
    package var sessionEnvironment: SessionEnvironment
    /// What to start browsers with: the process's environment.
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

    /// What the environment of a program offers: a browser where there is a display, and where the caller can ask, a
    /// terminal to paste at or to show a code on.
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
    /// Signs a person in, keeps the session, and makes its account the current one.
    ///
    /// Each attempt has its own code verifier and state. A new attempt cancels the one before it, which throws
    /// `.superseded`. Each line that an attempt logs, in whatever part, has its `sign_in` field. When anything fails
    /// after the server has given tokens, they are revoked, as far as the server can.
    ///
    /// Throws `.userAgent(.unavailable)` when there is no way to ask a person; its hint says what to do.
    ///
    /// - Parameters:
    ///   - agent: what the person signs in with.
    ///   - account: the name to keep the session under; by default what the server calls the person.
    ///   - redirect: in place of the provider's, for servers that compare ports. A code for another device needs none.
    ///   - deadline: when to stop waiting for the person; ten minutes from now unless said otherwise.
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
        let choice = try await choice(among: methods, redirect, isNamed: isNamed)
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
        among methods: SignInMethods, _ redirect: RedirectURI, isNamed: Bool
    ) async throws(SignInError) -> SignInChoice {
        var capabilities = SignInChoice.Capabilities(sessionEnvironment: methods.sessionEnvironment)
        capabilities.namesRedirect = isNamed
        capabilities.hasHandler = methods.redirects != nil && methods.handledSchemes.contains(redirect.scheme)
        if methods.terminal == nil { capabilities.sessionEnvironment.hasTerminal = false }
        let choice = try chosen(capabilities, methods, redirect)
        // The metadata is requested only where it matters.
        guard choice.reason == .noDisplayNoDeviceGrant, methods.devicePrompt != nil else { return choice }
        capabilities.hasDeviceGrant = try await server().deviceAuthorizationEndpoint != nil
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
        case .browser: return BrowserUserAgent(browsers: try browsers, log: log)
        case .browserAndPaste:
            return BrowserAndPasteUserAgent(browsers: try browsers, terminal: try asked, log: log)
        case .paste where redirect.kind == .loopback && choice.reason != .asked:
            // A port may be forwarded here from where the browser is.
            return BrowserAndPasteUserAgent(browsers: nil, terminal: try asked, log: log)
        case .paste: return PasteUserAgent(terminal: try asked, log: log)
        case .scheme:
            guard let redirects else { throw .unavailable(.noHandler) }
            return SchemeUserAgent(browsers: try browsers, folder: redirects, log: log)
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
