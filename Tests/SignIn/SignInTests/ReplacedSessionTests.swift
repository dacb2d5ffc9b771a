import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestSecrets

@testable import LatchkeySignIn

/// Signing in again under a name that has a session. The tokens before stayed good at the server with nobody to use or
/// revoke them, and another person could take the name's place without a word.
struct ReplacedSessionTests {
    /// Puts a session of this server under a name, as another person's sign-in left it.
    private func plant(
        _ subject: String?, account: String, in scene: SignInScene, authority: String? = nil
    ) async throws {
        try await scene.service.sessions.save(
            StoredSession(
                authority: authority ?? scene.provider.authority, clientID: "latchkey", account: account,
                subject: subject, scopes: ["read"], issued: scene.clock.now, expiry: nil,
                accessToken: .test("the-token-before"), refreshToken: .test("the-refresh-token-before")))
    }

    private func isGood(_ token: String, _ scene: SignInScene) async throws -> Bool {
        let response = try await ResourceClient(http: CurlTransport())
            .send(GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint)), token: .test(token))
        return response.status == 200
    }

    @Test(arguments: [nil, "me"])
    func `a new sign-in revokes the tokens that it replaces, and the new ones work`(name: String?) async throws {
        let scene = try SignInScene()
        let account = try await scene.signIn(account: name).account
        let first = try await scene.token()
        #expect(try await isGood(first, scene))
        try await scene.signIn(account: name)
        #expect(try await isGood(scene.token(), scene))
        #expect(try await !isGood(first, scene))
        // They can be refreshed too.
        scene.clock.advance(seconds: 4000)
        #expect(try await isGood(scene.token(account), scene))
        #expect(scene.server.record.replays == 0)
    }

    @Test func `a server that can't revoke delays no sign-in`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let first = try await scene.token()
        scene.server.switchOn(.status(503, .revocation))
        try await scene.signIn()
        #expect(try await scene.token() != first)
    }

    @Test func `if revoking would end the new tokens too, nothing is revoked`() async throws {
        let scene = try SignInScene { server in
            var provider = try SignInScene.provider(server)
            provider.revokesReplacedTokens = false
            return provider
        }
        for _ in 0..<2 { try await scene.signIn() }
        // Nor are tokens that aren't stored.
        try await plant("somebody else", account: "ada", in: scene)
        let error = await #expect(throws: SignInError.self) { try await scene.signIn(account: "ada") }
        #expect(error?.code == .otherPerson)
        #expect(scene.server.record.revocations == 0)
        #expect(BuiltInProvider.named("google") != nil)
        let google = try #require(BuiltInProvider.named("google"))
        #expect(try !google.provider(.init(name: google.name, clientID: "c")).revokesReplacedTokens)
    }

    /// "The account name belongs to a different person" was said, though nobody knew.
    @Test func `a server that can't say who signed in is reported as that`() async throws {
        let scene = try SignInScene()
        try await plant("somebody else", account: "octocat", in: scene)
        scene.server.switchOn(.status(503, .userInfo))
        let error = await #expect(throws: SignInError.self) { try await scene.signIn(account: "octocat") }
        guard case .resource = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await scene.token("octocat") == "the-token-before")
    }

    @Test func `another person doesn't replace an account`() async throws {
        let scene = try SignInScene()
        try await plant("somebody else", account: "octocat", in: scene)
        let error = await #expect(throws: SignInError.self) { try await scene.signIn(account: "octocat") }
        #expect(error?.code == .otherPerson)
        #expect(try await scene.token("octocat") == "the-token-before")
        // What the server gave is revoked.
        #expect(scene.server.record.revocations > 0)
        // Under another name both have their place.
        try await scene.signIn(account: "me")
        #expect(try await scene.service.accounts().map(\.account) == ["me", "octocat"])
    }

    @Test func `another person with the same name at the server gets a number, and keeps it`() async throws {
        let scene = try SignInScene()
        try await plant("somebody else", account: "octocat", in: scene)
        try await plant("a third", account: "octocat-2", in: scene)
        for _ in 0..<2 {
            let session = try await scene.signIn()
            #expect(session.account == "octocat-3" && session.naming == .taken("octocat"))
        }
        #expect(try await scene.token("octocat") == "the-token-before")
        #expect(try await scene.token("octocat-2") == "the-token-before")
        #expect(try await scene.service.accounts().map(\.account) == ["octocat", "octocat-2", "octocat-3"])
    }

    @Test func `accounts at another server, or without a known subject, don't count as another person`() async throws {
        for (subject, authority) in [("somebody else", "https://other.example"), (nil, nil)] as [(String?, String?)] {
            let scene = try SignInScene()
            try await plant(subject, account: "octocat", in: scene, authority: authority)
            try await scene.signIn()
            #expect(try await scene.token("octocat") != "the-token-before")
        }
    }
}
