internal import LatchkeyHTTP
package import LatchkeyOAuth

extension OAuthProvider {
    /// Spotify: PKCE, no client secret, a loopback address by its IP number with any port (`localhost` is refused
    /// there), no revocation endpoint.
    package static func spotify(
        clientID: String, scopes: ScopeList = ["user-read-private"], redirect: RedirectURI? = nil,
        name: ProviderName = .spotify
    ) throws(OAuthError) -> OAuthProvider {
        let server = try AuthorizationServerMetadata(
            issuer: Issuer("https://accounts.spotify.com"),
            authorizationEndpoint: HTTPURL(known: "https://accounts.spotify.com/authorize"),
            tokenEndpoint: HTTPURL(known: "https://accounts.spotify.com/api/token"),
            clientAuthenticationMethods: [.none, .secretBasic])
        var provider = try OAuthProvider(
            name: name, server: .endpoints(server), clientID: clientID, scopes: scopes, redirect: redirect,
            account: .resource(HTTPURL(known: "https://api.spotify.com/v1/me"), name: .id, subject: .id),
            revocation: .unavailable)
        provider.apiBase = HTTPURL(known: "https://api.spotify.com/v1")
        return provider
    }
}

extension BuiltInProvider {
    static let spotify = BuiltInProvider("spotify", registrationPage: "https://developer.spotify.com/dashboard") {
        choices, _ throws(OAuthError) in
        try .spotify(
            clientID: choices.clientID, scopes: choices.scopes ?? ["user-read-private"], redirect: choices.redirect,
            name: choices.name)
    }
}
