internal import LatchkeyHTTP
internal import LatchkeyOAuth

extension BuiltInProvider {
    /// Google, for its "desktop app" clients: PKCE, any loopback port, and a client secret that Google wants although
    /// such a client can't keep one.
    ///
    /// `access_type=offline` requests a refresh token, and `prompt=consent` for one on each sign-in, not on the first
    /// alone. People may grant fewer scopes than were requested: the session records those that were granted.
    static let google = BuiltInProvider(
        "google", takesAnyLoopbackPath: true, registrationPage: "https://console.cloud.google.com/apis/credentials"
    ) { choices, _ throws(OAuthError) in
        var provider = try OAuthProvider(
            name: choices.name, server: .issuer(Issuer("https://accounts.google.com")), clientID: choices.clientID,
            scopes: choices.scopes ?? ["openid", "email"], redirect: choices.redirect,
            parameters: [
                AuthorizationParameter("access_type", "offline"), AuthorizationParameter("prompt", "consent"),
            ],
            proof: .secretIfPresent(choices.secretMethod ?? .secretPost))
        provider.revokesReplacedTokens = false
        provider.apiBase = HTTPURL(known: "https://www.googleapis.com")
        provider.apiOrigins = Set(
            [
                "docs", "drive", "gmail", "oauth2", "openidconnect", "people", "photoslibrary", "sheets", "tasks",
                "www",
                "youtube",
            ].map { "https://\($0).googleapis.com" })
        return provider
    }
}
