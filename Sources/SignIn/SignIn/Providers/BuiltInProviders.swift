package import LatchkeyOAuth

// The known services, one row each. A path is on the service's host; any other value is a complete address.

extension BuiltInProvider {
    /// In the order of their names.
    static let standard = [
        bluesky, codeberg, gitHub, gitLab, gmail, google, mastodon, microsoft, outlook, spotify,
    ]

    /// Codeberg, or another host with Forgejo or Gitea: PKCE, any loopback port for public clients, but not
    /// revocation or discovery: some of its versions publish an issuer with a slash at its end, and some without.
    static let codeberg = BuiltInProvider(
        "codeberg", host: .standard("codeberg.org"), registrationPage: "/user/settings/applications",
        server: .endpoints(authorization: "/login/oauth/authorize", token: "/login/oauth/access_token"),
        secretMethods: [.secretBasic, .secretPost], scopes: ["read:user"],
        account: Account("/api/v1/user", .login), revocation: .unavailable, api: "/api/v1")

    /// GitLab, at gitlab.com or on a separate host: discovery, PKCE, public or with a secret, rotating refresh tokens.
    static let gitLab = BuiltInProvider(
        "gitlab", host: .standard("gitlab.com"), registrationPage: "/-/user_settings/applications",
        server: .issuer(""), secretMethods: [.secretPost], scopes: ["openid", "read_user"], api: "/api/v4")

    /// Google's mail, for a client as ``google``'s. A token for IMAP and SMTP alone isn't accepted where Google says who
    /// signed in, so `email` puts the account's name into the ID token.
    static let gmail = BuiltInProvider(
        "gmail", takesAnyLoopbackPath: true,
        registrationPage: "https://console.cloud.google.com/apis/credentials",
        server: .issuer("https://accounts.google.com"), secretMethods: [.secretPost],
        scopes: ["openid", "email", "https://mail.google.com/"],
        parameters: ["access_type": "offline", "prompt": "consent"],
        revokesReplacedTokens: false, api: "https://gmail.googleapis.com",
        apiOrigins: [
            "https://gmail.googleapis.com", "smtp://smtp.gmail.com:587", "smtp://smtp.gmail.com:465",
            "imap://imap.gmail.com:993",
        ])

    /// Google, for its "desktop app" clients: PKCE, any loopback port, and a client secret. Google requires the secret
    /// although such a client can't protect it.
    ///
    /// `access_type=offline` requests a refresh token, and `prompt=consent` requests one at each sign-in, not only at
    /// the first. Users may grant fewer scopes than were requested: the session records the granted ones.
    static let google = BuiltInProvider(
        "google", takesAnyLoopbackPath: true,
        registrationPage: "https://console.cloud.google.com/apis/credentials",
        server: .issuer("https://accounts.google.com"), secretMethods: [.secretPost], scopes: ["openid", "email"],
        parameters: ["access_type": "offline", "prompt": "consent"],
        revokesReplacedTokens: false, api: "https://www.googleapis.com",
        apiOrigins: Set(
            [
                "docs", "drive", "gmail", "oauth2", "openidconnect", "people", "photoslibrary", "sheets", "tasks",
                "www",
                "youtube",
            ].map { "https://\($0).googleapis.com" }))

    /// Microsoft's identity platform for personal, work and school accounts: PKCE, public clients, refresh tokens for
    /// `offline_access`, no revocation endpoint.
    ///
    /// Discovery isn't used, because the metadata of "common" has a placeholder as issuer. A single tenant can be added
    /// by its issuer. The loopback address must be in the application's manifest, because the registration page only
    /// accepts `localhost`.
    static let microsoft = BuiltInProvider(
        "microsoft", registrationPage: "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps",
        server: .endpoints(
            authorization: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
            token: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
            device: "https://login.microsoftonline.com/common/oauth2/v2.0/devicecode"),
        secretMethods: [.secretPost, .secretBasic], scopes: ["User.Read", "offline_access"],
        account: Account("https://graph.microsoft.com/v1.0/me", .userPrincipalName), revocation: .unavailable,
        api: "https://graph.microsoft.com/v1.0")

    /// Microsoft's mail, for a client as ``microsoft``'s. The token is for outlook.office.com, so Graph refuses it; the
    /// ID token has the account's name.
    static let outlook = BuiltInProvider(
        "outlook", registrationPage: "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps",
        server: .endpoints(
            authorization: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
            token: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
            device: "https://login.microsoftonline.com/common/oauth2/v2.0/devicecode"),
        secretMethods: [.secretPost, .secretBasic],
        scopes: [
            "openid", "profile", "email", "offline_access", "https://outlook.office.com/IMAP.AccessAsUser.All",
            "https://outlook.office.com/SMTP.Send",
        ], revocation: .unavailable, api: "https://outlook.office.com/api/v2.0",
        apiOrigins: [
            "https://outlook.office.com", "smtp://smtp.office365.com:587", "smtp://smtp-mail.outlook.com:587",
            "imap://outlook.office365.com:993",
        ])

    /// Spotify: PKCE, no client secret, a loopback address by its IP number with any port (`localhost` is refused
    /// there), no revocation endpoint.
    static let spotify = BuiltInProvider(
        "spotify", registrationPage: "https://developer.spotify.com/dashboard",
        server: .endpoints(
            authorization: "https://accounts.spotify.com/authorize", token: "https://accounts.spotify.com/api/token",
            issuer: "https://accounts.spotify.com"),
        scopes: ["user-read-private"], account: Account("https://api.spotify.com/v1/me", .id),
        revocation: .unavailable, api: "https://api.spotify.com/v1")

    // MARK: - With code of their own

