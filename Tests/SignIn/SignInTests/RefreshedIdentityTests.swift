import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestSecrets

@testable import LatchkeySignIn

/// Refreshes that bring an ID token: nothing that waits for the network lies between the server's response and the
/// store, and what a check finds afterwards is told.
struct RefreshedIdentityTests {
    private func scene() throws -> SignInScene {
        try SignInScene { server in
            try .issuer(
                Issuer(server.issuer), name: "test", clientID: "latchkey",
                scopes: ["openid", "read"])
        }
    }

    /// As in another process, which knows none of the server's keys.
    private func refresh(_ scene: SignInScene) async throws(SignInError) -> String {
        scene.clock.advance(seconds: 4000)
        return try await scene.otherService().accessToken().testText
    }

    @Test(arguments: [
        AuthorizationServerFault.status(503, .keySet), .truncatedJSON(.keySet), .noResponse(.keySet),
        .temporaryRedirect(.keySet),
    ])
    func `a server whose keys are unavailable costs no refresh`(fault: AuthorizationServerFault) async throws {
        let scene = try scene()
        try await scene.signIn()
        let first = try await scene.token()
        scene.server.switchOn(fault)
        let second = try await refresh(scene)
        #expect(second != first && (scene.requests[.keySet] ?? 0) > 1)
        scene.server.switchOff(fault)
        // The rotated refresh token is the one that was stored.
        #expect(try await refresh(scene) != second)
        #expect(scene.server.record.refreshes == 2 && scene.server.record.replays == 0)
        #expect(try scene.findings() == [])
    }

    /// After the first one's end, nothing took an ID token but another sign-in.
    @Test func `an ID token is refreshed, also if the provider's own scopes don't include openid`() async throws {
        let scene = try scene()
        try await scene.signIn()
        func idToken() async throws -> String? {
            try await scene.service.sessions.load("octocat")?.bearer(.id)?.testText
        }
        let first = try await idToken()
        let provider = try OAuthProvider.issuer(
            Issuer(scene.server.issuer), name: "test", clientID: "latchkey", scopes: ["read"])
        scene.clock.advance(seconds: 4000)
        _ = try await SignInService(provider: provider, store: scene.store, context: scene.context).accessToken()
        let second = try await idToken()
        #expect(first != nil && second != nil && first != second)
        // It is compared with the session's person.
        scene.server.switchOn(.foreignIDToken)
        scene.clock.advance(seconds: 4000)
        await #expect(throws: SignInError(.oauth(OAuthError(.invalidResponse(.idTokenSubject))))) {
            _ = try await SignInService(provider: provider, store: scene.store, context: scene.context).accessToken()
        }
    }

    /// Microsoft's API has another number for a person than its ID tokens, so each refresh was another person's.
    @Test func `an API may have another number for a person than ID tokens`() async throws {
        let scene = try SignInScene { server in
            try OAuthProvider(
                name: "test", server: .issuer(Issuer(server.issuer)), clientID: "latchkey", scopes: ["openid", "read"],
                account: .resource(HTTPURL(server.gitHubUserEndpoint), name: .login, subject: .id))
        }
        #expect(try await scene.signIn().subject == "1")
        let first = try await scene.token()
        #expect(try await refresh(scene) != first)
        scene.server.switchOn(.foreignIDToken)
        await #expect(throws: SignInError(.oauth(OAuthError(.invalidResponse(.idTokenSubject))))) {
            _ = try await refresh(scene)
        }
        scene.server.switchOff(.foreignIDToken)
        // Named or not, it is the same person, and the only account.
        for name in ["octocat", nil] { #expect(try await scene.signIn(account: name).account == "octocat") }
        #expect(try await scene.service.accounts().map(\.subject) == ["1"])
    }

    @Test func `the refreshed session is stored before the server's keys are requested`() async throws {
        let scene = try scene()
        try await scene.signIn()
        let first = try await scene.token()
        scene.server.switchOn(.held(.keySet))
        let refreshing = Task { try await refresh(scene) }
        while (scene.requests[.keySet] ?? 0) < 2 { try await Task.sleep(for: .milliseconds(2)) }
        // The server holds its keys back; the new tokens are in the store all the same.
        let session = try await scene.service.sessions.load("octocat")!
        let stored = session.accessToken.testText
        #expect(stored != first)
        scene.server.switchOff(.held(.keySet))
        #expect(try await refreshing.value == stored)
        #expect(scene.server.record.refreshes == 1)
    }

    @Test
    func `a refreshed ID token for another person is refused before anything is stored, and its tokens are revoked`()
        async throws
    {
        let scene = try scene()
        try await scene.signIn()
        let first = try await scene.service.sessions.load("octocat")!.accessToken.testText
        scene.server.switchOn(.foreignIDToken)
        await #expect(throws: SignInError(.oauth(OAuthError(.invalidResponse(.idTokenSubject))))) {
            _ = try await refresh(scene)
        }
        #expect(try await scene.service.sessions.load("octocat")!.accessToken.testText == first)
        #expect(scene.server.record.revocations == 1)
        scene.server.switchOff(.foreignIDToken)
        // What was issued is good for nothing any more, and that is told too.
        await #expect(throws: SignInError(.refreshLost)) { _ = try await refresh(scene) }
        #expect(try scene.findings() == [])
    }

    @Test func `a server that shows none of its keys for a while costs no session`() async throws {
        let scene = try scene()
        try await scene.signIn()
        let first = try await scene.token()
        scene.server.switchOn(.emptyKeySet)
        scene.clock.advance(seconds: 4000)
        let second = try await scene.otherService().accessToken().testText
        #expect(second != first && scene.server.record.revocations == 0)
        // Before there is a session, nothing but the key proves whose the token is.
        await #expect(throws: SignInError(.oauth(OAuthError(.invalidResponse(.keySet))))) {
            try await scene.otherService().signIn(presenting: scene.browser(), deadline: .unhurried)
        }
        #expect(scene.server.record.revocations == 1)
        #expect(try await scene.token() == second)
    }

    @Test func `a refreshed ID token without a valid signature ends the session, and its tokens are revoked`()
        async throws
    {
        let errors: [AuthorizationServerFault: SignInError] = [
            .forgedIDToken: SignInError(.sessionEnded),
            // Seen before the keys are needed.
            .symmetricIDToken: SignInError(.oauth(OAuthError(.invalidResponse(.idTokenAlgorithm)))),
        ]
        for (fault, error) in errors {
            let scene = try scene()
            try await scene.signIn()
            scene.server.switchOn(fault)
            scene.clock.advance(seconds: 4000)
            let service = scene.otherService()
            await #expect(throws: error) { _ = try await service.accessToken() }
            #expect(scene.server.record.revocations == 1)
            scene.server.switchOffAllFaults()
            // Nor has memory the revoked token, for times without the store.
            scene.store.refuseReads(true, .unavailable)
            await #expect(throws: SignInError.self) { _ = try await service.accessToken() }
            scene.store.refuseReads(false)
            await #expect(throws: SignInError.self) { _ = try await refresh(scene) }
            #expect(try await scene.service.accounts() == [])
            #expect(try await scene.service.sessions.endedSessions().map(\.account) == ["octocat"])
        }
    }
}

