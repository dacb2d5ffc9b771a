public import LatchkeyHTTP
public import LatchkeyLog
public import LatchkeyOAuth

/// A service to sign in with, as data: its servers, our client there, and its peculiarities.
///
/// Every flow reads these values. A provider can't switch off state or PKCE.
public struct OAuthProvider: Sendable, Hashable {
    /// How its authorization server is found.
    public enum Server: Sendable, Hashable {
        /// Discovery from the issuer (RFC 8414, OpenID Connect Discovery).
        case issuer(Issuer)
        /// Endpoint by endpoint.
        case endpoints(AuthorizationServerMetadata)

        /// The identity of the server in a session and in its redirect path: the issuer, otherwise the token endpoint.
        var authority: String {
            switch self {
            case .issuer(let issuer): issuer.text
            case .endpoints(let metadata): metadata.authority
            }
        }
    }

    /// How the client proves itself.
    public enum ClientProof: Sendable, Hashable {
        /// A public client.
        case none
        /// A client with a secret, which must be in the store.
        case secret(ClientAuthentication.Method)
        /// A client with its secret if the store contains it, otherwise a public client.
        case secretIfPresent(ClientAuthentication.Method)
    }

    /// How the server says who signed in.
    public enum AccountSource: Sendable, Hashable {
        /// By the ID token's `preferred_username` or `email`; otherwise by the same members, or `sub`, of the user
        /// information (OpenID Connect Core section 5.3); otherwise by the ID token's `sub`. If the server says none of
        /// them, the account has the provider's name.
        case userInfo
        /// By a JSON resource of its own, which is requested with the access token.
        case resource(HTTPURL, name: AccountMember, subject: AccountMember)
        /// By the ID token alone. Without the scope `openid`, a sign-in without a name throws `.accountNameNeeded`.
        case nowhere
    }

    /// A member of a resource that names an account.
    public enum AccountMember: String, Sendable, Hashable {
        /// `login`, as GitHub and Forgejo have it.
        case login
        /// `id`, a number or a text.
        case id
        /// `username`.
        case username
        /// `email`.
        case email
        /// `acct`, as Mastodon has it.
        case acct
        /// `userPrincipalName`, as Microsoft Graph has it.
        case userPrincipalName
    }

    /// How its tokens are revoked.
    public enum Revocation: Sendable, Hashable {
        /// RFC 7009, if the server has the endpoint.
        case standard
        /// GitHub's own resource, which requires the client's secret; the URL is the API's origin and path.
        case gitHub(api: HTTPURL)
        /// Not at all: the person does it on a page of the service.
        case unavailable
    }

    /// 1 to 64 lower-case letters, digits, dots and hyphens.
    public let name: String
    package let server: Server
    package let clientID: String
    package let scopes: ScopeList
    /// Where responses come to; a loopback address may leave its port open. Unless told otherwise, one of this
    /// authority's own (``RedirectURI/loopback(_:port:authority:)``).
    public var redirect: RedirectURI
    package var parameters: [AuthorizationParameter]
    package var proof: ClientProof
    /// Whether a server that refuses the client gets the secret once more by the other method.
    package var triesOtherAuthentication = true
    /// Whether the server exchanges authorization codes for clients with a secret alone, and device codes for all.
    package var codesNeedSecret = false
    package let account: AccountSource
    package let revocation: Revocation
    /// Whether tokens are bound to a key that is made at the sign-in (RFC 9449).
    package var usesDPoP: Bool
    /// When authorization requests are pushed (RFC 9126).
    package var pushes: PushedRequests = .whenOffered

    /// Whether tokens are revoked that a new sign-in replaces, or that were refused; false for a server that ends the
    /// person's other sessions with them, as Google does.
    package var revokesReplacedTokens = true
    /// Origins that access tokens are for, beside those of the addresses above, such as `https://api.example.org`. An
    /// address counts as its origin; a text without a scheme matches no request.
    public var apiOrigins: Set<String> = [] {
        didSet { apiOrigins = Set(apiOrigins.map { (try? HTTPURL($0))?.origin ?? $0 }) }
    }

    /// The one resource that tokens are for (RFC 8707), and that they are sent to.
    package var resource: String?

    /// How a machine gets tokens; `nil` if a person signs in.
    package var machine: MachineGrant?

    /// The base of relative paths; `nil` for the issuer's origin.
    package var apiBase: HTTPURL?

    package enum PushedRequests: Sendable, Hashable {
        /// If the server has the endpoint. A server that requires pushed requests but lacks the endpoint is refused.
        case whenOffered
        /// Always: a server without the endpoint is refused.
        case required
        /// Always. The first request already proves the key, for servers that refuse requests without a proof.
        case requiredWithProof
    }

    /// The known facts about an account before its sign-in, if they decide which server it signs in at (AT Protocol).
    package struct KnownAccount: Sendable, Hashable {
        /// The `sub` that each token response must name.
        package let subject: String
        /// The origin of the server that tokens are for; they are sent to no other.
        package let resource: String
        /// Scopes without which tokens are refused.
        package let requiredScopes: ScopeList

        package init(subject: String, resource: String, requiredScopes: ScopeList = []) {
            self.subject = subject
            self.resource = resource
            self.requiredScopes = requiredScopes
        }
    }

