import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets
import TestServices

@testable import LatchkeySignIn

// `GitHubOAuthConfig.placeholder.clientID` is "placeholder": an OAuth App of that id does not exist at github.com, so
// only tests that talk to the live GitHub would have to be skipped for want of a real one. There are none here: every
// test runs against the in-process server in GitHub's shape, which knows the client "placeholder".

/// GitHub in the process, a store, and the service between them.
final class GitHubScene: Sendable {
    let server: LoopbackAuthorizationServer
    let store: FaultyStore
    let credentials: GitHubCredentialStore
    let folder: TestDirectory
    let clock = TestClock()
    let log = MemoryLogSink()
    let audit = LeakAudit()
    let service: GitHubAuthService
    let config: GitHubOAuthConfig
    private let hasSecret: Bool

    static let secret = "k3Jw9Qe7Rt1Yu5Io2Pa8"

    init(hasSecret: Bool = true, tokensExpire: Bool = false, makeClient: GitHubClientFactory? = nil) async throws {
        self.hasSecret = hasSecret
        let client = RegisteredClient(
            "placeholder", redirectURIs: ["http://127.0.0.1/*"],
            secret: hasSecret ? Secret<ClientSecret>.test(Self.secret) : nil)
        server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(
                clients: [client], gitHubTokensExpire: tokensExpire, offersDeviceGrant: !hasSecret))
        store = FaultyStore(try InMemoryStore())
        folder = try TestDirectory()
        let leases = LeaseDirectory(path: folder.path + "/leases")
        credentials = GitHubCredentialStore(store, leases: leases)
        if hasSecret { try await credentials.saveClientSecret(.test(Self.secret), clientID: "placeholder") }
        var config = GitHubOAuthConfig.placeholder
        config.endpoints = try GitHubEndpoints(
            authorization: HTTPURL(server.gitHubAuthorizationEndpoint), token: HTTPURL(server.gitHubTokenEndpoint),
            api: HTTPURL(server.origin))
        self.config = config
        let logger = RedactedLogger("test", minimumLevel: .trace, sink: audit.logSink(named: "log", forwardingTo: log))
        service = try GitHubAuthService(
            config: config, store: credentials,
            context: SignInContext(
                http: CurlTransport(), leases: leases, now: { [clock] in clock.now }, log: logger),
            makeClient: makeClient)
    }

    var browser: BrowserUserAgent {
        let follower = PageFollower(http: CurlTransport())
        return BrowserUserAgent(.opener { link throws(UserAgentError) in try await follower.follow(link) })
    }

    /// Without the app's secret GitHub takes device codes alone.
    var person: UserAgent {
        hasSecret ? UserAgent(browser) : .consentingElsewhere()
    }

    func failure(_ agent: (any RedirectUserAgent)? = nil) async -> GitHubAuthError? {
        do throws(GitHubAuthError) {
            try await service.signIn(presenting: UserAgent(agent ?? browser), deadline: .unhurried)
            return nil
        } catch {
            audit.capture(error: error, as: "error")
            return error
        }
    }

    /// A14: what of the run's tokens, codes, verifiers and states is anywhere in the log or in an error.
    func findings() throws -> [String] {
        try server.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in
            if secret.byteCount >= LeakAudit.minimumByteCount { try audit.plant(secret) }
        }
        return try audit.findings(beside: LoopbackAuthorizationServer.prose)
    }
}

/// An agent that ends as it is told.
private struct EndingUserAgent: RedirectUserAgent {
    let error: UserAgentError

    func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt { throw error }
}

struct GitHubAuthServiceTests {
    // MARK: - A4, A9, A11, A13