    /// GitHub: an Enterprise host has other addresses, and revocation is its own.
    static let gitHub = BuiltInProvider(
        "github", host: .standard("github.com"), registrationPage: "/settings/applications/new"
    ) { choices, host throws(OAuthError) in
        try .gitHub(
            clientID: choices.clientID, scopes: choices.scopes ?? ["repo"], redirect: choices.redirect,
            endpoints: host.name == "github.com" ? .gitHub : .enterprise(host: host.name), name: choices.name)
    }

    /// Mastodon, on the host where the person has an account: PKCE (from version 4.3 on; earlier ones ignore it), a
    /// client secret, tokens that don't expire, revocation. Each host gives any program a client of its own.
    static let mastodon = BuiltInProvider(
        "mastodon", host: .required, registration: Registration(path: "/api/v1/apps", dialect: .mastodon)
    ) { choices, host throws(OAuthError) in
        let server = try AuthorizationServerMetadata(
            issuer: Issuer(host.origin + "/"), authorizationEndpoint: host.url("/oauth/authorize"),
            tokenEndpoint: host.url("/oauth/token"), revocationEndpoint: host.url("/oauth/revoke"),
            clientAuthenticationMethods: [.secretPost, .secretBasic])
        var provider = try OAuthProvider(
            name: choices.name, server: .endpoints(server), clientID: choices.clientID,
            scopes: choices.scopes ?? ["read"], redirect: choices.redirect,
            proof: .secretIfPresent(choices.secretMethod ?? .secretPost),
            account: .resource(host.url("/api/v1/accounts/verify_credentials"), name: .acct, subject: .id))
        provider.apiBase = try host.url("/")
        return provider
    }

    /// Bluesky, and every other server of AT Protocol: each account has a server, which refers to the server that
    /// authorizes. The module ATProtocol finds both from the account's handle; the issuer here is that of Bluesky's own
    /// accounts.
    ///
    /// The host is that of the directory of did:plc. If no client ID is set, the client is one on a loopback address,
    /// which needs no registration. Otherwise the client ID is the address of the client's metadata document.
    static let bluesky = BuiltInProvider(
        "bluesky", host: .standard("plc.directory"), standardClientID: "http://localhost", findsServerByAccount: true
    ) { choices, _ throws(OAuthError) in
        var provider = try OAuthProvider(
            name: choices.name, server: .issuer(Issuer("https://bsky.social")), clientID: choices.clientID,
            scopes: choices.scopes ?? ["atproto", "transition:generic"], redirect: choices.redirect,
            account: .nowhere, usesDPoP: true)
        provider.pushes = .requiredWithProof
        return provider
    }
}

// MARK: - What a row says

extension BuiltInProvider {
    package enum Server: Sendable {
        /// Discovered from its issuer; empty: the service's host.
        case issuer(String)
        /// Known address by address.
        case endpoints(authorization: String, token: String, device: String? = nil, issuer: String? = nil)
    }

    /// A resource that says who signed in.
    package struct Account: Sendable {
        let address: String
        let name: OAuthProvider.AccountMember

        package init(_ address: String, _ name: OAuthProvider.AccountMember) {
            self.address = address
            self.name = name
        }
    }

    /// A service described by its row.
    ///
    /// - Parameters:
    ///   - server: the authorization server.
    ///   - secretMethods: the methods for the client's secret, the usual one first; none if clients are public.
    ///   - scopes: the default scopes.
    ///   - account: the account resource; `nil` for OpenID's user information.
    ///   - api: the base of relative paths.
    ///   - apiOrigins: further origins that may get tokens.
    package init(
        _ name: StaticString, host: Host = .fixed, takesAnyLoopbackPath: Bool = false, registrationPage: String?,
        server: Server, secretMethods: [ClientAuthentication.Method] = [], scopes standardScopes: ScopeList,
        parameters: KeyValuePairs<String, String> = [:], account: Account? = nil,
        revocation: OAuthProvider.Revocation = .standard, revokesReplacedTokens: Bool = true, api: String? = nil,
        apiOrigins: Set<String> = []
    ) {
        self.init(
            name, host: host, takesAnyLoopbackPath: takesAnyLoopbackPath, registrationPage: registrationPage
        ) { choices, host throws(OAuthError) in
            var added: [AuthorizationParameter] = []
            for (name, value) in parameters { added.append(try AuthorizationParameter(name, value)) }
            let found: OAuthProvider.Server =
                switch server {
                case .issuer(let issuer): .issuer(try Issuer(issuer.isEmpty ? host.origin : issuer))
                case .endpoints(let authorization, let token, let device, let issuer):
                    .endpoints(
                        try AuthorizationServerMetadata(
                            issuer: issuer.map { (text) throws(OAuthError) in try Issuer(text) },
                            authorizationEndpoint: host.url(authorization), tokenEndpoint: host.url(token),
                            deviceAuthorizationEndpoint: device.map { (text) throws(OAuthError) in try host.url(text) },
                            clientAuthenticationMethods: Set([.none] + secretMethods)))
                }
            let source: OAuthProvider.AccountSource =
                if let account {
                    .resource(try host.url(account.address), name: account.name, subject: .id)
                } else {
                    .userInfo
                }
            var provider = try OAuthProvider(
                name: choices.name, server: found, clientID: choices.clientID,
                scopes: choices.scopes ?? standardScopes, redirect: choices.redirect, parameters: added,
                proof: secretMethods.first.map { .secretIfPresent(choices.secretMethod ?? $0) } ?? .none,
                account: source, revocation: revocation)
            provider.revokesReplacedTokens = revokesReplacedTokens
            provider.apiBase = try api.map { (text) throws(OAuthError) in try host.url(text) }
            provider.apiOrigins = apiOrigins
            return provider
        }
    }
}