    /// `nil` where the server says who signed in.
    package var knownAccount: KnownAccount?

    /// Creates a provider from its parts; ``issuer(_:name:clientID:scopes:redirect:parameters:proof:usesDPoP:)``
    /// describes most of the parameters. `account` names the sessions, and `revocation` ends them at a sign-out.
    ///
    /// Throws `.invalidConfiguration` for a client id that no server takes.
    public init(
        name: ProviderName, server: Server, clientID: String, scopes: ScopeList, redirect: RedirectURI? = nil,
        parameters: [AuthorizationParameter] = [], proof: ClientProof = .none, account: AccountSource = .userInfo,
        revocation: Revocation = .standard, usesDPoP: Bool = false
    ) throws(OAuthError) {
        self.name = name.text
        self.server = server
        self.clientID = clientID
        self.scopes = scopes
        self.redirect =
            if let redirect { redirect } else { try RedirectURI.loopback(authority: server.authority) }
        self.parameters = parameters
        self.proof = proof
        self.account = account
        self.revocation = revocation
        self.usesDPoP = usesDPoP
        _ = try client
    }

    /// The client as the server knows it.
    package var client: ClientConfiguration {
        get throws(OAuthError) {
            var client = try ClientConfiguration(
                clientID: clientID, redirect: redirect, scopes: scopes, extraParameters: parameters)
            client.resource = resource
            return client
        }
    }

    /// The identity of the server in a session.
    package var authority: String { server.authority }
}

/// The name of a provider on command lines and in the keys of a store.
public struct ProviderName: Sendable, Hashable, Loggable, ExpressibleByStringLiteral {
    /// 1 to 64 lower-case letters, digits, dots and hyphens, a letter or digit first.
    public let text: String

    /// Returns `nil` unless the name is 1 to 64 lower-case letters, digits, dots and hyphens, a letter or digit first.
    public init?(_ text: String) {
        let bytes = text.utf8
        let isWord = { (byte: UInt8) in (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }
        guard (1...64).contains(bytes.count), let first = bytes.first, isWord(first),
            bytes.allSatisfy({ isWord($0) || $0 == 0x2D || $0 == 0x2E })
        else { return nil }
        self.text = text
    }

    /// A name written in the source. Stops the process when it is malformed.
    public init(stringLiteral text: StaticString) {
        guard let name = Self(text.description) else { preconditionFailure("malformed provider's name in the source") }
        self = name
    }

    /// `bluesky`: the default name for AT Protocol's sessions.
    public static let bluesky: ProviderName = "bluesky"
    /// `github`: the default name for GitHub's tokens.
    public static let gitHub: ProviderName = "github"

    /// Safe: a short word of letters, digits, dots and hyphens that the person chose for a service.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a provider's name is a word that stands on command lines", unredacted: text))"
    }
}

extension Issuer {
    /// An issuer that is written in the source.
    init(known text: StaticString) {
        do {
            try self.init(text.description)
        } catch {
            preconditionFailure("malformed issuer in the source")
        }
    }
}

extension HTTPURL {
    /// An address that is written in the source.
    init(known text: StaticString) {
        do {
            try self.init(text.description)
        } catch {
            preconditionFailure("malformed URL in the source")
        }
    }
}

/// Where a GitHub is: github.com, or an Enterprise host.
public struct GitHubEndpoints: Sendable, Hashable {
    package let authorization: HTTPURL
    package let token: HTTPURL
    /// The API's origin and path, without a slash at its end.
    package let api: HTTPURL
    /// The issuer in the server's responses (RFC 9207). If it is `nil`, a response with an issuer is refused.
    package let issuer: Issuer?

    /// Any endpoints, for a server of tests.
    public init(authorization: HTTPURL, token: HTTPURL, api: HTTPURL, issuer: Issuer? = nil) {
        self.authorization = authorization
        self.token = token
        self.api = api
        self.issuer = issuer
    }

    /// Those of github.com, with the API at `https://api.github.com`.
    public static let gitHub = GitHubEndpoints(
        authorization: HTTPURL(known: "https://github.com/login/oauth/authorize"),
        token: HTTPURL(known: "https://github.com/login/oauth/access_token"),
        api: HTTPURL(known: "https://api.github.com"), issuer: Issuer(known: "https://github.com/login/oauth"))

