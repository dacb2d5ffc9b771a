import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySignIn
import LatchkeyTestServer
import Testing

@testable import LatchkeyFoundation

/// Requests that see to their login themselves, against a real server on loopback.
@Suite(.timeLimit(.minutes(15)))
struct AuthenticatorTests {
    // MARK: - Modes

    @Test func `in automatic mode the first request signs in, and the next ones don't`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.authenticator.login() == nil)
        for _ in 0..<3 { #expect(try await scene.ask() == 200) }
        #expect(scene.person.timesAsked == 1 && scene.server.record.codesExchanged == 1)
        #expect(try await scene.authenticator.login()?.account == "octocat")
        #expect(try scene.findings() == [])
    }

    @Test func `in manual mode nothing is asked or sent before a sign-in is requested`() async throws {
        let scene = try AuthenticatorScene(mode: .manualOnly)
        #expect(await scene.failure() == OAuthAuthenticator.Failure(.loginRequired))
        #expect(scene.person.timesAsked == 0 && scene.server.record.requests.isEmpty && scene.statuses.all.isEmpty)
        let summary = try await scene.authenticator.authenticate()
        #expect(summary.account == "octocat" && scene.person.timesAsked == 1)
        #expect(try await scene.ask() == 200)
    }

    @Test func `without a user authenticator neither mode prompts`() async throws {
        let scene = try AuthenticatorScene { $0.userAuthenticator = .unavailable }
        #expect(await scene.failure() == OAuthAuthenticator.Failure(.noUserAuthenticator))
        await #expect(throws: OAuthAuthenticator.Failure(.noUserAuthenticator)) {
            try await scene.authenticator.authenticate()
        }
        #expect(scene.server.record.requests.isEmpty)
    }

    @Test func `the status handler runs before any request, and for failures too`() async throws {
        let told = SeenAsked()
        let scene = try AuthenticatorScene { configuration in
            let statuses = configuration.statusHandler
            configuration.statusHandler = { status in
                told.note()
                await statuses?(status)
            }
        }
        told.count = { [server = scene.server] in server.record.requests[.userInfo] ?? 0 }
        scene.server.switchOn(.denied)
        #expect(await scene.failure()?.code == .signIn(.oauth(OAuthError(.accessDenied))))
        scene.server.switchOff(.denied)
        #expect(try await scene.ask() == 200)
        // The account's name is asked for as well, before the handler is told.
        #expect(scene.statuses.all.count == 2)
        #expect(told.seen.allSatisfy { $0 <= 1 } && scene.asked == 2)
        guard case .failed = scene.statuses.all[0], case .signedIn(let summary) = scene.statuses.all[1] else {
            Issue.record("\(scene.statuses.all)")
            return
        }
        #expect(summary.account == "octocat")
        #expect(try scene.findings() == [])
    }

    @Test func `many requests without a login share one sign-in`() async throws {
        let scene = try AuthenticatorScene()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await scene.ask() } }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 20))
        #expect(scene.person.timesAsked == 1 && scene.statuses.all.count == 1)
    }

    @Test func `a sign-in without a waiting caller ends, and the next one starts anew`() async throws {
        let scene = try AuthenticatorScene()
        scene.person.hesitate()
        let tasks = (0..<2).map { _ in Task { await scene.failure() } }
        while scene.person.timesAsked == 0 { try await Task.sleep(for: .milliseconds(2)) }
        while await scene.authenticator.waiting < 2 { try await Task.sleep(for: .milliseconds(2)) }
        tasks[0].cancel()
        #expect(await tasks[0].value == .cancelled)
        // The other one still waits, and the person is still asked.
        #expect(scene.statuses.all.isEmpty)
        tasks[1].cancel()
        #expect(await tasks[1].value == .cancelled)
        while scene.statuses.all.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        #expect(scene.statuses.all == [.failed(.cancelled)])
        scene.person.answer()
        #expect(try await scene.ask() == 200)
        #expect(scene.person.timesAsked == 2)
    }

    // MARK: - What a response means

    @Test func `a refused token is refreshed, and the request sent once more`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        scene.server.expireAccessTokens()
        #expect(try await scene.ask() == 200)
        #expect(scene.server.record.refreshes == 1 && scene.person.timesAsked == 1)
    }

    @Test func `after a refused refresh the person signs in again, and the request is sent once more`()
        async throws
    {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        scene.server.revokeEverything()
        let before = scene.asked
        #expect(try await scene.ask() == 200)
        // The refused one, the account's name, and the one more.
        #expect(scene.asked - before == 3)
        #expect(scene.person.timesAsked == 2 && scene.statuses.all.count == 2)
        #expect(try scene.findings() == [])
    }

    @Test func `in manual mode a refused refresh is an error without a prompt`() async throws {
        let scene = try AuthenticatorScene(mode: .manualOnly)
        try await scene.authenticator.authenticate()
        scene.server.revokeEverything()
        #expect(await scene.failure() == OAuthAuthenticator.Failure(.loginRequired))
        #expect(scene.person.timesAsked == 1)
        #expect(try await scene.authenticator.login() == nil)
    }

    @Test func `a response that stays 401 is returned`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        scene.server.switchOn(.status(401, .userInfo))
        let before = scene.asked
        #expect(try await scene.ask() == 401)
        #expect(scene.asked - before == 2 && scene.server.record.refreshes == 1 && scene.person.timesAsked == 1)
    }

    @Test func `network trouble at the refresh keeps the login, and doesn't prompt`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        scene.server.expireAccessTokens()
        scene.server.switchOn(.noResponse(.token))
        #expect(try await scene.ask() == 401)
        scene.server.switchOff(.noResponse(.token))
        #expect(try await scene.ask() == 200)
        #expect(scene.person.timesAsked == 1)
    }

    @Test func `custom rules for responses are followed`() async throws {
        let responses = Responses()
        let scene = try AuthenticatorScene {
            $0.tokens.responseStatusProvider = OAuthAuthenticator.ResponseRule { response in
                responses.add(response)
                return response.status == 503 ? .authorize : .accept
            }
        }
        #expect(try await scene.ask() == 200)
        scene.server.expireAccessTokens()
        #expect(try await scene.ask() == 401)
        #expect(responses.all.last?.challengeError == .invalidToken && scene.server.record.refreshes == 0)
        scene.server.switchOn(.status(503, .userInfo))
        // The person is asked, which the account's name is no obstacle to, and the server responds the same once more.
        #expect(try await scene.ask() == 503)
        #expect(scene.person.timesAsked == 2)
    }

    @Test func `a session is refreshed before its end`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        scene.advance(seconds: 4000)
        #expect(try await scene.ask() == 200)
        #expect(scene.server.record.refreshes == 1)
    }

    @Test func `a refresh whose caller is cancelled can be waited for`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        let old = try await scene.authenticator.login()
        scene.advance(seconds: 4000)
        scene.server.switchOn(.heldResponse(.token))
        let task = Task { await scene.failure() }
        while (scene.server.record.requests[.token] ?? 0) < 2 { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await task.value == .cancelled)
        let finished = Task { await scene.authenticator.finishRefreshes() }
        scene.server.switchOff(.heldResponse(.token))
        await finished.value
        #expect(try await scene.authenticator.login() != old)
    }

    // MARK: - Where tokens go

    @Test func `the token goes only to named origins`() async throws {
        let scene = try AuthenticatorScene { $0.origins = .these(["https://api.example.org"]) }
        #expect(await scene.failure() == OAuthAuthenticator.Failure(.otherOrigin))
        #expect(scene.person.timesAsked == 0)
        await #expect(throws: OAuthAuthenticator.Failure(.otherOrigin)) {
            _ = try await scene.authenticator.authenticated(GuardedRequest(.get, try scene.url))
        }
    }

    @Test func `by default the token goes to the provider's servers`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        for address in ["https://api.example.org/", "http://127.0.0.1:1/", "https://127.0.0.1:\(scene.server.port)/"] {
            await #expect(throws: OAuthAuthenticator.Failure(.otherOrigin)) {
                _ = try await scene.authenticator.response(for: GuardedRequest(.get, try HTTPURL(address)))
            }
        }
        let asked = try AuthenticatorScene { $0.origins = .whereverTheCallerAsks }
        let other = try LoopbackAuthorizationServer()
        // The other server refuses the token, but got it, as whoever chose that wanted.
        #expect(
            try await asked.authenticator.response(for: GuardedRequest(.get, HTTPURL(other.userInfoEndpoint))).status
                == 401)
    }

    @Test func `a redirect is not followed with the token`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        scene.server.switchOn(.temporaryRedirect(.userInfo))
        #expect(try await scene.ask() == 307)
        #expect(scene.server.record.requests[.stray] == nil)
    }

    @Test func `requests go over the response provider, and everything else over the context's transport`() async throws
    {
        let provider = CountingClient()
        let scene = try AuthenticatorScene { $0.responses = provider }
        #expect(try await scene.ask() == 200)
        #expect(provider.origins == [try scene.url.origin])
    }

    @Test func `signing out revokes the tokens and deletes the session`() async throws {
        let scene = try AuthenticatorScene(mode: .manualOnly)
        try await scene.authenticator.authenticate()
        #expect(await scene.authenticator.signOut().isSignedOut)
        #expect(scene.server.record.revocations >= 1)
        #expect(await scene.failure() == OAuthAuthenticator.Failure(.loginRequired))
    }

    @Test func `each error's text consists of our words`() {
        var codes: [OAuthAuthenticator.Failure.Code] = [
            .loginRequired, .noUserAuthenticator, .otherOrigin, .fileFailed(number: 2),
            .signIn(SignInError(.notSignedIn)), .cancelled,
        ]
        codes += OAuthAuthenticator.Failure.RequestProblem.allCases.map { .unsupportedRequest($0) }
        codes += SignInError.Step.allCases.map { .signIn(SignInError(.stepFailed($0))) }
        let texts = codes.map { "\(OAuthAuthenticator.Failure($0))" }
        #expect(Set(texts).count == codes.count)
        #expect(texts.allSatisfy { $0.hasSuffix("]") && $0.utf8.count < 200 && !$0.contains("Optional") })
    }
}
