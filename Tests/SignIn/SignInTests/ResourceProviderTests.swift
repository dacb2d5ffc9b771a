import Foundation
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySystem
import LatchkeyTestServer
import TestSecrets
import TestServices
import Testing

@testable import LatchkeySignIn

/// Resources that name their server, and machines, as a program has them: at the strict server of the commands' tests.
@Suite struct ResourceProviderTests {
    private let server: RunningProgram
    private let issuer: String
    private let store: InMemoryStore
    private let folder: TestDirectory
    private let context: SignInContext

    private init(settings: String) async throws {
        let script = TestData.package.appendingPathComponent("Tests/Commands/CommandTests/strict_server.py").path
        let server = try Program("/usr/bin/python3").start([script, settings])
        try await server.wait(for: "its address") { server.outputSoFar.contains("\n") }
        self.server = server
        issuer = String(server.outputSoFar.prefix { $0 != "\n" })
        store = try InMemoryStore()
        folder = try TestDirectory()
        context = SignInContext(http: CurlTransport(), leases: LeaseDirectory(path: folder.path + "/leases"))
    }

    init() async throws { try await self.init(settings: #"{"resource": "/mcp", "lifetime": 1}"#) }

    private var events: [Substring] { server.outputSoFar.split(separator: "\n").dropFirst().map(\.self) }

    private func change(_ settings: String) async throws {
        let count = events.count
        server.type(settings + "\n")
        try await server.wait(for: "its change") { events.count > count }
    }

    /// A browser whose person says yes.
    private var browser: BrowserUserAgent {
        let follower = PageFollower(http: CurlTransport())
        return BrowserUserAgent(
            .opener { link throws(UserAgentError) in try await follower.follow(link) }, log: context.log)
    }

    private func answer(_ service: SignInService, at path: String) async throws -> String {
        let response = try await service.send(GuardedRequest(.get, HTTPURL(issuer + path)))
        return response.body.withExposedBytes { bytes in
            String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self)
        }
    }

    @Test func `a program without a client signs in at the server of a resource, and registers once`() async throws {
        func provider() async throws(SignInError) -> OAuthProvider {
            try await .resource(
                issuer + "/mcp", name: "tools", registeredAs: "Judge", in: store, context: context)
        }
        let first = try await provider()
        let service = SignInService(provider: first, store: store, context: context)
        try await service.signIn(presenting: browser, deadline: .unhurried)
        #expect(try await answer(service, at: "/mcp") == #"{"answer": 42}"#)
        // The token's one second has passed then, however fast the machine is.
        try await Task.sleep(for: .milliseconds(1100))
        #expect(try await answer(service, at: "/mcp/deeper") == #"{"answer": 42}"#)
        let again = try await provider()
        #expect(again == first)
        #expect(events.count { $0.hasPrefix("registered a client") } == 1 && events.contains("refreshed"))
        #expect(events.allSatisfy { !$0.contains("missing") && !$0.contains("another resource") }, "\(events)")
        let other = await failure(
            SignInError.self,
            awaiting: _ = try await service.send(GuardedRequest(.get, try! HTTPURL("http://127.0.0.1:1/mcp"))))
        #expect(other?.code == .otherOrigin)
    }

    @Test func `a program's own client is used unchanged, and an invalid one is refused before a sign-in`() async throws
    {
        let provider = try await OAuthProvider.resource(
            issuer + "/mcp", name: "tools", clientID: "me", scopes: ["tools:read"], context: context)
        let service = SignInService(provider: provider, store: store, context: context)
        try await service.signIn(presenting: browser, deadline: .unhurried)
        #expect(try await answer(service, at: "/mcp") == #"{"answer": 42}"#)
        func refusal(_ address: String, issuer: Issuer? = nil) async -> OAuthError.Code? {
            let error = await failure(
                SignInError.self,
                awaiting: _ = try await OAuthProvider.resource(
                    address, name: "tools", clientID: "me", issuer: issuer, context: context))
            guard case .oauth(let cause) = error?.code else { return nil }
            return cause.code
        }
        #expect(await refusal("ftp://a.example") == .invalidConfiguration(.resource))
        #expect(await refusal(issuer + "/mcp?x=1") == .invalidConfiguration(.resource))
        #expect(await refusal(issuer + "/nothing") == .invalidMetadata(.notFound))
        #expect(
            await refusal(issuer + "/mcp", issuer: try! Issuer("https://other.example")) == .invalidMetadata(.elsewhere)
        )
        try await change(#"{"metadata": {"resource": "https://other.example/mcp"}}"#)
        #expect(await refusal(issuer + "/mcp") == .invalidMetadata(.otherResource))
        try await change(#"{"metadata": {}, "pkce": []}"#)
        #expect(await refusal(issuer + "/mcp") == .invalidMetadata(.withoutS256))
    }

    @Test func `a machine gets one token for all its tasks, by the client's private key`() async throws {
        let key = try ES256Key.generate()
        let members = key.publicJWK.map { "\"\($0.name)\": \"\($0.value)\"" }.joined(separator: ", ")
        let scene = try await Self(
            settings: #"{"methods": ["private_key_jwt"], "openid": false, "jwk": {\#(members)}}"#)
        let provider = try OAuthProvider.machine(
            Issuer(scene.issuer), name: "ci", clientID: "me", grant: .clientCredentials, scopes: ["read"],
            proof: .secret(.privateKeyJWT))
        let service = SignInService(provider: provider, store: scene.store, context: scene.context)
        let missing = await failure(SignInError.self, awaiting: _ = try await service.accessToken())
        #expect(missing?.code == .clientSecretMissing)
        try await scene.store.save(
            key.encoded(), for: SignInService.clientSecretKey(of: provider), options: SaveOptions())
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try await service.accessToken().testText } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1 && scene.events == ["issued tokens"], "\(scene.events)")
        #expect(try await service.accounts().map(\.account) == ["ci"])
    }
}
