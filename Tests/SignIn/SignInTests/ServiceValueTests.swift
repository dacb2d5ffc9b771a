import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeyProcess
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestSecrets

@testable import LatchkeySignIn

/// What is particular about a service is in its value, and the flows follow it.
struct ServiceValueTests {
    /// Google's own value, at a server in this process, and its client's secret in the store.
    private static func google(_ scopes: ScopeList) async throws -> SignInScene {
        var choices = BuiltInProvider.Choices(name: "google", clientID: "latchkey")
        choices.scopes = scopes
        let google = try #require(BuiltInProvider.named("google")).provider(choices)
        let secret: Secret<ClientSecret> = .test("q8Zp3vK1xW6tR0mY5bN2")
        let configuration = AuthorizationServerConfiguration(clients: [
            RegisteredClient("latchkey", redirectURIs: ["http://127.0.0.1/*"], secret: secret.duplicate())
        ])
        let scene = try SignInScene(configuration) { server in
            try OAuthProvider(
                name: "google", server: .issuer(Issuer(server.issuer)),
                clientID: google.clientID, scopes: google.scopes,
                redirect: google.redirect, parameters: google.parameters, proof: google.proof, account: google.account,
                revocation: google.revocation)
        }
        try await scene.store.save(
            secret, for: CredentialKey(service: "latchkey:google", account: "latchkey", kind: .clientSecret))
        return scene
    }

    @Test func `at Google the person grants fewer scopes than requested, and the session has the granted ones`()
        async throws
    {
        let scene = try await Self.google(["openid", "email", "drive.file"])
        scene.server.switchOn(.grantsOneScope)
        #expect(try await scene.signIn().scopes == ["openid"])
        #expect(scene.server.record.lastScopes == ["openid", "email", "drive.file"])
        #expect(try await scene.otherService().sessions.summaries().map(\.scopes) == [["openid"]])
        let findings = try scene.findings()
        #expect(findings == [])
    }

    @Test func `at Google a refresh works without the person, and the secret authenticates the client`() async throws {
        // Without an ID token, which would be judged by the clock that is turned.
        let scene = try await Self.google(["email"])
        try await scene.signIn()
        let first = try await scene.token()
        scene.clock.advance(seconds: 4000)
        #expect(try await scene.token() != first)
        #expect(scene.server.record.refreshes == 1)
        #expect(scene.server.record.clientAuthentication == [.post: 2])
        #expect(scene.server.record.requests[.authorization] == 1)
    }

    @Test func `a service that Latchkey doesn't know is a value, and works like any other`()
        async throws
    {
        let scene = try SignInScene { server in
            let endpoints = try AuthorizationServerMetadata(
                issuer: Issuer(server.issuer), authorizationEndpoint: HTTPURL(server.authorizationEndpoint),
                tokenEndpoint: HTTPURL(server.tokenEndpoint), revocationEndpoint: HTTPURL(server.revocationEndpoint))
            return try OAuthProvider(
                name: "cloud.example", server: .endpoints(endpoints), clientID: "latchkey",
                scopes: ["notes"], parameters: [AuthorizationParameter("audience", "notes")],
                account: .resource(HTTPURL(server.gitHubUserEndpoint), name: .login, subject: .id))
        }
        #expect(try await scene.signIn().account == "octocat")
        scene.clock.advance(seconds: 4000)
        _ = try await scene.token()
        #expect(scene.server.record.refreshes == 1 && scene.server.record.matchingVerifiers == 1)
        #expect(scene.server.record.requests[.metadata] == nil)
        #expect(await scene.service.signOut().revocation == .revoked)
        let findings = try scene.findings()
        #expect(findings == [])
    }

    @Test func `each built-in service has a factory, with a host if people run it themselves`() throws {
        let made: [(String, OAuthProvider)] = try [
            ("codeberg", .codeberg(clientID: "me")), ("github", .gitHub(clientID: "me")),
            ("gitlab", .gitLab(clientID: "me")), ("gmail", .gmail(clientID: "me")), ("google", .google(clientID: "me")),
            ("mastodon", .mastodon(clientID: "me", host: "social.example")), ("microsoft", .microsoft(clientID: "me")),
            ("outlook", .outlook(clientID: "me")), ("spotify", .spotify(clientID: "me")),
        ]
        // Bluesky's accounts have servers of their own: LatchkeyATProtocol signs in there.
        #expect(made.map(\.0) == BuiltInProvider.standard.map(\.name.text).filter { $0 != "bluesky" })
        for (name, provider) in made { #expect(provider.name == name && provider.clientID == "me") }
        let forge = try OAuthProvider.codeberg(clientID: "me", host: "git.example.org", scopes: ["read:repository"])
        #expect(forge.authority.hasPrefix("https://git.example.org/") && forge.scopes == ["read:repository"])
        #expect(throws: OAuthError(.invalidConfiguration(.issuer))) {
            try OAuthProvider.mastodon(clientID: "me", host: "no host")
        }
    }

    @Test func `neither print nor dump shows a URL's query or an environment's variables`() throws {
        let url = try HTTPURL("https://host.example:8443/path?code=k3Jw9Qe7")
        let environment = ProgramEnvironment(variables: ["TOKEN": "k3Jw9Qe7"], home: "/home/a")
        for value in [url, environment] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, String(describing: value), String(reflecting: value)] {
                #expect(!text.contains("k3Jw9Qe7") && !text.isEmpty)
            }
        }
        #expect(Mirror(reflecting: url).children.map { "\($0.value)" } == ["https://host.example:8443", "/path"])
    }

    @Test func `a user agent of any kind describes its action in the attempt's log`() async throws {
        let server = try LoopbackAuthorizationServer()
        let sink = MemoryLogSink()
        let context = SignInContext(
            environment: .current(), log: RedactedLogger("test", minimumLevel: .trace, sink: sink))
        let provider = try OAuthProvider.issuer(
            Issuer(server.issuer), name: "test", clientID: "latchkey")
        let service = SignInService(provider: provider, store: try InMemoryStore(), context: context)
        try await service.signIn(presenting: .consenting())
        let lines = sink.records.filter { "\($0.category)" == "latchkey.user-agent" as LogMessage }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.fields.contains { $0.name == "sign_in" } })
    }
}
