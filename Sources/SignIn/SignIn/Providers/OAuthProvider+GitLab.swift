internal import LatchkeyOAuth

extension BuiltInProvider {
    /// GitLab, at gitlab.com or on a host of one's own: discovery, PKCE, public or with a secret, rotating refresh
    /// tokens.
    static let gitLab = BuiltInProvider(
        "gitlab", host: .standard("gitlab.com"), registrationPage: "/-/user_settings/applications"
    ) { choices, host throws(OAuthError) in
        var provider = try OAuthProvider(
            name: choices.name, server: .issuer(Issuer(host.origin)), clientID: choices.clientID,
            scopes: choices.scopes ?? ["openid", "read_user"], redirect: choices.redirect,
            proof: .secretIfPresent(choices.secretMethod ?? .secretPost))
        provider.apiBase = try host.url("/api/v4")
        return provider
    }
}
