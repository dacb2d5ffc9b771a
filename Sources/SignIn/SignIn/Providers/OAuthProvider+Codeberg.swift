internal import LatchkeyHTTP
internal import LatchkeyOAuth

extension BuiltInProvider {
    /// Codeberg, or another host with Forgejo or Gitea: PKCE, any loopback port for public clients, no revocation
    /// endpoint.
    ///
    /// Its endpoints are known, so there is no discovery: some of its versions publish an issuer with a slash at its
    /// end, and some without.
    static let codeberg = BuiltInProvider(
        "codeberg", host: .standard("codeberg.org"), registrationPage: "/user/settings/applications"
    ) { choices, host throws(OAuthError) in
        let server = try AuthorizationServerMetadata(
            authorizationEndpoint: host.url("/login/oauth/authorize"),
            tokenEndpoint: host.url("/login/oauth/access_token"),
            clientAuthenticationMethods: [.none, .secretBasic, .secretPost])
        var provider = try OAuthProvider(
            name: choices.name, server: .endpoints(server), clientID: choices.clientID,
            scopes: choices.scopes ?? ["read:user"], redirect: choices.redirect,
            proof: .secretIfPresent(choices.secretMethod ?? .secretBasic),
            account: .resource(host.url("/api/v1/user"), name: .login, subject: .id), revocation: .unavailable)
        provider.apiBase = try host.url("/api/v1")
        return provider
    }
}
