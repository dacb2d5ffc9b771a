import Adopter
import Latchkey
import LatchkeyLeakAudit
import LatchkeyStoreContract
import LatchkeyTestServer
import Testing

@Suite struct AdopterTests {
    @Test(arguments: ContractCase.all)
    func `the counting store keeps the contract`(_ statement: ContractCase) async throws {
        try await statement.check(leases: .standard) { CountingStore(next: try InMemoryStore(), count: {}) }
    }

    @Test func `a sign-in and a refresh show the token in no output`() async throws {
        let server = try LoopbackAuthorizationServer()
        defer { server.stop() }
        let audit = LeakAudit()
        let log = RedactedLogger("test", minimumLevel: .trace, sink: audit.logSink(named: "the log"))
        let context = SignInContext(environment: .current(), log: log)
        let service = SignInService(
            provider: try .issuer(
                Issuer(server.issuer), name: "test", clientID: "latchkey"),
            store: try InMemoryStore(), context: context)
        try await service.signIn(presenting: .consenting())
        server.expireAccessTokens()
        let response = try await service.send(GuardedRequest(.get, HTTPURL(server.userInfoEndpoint)))
        #expect(response.status == 200)
        server.withEachSecret { (_, secret) in try? audit.plant(secret) }
        try audit.report().check()
    }

    @Test func `a password is kept where the environment says`() async throws {
        let world = ProgramEnvironment(variables: ["LATCHKEY_STORE": "nowhere"], home: "/nonexistent")
        await #expect(throws: StoreSelectionError.self) {
            let secret = try Secret<Password>.random(byteCount: 12)
            _ = try await keepPassword(secret, in: world, log: .disabled)
        }
    }
}