    /// The endpoints of an Enterprise Server: its API is under `/api/v3`; a host under `ghe.com` has it at `api.HOST`.
    ///
    /// Throws `.invalidConfiguration(.issuer)` if the text isn't a host, with or without a port.
    public static func enterprise(host: String) throws(OAuthError) -> GitHubEndpoints {
        guard !host.contains(where: { "/?@".contains($0) }) else { throw OAuthError(.invalidConfiguration(.issuer)) }
        return try mappingError({ (_: InvalidValue) in OAuthError(.invalidConfiguration(.issuer)) }) {
            () throws(InvalidValue) in
            let base = try HTTPURL("https://\(host)")
            let api = base.host.hasSuffix(".ghe.com") ? "https://api.\(base.host)" : base.origin + "/api/v3"
            return GitHubEndpoints(
                authorization: try HTTPURL(base.origin + "/login/oauth/authorize"),
                token: try HTTPURL(base.origin + "/login/oauth/access_token"), api: try HTTPURL(api),
                issuer: try? Issuer(base.origin + "/login/oauth"))
        }
    }

    /// An address under the API, such as `/user`.
    func resource(_ path: String) throws(InvalidValue) -> HTTPURL {
        try HTTPURL(api.origin + (api.path == "/" ? "" : api.path) + path)
    }
}

extension OAuthProvider {
    /// GitHub with an OAuth App: the web flow with PKCE, and the device flow if the app enables it.
    ///
    /// GitHub requires the app's secret for the web flow even with PKCE. In a program that users run themselves, that
    /// secret isn't really secret. The secret is read from the store if the store contains it; otherwise
    /// ``UserAgent/automatic(in:)`` uses the device flow.
    ///
    /// Sends no request. Throws `.invalidMetadata` or `.invalidConfiguration` if the endpoints or the client ID can't
    /// be used.
    public static func gitHub(
        clientID: String, scopes: ScopeList = ["repo"], redirect: RedirectURI? = nil,
        endpoints: GitHubEndpoints = .gitHub, name: ProviderName = .gitHub
    ) throws(OAuthError) -> OAuthProvider {
        guard let user = try? endpoints.resource("/user"),
            let device = try? HTTPURL(endpoints.authorization.origin + "/login/device/code")
        else { throw OAuthError(.invalidMetadata(.malformedEndpoint)) }
        let server = try AuthorizationServerMetadata(
            issuer: endpoints.issuer, authorizationEndpoint: endpoints.authorization, tokenEndpoint: endpoints.token,
            deviceAuthorizationEndpoint: device, clientAuthenticationMethods: [.none, .secretPost],
            separatesScopesByComma: true)
        var provider = try OAuthProvider(
            name: name, server: .endpoints(server), clientID: clientID, scopes: scopes, redirect: redirect,
            proof: .secretIfPresent(.secretPost), account: .resource(user, name: .login, subject: .id),
            revocation: .gitHub(api: endpoints.api))
        provider.apiBase = endpoints.api
        provider.codesNeedSecret = true
        if endpoints == .gitHub { provider.apiOrigins = ["https://uploads.github.com"] }
        return provider
    }
}

// MARK: - Issuer

extension OAuthProvider {
    /// Any OpenID or OAuth server that publishes its metadata (RFC 8414, OpenID Connect Discovery).
    ///
    /// Nothing is requested yet. Throws `.invalidConfiguration` for a client id that no server takes.
    ///
    /// - Parameters:
    ///   - issuer: the server's name for itself.
    ///   - name: chosen by the person.
    ///   - clientID: as the server gave it.
    ///   - scopes: `openid` requests an ID token; `offline_access` is what many servers want for a refresh token.
    ///   - redirect: `nil` for a loopback address of this server's own, at any free port.
    ///   - parameters: more of the authorization request, such as `audience`.
    ///   - proof: public unless told otherwise.
    ///   - usesDPoP: whether tokens are bound to a key (RFC 9449). A server that gives others then is refused.
    public static func issuer(
        _ issuer: Issuer, name: ProviderName, clientID: String, scopes: ScopeList = ["openid"],
        redirect: RedirectURI? = nil, parameters: [AuthorizationParameter] = [], proof: ClientProof = .none,
        usesDPoP: Bool = false
    ) throws(OAuthError) -> OAuthProvider {
        try OAuthProvider(
            name: name, server: .issuer(issuer), clientID: clientID, scopes: scopes, redirect: redirect,
            parameters: parameters, proof: proof, usesDPoP: usesDPoP)
    }
}

// MARK: - Origins

extension OAuthProvider {
    /// The origins that access tokens may be sent to: that of the resource if there is one, otherwise those of the
    /// provider's servers, and its `apiOrigins`.
    package var origins: Set<String> {
        if let resource { return Set([try? HTTPURL(resource).origin].compactMap(\.self)) }
        var origins = apiOrigins
        switch server {
        case .issuer(let issuer):
            if let url = try? HTTPURL(issuer.text) { origins.insert(url.origin) }
        case .endpoints(let server):
            origins.insert(server.authorizationEndpoint.origin)
            origins.insert(server.tokenEndpoint.origin)
            if let url = server.userinfoEndpoint { origins.insert(url.origin) }
        }
        if case .resource(let url, _, _) = account { origins.insert(url.origin) }
        if case .gitHub(let api) = revocation { origins.insert(api.origin) }
        if let knownAccount { origins.insert(knownAccount.resource) }
        return origins
    }
}
