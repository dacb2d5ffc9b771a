package import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
public import LatchkeyOAuth
internal import Synchronization

/// A service whose addresses and particulars are known: all that is left to say is who the client is there.
package struct BuiltInProvider: Sendable {
    /// Where a service is.
    package enum Host: Sendable, Hashable {
        /// At one place.
        case fixed
        /// This host, unless the user sets another one.
        case standard(String)
        /// On whatever host the person has an account.
        case required
    }

    /// The user's choices. The service's defaults apply to choices that are `nil`.
    package struct Choices: Sendable {
        package var name: ProviderName
        package var clientID: String
        /// A host name, with or without a port; `nil` for the service's own.
        package var host: String?
        package var scopes: ScopeList?
        package var redirect: RedirectURI?
        /// How the client's secret is sent, when it has one in the store.
        package var secretMethod: ClientAuthentication.Method?

        package init(name: ProviderName, clientID: String) {
            self.name = name
            self.clientID = clientID
        }
    }

    /// Stands for a client ID until the server has given one.
    package static let unregisteredClientID = "to-be-registered"

    /// The name, as the command line's options have it.
    package let word: StaticString
    package let name: ProviderName
    package let host: Host
    /// The client id where the person has none; `nil` where one must be registered.
    package let standardClientID: String?
    /// Whether each account has a server of its own, which is found by the account (AT Protocol).
    package let findsServerByAccount: Bool
    /// Whether it takes any path of a loopback address, registered or not: then paths don't keep its codes from other
    /// servers.
    package let takesAnyLoopbackPath: Bool
    /// The page where a user registers a client: a URL, or a path on the service's host.
    private let registrationPage: String?
    /// Where it gives any program a client id that requests one; `nil` where a person registers it on a page.
    let registration: Registration?
    private let make: @Sendable (_ choices: Choices, _ host: ServiceHost) throws(OAuthError) -> OAuthProvider

    /// A service that wants code of its own; `BuiltInProviders` has rows for all others.
    init(
        _ name: StaticString, host: Host = .fixed, standardClientID: String? = nil, findsServerByAccount: Bool = false,
        takesAnyLoopbackPath: Bool = false, registration: Registration? = nil, registrationPage: String? = nil,
        make: @escaping @Sendable (_ choices: Choices, _ host: ServiceHost) throws(OAuthError) -> OAuthProvider
    ) {
        word = name
        self.name = ProviderName(stringLiteral: name)
        self.host = host
        self.standardClientID = standardClientID
        self.findsServerByAccount = findsServerByAccount
        self.takesAnyLoopbackPath = takesAnyLoopbackPath
        self.registration = registration
        self.registrationPage = registrationPage
        self.make = make
    }

    /// Returns the provider with the user's choices.
    ///
    /// Throws `.invalidConfiguration(.issuer)` if the host is invalid, if the service has a fixed host, or if a
    /// required host is missing.
    package func provider(_ choices: Choices) throws(OAuthError) -> OAuthProvider {
        switch (host, choices.host) {
        case (.fixed, nil): try make(choices, .unused)
        case (.standard(let standard), let chosen): try make(choices, try ServiceHost(chosen ?? standard))
        case (.required, let chosen?): try make(choices, try ServiceHost(chosen))
        case (.fixed, _?), (.required, nil): throw OAuthError(.invalidConfiguration(.issuer))
        }
    }

    /// Returns the page where a user registers a client, or `nil` if no registration is needed.
    ///
    /// - Parameter chosen: the host that the user set.
    package func registrationPage(at chosen: String? = nil) -> String? {
        guard let page = registrationPage, page.hasPrefix("/") else { return registrationPage }
        guard case .standard(let standard) = host else { return nil }
        return "https://\(chosen ?? standard)\(page)"
    }

    /// Each service, by name; after them those that the program adds.
    package static var all: [BuiltInProvider] { standard + added.withLock { $0 } }

    private static let added = Mutex<[BuiltInProvider]>([])

    /// Adds a service of the program's own, before anything else is done.
    package static func add(_ service: BuiltInProvider) { added.withLock { $0.append(service) } }

    /// Whether a text is a host's name, with or without a port.
    package static func isHost(_ text: String) -> Bool {
        (try? ServiceHost(text)) != nil
    }

    package static func named(_ name: String) -> BuiltInProvider? {
        all.first { $0.name.text == name }
    }
}

// MARK: - In a program

