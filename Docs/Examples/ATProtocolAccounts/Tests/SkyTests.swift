import Latchkey
import LatchkeyATProtocol
import LatchkeyTestServer
import Sky
import Testing

/// The DNS of the test: who a handle belongs to.
private struct Names: TextRecordLookup {
    let records: [String: [String]]
    func texts(of name: String) async throws(NameLookupError) -> [String] { records[name] ?? [] }
}

@Suite struct SkyTests {
    /// Three servers in this process: the account's own, the one that authorizes, and the directory of DIDs.
    private let network: LoopbackATProtocolNetwork
    private let store: InMemoryStore

    init() throws {
        network = try LoopbackATProtocolNetwork()
        store = try InMemoryStore()
    }

    private func sky() throws -> Sky {
        let resolver = NetworkIdentityResolver(
            http: CurlTransport(),
            names: Names(records: ["_atproto.\(network.handle)": ["did=\(network.did)"]]),
            directory: try HTTPURL(network.directoryOrigin), reach: .development)
        return try Sky(
            store: store, context: SignInContext(environment: .current()), resolver: resolver, reach: .development)
    }

    @Test func `a handle leads to its account, and the next start finds the session`() async throws {
        #expect(try await sky().account(network.handle, presenting: .consenting()) == network.did)
        let later = try sky()
        #expect(try await later.account(network.handle, presenting: .unavailable) == network.did)
        let server = network.personalServerOrigin
        #expect(try await later.status(of: "com.atproto.server.getSession", at: server) == 200)
        await later.signOut()
        await #expect(throws: ATProtocolError.self) {
            try await later.account(network.handle, presenting: .unavailable)
        }
    }

    @Test func `neither another server nor a handle of nobody gets anything`() async throws {
        let sky = try sky()
        await #expect(throws: ATProtocolError.self) {
            try await sky.account("nobody.test", presenting: .consenting())
        }
        _ = try await sky.account(network.handle, presenting: .consenting())
        let requests = network.authorizationServer.record.requests.count
        await #expect(throws: ATProtocolError.self) {
            try await sky.status(of: "com.atproto.server.getSession", at: network.directoryOrigin)
        }
        #expect(network.authorizationServer.record.requests.count == requests)
    }
}
