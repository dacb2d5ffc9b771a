import HTTPTransport
import OAuth
import Secrets
import Testing

@testable import SignIn

struct ProviderTests {
    /// What a provider's authorization URL asks for.
    private func query(_ provider: Provider, redirect: RedirectURI) throws -> (page: String, fields: [String: String]) {
        guard case .endpoints(let server) = provider.server else { throw OAuthError(.invalidMetadata(.notFound)) }
        let request = try AuthorizationRequest(server: server, client: provider.client, redirect: redirect)
        let text = try request.begin(random: .system).authorizationURL().testText
        let parts = text.split(separator: "?")
        let pairs = parts[1].split(separator: "&").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return (String(parts[0]), Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) }))
    }

    @Test func `Spotify gets PKCE, no secret, and a loopback address by its number with any port`() throws {
        let provider = try Provider.spotify(clientID: "client")
        #expect(provider.proof == .none)
        #expect(provider.redirect.text == "http://127.0.0.1/callback" && provider.redirect.needsPort)
        let (page, fields) = try query(provider, redirect: .loopback(port: 49_321))
        #expect(page == "https://accounts.spotify.com/authorize")
        #expect(fields["redirect_uri"] == "http%3A%2F%2F127.0.0.1%3A49321%2Fcallback")
        #expect(fields["code_challenge_method"] == "S256" && fields["code_challenge"]?.utf8.count == 43)
        #expect(fields["state"]?.utf8.count == 43)
        #expect(fields["client_secret"] == nil)
        #expect(fields["scope"] == "user-read-private")
    }

    @Test func `localhost is refused as a redirect`() {
        #expect(throws: OAuthError(.invalidConfiguration(.redirectLocalhost))) {
            try Provider.spotify(clientID: "client", redirect: RedirectURI("http://localhost:1234/callback"))
        }
    }

    @Test func `scopes are joined by spaces`() throws {
        let provider = try Provider.gitHub(
            clientID: "client", scopes: ["user", "public_repo", "repo", "repo:status", "read:org"])
        let (_, fields) = try query(provider, redirect: .loopback(port: 1234))
        #expect(fields["scope"]?.components == ["user", "public_repo", "repo", "repo:status", "read:org"])
    }

    @Test(arguments: ["", "\n", String(repeating: "x", count: 2049), "caf\u{E9}"])
    func `a client id that no server takes is refused`(clientID: String) {
        #expect(throws: OAuthError(.invalidConfiguration(.clientID))) { try Provider.spotify(clientID: clientID) }
    }

    @Test func `an address that isn't confidential is no issuer`() {
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
}

extension String {
    /// The parts between spaces of a percent-encoded text.
    fileprivate var components: [String] {
        replacing("%3A", with: ":").replacing("%20", with: " ").split(separator: " ").map(String.init)
    }
}
