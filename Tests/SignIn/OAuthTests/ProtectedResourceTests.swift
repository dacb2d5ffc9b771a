import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import Testing

/// A resource's metadata (RFC 9728), and what its responses say of scopes.
@Suite struct ProtectedResourceTests {
    private static let address = "https://api.example/mcp"

    private static func metadata(_ resource: String = address, servers: [String] = ["https://id.example"]) -> String {
        let list = servers.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"resource":"\#(resource)","authorization_servers":[\#(list)],"scopes_supported":["a","b"]}"#
    }

    private static func challenge(_ parameters: String) -> ScriptedHTTPClient.Response {
        .fields(401, [HeaderField("WWW-Authenticate", "Bearer \(parameters)")!])
    }

    private func problem(
        _ responses: ScriptedHTTPClient.Response..., at address: String = address
    ) async -> OAuthError.Code? {
        let client = ScriptedHTTPClient(responses)
        return await failure { () async throws(OAuthError) in
            _ = try await ProtectedResource.discover(address, over: client)
        }?.code
    }

    @Test func `the challenge says where the metadata is, and which scopes to ask for`() async throws {
        let client = ScriptedHTTPClient(
            Self.challenge(#"resource_metadata="https://api.example/about", scope="read""#), .json(Self.metadata()))
        let resource = try await ProtectedResource.discover(Self.address, over: client)
        #expect(resource.identifier == Self.address && resource.servers.map(\.text) == ["https://id.example"])
        #expect(resource.scopes.scopes == ["read"])
        #expect(client.requests.map(\.url) == [Self.address, "https://api.example/about"])
        #expect(client.requests.allSatisfy { $0.authorization == nil })
    }

    @Test func `without a challenge the metadata is at the well-known addresses`() async throws {
        let client = ScriptedHTTPClient(
            .status(200, "hello", type: "text/plain"), .status(404, ""), .json(Self.metadata()))
        #expect(try await ProtectedResource.discover(Self.address, over: client).scopes.scopes == ["a", "b"])
        let known = "https://api.example/.well-known/oauth-protected-resource"
        #expect(client.requests.map(\.url) == [Self.address, known + "/mcp", known])
    }

    @Test func `a resource without metadata, or with another's, is refused`() async throws {
        let none = ScriptedHTTPClient.Response.status(404, "")
        #expect(await problem(none, none, none) == .invalidMetadata(.notFound))
        let page = ScriptedHTTPClient.Response.status(200, "<html>", type: "text/html")
        #expect(await problem(none, page, page) == .invalidMetadata(.notFound))
        #expect(await problem(none, .status(302, "")) == .invalidMetadata(.redirected))
        #expect(await problem(none, .status(500, "")) == .discoveryFailed(statusCode: 500))
        #expect(await problem(none, .json("[]")) == .invalidMetadata(.notJSON))
        for other in ["https://api.example/mcp/", "https://api.example", "https://API.example/mcp"] {
            #expect(await problem(none, .json(Self.metadata(other))) == .invalidMetadata(.otherResource), "\(other)")
        }
        #expect(await problem(.failure(.timedOut)) != nil)
    }

    @Test func `metadata and servers elsewhere are refused`() async throws {
        let elsewhere = Self.challenge(#"resource_metadata="https://other.example/about""#)
        #expect(await problem(elsewhere, .json(Self.metadata())) == .invalidMetadata(.elsewhere))
        let none = ScriptedHTTPClient.Response.status(404, "")
        for servers in [["http://id.example"], ["id.example"], (0..<17).map { "https://id\($0).example" }] {
            let text = Self.metadata(servers: servers)
            #expect(await problem(none, .json(text)) == .invalidMetadata(.elsewhere), "\(servers)")
        }
    }

    @Test(arguments: ["http://api.example", "https://api.example?q=1", "api.example", "https://ada@api.example", ""])
    func `an address that can't be a resource's is refused without a request`(_ address: String) async throws {
        #expect(await problem(at: address) == .invalidConfiguration(.resource))
    }

    @Test func `a response says which scopes its token lacks`() throws {
        func missing(_ status: Int, _ challenge: String) throws -> [String]? {
            let response = GuardedResponse(
                status: status, fields: [HeaderField("WWW-Authenticate", challenge)!], body: Secret<MessageBody>(""))
            return ProtectedResource.missingScopes(in: response, of: try ScopeList(["read"]))?.scopes
        }
        let challenge = #"Bearer error="insufficient_scope", scope="read write""#
        #expect(try missing(403, challenge) == ["write"])
        #expect(try missing(401, challenge) == nil)
        #expect(try missing(403, #"Bearer error="invalid_token", scope="write""#) == nil)
        #expect(try missing(403, #"Bearer error="insufficient_scope""#) == nil)
    }
}
