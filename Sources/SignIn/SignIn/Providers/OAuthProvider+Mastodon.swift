internal import LatchkeyHTTP
internal import LatchkeyOAuth

extension BuiltInProvider {
    /// Mastodon, on the host where the person has an account: PKCE (from version 4.3 on; earlier ones ignore it), a
    /// client secret, tokens that don't expire, revocation. Each host gives any program a client of its own.
    static let mastodon = BuiltInProvider(
        "mastodon", host: .required, registration: Registration(path: "/api/v1/apps", dialect: .mastodon)
    ) { choices, host throws(OAuthError) in
        let server = try AuthorizationServerMetadata(
            issuer: Issuer(host.origin + "/"), authorizationEndpoint: host.url("/oauth/authorize"),
            tokenEndpoint: host.url("/oauth/token"),
            revocationEndpoint: host.url("/oauth/revoke"), clientAuthenticationMethods: [.secretPost, .secretBasic])
        var provider = try OAuthProvider(
            name: choices.name, server: .endpoints(server), clientID: choices.clientID,
            scopes: choices.scopes ?? ["read"], redirect: choices.redirect,
            proof: .secretIfPresent(choices.secretMethod ?? .secretPost),
            account: .resource(host.url("/api/v1/accounts/verify_credentials"), name: .acct, subject: .id))
        provider.apiBase = try host.url("/")
        return provider
    }
}
