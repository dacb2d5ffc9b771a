internal import LatchkeyHTTP
internal import LatchkeyOAuth

extension BuiltInProvider {
    /// Microsoft's identity platform for personal, work and school accounts alike: PKCE, public clients, refresh tokens
    /// for `offline_access`, no revocation endpoint.
    ///
    /// Its endpoints are known, so there is no discovery: what "common" publishes has a placeholder for an issuer. A
    /// tenant of one's own can be added by its issuer. The loopback address has to be in the application's manifest, as
    /// its page takes `localhost` alone.
    static let microsoft = BuiltInProvider(
        "microsoft", registrationPage: "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps"
    ) { choices, _ throws(OAuthError) in
        let server = try AuthorizationServerMetadata(
            authorizationEndpoint: HTTPURL(known: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize"),
            tokenEndpoint: HTTPURL(known: "https://login.microsoftonline.com/common/oauth2/v2.0/token"),
            deviceAuthorizationEndpoint: HTTPURL(
                known: "https://login.microsoftonline.com/common/oauth2/v2.0/devicecode"),
            clientAuthenticationMethods: [.none, .secretPost, .secretBasic])
        var provider = try OAuthProvider(
            name: choices.name, server: .endpoints(server), clientID: choices.clientID,
            scopes: choices.scopes ?? ["User.Read", "offline_access"], redirect: choices.redirect,
            proof: .secretIfPresent(choices.secretMethod ?? .secretPost),
            account: .resource(
                HTTPURL(known: "https://graph.microsoft.com/v1.0/me"), name: .userPrincipalName, subject: .id),
            revocation: .unavailable)
        provider.apiBase = HTTPURL(known: "https://graph.microsoft.com/v1.0")
        return provider
    }
}
