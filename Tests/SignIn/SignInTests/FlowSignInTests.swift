import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeyProcess
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets
import TestServices

@testable import LatchkeySignIn

/// Sign-ins by pushed requests and on other devices, and ID tokens whose signatures are checked, against a server in
/// the same process.
struct FlowSignInTests {
    private static func provider(
        _ pushes: OAuthProvider.PushedRequests, dpop: Bool = false
    ) -> (LoopbackAuthorizationServer) throws -> OAuthProvider {
        { server in
            var provider = try OAuthProvider.issuer(
                Issuer(server.issuer), name: "test", clientID: "latchkey",
                scopes: ["openid", "read"], usesDPoP: dpop)
            provider.pushes = pushes
            return provider
        }
    }

    // MARK: - Pushed requests

    @Test(arguments: [
        (AuthorizationServerConfiguration.PushedRequests.offered, false), (.required, false), (.required, true),
    ])
    func `a request is pushed if the server offers PAR`(
        offer: AuthorizationServerConfiguration.PushedRequests, dpop: Bool
    ) async throws {
        let scene = try SignInScene(
            AuthorizationServerConfiguration(dpopNonces: dpop, requiresDPoP: dpop, pushedRequests: offer),
            provider: Self.provider(.whenOffered, dpop: dpop))
        try await scene.signIn()
        #expect(scene.requests[.pushedAuthorization] == 1)
        #expect(scene.server.record.lastRequestHadState && scene.server.record.matchingVerifiers == 1)
        #expect(try scene.findings() == [])
    }

    @Test func `a provider with required PAR refuses a server without it before a prompt`() async throws {
        let scene = try SignInScene(provider: Self.provider(.required))
        #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidMetadata(.withoutPushedRequests)))))
        #expect(scene.requests[.authorization] == nil)
    }

    @Test(arguments: [
        AuthorizationServerFault.status(400, .pushedAuthorization), .status(503, .pushedAuthorization),
        .noResponse(.pushedAuthorization), .temporaryRedirect(.pushedAuthorization),
        .truncatedJSON(.pushedAuthorization), .hugeBody(byteCount: 1 << 20, .pushedAuthorization),
    ])
    func `a request that can't be pushed isn't sent through the browser instead`(fault: AuthorizationServerFault)
        async throws
    {
        let scene = try SignInScene(
            AuthorizationServerConfiguration(pushedRequests: .offered), provider: Self.provider(.whenOffered))
        scene.server.switchOn(fault)
        #expect(await scene.failure() != nil)
        #expect(scene.requests[.authorization] == nil && scene.requests[.token] == nil)
        #expect(!scene.server.record.strayCredentials)
        #expect(try scene.findings() == [])
    }

    // MARK: - Another device

    /// A person who reads the code and goes to the address with it, or doesn't.
    private final class Person: DevicePrompt {
        let goes: Bool
        private let seen = Mutex<[String]>([])
        private let outcomes = Mutex(0)

        init(goes: Bool = true) { self.goes = goes }

        var codes: [String] { seen.withLock { $0 } }
        var finishes: Int { outcomes.withLock { $0 } }

        func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError) {
            let code = device.userCode.testText
            seen.withLock { $0.append(code) }
            guard goes else { return }
            do {
                _ = try await Fetched.get(device.address.text + "?user_code=" + code)
            } catch {
                throw .unavailable(.pageFailed)
            }
        }