    @Test(arguments: [true, false])
    func `a sign-in ends with the login that GitHub names, and its token is kept`(hasSecret: Bool) async throws {
        let scene = try await GitHubScene(hasSecret: hasSecret)
        #expect(try await scene.service.account() == nil)
        let info = try await scene.service.signIn(presenting: scene.person)
        #expect(info == GHAuthInfo(login: "octocat", id: 1, scopes: ["repo"]))
        #expect(await scene.service.currentUser() == info)
        #expect(try await scene.credentials.currentAccount() == "octocat")
        #expect(try await scene.credentials.logins() == ["octocat"])
        let kept = try await scene.credentials.token(for: "octocat")?.testText
        #expect(kept?.hasPrefix("gho_") == true)

        let record = scene.server.record
        if hasSecret { #expect(record.lastScopes == ["repo"] && record.lastRequestHadState) }
        #expect(record.matchingVerifiers == (hasSecret ? 1 : 0))
        #expect(record.clientAuthentication.keys.elementsEqual([hasSecret ? .post : .none]))
        let url = try scene.config.endpoints.resource("/user")
        #expect(try await scene.service.send(GuardedRequest(.get, url)).status == 200)
        #expect(try scene.findings() == [])
    }

    @Test func `sign-out deletes the token, and revokes it if the app's secret is known`() async throws {
        let scene = try await GitHubScene()
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        let report = await scene.service.signOut(login: "octocat")
        #expect(report == SignOutReport(account: "octocat", revocation: .revoked, deletion: .deleted))
        #expect(scene.server.record.revocations == 1)
        #expect(try await scene.credentials.currentAccount() == nil)
        #expect(await scene.service.currentUser() == nil)
        #expect(try scene.findings() == [])
    }

    @Test func `without the app's secret the token is deleted, and the report says that it wasn't revoked`()
        async throws
    {
        let scene = try await GitHubScene(hasSecret: false)
        try await scene.service.signIn(presenting: scene.person)
        #expect(
            await scene.service.signOut()
                == SignOutReport(account: "octocat", revocation: .unsupported, deletion: .deleted))
    }

    @Test func `sign-out works if GitHub is unreachable`() async throws {
        let scene = try await GitHubScene()
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        scene.server.stop()
        let report = await scene.service.signOut()
        #expect(report.isSignedOut)
        guard case .failed = report.revocation else {
            Issue.record("the failure is not told")
            return
        }
    }

    /// github.com has one; the token was stored for another server, and never found.
    @Test func `a token that was made elsewhere is used, also if the server has an issuer`() async throws {
        let scene = try await GitHubScene()
        var config = scene.config
        config.endpoints = GitHubEndpoints(
            authorization: config.endpoints.authorization, token: config.endpoints.token, api: config.endpoints.api,
            issuer: try Issuer(scene.server.issuer))
        try await scene.credentials.save(.test("gho_of_hubot"), for: "hubot", config: config)
        let service = try GitHubAuthService(
            config: config, store: scene.credentials,
            context: SignInContext(
                http: CurlTransport(), leases: LeaseDirectory(path: scene.folder.path + "/leases")))
        #expect(try await service.accessToken(login: "hubot").testText == "gho_of_hubot")
    }

