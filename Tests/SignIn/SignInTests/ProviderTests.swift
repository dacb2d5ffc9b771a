import LatchkeyHTTP
import LatchkeyOAuth
import Testing
import TestSecrets

@testable import LatchkeySignIn

struct ProviderTests {
    /// What a provider's authorization URL asks for.
    private func query(_ provider: OAuthProvider, redirect: RedirectURI) throws -> (
        page: String, fields: [String: String]
    ) {
        guard case .endpoints(let server) = provider.server else { throw OAuthError(.invalidMetadata(.notFound)) }
        let request = try AuthorizationRequest(server: server, client: provider.client, redirect: redirect)
        let text = try request.begin(random: .system).authorizationURL().testText
        let parts = text.split(separator: "?")
        let pairs = parts[1].split(separator: "&").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return (String(parts[0]), Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) }))
    }

    @Test func `Spotify gets PKCE, no secret, and a loopback address by its number with any port`() throws {
        let provider = try builtIn("spotify")
        #expect(provider.proof == .none)
        #expect(provider.redirect.text == "http://127.0.0.1/A5Kp_CrVoQspN6K3/callback" && provider.redirect.needsPort)
        let (page, fields) = try query(provider, redirect: provider.redirect.withPort(49_321))
        #expect(page == "https://accounts.spotify.com/authorize")
        #expect(fields["redirect_uri"] == "http%3A%2F%2F127.0.0.1%3A49321%2FA5Kp_CrVoQspN6K3%2Fcallback")
        #expect(fields["code_challenge_method"] == "S256" && fields["code_challenge"]?.utf8.count == 43)
        #expect(fields["state"]?.utf8.count == 43)
        #expect(fields["client_secret"] == nil)
        #expect(fields["scope"] == "user-read-private")
    }

    @Test func `a path alone is on an origin that the service's tokens may go to`() throws {
        let bases = [
            "codeberg": "https://codeberg.org/api/v1", "github": "https://api.github.com/",
            "gitlab": "https://gitlab.com/api/v4", "gmail": "https://gmail.googleapis.com/",
            "google": "https://www.googleapis.com/",
            "mastodon": "https://social.example/", "microsoft": "https://graph.microsoft.com/v1.0",
            "outlook": "https://outlook.office.com/api/v2.0", "spotify": "https://api.spotify.com/v1",
        ]
        for service in BuiltInProvider.all where !service.findsServerByAccount {
            let provider = try builtIn(service.name.text, host: service.host == .required ? "social.example" : nil)
            let base = try #require(provider.apiBase, "\(service.name)")
            #expect(base.origin + base.path == bases[service.name.text], "\(service.name)")
            #expect(provider.origins.contains(base.origin), "\(service.name)")
        }
        let own = try #require(BuiltInProvider.named("github"))
        var choices = BuiltInProvider.Choices(name: .gitHub, clientID: "client")
        choices.host = "git.example.org"
        #expect(try own.provider(choices).apiBase == HTTPURL("https://git.example.org/api/v3"))
    }

    @Test func `a service that needs a client id says where to register it`() {
        for service in BuiltInProvider.all {
            let needsPage = service.standardClientID == nil && !service.registersPrograms
            #expect((service.registrationPage() != nil) == needsPage, "\(service.name)")
        }
        let page = BuiltInProvider.named("gitlab")?.registrationPage(at: "git.example.org")
        #expect(page == "https://git.example.org/-/user_settings/applications")
    }

    // MARK: - Built-in services

    private func builtIn(
        _ name: String, host: String? = nil, scopes: ScopeList? = nil
    ) throws -> OAuthProvider {
        let service = try #require(BuiltInProvider.named(name))
        var choices = BuiltInProvider.Choices(name: "mine", clientID: "client")
        choices.host = host
        choices.scopes = scopes
        return try service.provider(choices)
    }

    /// What a service's documentation says of its pages and its default scopes; those with an issuer are discovered.
    @Test(arguments: [
        ("codeberg", nil, "https://codeberg.org/login/oauth/authorize", "read%3Auser"),
        ("codeberg", "git.example.org:3000", "https://git.example.org:3000/login/oauth/authorize", "read%3Auser"),
        ("github", nil, "https://github.com/login/oauth/authorize", "repo"),
        ("github", "git.example.org", "https://git.example.org/login/oauth/authorize", "repo"),
        ("mastodon", "social.example", "https://social.example/oauth/authorize", "read"),
        (
            "microsoft", nil, "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
            "User.Read%20offline_access"
        ),
        ("spotify", nil, "https://accounts.spotify.com/authorize", "user-read-private"),
    ])
    func `a built-in service has its own page, with PKCE and state`(
        name: String, host: String?, page: String, scope: String
    ) throws {
        let provider = try builtIn(name, host: host)
        #expect(provider.name == "mine")
        let (asked, fields) = try query(provider, redirect: provider.redirect.withPort(49_321))
        #expect(asked == page)
        #expect(fields["scope"] == scope && fields["client_id"] == "client" && fields["client_secret"] == nil)
        #expect(fields["code_challenge_method"] == "S256" && fields["state"]?.utf8.count == 43)
        let other = try builtIn(name, host: host, scopes: ["other"])
        let chosen = try query(other, redirect: other.redirect.withPort(1234))
        #expect(chosen.fields["scope"] == "other")
    }

    @Test func `GitLab and Google are discovered, and Google gets a request for a refresh token each time`() throws {
        let gitLab = try [builtIn("gitlab"), builtIn("gitlab", host: "git.example.org")].map(\.server)
        #expect(try gitLab == [.issuer(Issuer("https://gitlab.com")), .issuer(Issuer("https://git.example.org"))])
        let google = try builtIn("google")
        #expect(try google.server == .issuer(Issuer("https://accounts.google.com")))
        #expect(google.parameters.map(\.name) == ["access_type", "prompt"])
        #expect(google.parameters.map(\.value) == ["offline", "consent"])
        #expect(google.proof == .secretIfPresent(.secretPost))
    }

    @Test(arguments: [
        ("mastodon", nil), ("google", "example.org"), ("microsoft", "example.org"), ("spotify", "example.org"),
        ("gitlab", ""), ("gitlab", "https://example.org"), ("gitlab", "example.org/path"), ("github", "a@b"),
        ("codeberg", "a b"), ("codeberg", "example.org?x"), ("mastodon", "a#b"),
    ])
    func `a host that is invalid, or not expected, is refused`(name: String, host: String?) {
        #expect(throws: OAuthError(.invalidConfiguration(.issuer))) { try builtIn(name, host: host) }
    }

    @Test func `scopes are joined by spaces`() throws {
        let provider = try OAuthProvider.gitHub(
            clientID: "client", scopes: ["user", "public_repo", "repo", "repo:status", "read:org"])
        let (_, fields) = try query(provider, redirect: provider.redirect.withPort(1234))
        #expect(fields["scope"]?.components == ["user", "public_repo", "repo", "repo:status", "read:org"])
    }

    @Test(arguments: ["", "\n", String(repeating: "x", count: 2049), "caf\u{E9}"])
    func `an invalid client id is refused`(clientID: String) {
        #expect(throws: OAuthError(.invalidConfiguration(.clientID))) {
            try OAuthProvider.spotify(clientID: clientID)
        }
    }

    @Test func `a plain-text address isn't an issuer`() {
        #expect(throws: OAuthError(.invalidConfiguration(.issuer))) { try Issuer("http://example.org") }
    }

    @Test(arguments: [
        ("github", true), ("a.b-c9", true), (String(repeating: "a", count: 64), true), ("", false), ("A", false),
        ("-a", false), (".a", false), ("a/b", false), ("a b", false), (String(repeating: "a", count: 65), false),
        ("\u{E9}", false),
    ])
    func `a provider's name is a word`(text: String, isName: Bool) {
        #expect((ProviderName(text) != nil) == isName)
    }

    @Test func `an invalid provider's name in source code stops the process`() async {
        let name: ProviderName = "mine"
        #expect(name == ProviderName(String("mine")))
        await #expect(processExitsWith: .failure) { _ = "No name" as ProviderName }
    }

    // MARK: - Redirect URIs

    @Test func `each server has a separate redirect URI, always the same`() throws {
        let providers = try [
            builtIn("codeberg"), builtIn("codeberg", host: "git.example.org"), builtIn("github"),
            builtIn("github", host: "git.example.org"), builtIn("gitlab"), builtIn("google"),
            builtIn("mastodon", host: "social.example"), builtIn("mastodon", host: "other.example"),
            builtIn("microsoft"), builtIn("spotify"), builtIn("bluesky"),
        ]
        let redirects = providers.map(\.redirect)
        #expect(Set(redirects.map(\.path)).count == providers.count)
        #expect(try builtIn("mastodon", host: "social.example").redirect == redirects[6])
        // GitHub takes what is below the registered path: no other may be.
        for (first, second) in zip(redirects, redirects.dropFirst() + redirects.prefix(1)) {
            #expect(!first.path.hasPrefix(second.path) && !second.path.hasPrefix(first.path))
        }
        // One that a person names stays as it is.
        let named = try RedirectURI("http://127.0.0.1/callback")
        #expect(try OAuthProvider.spotify(clientID: "client", redirect: named).redirect == named)
    }

    @Test func `GitHub, Mastodon and Spotify have issuers with their own names`() throws {
        let names = try [
            ("github", nil, "https://github.com/login/oauth"),
            ("github", "git.example.org", "https://git.example.org/login/oauth"),
            ("mastodon", "social.example", "https://social.example/"), ("spotify", nil, "https://accounts.spotify.com"),
        ].map { (name: String, host: String?, issuer: String) in (try builtIn(name, host: host).authority, issuer) }
        for (authority, issuer) in names { #expect(authority == issuer) }
    }
}

extension String {
    /// The parts between spaces of a percent-encoded text.
    fileprivate var components: [String] {
        replacing("%3A", with: ":").replacing("%20", with: " ").split(separator: " ").map(String.init)
    }
}
