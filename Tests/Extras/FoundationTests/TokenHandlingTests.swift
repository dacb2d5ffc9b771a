import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyJSON
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets

@testable import LatchkeyFoundation

/// The parts that a caller may replace, and what can't be replaced.
struct TokenHandlingTests {
    // MARK: - The authorization URL

    @Test func `an authorization URL from outside is accepted if it belongs to this attempt`() async throws {
        let scene = try AuthenticatorScene {
            $0.tokens.authorizationURLProvider = { try $0.authorizationURL().takeAddress() }
        }
        #expect(try await scene.ask() == 200)
        let own = try AuthenticatorScene {
            $0.tokens.authorizationURLProvider = { try URLMaker(order: .reversed).url($0) }
        }
        #expect(try await own.ask() == 200)
        #expect(try own.findings() == [])
    }

    @Test(arguments: URLMaker.Fault.allCases)
    func `an authorization URL from outside is refused if it belongs to another attempt`(fault: URLMaker.Fault)
        async throws
    {
        let scene = try AuthenticatorScene {
            $0.tokens.authorizationURLProvider = { try URLMaker(fault: fault).url($0) }
        }
        #expect(
            await scene.failure()
                == .signIn(.oauth(OAuthError(.invalidConfiguration(.authorizationURL)))))
        // Nobody was sent anywhere.
        #expect(scene.person.timesAsked == 0 && scene.server.record.requests[.authorization] == nil)
        #expect(try scene.findings() == [])
    }

    @Test func `a request that the caller pushed is used by its reference`() async throws {
        let http = CurlTransport()
        let push: OAuthAuthenticator.TokenHandling.AuthorizationURLProvider = { pending in
            let request = pending.request
            let endpoint = PushedRequestEndpoint(server: request.server, client: request.client, http: http)
            return try await #require(endpoint).push(pending, authentication: .none).takeAddress()
        }
        let scene = try AuthenticatorScene(AuthorizationServerConfiguration(pushedRequests: .required)) {
            $0.tokens.authorizationURLProvider = push
            $0.tokens.requiresPushedRequests = true
        }
        #expect(try await scene.ask() == 200)
        // What isn't pushed is refused here, where it has to be.
        let other = try AuthenticatorScene(AuthorizationServerConfiguration(pushedRequests: .required)) {
            $0.tokens.authorizationURLProvider = { try $0.authorizationURL().takeAddress() }
        }
        #expect(
            await other.failure()
                == .signIn(.oauth(OAuthError(.invalidConfiguration(.authorizationURL)))))
    }

    @Test func `pushed requests can be required`() async throws {
        let scene = try AuthenticatorScene { $0.tokens.requiresPushedRequests = true }
        #expect(
            await scene.failure() == .signIn(.oauth(OAuthError(.invalidMetadata(.withoutPushedRequests)))))
        let other = try AuthenticatorScene(AuthorizationServerConfiguration(pushedRequests: .offered)) {
            $0.tokens.requiresPushedRequests = true
        }
        #expect(try await other.ask() == 200)
        #expect(other.server.record.requests[.pushedAuthorization] == 1)
    }

    // MARK: - Login and refresh

    @Test func `a login provider gets only a validated callback`() async throws {
        let calls = Mutex(0)
        let redirect = try RedirectURI("http://127.0.0.1:9/callback")
        let scene = try AuthenticatorScene {
            $0.provider.redirect = redirect
            $0.tokens.loginProvider = { callback, endpoint, authentication in
                calls.withLock { $0 += 1 }
                return try await endpoint.exchange(callback, authentication: authentication)
            }
        }
        for (query, refusal) in [("state=forged", OAuthError.Code.stateMismatch), ("", .stateMismatch)] {
            let other = try scene.another { $0.userAuthenticator = .presenter(Responding(redirect, "code=x&\(query)")) }
            #expect(await scene.failure(of: other)?.code == .signIn(.oauth(OAuthError(refusal))))
        }
        #expect(calls.withLock { $0 } == 0 && scene.server.record.requests[.token] == nil)

        let mixedUp = try AuthenticatorScene {
            $0.tokens.loginProvider = { callback, endpoint, authentication in
                calls.withLock { $0 += 1 }
                return try await endpoint.exchange(callback, authentication: authentication)
            }
        }
        mixedUp.server.switchOn(.wrongIssuer)
        #expect(await mixedUp.failure()?.code == .signIn(.oauth(OAuthError(.issuerMismatch))))
        #expect(calls.withLock { $0 } == 0 && mixedUp.server.record.requests[.token] == nil)
    }

    /// Brings a response that no server gave.
    private struct Responding: AuthorizationPresenter {
        let redirect: RedirectURI
        let query: String

        init(_ redirect: RedirectURI, _ query: String) { (self.redirect, self.query) = (redirect, query) }

        func presentAuthorization(
            at url: consuming AuthorizationURL, callbackScheme: String
        ) async throws -> AuthorizationResponse? {
            try AuthorizationResponse(pasted: Array("\(redirect.text)?\(query)".utf8).span, redirect: redirect)
        }
    }

    @Test func `a server of the caller's own can exchange the code and refresh the tokens`() async throws {
        // It knows the client's proof; here it passes the form on.
        let http = CurlTransport()
        let refreshes = Mutex(0)
        let scene = try AuthenticatorScene {
            $0.account = "me"
            $0.tokens.loginProvider = { callback, endpoint, _ in
                let form = try callback.form()
                return try await Backend.tokens(form.testText + "&client_id=latchkey", endpoint, http)
            }
            $0.tokens.refreshProvider = { token, endpoint, _ in
                refreshes.withLock { $0 += 1 }
                return try await Backend.tokens(
                    "grant_type=refresh_token&client_id=latchkey&refresh_token=" + token.testText, endpoint, http)
            }
        }
        #expect(try await scene.ask() == 200)
        #expect(scene.server.record.matchingVerifiers == 1)
        for round in 1...2 {
            scene.server.expireAccessTokens()
            #expect(try await scene.ask() == 200)
            #expect(refreshes.withLock { $0 } == round && scene.server.record.refreshes == round)
        }
        #expect(scene.server.record.replays == 0)
        #expect(try await scene.authenticator.login()?.account == "me")
    }

    @Test func `a refresh without a new refresh token keeps the old one`() async throws {
        let used = Mutex<[String]>([])
        let scene = try AuthenticatorScene {
            $0.tokens.refreshProvider = { token, _, _ in
                used.withLock { $0.append(token.testText) }
                return TokenResponse(accessToken: .test("made-up"), expiresInSeconds: 3600)
            }
        }
        #expect(try await scene.ask() == 200)
        for _ in 0..<2 {
            scene.advance(seconds: 4000)
            #expect(try await scene.ask() == 401)
        }
        #expect(Set(used.withLock { $0 }).count == 1)
    }

    @Test(arguments: ["", "tok\r\n", "to ken", "tok\u{E9}"])
    func `a token that no request can carry is refused before it replaces the session`(token: String) async throws {
        let refused = OAuthAuthenticator.Failure(
            .signIn(SignInError(.oauth(OAuthError(.invalidResponse(.malformedToken))))))
        let isFaulty = Mutex(true)
        let scene = try AuthenticatorScene {
            $0.account = "me"
            $0.tokens.refreshProvider = { old, endpoint, authentication in
                guard isFaulty.withLock({ $0 }) else {
                    return try await endpoint.refresh(old, authentication: authentication)
                }
                return TokenResponse(accessToken: .test(token), expiresInSeconds: 3600)
            }
        }
        #expect(try await scene.ask() == 200)
        scene.advance(seconds: 4000)
        await #expect(throws: refused) { _ = try await scene.ask() }
        isFaulty.withLock { $0 = false }
        #expect(try await scene.ask() == 200)
        #expect(scene.server.record.replays == 0)
    }

    @Test
    func `unbound tokens of a caller's own step are refused and revoked if bound ones were requested`()
        async throws
    {
        let refused = OAuthAuthenticator.Failure(
            .signIn(SignInError(.oauth(OAuthError(.invalidResponse(.tokenNotBound))))))
        let login = try AuthenticatorScene {
            $0.account = "me"
            $0.tokens.bindsTokensToKey = true
            $0.tokens.loginProvider = { _, _, _ in TokenResponse(accessToken: .test("made-up")) }
        }
        await #expect(throws: refused) { _ = try await login.ask() }
        #expect(login.server.record.requests[.revocation] == 1)
        #expect(try await login.authenticator.login() == nil)
        let refresh = try AuthenticatorScene {
            $0.tokens.bindsTokensToKey = true
            $0.tokens.refreshProvider = { _, _, _ in
                TokenResponse(accessToken: .test("made-up"), refreshToken: .test("another"), expiresInSeconds: 3600)
            }
        }
        #expect(try await refresh.ask() == 200)
        refresh.advance(seconds: 4000)
        let revocations = refresh.server.record.requests[.revocation] ?? 0
        await #expect(throws: refused) { _ = try await refresh.ask() }
        // The server doesn't know what a stranger made up; it was told all the same.
        #expect((refresh.server.record.requests[.revocation] ?? 0) > revocations)
        #expect(try await refresh.authenticator.login() != nil)
    }

    @Test(arguments: SignInError.Step.allCases)
    func `an error of a caller's own step is typed, and its words are dropped`(step: SignInError.Step) async throws {
        let scene = try AuthenticatorScene {
            switch step {
            case .authorizationURL: $0.tokens.authorizationURLProvider = { _ in throw Prose() }
            case .login: $0.tokens.loginProvider = { _, _, _ in throw Prose() }
            case .refresh: $0.tokens.refreshProvider = { _, _, _ in throw Prose() }
            }
        }
        let error: OAuthAuthenticator.Failure?
        if step == .refresh {
            #expect(try await scene.ask() == 200)
            scene.advance(seconds: 4000)
            error = await scene.failure()
        } else {
            error = await scene.failure()
        }
        #expect(error == .signIn(SignInError(.stepFailed(step))))
        #expect(!"\(try #require(error))".contains("prose"))
    }

    @Test func `a refresh provider can report that the session has ended`() async throws {
        let scene = try AuthenticatorScene(mode: .manualOnly) {
            $0.tokens.refreshProvider = { _, _, _ in throw OAuthError(.sessionEnded) }
        }
        try await scene.authenticator.authenticate()
        scene.advance(seconds: 4000)
        #expect(await scene.failure() == OAuthAuthenticator.Failure(.loginRequired))
        #expect(try await scene.authenticator.login() == nil)
    }

    // MARK: - Keys and clients

    @Test(arguments: [false, true])
    func `tokens can be bound to a key, and each request proves it`(nonces: Bool) async throws {
        let scene = try AuthenticatorScene(
            AuthorizationServerConfiguration(dpopNonces: nonces, requiresDPoP: true)
        ) { $0.tokens.bindsTokensToKey = true }
        #expect(try await scene.ask() == 200)
        scene.server.expireAccessTokens()
        #expect(try await scene.ask() == 200)
        #expect(scene.server.record.proofs >= 4)
        #expect(try scene.findings() == [])
    }

    @Test func `after the loss of a key the person signs in again`() async throws {
        let store = try InMemoryStore()
        let scene = try AuthenticatorScene(AuthorizationServerConfiguration(requiresDPoP: true)) {
            $0.tokens.bindsTokensToKey = true
            $0.storage = .store(store)
        }
        #expect(try await scene.ask() == 200)
        for entry in try await store.list(deadline: .after(.seconds(60))).all() where entry.key.kind == .privateKey {
            try await store.delete(entry.key)
        }
        let manual = try scene.another { $0.mode = .manualOnly }
        await #expect(throws: OAuthAuthenticator.Failure(.loginRequired)) { _ = try await scene.ask(manual) }
        #expect(try await scene.ask(try scene.another()) == 200)
        #expect(scene.person.timesAsked == 2)
    }

    @Test func `a client secret that the caller passes authenticates the client, and isn't stored`() async throws {
        let store = try InMemoryStore()
        let secret = Secret<ClientSecret>.test("a-client-secret-of-thirty-two-ch")
        let client = RegisteredClient(
            "latchkey", redirectURIs: ["http://127.0.0.1/*"], secret: secret.duplicate())
        let scene = try AuthenticatorScene(AuthorizationServerConfiguration(clients: [client])) {
            $0.storage = .store(store)
            $0.useClientSecret(.test("a-client-secret-of-thirty-two-ch"))
            guard case .issuer(let issuer) = $0.provider.server else { return }
            $0.provider =
                (try? .issuer(
                    issuer, name: "test", clientID: "latchkey", scopes: ["read"],
                    proof: .secret(.secretBasic))) ?? $0.provider
        }
        #expect(try await scene.ask() == 200)
        #expect(scene.server.record.clientAuthentication == [.basic: 1])
        let kinds = try await store.list(deadline: .after(.seconds(60))).all().map(\.key.kind)
        #expect(!kinds.contains(.clientSecret))
        #expect(try scene.findings() == [])
    }

    // MARK: - A client of the caller's own

    @Test(arguments: [false, true])
    func `a request of the caller's own client is signed`(bound: Bool) async throws {
        let scene = try AuthenticatorScene(AuthorizationServerConfiguration(dpopNonces: bound, requiresDPoP: bound)) {
            $0.tokens.bindsTokensToKey = bound
        }
        var statuses: [Int] = []
        for _ in 0..<2 {
            let signed = try await scene.authenticator.authenticated(GuardedRequest(.get, scene.url))
            #expect((signed.proof != nil) == bound)
            let response = try await CurlTransport().send(signed)
            statuses.append(response.status)
            try await scene.authenticator.learn(from: response.fields, ofResponseAt: scene.url)
        }
        // The first proof lacks the nonce, unless the account's name was asked for with one.
        #expect(statuses.last == 200)
    }
}