extension OAuthProvider {
    /// Codeberg, or another host with Forgejo or Gitea.
    ///
    /// - Parameters:
    ///   - clientID: the client ID that the service shows after the registration.
    ///   - host: a host name, with or without a port.
    ///   - scopes: by default those that name the account.
    ///   - redirect: by default a loopback address with any free port.
    ///   - name: of the sessions in the store; by default the service's. Two programs with different client IDs need
    ///     different names in the same store: otherwise a sign-in of one replaces the session of the other.
    ///
    /// Sends no request. Throws `.invalidConfiguration` if the client ID or the host can't be used.
    public static func codeberg(
        clientID: String, host: String = "codeberg.org", scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.codeberg.provider(clientID, host, scopes, redirect, name)
    }

    /// GitLab, at gitlab.com or on another host.
    ///
    /// Throws as ``codeberg(clientID:host:scopes:redirect:name:)`` does, which describes the parameters too.
    public static func gitLab(
        clientID: String, host: String = "gitlab.com", scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.gitLab.provider(clientID, host, scopes, redirect, name)
    }

    /// Google's mail, by IMAP and SMTP; a client as for ``google(clientID:scopes:redirect:name:)``.
    ///
    /// Throws as ``codeberg(clientID:host:scopes:redirect:name:)`` does, which describes the parameters too.
    public static func gmail(
        clientID: String, scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.gmail.provider(clientID, nil, scopes, redirect, name)
    }

    /// Google, for clients of the kind "desktop app". Google requires the client's secret: save it under
    /// ``SignInService/clientSecretKey(of:)``.
    ///
    /// Throws as ``codeberg(clientID:host:scopes:redirect:name:)`` does, which describes the parameters too.
    public static func google(
        clientID: String, scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.google.provider(clientID, nil, scopes, redirect, name)
    }

    /// The Mastodon server at `host`, where the person has an account.
    ///
    /// Throws as ``codeberg(clientID:host:scopes:redirect:name:)`` does, which describes the parameters too.
    public static func mastodon(
        clientID: String, host: String, scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.mastodon.provider(clientID, host, scopes, redirect, name)
    }

    /// Microsoft's identity platform, for personal, work and school accounts.
    ///
    /// Throws as ``codeberg(clientID:host:scopes:redirect:name:)`` does, which describes the parameters too.
    public static func microsoft(
        clientID: String, scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.microsoft.provider(clientID, nil, scopes, redirect, name)
    }

    /// Microsoft's mail, by IMAP and SMTP, for personal, work and school accounts.
    ///
    /// Throws as ``codeberg(clientID:host:scopes:redirect:name:)`` does, which describes the parameters too.
    public static func outlook(
        clientID: String, scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.outlook.provider(clientID, nil, scopes, redirect, name)
    }

    /// Spotify.
    ///
    /// Throws as ``codeberg(clientID:host:scopes:redirect:name:)`` does, which describes the parameters too.
    public static func spotify(
        clientID: String, scopes: ScopeList? = nil, redirect: RedirectURI? = nil,
        name: ProviderName? = nil
    ) throws(OAuthError) -> OAuthProvider {
        try BuiltInProvider.spotify.provider(clientID, nil, scopes, redirect, name)
    }
}

extension BuiltInProvider {
    fileprivate func provider(
        _ clientID: String, _ host: String?, _ scopes: ScopeList?, _ redirect: RedirectURI?, _ chosen: ProviderName?
    ) throws(OAuthError) -> OAuthProvider {
        var choices = Choices(name: chosen ?? name, clientID: clientID)
        choices.host = host
        choices.scopes = scopes
        choices.redirect = redirect
        return try provider(choices)
    }
}

/// The origin of a service on a host of the person's.
package struct ServiceHost: Sendable {
    private let base: HTTPURL
    /// The host, unchanged.
    let name: String

    /// Throws `.invalidConfiguration(.issuer)` for anything but a host name with or without a port.
    init(_ host: String) throws(OAuthError) {
        guard !host.isEmpty, !host.contains(where: { "/?#@\\ ".contains($0) }) else {
            throw OAuthError(.invalidConfiguration(.issuer))
        }
        base = try mapError(
            { (_: InvalidValue) in OAuthError(.invalidConfiguration(.issuer)) }, of: HTTPURL("https://\(host)"))
        name = host
    }

    /// For services at one place.
    static let unused = ServiceHost()

    private init() {
        base = HTTPURL(known: "https://localhost")
        name = ""
    }

    var origin: String { base.origin }

    /// The address itself, or a path on this host.
    func url(_ address: String) throws(OAuthError) -> HTTPURL {
        try mapError(
            { (_: InvalidValue) in OAuthError(.invalidMetadata(.malformedEndpoint)) },
            of: HTTPURL(address.hasPrefix("/") ? base.origin + address : address))
    }
}

