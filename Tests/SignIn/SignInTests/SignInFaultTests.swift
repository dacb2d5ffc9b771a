import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeyTestServer
import Synchronization
import Testing
import TestServices

@testable import LatchkeySignIn

/// Everything that a server, a person or a store can do wrong during a sign-in.
struct SignInFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let fault: AuthorizationServerFault
        let code: OAuthError.Code
        var reachesTokenEndpoint = true
        var serverError: ServerErrorCode?

        var testDescription: String { "\(fault)" }
    }

    static let faults: [Fault] = [
        Fault(fault: .wrongIssuer, code: .issuerMismatch, reachesTokenEndpoint: false),
        Fault(fault: .missingIssuer, code: .issuerMismatch, reachesTokenEndpoint: false),
        Fault(fault: .denied, code: .accessDenied, reachesTokenEndpoint: false),
        Fault(fault: .metadataNamesAnotherIssuer, code: .issuerMismatch, reachesTokenEndpoint: false),
        Fault(fault: .metadataWithoutS256, code: .invalidMetadata(.withoutS256), reachesTokenEndpoint: false),
        Fault(
            fault: .errorWithStatus200(.token), code: .exchangeFailed(statusCode: 200),
            serverError: .badVerificationCode),
        Fault(fault: .status(400, .token), code: .exchangeFailed(statusCode: 400), serverError: .invalidRequest),
        Fault(fault: .status(500, .token), code: .exchangeFailed(statusCode: 500)),
        Fault(fault: .truncatedJSON(.token), code: .invalidResponse(.notJSON)),
        Fault(fault: .temporaryRedirect(.token), code: .exchangeFailed(statusCode: 307)),
        Fault(fault: .hugeBody(byteCount: 4 << 20, .token), code: .invalidResponse(.tooLarge)),
        Fault(fault: .unknownTokenType, code: .invalidResponse(.unknownTokenType)),
        Fault(fault: .missingAccessToken, code: .invalidResponse(.missingAccessToken)),
    ]

    @Test(arguments: faults)
    func `a fault of the server is a typed error, and leaves nothing`(fault: Fault) async throws {
        let scene = try SignInScene()
        scene.server.switchOn(fault.fault)
        guard case .oauth(let error)? = await scene.failure()?.code else { return #expect(Bool(false), "no error") }
        #expect(error.code == fault.code && error.serverError == fault.serverError)
        #expect(try await scene.service.accounts() == [])
        #expect(scene.store.saveCount == 0)
        #expect((scene.requests[.token] ?? 0) == (fault.reachesTokenEndpoint ? 1 : 0))
        #expect(scene.requests[.stray] == nil)
        #expect(try scene.findings() == [])
    }

    @Test(arguments: [AuthorizationServerFault.noResponse(.token), .cutConnection(.token)])
    func `an incomplete token response is network trouble`(fault: AuthorizationServerFault) async throws {
        let scene = try SignInScene()
        scene.server.switchOn(fault)
        guard case .oauth(let error)? = await scene.failure()?.code, case .networkError = error.code else {
            Issue.record("no network error")
            return
        }
        #expect(error.isTransient)
        #expect(try await scene.service.accounts() == [])
    }

    @Test(arguments: [AuthorizationServerFault.wrongState, .missingState])
    func `a response with another state or none is refused, and no token request is sent`(
        fault: AuthorizationServerFault
    ) async throws {
        let scene = try SignInScene()
        scene.server.switchOn(fault)
        // An agent that believes what it gets: the service doesn't.
        await #expect(throws: SignInError.oauth(OAuthError(.stateMismatch))) {
            try await scene.service.signIn(presenting: CarelessUserAgent(), deadline: .unhurried)
        }
        #expect(scene.requests[.token] == nil)
        #expect(try scene.findings() == [])
    }

    /// It waited for its whole deadline, on purpose: whoever sends such a response must not end a sign-in. The person of
    /// a test is nobody to wait for, once they have gone.
    @Test(.timeLimit(.minutes(5)), arguments: [AuthorizationServerFault.wrongState, .missingState])
    func `a person who gets another state gives up, which ends the sign-in`(
        fault: AuthorizationServerFault
    ) async throws {
        let scene = try SignInScene()
        scene.server.switchOn(fault)
        await #expect(throws: SignInError.oauth(OAuthError(.stateMismatch))) {
            try await scene.service.signIn(presenting: .consenting())
        }
        #expect(scene.requests[.token] == nil)
        scene.server.switchOffAllFaults()
        try await scene.service.signIn(presenting: .consenting())
    }

    @Test(.timeLimit(.minutes(5)))
    func `a test's person who is sent back by another issuer ends the sign-in, and nothing is exchanged`() async throws
    {
        let scene = try SignInScene()
        scene.server.switchOn(.wrongIssuer)
        await #expect(throws: SignInError.oauth(OAuthError(.issuerMismatch))) {
            try await scene.service.signIn(presenting: .consenting())
        }
        #expect(scene.requests[.token] == nil)
    }

    @Test func `if only responses with another state came, the error says so`() async throws {
        let log = MemoryLogSink()
        let receiver = try LoopbackReceiver.listen(
            at: .loopback(path: "/callback"), log: RedactedLogger("test", minimumLevel: .info, sink: log))
        _ = try await Fetched.get(receiver.redirect.text + "?code=x&state=forged")
        let seen = receiver.handler.hasSeenForeign
        #expect(!seen, "nothing is expected yet")
        let server = try ScriptedServer()
        let pending = try server.begin(receiver.redirect)
        receiver.handler.expect(try pending.authorizationURL(), gate: pending.responseGate())
        _ = try await Fetched.get(receiver.redirect.text + "?code=x&state=forged")
        _ = try await Fetched.get(receiver.redirect.text + "?code=x&code=y&state=forged")
        await #expect(throws: UserAgentError.onlyForeignResponses) {
            _ = try await receiver.response(until: .after(.zero))
        }
        // The person is told at once, and once, however many come.
        let told = log.records.filter { $0.message.text.contains("the sign-in still waits") }
        #expect(told.map(\.level) == [.warning, .info, .info])
        #expect(told.last?.message.text.contains("isn't a whole response") == true)
    }

    @Test func `a response with repeated parameters is ignored`() async throws {
        let scene = try SignInScene()
        scene.server.switchOn(.repeatedParameters)
        await #expect(throws: SignInError.userAgent(.unavailable(.pageFailed))) {
            try await scene.service.signIn(presenting: CarelessUserAgent(), deadline: .unhurried)
        }
        #expect(scene.requests[.token] == nil)
    }

    @Test func `a person who refuses on the page denies access`() async throws {
        let scene = try SignInScene(AuthorizationServerConfiguration(consent: .page))
        #expect(await scene.failure(.refuse) == .oauth(OAuthError(.accessDenied)))
        #expect(scene.requests[.token] == nil)
    }

    @Test func `an unreachable server is reported`() async throws {
        // On a port that no other test's server is given when this one has left it.
        let scene = try SignInScene(AuthorizationServerConfiguration(port: LoopbackPort.free()))
        scene.server.stop()
        guard case .oauth(let error)? = await scene.failure()?.code, case .networkError(let cause) = error.code else {
            Issue.record("no network error")
            return
        }
        #expect(cause.code == .cannotConnect)
    }

    @Test func `a locked store is reported before a prompt`() async throws {
        let scene = try SignInScene()
        scene.store.refuseReads(true)
        guard case .store(let error)? = await scene.failure()?.code else {
            Issue.record("no store error")
            return
        }
        #expect(error.code == .locked)
        #expect(scene.requests == [:])
    }

    @Test func `a directory that can't hold leases is reported before a prompt`() async throws {
        let scene = try SignInScene()
        try scene.folder.write("leases", "a file")
        guard case .store(let error)? = await scene.failure()?.code else {
            Issue.record("no store error")
            return
        }
        #expect(error.code == .unavailable && error.cause.text.contains("lease"))
        #expect(scene.requests == [:])
    }

    // MARK: - After the exchange

    /// What the server says of the person is kept in the clear and listed, so a token must not get there.
    @Test(arguments: [nil, "ada"] as [String?])
    func `a server that calls the person by their token is refused, and the tokens are revoked`(
        _ name: String?
    ) async throws {
        let scene = try SignInScene()
        scene.server.switchOn(.accessTokenAsName)
        guard let name else {
            #expect(await scene.failure() == SignInError(.tokenInAccount))
            #expect(scene.store.saveCount == 0)
            #expect(scene.server.record.revocations == 1)
            return #expect(try scene.findings() == [])
        }
        // Whoever gives the account a name themselves needs none of the server's.
        #expect(try await scene.signIn(account: name).account == name)
        #expect(try scene.findings() == [])
    }

    @Test func `a token among the scopes isn't stored as a scope, at the sign-in or after a refresh`() async throws {
        let scene = try SignInScene()
        scene.server.switchOn(.accessTokenInScope)
        #expect(try await scene.signIn().scopes == [])
        scene.server.switchOff(.accessTokenInScope)
        scene.clock.advance(seconds: 4000)
        _ = try await scene.token()
        #expect(try await scene.service.sessions.summaries().map(\.scopes) == [["read", "write"]])
        scene.server.switchOn(.accessTokenInScope)
        scene.clock.advance(seconds: 4000)
        _ = try await scene.token()
        #expect(try await scene.service.sessions.summaries().map(\.scopes) == [[]])
        #expect(scene.server.record.refreshes == 2)
        #expect(try scene.findings() == [])
    }

    @Test(arguments: [CredentialKind.session, .current])
    func `if the store refuses, the tokens are revoked, the refresh token first`(kind: CredentialKind) async throws {
        let scene = try SignInScene()
        scene.store.refuseSaves(of: kind)
        guard case .store(let error)? = await scene.failure()?.code else {
            Issue.record("no store error")
            return
        }
        #expect(error.code == .cannotWrite)
        #expect(error.platform == .errno(28))
        #expect(scene.server.record.codesExchanged == 1)
        #expect(scene.server.record.revocations == 1)
        #expect(try await scene.service.accounts() == [])
        #expect(try await scene.service.currentAccount() == nil)
        #expect(try scene.findings() == [])
    }

    static let lookupFaults: [AuthorizationServerFault] = [
        .status(500, .userInfo), .status(401, .userInfo), .status(403, .userInfo), .status(429, .userInfo),
        .truncatedJSON(.userInfo), .noResponse(.userInfo), .temporaryRedirect(.userInfo),
    ]

    /// The tokens were revoked: the person had been to the browser for nothing.
    @Test(arguments: lookupFaults)
    func `a server that can't name the account costs no sign-in, and the account gets the provider's name`(
        fault: AuthorizationServerFault
    ) async throws {
        let scene = try SignInScene()
        scene.server.switchOn(fault)
        let session = try await scene.signIn()
        #expect(session.account == "test" && session.naming == .byProvider && session.subject == nil)
        #expect(scene.server.record.revocations == 0 && scene.requests[.stray] == nil)
        #expect(try await !scene.token().isEmpty)
        #expect(try scene.findings() == [])
    }

    /// The second may be another person, whom the server would name at another time.
    @Test(arguments: [AuthorizationServerFault.status(500, .userInfo), .status(429, .userInfo), .noResponse(.userInfo)])
    func `while the server fails to name people, no sign-in replaces another's session`(
        fault: AuthorizationServerFault
    ) async throws {
        let scene = try SignInScene()
        scene.server.switchOn(fault)
        try await scene.signIn()
        let first = try await scene.token()
        let second = try await scene.signIn()
        #expect(second.account == "test-2" && second.naming == .byProvider)
        #expect(try await scene.token("test") == first && scene.server.record.revocations == 0)
        // One that never names them leaves one session.
        scene.server.switchOff(fault)
        scene.server.switchOn(.status(403, .userInfo))
        #expect(try await scene.signIn().account == "test")
        #expect(try await scene.service.accounts().map(\.account) == ["test", "test-2"])
    }

    @Test func `the ID token's name is the account's name if it has one`() async throws {
        let scene = try SignInScene { server in
            try .issuer(Issuer(server.issuer), name: "test", clientID: "latchkey", scopes: ["openid"])
        }
        scene.server.switchOn(.status(500, .userInfo))
        let session = try await scene.signIn()
        #expect(session.account == "octocat" && session.naming == .byServer && session.subject == "octocat")
    }

    @Test func `cancelling while the account is looked up revokes the tokens`() async throws {
        let scene = try SignInScene()
        scene.server.switchOn(.slow(.seconds(20), .userInfo))
        let task = Task { await scene.failure() }
        while scene.requests[.userInfo] == nil { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        let error = await task.value
        #expect(error != nil)
        #expect(scene.server.record.revocations == 1)
        #expect(try await scene.service.accounts() == [])
    }

    @Test(arguments: [CredentialKind.session, .current])
    func `a store that refuses a second sign-in still has the first one's session`(kind: CredentialKind) async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        try await scene.signIn(account: "other")
        let first = try await scene.token("octocat")
        scene.store.refuseSaves(of: kind, times: 1)
        guard case .store? = await scene.failure()?.code else {
            Issue.record("no store error")
            return
        }
        #expect(try await scene.token("octocat") == first)
        #expect(try await scene.service.currentAccount()?.account == "other")
        #expect(scene.server.record.revocations == 1)
    }

    @Test(arguments: [CredentialKind.session, .current])
    func `cancelling while the session is saved leaves nothing, and revokes the tokens`(
        kind: CredentialKind
    ) async throws {
        let scene = try SignInScene()
        let task = Mutex<Task<SignInError?, Never>?>(nil)
        scene.store.beforeSaving(kind) { task.withLock { $0?.cancel() } }
        // The sign-in can't get ahead of its own task.
        task.withLock { $0 = Task { await scene.failure() } }
        #expect(await task.withLock({ $0 })?.value == .cancelled)
        #expect(try await scene.service.accounts() == [])
        #expect(try await scene.service.currentAccount() == nil)
        #expect(scene.server.record.revocations == 1)
    }

    @Test func `the page says that the sign-in failed if it failed after the response`() async throws {
        let scene = try SignInScene()
        scene.store.refuseSaves(of: .session)
        let follower = PageKeeper()
        _ = try? await scene.service.signIn(presenting: follower.agent, deadline: .unhurried)
        let page = try await follower.lastPage()
        #expect(page.contains("You are not signed in"))
        #expect(page.contains("The disk is full"))
    }
}

/// A browser that keeps the last page it was shown.
private final class PageKeeper: Sendable {
    private let pages = AsyncStream<String>.makeStream()

    var agent: BrowserUserAgent {
        var agent = BrowserUserAgent(
            .opener { [pages] link throws(UserAgentError) in
                do {
                    var url = link
                    while true {
                        let page = try await Fetched.get(url)
                        guard let location = page.location else {
                            pages.continuation.yield(page.text)
                            return
                        }
                        url = location.hasPrefix("/") ? try HTTPURL(url).origin + location : location
                    }
                } catch {
                    pages.continuation.finish()
                    throw .unavailable(.pageFailed)
                }
            })
        agent.lastPageTimeout = .seconds(60)
        return agent
    }

    func lastPage() async throws -> String {
        var iterator = pages.stream.makeAsyncIterator()
        return try #require(await iterator.next())
    }
}
