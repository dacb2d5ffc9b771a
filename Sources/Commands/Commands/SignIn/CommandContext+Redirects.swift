internal import LatchkeyOAuth
internal import LatchkeySignIn

// Each authority has a redirect path of its own (RFC 9700 section 4.4.2.2), which a person has to know who registers
// the client by hand.

extension CommandContext {
    /// Says which redirect URI the client has to be registered with, where no option named one.
    func tellRedirect(of configuration: ProviderConfiguration) throws {
        guard configuration.redirect == nil, !configuration.needsNoRegistration else { return }
        let redirect = try configuration.provider().redirect
        guard configuration.builtIn?.takesAnyLoopbackPath == true else {
            output.note("register this redirect URI at the server: \(redirect) (any port)")
            return
        }
        output.note("no redirect URI has to be registered: \(configuration.name) accepts any loopback address")
    }

    /// The settings to compare with the server's if the server's page shows an error.
    ///
    /// - Parameter redirect: a redirect URI that replaces the provider's.
    func whatToCheck(of configuration: ProviderConfiguration, _ redirect: RedirectURI?) -> LogMessage {
        let opening: LogMessage = "no response yet. If the browser shows an error page,"
        guard !configuration.needsNoRegistration, let provider = try? configuration.provider() else {
            return "\(opening) press Control-C and sign in again."
        }
        let clientID = LoggableText(reviewed: "a client id is public", unredacted: provider.clientID)
        let redirect = redirect ?? provider.redirect
        let port: LogMessage = redirect.needsPort ? " with any port" : ""
        return """
            \(opening) compare these with the client's page at the server: client ID \(clientID), redirect URI \
            \(redirect)\(port), scopes \(provider.scopes).
            """
    }

    /// Reports unexpected properties of a new session: a name that doesn't come from the server, and an end that a refresh
    /// can't postpone.
    func tellLimits(of session: SessionSummary, _ configuration: ProviderConfiguration) throws {
        let account = Account(session.account)
        switch session.naming {
        case .byServer: break
        case .byProvider:
            output.note(
                """
                \(configuration.name) doesn't say who signed in, so the account is named \(account). If you have several \
                accounts, sign in with --account NAME.
                """)
        case .taken(let name):
            output.note(
                "\(Account(name)) is another person's account at \(configuration.name), so this one is named \(account)"
            )
        }
        guard !session.isRefreshable, let expiry = session.expiry else { return }
        output.note(
            "this session ends at \(LocalMoment(expiry)) because the server issued no refresh token")
        let scopes = try configuration.provider().scopes
        guard case .issuer = configuration.server, !scopes.contains("offline_access") else { return }
        let options = LogMessage.joined(
            (scopes.scopes + ["offline_access"]).map { scope in
                "--scope \(LoggableText(reviewed: "a scope is the name of a permission", unredacted: scope))"
            }, separator: " ")
        output.note(
            "to get a refresh token from many servers, run `latchkey sign-in \(configuration.name) \(options)`"
        )
    }

    /// The way to a client ID: the page, the values to enter, and the next command.
    ///
    /// - Parameter command: the command that takes the ID, such as `sign-in github`.
    static func registrationAdvice(
        for configuration: ProviderConfiguration, then command: LogMessage
    ) -> LogMessage {
        let page: LogMessage =
            if let page = configuration.builtIn?.registrationPage(at: configuration.host) {
                "at \(LoggableText(reviewed: "a page of a built-in service, on a host that was named", unredacted: page))"
            } else {
                "at the server"
            }
        guard configuration.builtIn?.takesAnyLoopbackPath != true, let redirect = try? configuration.provider().redirect
        else { return "register a desktop client \(page), then run `latchkey \(command) --client-id ID`" }
        return
            "register a client with the redirect URI \(redirect) \(page), then run `latchkey \(command) --client-id ID`"
    }

    /// Warns of a redirect URI that another provider's responses come to as well: a code of one of the two servers
    /// could be brought to the other (RFC 9700 section 4.4).
    func warnOfSharedRedirect(_ redirect: RedirectURI, of configuration: ProviderConfiguration) throws {
        let authority = try configuration.provider().authority
        // A damaged file is reported when its provider is used.
        let others = try providers.names().compactMap { try? providers.read($0) }
        let shared = others.first { other in
            guard other.name != configuration.name, let provider = try? other.provider() else { return false }
            return provider.authority != authority && provider.redirect.isSamePlace(as: redirect)
        }
        guard let shared else { return }
        output.warn(
            """
            \(configuration.name) and \(shared.name) share a redirect URI, so either server could get the codes of the other
            """,
            hint: "remove --redirect, or register a redirect URI with another path")
    }
}

extension SignInError {
    /// Whether the client's set-up at the server may be the cause: the server says so, or it showed the person a page
    /// instead of coming back.
    fileprivate var isAboutClient: Bool {
        switch code {
        case .oauth(let error):
            switch error.serverError {
            case .redirectURIMismatch, .invalidClient, .incorrectClientCredentials, .unauthorizedClient: return true
            default: break
            }
            switch error.code {
            case .requestRefused(.pushedAuthorization, _), .exchangeFailed(400):
                return error.saysNoMore && !error.isTransient
            default: return false
            }
        case .userAgent(let error): return error.code == .timedOut
        default: return false
        }
    }
}

extension CommandFailure {
    /// A sign-in's error, with what to compare at the server where the client's set-up there may be the cause.
    init(_ error: SignInError, _ redirect: RedirectURI, of configuration: ProviderConfiguration) {
        let hint = error.hint?.worded(provider: "\(configuration.name)")
        guard error.isAboutClient, let advice = Self.advice(redirect, configuration) else {
            self.init(error, hint: hint)
            return
        }
        // A person who was too slow may only need more time.
        guard case .userAgent = error.code, let hint else {
            self.init(error, hint: advice)
            return
        }
        self.init(error, hint: "\(hint); if the browser showed an error, \(advice)")
    }

    private static func advice(_ redirect: RedirectURI, _ configuration: ProviderConfiguration) -> LogMessage? {
        if case .builtIn(let service, let host?) = configuration.server,
            BuiltInProvider.named(service)?.registersPrograms == true
        {
            let place: LogMessage = "--service \(CredentialName.word(service)) --host \(CredentialName.word(host))"
            return "register a new client: latchkey provider add \(configuration.name) \(place) --register --force"
        }
        if configuration.needsNoRegistration { return nil }
        let clientID = LoggableText(reviewed: "a client id is public", unredacted: configuration.clientID)
        let port: LogMessage = redirect.needsPort ? " (any port)" : ""
        let secret: LogMessage =
            configuration.secretMethod == nil
            ? "if the client has a secret, add --client-secret-stdin"
            : "if the client's secret has changed, set it with --client-secret-stdin"
        return """
            compare these with the client's page at the server: client ID \(clientID), redirect URI \
            \(redirect)\(port), or add --redirect with the registered one; \(secret)
            """
    }
}

extension ProviderConfiguration {
    var builtIn: BuiltInProvider? { server.service }

    /// Whether the client registers itself or needs no registration.
    var needsNoRegistration: Bool {
        isRegisteredByUs || (builtIn?.standardClientID.map { $0 == clientID } ?? false)
    }
}
