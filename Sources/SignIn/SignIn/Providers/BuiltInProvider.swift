internal import LatchkeyHTTP
internal import LatchkeyLog
public import LatchkeyOAuth
internal import LatchkeySystem
internal import Synchronization

/// A service whose addresses and particulars are known: all that is left to say is who the client is there.
package struct BuiltInProvider: Sendable {
    /// Where a service is.
    package enum Host: Sendable, Hashable {
        /// At one place.
        case fixed
        /// At this host, unless the person names one of their own.
        case standard(String)
        /// On whatever host the person has an account.
        case required
    }

    /// What a person may set. What is left out has the service's own default.
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
    /// Where a person registers a client: a URL, or a path on the service's host.
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

    /// The provider, with what the person chose.
    ///
    /// Throws `.invalidConfiguration(.issuer)` for a text that is no host, for a host where the service has one place
    /// alone, and for none where it needs one.
    package func provider(_ choices: Choices) throws(OAuthError) -> OAuthProvider {
        switch (host, choices.host) {
        case (.fixed, nil): try make(choices, .unused)
        case (.standard(let standard), let chosen): try make(choices, try ServiceHost(chosen ?? standard))
        case (.required, let chosen?): try make(choices, try ServiceHost(chosen))
        case (.fixed, _?), (.required, nil): throw OAuthError(.invalidConfiguration(.issuer))
        }
    }

    /// The page where a person registers a client; `nil` where nobody does.
    ///
    /// - Parameter chosen: the host that the person named.
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

extension OAuthProvider {
    /// A service whose addresses and particulars are known, or `nil` for another name: `codeberg`, `github`, `gitlab`,
    /// `google`, `mastodon`, `microsoft` or `spotify`.
    ///
    /// - Parameters:
    ///   - service: one of those names.
    ///   - clientID: as the service gave it.
    ///   - host: for services that people run themselves, such as `git.example.org`; by default the service's own.
    ///   - scopes: by default what names the account.
    ///   - redirect: by default a loopback address of the provider's own.
    ///
    /// Throws `.invalidConfiguration` for a client id or host of another form, and for a service that needs a host.
    public static func named(
        _ service: String, clientID: String, host: String? = nil, scopes: ScopeList? = nil,
        redirect: RedirectURI? = nil
    ) throws(OAuthError) -> OAuthProvider? {
        guard let builtIn = BuiltInProvider.named(service) else { return nil }
        var choices = BuiltInProvider.Choices(name: builtIn.name, clientID: clientID)
        choices.host = host
        choices.scopes = scopes
        choices.redirect = redirect
        return try builtIn.provider(choices)
    }
}

/// The origin of a service on a host of the person's.
package struct ServiceHost: Sendable {
    private let base: HTTPURL
    /// As it was given.
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

    /// An address that is a path here, or stands as it is.
    func url(_ address: String) throws(OAuthError) -> HTTPURL {
        try mapError(
            { (_: InvalidValue) in OAuthError(.invalidMetadata(.malformedEndpoint)) },
            of: HTTPURL(address.hasPrefix("/") ? base.origin + address : address))
    }
}