/// What a stranger throws.
private struct Prose: Error, CustomStringConvertible {
    var description: String { "prose of a stranger" }
}

/// The token endpoint as a program's own server sees it.
enum Backend {
    static func tokens(
        _ form: String, _ endpoint: TokenEndpoint, _ http: CurlTransport
    ) async throws -> TokenResponse {
        let type = try #require(HeaderField("Content-Type", "application/x-www-form-urlencoded"))
        let response = try await http.send(
            GuardedRequest(.post, endpoint.server.tokenEndpoint, fields: [type], body: .test(form)))
        let document = try JSONDocument(response.body.duplicate())
        let (access, refresh) = (document.member("access_token"), document.member("refresh_token"))
        return TokenResponse(
            accessToken: try document.secret(try #require(access), as: AccessToken.self),
            refreshToken: try document.secret(try #require(refresh), as: RefreshToken.self), expiresInSeconds: 3600)
    }
}

/// Makes an authorization URL by hand, whole or with one thing wrong.
struct URLMaker: Sendable {
    enum Fault: Sendable, CaseIterable {
        case noState, otherState, twoStates, emptyState, noChallenge, otherChallenge, twoChallenges, plainChallenge,
            noMethod, otherClient, otherRedirect, noRedirect, tokenResponse, otherServer, otherPath, fragment,
            requestObject, twoReferences, userInformation, notAnAddress
    }

    enum Order: Sendable { case usual, reversed }

    var fault: Fault?
    var order = Order.usual

    func url(_ pending: borrowing PendingAuthorization) throws -> Secret<AuthorizationAddress> {
        let (request, state) = (pending.request, pending.state.testText)
        var fields: [(String, String)] = [
            ("response_type", fault == .tokenResponse ? "token" : "code"),
            ("client_id", fault == .otherClient ? "another" : request.client.clientID),
            ("scope", "read%20write"), ("prompt", "login"),
        ]
        if fault != .noRedirect {
            let redirect = request.redirect.text.replacing(":", with: "%3A").replacing("/", with: "%2F")
            fields.append(("redirect_uri", fault == .otherRedirect ? redirect + "2" : redirect))
        }
        switch fault {
        case .noState: break
        case .emptyState: fields.append(("state", ""))
        case .otherState: fields.append(("state", String(state.reversed())))
        case .twoStates: fields += [("state", state), ("state", state)]
        default: fields.append(("state", state))
        }
        switch fault {
        case .noChallenge: break
        case .otherChallenge: fields.append(("code_challenge", String(pending.codeChallenge.reversed())))
        case .twoChallenges: fields += [("code_challenge", pending.codeChallenge), ("code%5Fchallenge", "x")]
        default: fields.append(("code_challenge", pending.codeChallenge))
        }
        if fault != .noMethod { fields.append(("code_challenge_method", fault == .plainChallenge ? "plain" : "S256")) }
        if fault == .requestObject { fields.append(("request", "e30.e30.")) }
        if fault == .twoReferences { fields += [("request_uri", "urn:a"), ("request_uri", "urn:b")] }
        if order == .reversed { fields.reverse() }
        let endpoint = request.server.authorizationEndpoint
        var address = endpoint.origin + endpoint.path
        switch fault {
        case .otherServer: address = "https://elsewhere.example" + endpoint.path
        case .otherPath: address += "2"
        case .userInformation: address = "http://me@" + endpoint.origin.dropFirst(7) + endpoint.path
        case .notAnAddress: address = ""
        default: break
        }
        let query = fields.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
        return .test(address + "?" + query + (fault == .fragment ? "#x" : ""))
    }
}
