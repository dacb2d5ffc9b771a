public import LatchkeyHTTP
internal import LatchkeyLog
public import LatchkeyOAuth
internal import LatchkeySystem

/// Where a GitHub is: github.com, or an Enterprise host.
public struct GitHubEndpoints: Sendable, Hashable {
    package let authorization: HTTPURL
    package let token: HTTPURL
    /// The API's origin and path, without a slash at its end.
    package let api: HTTPURL
    /// What it calls itself in its responses (RFC 9207); one that names itself is refused where this is `nil`.
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

    /// An Enterprise Server's endpoints: its API stands under `/api/v3`; a host under `ghe.com` has it at `api.HOST`.
    ///
    /// Throws `.invalidConfiguration(.issuer)` for a text that is no host, with or without a port.
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
    /// GitHub with an OAuth App: the web flow with PKCE, and the device flow where the app has it switched on.
    ///
    /// GitHub wants the app's secret for it even with PKCE; of a program that people run themselves it is no secret in
    /// earnest. It is read from the store when it is there.
    ///
    /// Nothing is requested yet. Throws `.invalidMetadata` or `.invalidConfiguration` for endpoints or a client id that
    /// can't be used.
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
        if endpoints == .gitHub { provider.apiOrigins = ["https://uploads.github.com"] }
        return provider
    }
}