/// The ID token is kept with the session, for servers that take it as a token.
struct KeptIDTokenTests {
    private func scene(_ scopes: ScopeList = ["openid", "read"]) throws -> SignInScene {
        try SignInScene { server in
            try .issuer(Issuer(server.issuer), name: "test", clientID: "latchkey", scopes: scopes)
        }
    }

    private func idToken(_ service: SignInService) async throws(SignInError) -> String? {
        try await service.freshSession("octocat", with: .id).bearer(.id)?.testText
    }

    @Test func `an ID token is returned until its end, and then refreshed with the session`() async throws {
        let scene = try scene()
        try await scene.signIn()
        let first = try await idToken(scene.service)
        #expect(try await idToken(scene.otherService()) == first && first?.split(separator: ".").count == 3)
        #expect(scene.server.record.refreshes == 0)
        // The server's ID tokens end after ten minutes, and its access tokens after an hour.
        scene.clock.advance(seconds: 700)
        let access = try await scene.token()
        #expect(scene.server.record.refreshes == 0)
        let second = try await idToken(scene.otherService())
        #expect(second != nil && second != first)
        #expect(try await scene.otherService().accessToken().testText != access)
        #expect(scene.server.record.refreshes == 1)
        #expect(try scene.findings() == [])
    }

    @Test func `24 concurrent callers of an ended ID token make one refresh`() async throws {
        let scene = try scene()
        try await scene.signIn()
        scene.clock.advance(seconds: 700)
        let services = (0..<24).map { _ in scene.otherService() }
        let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
            for service in services { group.addTask { try await idToken(service) } }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1 && scene.server.record.refreshes == 1)
    }

    @Test func `a refresh without an ID token keeps the old one until its end, and isn't repeated`()
        async throws
    {
        let scene = try scene()
        try await scene.signIn()
        let first = try await idToken(scene.service)
        scene.server.switchOn(.missingIDToken)
        // About to end.
        scene.clock.advance(seconds: 580)
        #expect(try await idToken(scene.otherService()) == first)
        scene.clock.advance(seconds: 30)
        for _ in 0..<2 {
            await #expect(throws: SignInError(.noIDToken)) { _ = try await idToken(scene.otherService()) }
        }
        #expect(scene.server.record.refreshes == 2)
        #expect(try await scene.token().isEmpty == false)
    }

    @Test func `without the scope openid the ID token is absent, and no request is made for it`() async throws {
        let scene = try scene(["read"])
        try await scene.signIn(account: "octocat")
        await #expect(throws: SignInError(.noIDToken)) { _ = try await idToken(scene.service) }
        #expect(scene.server.record.refreshes == 0)
    }

    @Test func `an ID token's end is counted by this machine's clock, which may be an hour off`() async throws {
        let scene = try scene()
        scene.clock.advance(seconds: 3600)
        try await scene.signIn()
        _ = try await idToken(scene.otherService())
        #expect(scene.server.record.refreshes == 0)
    }
}