    @Test(arguments: ["", "gho_of_hubot\n", "gho of hubot"])
    func `a token that no request can carry replaces no login`(token: String) async throws {
        let scene = try await GitHubScene()
        try await scene.credentials.save(.test("gho_of_hubot"), for: "hubot", config: scene.config)
        let error = await #expect(throws: StoreError.self) {
            try await scene.credentials.save(.test(token), for: "hubot", config: scene.config)
        }
        #expect(error?.code == .unsupported)
        #expect(try await scene.service.accessToken(login: "hubot").testText == "gho_of_hubot")
    }

    @Test func `several logins exist side by side`() async throws {
        let scene = try await GitHubScene()
        try await scene.credentials.save(.test("gho_of_hubot"), for: "hubot", config: scene.config)
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        #expect(try await scene.service.accounts().map(\.login) == ["hubot", "octocat"])
        #expect(await scene.service.currentUser()?.login == "octocat")
        try await scene.service.use(login: "hubot")
        #expect(try await scene.service.accessToken().testText == "gho_of_hubot")
        await scene.service.signOut(login: "hubot")
        #expect(try await scene.credentials.currentAccount() == nil)
        #expect(try await scene.credentials.logins() == ["octocat"])
        try await scene.credentials.setCurrentAccount("octocat")
        #expect(await scene.service.currentUser()?.login == "octocat")
        #expect(try await scene.credentials.deleteToken(for: "octocat"))
        #expect(try await !scene.credentials.deleteToken(for: "octocat"))
        #expect(try await scene.credentials.token(for: "octocat") == nil && scene.server.record.revocations == 0)
    }

    @Test func `an expiring token is refreshed`() async throws {
        let scene = try await GitHubScene(tokensExpire: true)
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        let first = try await scene.service.accessToken().testText
        scene.server.expireAccessTokens()
        let url = try scene.config.endpoints.resource("/user")
        #expect(try await scene.service.send(GuardedRequest(.get, url)).status == 200)
        #expect(try await scene.service.accessToken().testText != first)
        #expect(scene.server.record.refreshes == 1)

        scene.server.revokeEverything()
        await #expect(throws: GitHubAuthError.sessionEnded) {
            _ = try await scene.service.send(GuardedRequest(.get, url))
        }
        #expect(try await scene.service.account() == nil)
        #expect(try scene.findings() == [])
    }

    // MARK: - A3

    @Test func `the client is made from a lent token`() async throws {
        struct FixedClient: GitHubClient {
            func validateToken() async throws(GitHubAPIError) -> GHAuthInfo { GHAuthInfo(login: "somebody", id: 7) }
        }
        let prefixes = Mutex<[String]>([])
        let lengths: GitHubClientFactory = { token in
            let text = String(token.testText.prefix(4))
            prefixes.withLock { $0.append(text) }
            return FixedClient()
        }
        let scene = try await GitHubScene(makeClient: lengths)
        #expect(try await scene.service.signIn(presenting: UserAgent(scene.browser)).login == "somebody")
        #expect(prefixes.withLock { $0 } == ["gho_"])
    }

    // MARK: - A6, A15

    @Test func `the authorization URL is GitHub's own, with every protection of the flow`() throws {
        #expect(GitHubOAuthConfig.placeholder.clientID == "placeholder")
        let provider = try GitHubOAuthConfig.placeholder.provider
        guard case .endpoints(let server) = provider.server else {
            Issue.record("no endpoints")
            return
        }
        let redirect = provider.redirect.withPort(4567)
        let pending = try AuthorizationRequest(server: server, client: provider.client, redirect: redirect)
            .begin(random: .system)
        let text = try pending.authorizationURL().testText
        #expect(text.hasPrefix("https://github.com/login/oauth/authorize?"))
        let fields = text.split(separator: "?")[1].split(separator: "&").map { $0.split(separator: "=") }
        let query = Dictionary(uniqueKeysWithValues: fields.map { (String($0[0]), String($0[1])) })
        #expect(query["client_id"] == "placeholder")
        #expect(query["redirect_uri"] == "http%3A%2F%2F127.0.0.1%3A4567%2FvpALbaqWjGAstM4p%2Fcallback")
        #expect(query["scope"] == "repo")
        #expect(query["code_challenge_method"] == "S256")
        #expect(query["code_challenge"]?.utf8.count == 43)
        #expect(query["state"]?.utf8.count == 43)
        #expect(query["client_secret"] == nil)
    }

    @Test func `an Enterprise host has separate endpoints, and only a host is accepted`() throws {
        let server = try GitHubEndpoints.enterprise(host: "git.example.org:8443")
        #expect(server.authorization.text == "https://git.example.org:8443/login/oauth/authorize")
        #expect(try server.resource("/user").text == "https://git.example.org:8443/api/v3/user")
        let cloud = try GitHubEndpoints.enterprise(host: "octo.ghe.com")
        #expect(try cloud.resource("/user").text == "https://api.octo.ghe.com/user")
        #expect(try GitHubEndpoints.gitHub.resource("/user").text == "https://api.github.com/user")
        for host in ["", "https://x", "x/y", "x?y", "a@b", "x y", "x:0"] {
            #expect(throws: OAuthError(.invalidConfiguration(.issuer))) { try GitHubEndpoints.enterprise(host: host) }
        }
    }

    @Test func `a short private-use scheme needs an explicit choice`() throws {
        #expect(throws: OAuthError(.invalidConfiguration(.redirectScheme))) {
            try RedirectURI("relay://oauth/callback")
        }
        let redirect = try RedirectURI("relay://oauth/callback", allowingAnyPrivateScheme: true)
        #expect(try GitHubOAuthConfig(clientID: "x", redirect: redirect).provider.redirect == redirect)
    }

    // MARK: - A8, A10, A11, A12

    static let faults: [(AuthorizationServerFault, GitHubAuthError)] = [
        (.denied, .accessDenied),
        (.errorWithStatus200(.token), .exchangeFailed(statusCode: 200, serverError: .badVerificationCode)),
        (.status(400, .token), .exchangeFailed(statusCode: 400, serverError: .invalidRequest)),
        (.status(500, .token), .exchangeFailed(statusCode: 500)),
        (.temporaryRedirect(.token), .exchangeFailed(statusCode: 307)),
        (.truncatedJSON(.token), .invalidResponse), (.hugeBody(byteCount: 1 << 20, .token), .invalidResponse),
        (.missingAccessToken, .invalidResponse), (.unknownTokenType, .invalidResponse),
        (.status(401, .userInfo), .apiError(GitHubAPIError(.unauthorized))),
        (.status(502, .userInfo), .apiError(GitHubAPIError(.refused(statusCode: 502)))),
        (.truncatedJSON(.userInfo), .apiError(GitHubAPIError(.invalidResponse))),
    ]

    @Test(arguments: faults)
    func `a fault of GitHub's is a typed error, and no token is kept`(
        fault: AuthorizationServerFault, error: GitHubAuthError
    ) async throws {
        let scene = try await GitHubScene()
        scene.server.switchOn(fault)
        #expect(await scene.failure() == error)
        #expect(try await scene.credentials.logins() == [])
        #expect(try await scene.credentials.currentAccount() == nil)
        let record = scene.server.record
        #expect(record.requests[.stray] == nil)
        // Whatever was issued and arrived is revoked.
        if case .apiError = error { #expect(record.revocations == 1) }
        #expect(try scene.findings() == [])
    }

    @Test(arguments: [AuthorizationServerFault.noResponse(.token), .cutConnection(.token), .noResponse(.userInfo)])
    func `an incomplete response is network trouble`(fault: AuthorizationServerFault) async throws {
        let scene = try await GitHubScene()
        scene.server.switchOn(fault)
        guard case .networkError? = await scene.failure() else {
            Issue.record("no network error")
            return
        }
        #expect(try await scene.credentials.logins() == [])
        #expect(try scene.findings() == [])
    }

    @Test(arguments: [AuthorizationServerFault.wrongState, .missingState])
    func `a missing or different state is refused before any token request`(
        fault: AuthorizationServerFault
    ) async throws {
        let scene = try await GitHubScene()
        scene.server.switchOn(fault)
        #expect(await scene.failure(CarelessUserAgent()) == .stateMismatch)
        #expect(scene.server.record.requests[.token] == nil)
        #expect(try scene.findings() == [])
    }

    @Test func `refusals by the person and failures of the user agent are distinguished`() async throws {
        let scene = try await GitHubScene()
        let noDisplay = UserAgentError.unavailable(.noDisplay)
        for (given, told) in [
            (UserAgentError.userCancelled, GitHubAuthError.userCancelled), (.timedOut, .timedOut),
            (.cancelled, .cancelled), (.onlyForeignResponses, .stateMismatch),
            (noDisplay, .userAgentUnavailable(noDisplay)),
        ] {
            #expect(await scene.failure(EndingUserAgent(error: given)) == told)
        }
        #expect(scene.server.record.requests == [:])
    }

    @Test func `if the store fails after the exchange, the token is revoked`() async throws {
        let scene = try await GitHubScene()
        scene.store.refuseSaves(of: .session)
        guard case .store(let error)? = await scene.failure() else {
            Issue.record("no store error")
            return
        }
        #expect(error.code == .cannotWrite)
        #expect(scene.server.record.revocations == 1)
        #expect(try scene.findings() == [])
    }

    @Test func `an unreadable store is distinguished from a missing sign-in`() async throws {
        let scene = try await GitHubScene()
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        scene.store.refuseReads(true)
        #expect(await scene.service.currentUser() == nil)
        guard
            case .store(let error)? = await #expect(
                throws: GitHubAuthError.self,
                performing: {
                    try await scene.service.account()
                })
        else {
            Issue.record("no store error")
            return
        }
        #expect(error.code == .locked)
    }

    // MARK: - A14

    @Test func `everything is logged under GitHub's own category`() async throws {
        let scene = try await GitHubScene()
        try await scene.service.signIn(presenting: UserAgent(scene.browser))
        await scene.service.signOut()
        let records = scene.log.records
        #expect(records.count > 3)
        for record in records { #expect(record.category.name.description == "latchkey.github.auth") }
    }

    @Test func `each error's text consists of our words`() {
        let errors: [GitHubAuthError] = [
            .userCancelled, .accessDenied, .stateMismatch, .issuerMismatch, .exchangeFailed(statusCode: 400),
            .invalidResponse, .store(.timedOut), .apiError(GitHubAPIError(.forbidden)), .timedOut, .cancelled,
            .userAgentUnavailable(.unavailable(.noDisplay)), .notSignedIn, .noCurrentAccount, .sessionEnded,
            .configuration(OAuthError(.invalidConfiguration(.clientID))),
        ]
        #expect(Set(errors.map(\.codeName.description)).count == errors.count)
        for error in errors { #expect(!error.cause.text.isEmpty && "\(error)" == error.logMessage.text) }
    }
}