        func finish(_ outcome: SignInOutcome) async { outcomes.withLock { $0 += 1 } }
    }

    private func deviceScene(
        lifetime: Duration = .seconds(600), dpop: Bool = false
    ) throws -> SignInScene {
        try SignInScene(
            AuthorizationServerConfiguration(
                dpopNonces: dpop, requiresDPoP: dpop, offersDeviceGrant: true, deviceCodeLifetime: lifetime),
            provider: Self.provider(.whenOffered, dpop: dpop))
    }

    private func failure(_ scene: SignInScene, _ person: Person) async -> SignInError? {
        do throws(SignInError) {
            try await scene.service.signIn(showing: person, deadline: .unhurried)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [false, true])
    func `a person confirms on another device, and the session is like any other`(dpop: Bool) async throws {
        let scene = try deviceScene(dpop: dpop)
        let person = Person()
        let summary = try await scene.service.signIn(showing: person, deadline: .unhurried)
        #expect(summary.account == "octocat" && summary.subject == "octocat")
        #expect(person.codes.count == 1 && person.finishes == 1)
        #expect(scene.server.record.hurriedQuestions == 0)
        let url = try HTTPURL(scene.server.userInfoEndpoint)
        #expect(try await scene.service.send(GuardedRequest(.get, url)).status == 200)
        #expect(try scene.findings() == [])
    }

    /// It said that there was neither a display nor a terminal.
    @Test func `a program with a device prompt alone signs in with a code, if the server supports codes`() async throws
    {
        let scene = try deviceScene()
        let person = Person()
        let agent = UserAgent.automatic(
            in: ProgramEnvironment(variables: [:], home: scene.folder.path), devicePrompt: person)
        #expect(try await scene.service.signIn(presenting: agent, deadline: .unhurried).account == "octocat")
        #expect(person.codes.count == 1)
        let without = try SignInScene(provider: Self.provider(.whenOffered))
        await #expect(throws: SignInError(.userAgent(.unavailable(.noWay)))) {
            try await without.service.signIn(presenting: agent, deadline: .unhurried)
        }
    }

    /// The browser came back with a code that GitHub then refused.
    @Test func `at a service that wants a secret for other methods, a program without one shows a code`() async throws {
        let scene = try SignInScene(AuthorizationServerConfiguration(offersDeviceGrant: true)) { server in
            try .gitHub(
                clientID: "latchkey",
                endpoints: GitHubEndpoints(
                    authorization: HTTPURL(server.gitHubAuthorizationEndpoint),
                    token: HTTPURL(server.gitHubTokenEndpoint), api: HTTPURL(server.origin)))
        }
        let person = Person()
        let display = ProgramEnvironment(variables: ["DISPLAY": ":0", "BROWSER": "false"], home: scene.folder.path)
        let agent = UserAgent.automatic(in: display, devicePrompt: person)
        #expect(try await scene.service.signIn(presenting: agent, deadline: .unhurried).account == "octocat")
        #expect(person.codes.count == 1)
        // A browser has no chance there.
        #expect(await scene.failure()?.codeName.description == "oauth.exchange-failed")
        #expect(try scene.findings() == [])
    }

    @Test func `a server that says nothing has the time that the caller gives it`() async throws {
        let scene = try SignInScene(provider: SignInScene.provider)
        scene.server.switchOn(.held(.metadata))
        let error = await scene.failure(deadline: .after(.milliseconds(200)))
        #expect(error?.codeName.description == "http.timed-out")
        scene.server.switchOff(.held(.metadata))
    }

    @Test func `a refusal, an expiry and a missing endpoint are distinguished, and leave no session`() async throws {
        let denied = try deviceScene()
        denied.server.switchOn(.denied)
        #expect(
            await failure(denied, Person())
                == SignInError(.oauth(OAuthError(.accessDenied, serverError: .accessDenied))))
        let late = try deviceScene(lifetime: .seconds(2))
        // Either of the two notices first.
        guard case .oauth(let error)? = await failure(late, Person(goes: false))?.code else {
            Issue.record("no error of the server's")
            return
        }
        #expect(error.code == .deviceCodeExpired)
        let expired = try deviceScene()
        expired.server.switchOn(.deviceCodeExpired)
        #expect(
            await failure(expired, Person())
                == SignInError(.oauth(OAuthError(.deviceCodeExpired, serverError: .expiredToken))))
        let without = try SignInScene(provider: Self.provider(.whenOffered))
        #expect(
            await failure(without, Person())
                == SignInError(.oauth(OAuthError(.invalidMetadata(.withoutDeviceGrant)))))
        for scene in [denied, late, expired, without] { #expect(try await scene.service.accounts() == []) }
    }

    @Test func `cancelling while the person is away ends the wait`() async throws {
        let scene = try deviceScene()
        let person = Person(goes: false)
        let task = Task { await failure(scene, person) }
        while (scene.requests[.token] ?? 0) < 1 { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(person.finishes == 1)
    }

    // MARK: - ID tokens

    @Test func `a server's new signing key is accepted, and another's is not`() async throws {
        let scene = try SignInScene(provider: Self.provider(.whenOffered))
        try await scene.signIn()
        #expect(scene.requests[.keySet] == 1)
        try await scene.signIn()
        #expect(scene.requests[.keySet] == 1)
        scene.server.rotateSigningKey()
        try await scene.signIn()
        #expect(scene.requests[.keySet] == 2)
        for (fault, problem) in [
            (AuthorizationServerFault.forgedIDToken, OAuthError.Malformation.idTokenSignature),
            (.symmetricIDToken, .idTokenAlgorithm),
        ] {
            scene.server.switchOn(fault)
            #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidResponse(problem)))))
            scene.server.switchOff(fault)
        }
        #expect(try scene.findings() == [])
    }

    @Test(arguments: [
        AuthorizationServerFault.status(500, .keySet), .truncatedJSON(.keySet), .noResponse(.keySet),
        .hugeBody(byteCount: 1 << 20, .keySet), .temporaryRedirect(.keySet),
    ])
    func `without the server's keys a sign-in fails`(fault: AuthorizationServerFault) async throws {
        let scene = try SignInScene(provider: Self.provider(.whenOffered))
        scene.server.switchOn(fault)
        #expect(await scene.failure() != nil)
        #expect(try await scene.service.accounts() == [])
    }

    @Test(arguments: [86_400, -86_400])
    func `an ID token's times are compared with the server's clock if ours is a day off`(seconds: Int64) async throws {
        let scene = try SignInScene(provider: Self.provider(.whenOffered))
        scene.clock.advance(seconds: seconds)
        try await scene.signIn()
        #expect(try await scene.service.accounts().count == 1)
    }

    @Test func `a server whose time is days away from ours is refused`() async throws {
        let scene = try SignInScene(provider: Self.provider(.whenOffered))
        scene.clock.advance(seconds: 4 * 86_400)
        #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidResponse(.idTokenExpired)))))
        #expect(scene.server.record.revocations == 1)
    }

    // MARK: - Registration

    @Test func `a client that registered itself signs in`() async throws {
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(allowsRegistration: true))
        let http = CurlTransport()
        let metadata = try await AuthorizationServerMetadata.discover(Issuer(server.issuer), over: http)
        let endpoint = try #require(RegistrationEndpoint(server: metadata, http: http))
        let redirect = try RedirectURI.loopback(authority: metadata.authority)
        let client = try await endpoint.register(ClientRegistration(name: "App", redirects: [redirect]))
        let clientID = client.clientID
        #expect(server.record.registrations == 1)
        let scene = try SignInScene(AuthorizationServerConfiguration()) { _ in
            try .issuer(Issuer(server.issuer), name: "test", clientID: clientID)
        }
        try await scene.signIn()
        #expect(server.record.codesExchanged == 1)
    }
}