// MARK: - Registration

extension BuiltInProvider {
    /// How a program becomes a client at a host by itself.
    struct Registration: Sendable {
        let path: String
        let dialect: RegistrationEndpoint.Dialect
    }

    /// Whether each host gives a client id to any program that requests one; see `registered`.
    package var registersPrograms: Bool { registration != nil }

    /// Returns the provider at a host where the program registers automatically, once per host.
    ///
    /// The store keeps the client ID and client secret from the host as two items, and later calls use these. The
    /// program registers again if the redirect address differs or a scope is new. Only one of several processes
    /// registers.
    ///
    /// Throws `.oauth(.invalidMetadata(.withoutRegistration))` if the service doesn't register programs, and as
    /// `RegistrationEndpoint.register` does.
    ///
    /// - Parameters:
    ///   - choices: the user's choices; the client ID isn't used.
    ///   - program: the program's name on the host's pages.
    package func registered(
        _ choices: Choices, as program: String, keptIn store: any CredentialStore, context: SignInContext,
        deadline: Deadline = .standard
    ) async throws(SignInError) -> OAuthProvider {
        guard let registration else { throw .oauth(OAuthError(.invalidMetadata(.withoutRegistration))) }
        var choices = choices
        choices.clientID = Self.unregisteredClientID
        let wanted = try made(choices)
        let endpoint = try endpoint(registration, choices.host ?? "")
        let clients = StoredClients(store: store, provider: choices.name, host: endpoint.origin, deadline: deadline)
        let lease = try await mapError(SignInError.store, awaiting: await clients.lease(context.leases))
        let (former, isGood) = try await former(clients, choices, serving: wanted)
        if let former, isGood {
            lease.release()
            return former
        }
        let identity = try await Self.register(
            wanted, program,
            RegistrationEndpoint(url: endpoint, dialect: registration.dialect, http: context.http, log: context.log))
        choices.clientID = identity.clientID
        let provider = try made(choices)
        try await mappingError(SignInError.store) { () async throws(StoreError) in
            try await clients.save(identity, as: provider)
            // The secret of the former client is useless now.
            if let former, former.clientID != provider.clientID { try await clients.deleteSecret(of: former) }
        }
        context.log.info("registered a client at \(endpoint)")
        lease.release()
        return provider
    }

    /// The provider with the client that a host gave before, and whether it still serves.
    private func former(
        _ clients: StoredClients, _ choices: Choices, serving wanted: OAuthProvider
    ) async throws(SignInError) -> (OAuthProvider?, Bool) {
        return try await mappingError(SignInError.store) { () async throws(StoreError) in
            guard let known = try await clients.load() else { return (nil, false) }
            var choices = choices
            choices.clientID = known.clientID
            // A client id that is damaged makes no provider; then the host gives another.
            guard let former = try? provider(choices) else { return (nil, false) }
            return (former, known.serves(wanted) ? try await clients.hasSecret(of: former) : false)
        }
    }

    /// Forgets what a host gave, so that a request goes to it again. The client's secret stays where it is.
    package func forgetRegistration(
        of name: ProviderName, at host: String, in store: any CredentialStore, deadline: Deadline = .standard
    ) async throws(SignInError) {
        guard let registration else { return }
        let endpoint = try endpoint(registration, host)
        try await mapError(
            SignInError.store,
            awaiting: await StoredClients(store: store, provider: name, host: endpoint.origin, deadline: deadline)
                .delete())
    }

    private func made(_ choices: Choices) throws(SignInError) -> OAuthProvider {
        return try mapError(SignInError.oauth, of: provider(choices))
    }

    private func endpoint(_ registration: Registration, _ host: String) throws(SignInError) -> HTTPURL {
        return try mapError(SignInError.oauth, of: ServiceHost(host).url(registration.path))
    }

    private static func register(
        _ wanted: OAuthProvider, _ program: String, _ endpoint: RegistrationEndpoint
    ) async throws(SignInError) -> ClientIdentity {
        let method: ClientAuthentication.Method =
            switch wanted.proof {
            case .none: .none
            case .secret(let method), .secretIfPresent(let method): method
            }
        return try await mapError(
            SignInError.oauth,
            awaiting: await endpoint.register(
                ClientRegistration(name: program, redirects: [wanted.redirect], scopes: wanted.scopes, method: method)))
    }
}
