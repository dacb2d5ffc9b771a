import Inbox
import Latchkey
import LatchkeyLeakAudit
import LatchkeyTestServer
import Testing

@Suite struct InboxTests {
    /// A server in this process, an app beside it, and an audit of all that the app logs.
    private struct Scene {
        let server: LoopbackAuthorizationServer
        let inbox: Inbox
        let audit = LeakAudit()

        init() throws {
            server = try LoopbackAuthorizationServer()
            let log = RedactedLogger("test", minimumLevel: .trace, sink: audit.logSink(named: "the log"))
            let service = SignInService(
                provider: try .issuer(
                    Issuer(server.issuer), name: "test", clientID: "latchkey"),
                store: try InMemoryStore(), context: SignInContext(environment: .current(), log: log))
            inbox = Inbox(service: service, address: server.userInfoEndpoint, log: log)
        }

        /// Searches for every code, token and verifier that went to and fro.
        func check() throws {
            server.withEachSecret { (_, secret) in try? audit.plant(secret) }
            try audit.report().check()
        }
    }

    @Test func `a sign-in and a refresh show the token in no output`() async throws {
        let scene = try Scene()
        #expect(await scene.inbox.open(presenting: .consenting()) == .ready)
        scene.server.expireAccessTokens()
        #expect(await scene.inbox.open(presenting: .unavailable) == .ready)
        #expect(scene.server.record.refreshes == 1)
        try scene.check()
    }

    @Test func `a person who revoked everything has to sign in again`() async throws {
        let scene = try Scene()
        #expect(await scene.inbox.open(presenting: .consenting()) == .ready)
        scene.server.revokeEverything()
        #expect(await scene.inbox.open(presenting: .unavailable) == .signedOut)
        #expect(await scene.inbox.open(presenting: .consenting()) == .ready)
        try scene.check()
    }

    @Test func `a server that is down for a while ends no session`() async throws {
        let scene = try Scene()
        #expect(await scene.inbox.open(presenting: .consenting()) == .ready)
        scene.server.expireAccessTokens()
        scene.server.switchOn(.status(503, .token))
        #expect(await scene.inbox.open(presenting: .unavailable) == .tryAgainLater)
        scene.server.switchOff(.status(503, .token))
        #expect(await scene.inbox.open(presenting: .unavailable) == .ready)
        try scene.check()
    }

    @Test(arguments: [
        AuthorizationServerFault.denied, .status(500, .token), .cutConnection(.token), .truncatedJSON(.token),
        .hugeBody(byteCount: 8 << 20, .token), .missingAccessToken, .forgedIDToken, .metadataNamesAnotherIssuer,
        .wrongState, .wrongIssuer,
    ])
    func `a sign-in at a server that does wrong leaves nothing behind`(_ fault: AuthorizationServerFault) async throws {
        let scene = try Scene()
        scene.server.switchOn(fault)
        #expect(await scene.inbox.open(presenting: .consenting()) == .signedOut)
        scene.server.switchOffAllFaults()
        #expect(await scene.inbox.open(presenting: .consenting()) == .ready)
        try scene.check()
    }
}
