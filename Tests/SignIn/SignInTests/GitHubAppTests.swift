import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestSecrets

@testable import LatchkeySignIn

/// GitHub Apps: tokens for a person that end after hours, refresh tokens that end after months, permissions in place of
/// scopes, and refreshes that want the app's secret.
struct GitHubAppTests {
    private func scene() async throws -> GitHubScene { try await GitHubScene(tokensExpire: true) }

    private func session(_ scene: GitHubScene) async throws -> StoredSession {
        try await scene.credentials.sessions.load("octocat")!
    }

    @Test func `an app's token has its two ends, and no scopes`() async throws {
        let scene = try await scene()
        let info = try await scene.service.signIn(presenting: UserAgent(scene.browser))
        #expect(info.scopes == [])
        let session = try await session(scene)
        let refresh =
            switch session.refreshToken {
            case .some(let token): token.testText
            case .none: ""
            }
        let access = session.accessToken.testText
        #expect(access.hasPrefix("ghu_") && refresh.hasPrefix("ghr_"))
        let (issued, expiry) = (session.issued, session.expiry)
        #expect(expiry == UnixTime(seconds: issued.seconds + 3600))
        #expect(try scene.findings() == [])
    }

    @Test func `a refresh moves the end of the token`() async throws {
        let scene = try await scene()
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        let first = try await session(scene).expiry
        scene.clock.advance(seconds: 4000)
        _ = try await scene.service.accessToken()
        let second = try await session(scene).expiry
        #expect(scene.server.record.refreshes == 1)
        #expect((second?.seconds ?? 0) >= (first?.seconds ?? 0) + 4000)
    }

    @Test func `an app whose refresh token has ended is signed out, with a distinct error and hint`() async throws {
        let scene = try await scene()
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        scene.clock.advance(seconds: 15_811_200)
        scene.server.revokeEverything()
        do throws(GitHubAuthError) {
            _ = try await scene.service.accessToken()
            Issue.record("there was a token")
        } catch {
            #expect(error == .sessionEnded)
            #expect(error.hint != nil)
        }
        #expect(try await scene.service.account() == nil)
    }

    @Test func `a refresh without the app's secret is refused with a hint, and keeps the session`() async throws {
        let scene = try await scene()
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        for entry in try await scene.store.list(deadline: .unhurried).all() where entry.key.kind == .clientSecret {
            try await scene.store.delete(entry.key)
        }
        scene.clock.advance(seconds: 4000)
        do throws(GitHubAuthError) {
            _ = try await scene.service.accessToken()
            Issue.record("there was a token")
        } catch {
            #expect(error.hint != nil && error != .sessionEnded)
        }
        #expect(scene.server.record.refreshes == 0)
        #expect(try await scene.service.account()?.login == "octocat")
        // With it the session goes on.
        try await scene.credentials.saveClientSecret(.test(GitHubScene.secret), clientID: "placeholder")
        _ = try await scene.service.accessToken()
        #expect(scene.server.record.refreshes == 1 && scene.server.record.replays == 0)
    }

    @Test func `a refused token of GitHub is revoked in GitHub's own way`() async throws {
        let scene = try await scene()
        scene.server.switchOn(.unknownTokenType)
        #expect(await scene.failure() != nil)
        #expect(scene.server.record.codesExchanged == 1 && scene.server.record.revocations == 1)
        #expect(try await scene.service.account() == nil)
        #expect(try scene.findings() == [])
    }

    @Test func `an app of an Enterprise host gets its tokens at that host, and has that origin alone`() async throws {
        let provider = try #require(BuiltInProvider.named("github"))
        var choices = BuiltInProvider.Choices(name: provider.name, clientID: "Iv1.app")
        (choices.host, choices.scopes) = ("git.example.org", [])
        let made = try provider.provider(choices)
        guard case .endpoints(let server) = made.server else {
            Issue.record("no endpoints")
            return
        }
        #expect(server.tokenEndpoint.text == "https://git.example.org/login/oauth/access_token")
        #expect(made.scopes == [])
        #expect(made.origins == ["https://git.example.org"])
    }
}
