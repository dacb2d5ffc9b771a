import LatchkeyCrypto
import LatchkeyHTTP
import LatchkeySecrets
import LatchkeySystem
import Testing

@testable import LatchkeyTestServer

/// What a lenient server would take, and a client's test would then not notice.
struct StrictnessTests {
    private let server: LoopbackAuthorizationServer
    private let client: TestClient

    init() throws {
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(allowsRegistration: true))
        client = TestClient(server)
    }

    // MARK: - GitHub's endpoints

    @Test func `a code is good only at the endpoints that it comes from`() async throws {
        let unchallenged: [String: String?] = ["code_challenge": nil, "code_challenge_method": nil]
        let gitHub = try await client.authorize(at: server.gitHubAuthorizationEndpoint, unchallenged)
        #expect(gitHub.status == 302)
        let response = try await client.exchange(code: gitHub.code, ["code_verifier": nil])
        #expect(response.json["error"] == "invalid_grant" && response.json["access_token"] == nil)
        let standard = try await client.exchange(
            at: server.gitHubTokenEndpoint, code: client.authorize().code, ["redirect_uri": nil])
        // GitHub's endpoint wants a secret before it looks at the code.
        #expect(standard.json["error"] == "incorrect_client_credentials" && standard.json["access_token"] == nil)
        #expect(server.record.codesExchanged == 0)
        let app = RegisteredClient(
            "latchkey", redirectURIs: ["http://127.0.0.1/callback"], secret: Secret(copying: Array("hush".utf8).span))
        let other = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: [app]))
        let own = TestClient(other)
        let crossed = try await own.exchange(
            at: other.gitHubTokenEndpoint, code: own.authorize().code, ["redirect_uri": nil, "client_secret": "hush"])
        #expect(crossed.json["error"] == "bad_verification_code" && other.record.codesExchanged == 0)
    }

    @Test(arguments: [
        AuthorizationServerConfiguration(pushedRequests: .required),
        AuthorizationServerConfiguration(requiresDPoP: true, offersDeviceGrant: true),
    ])
    func `a server that requires more than GitHub has lacks GitHub's endpoints`(
        configuration: AuthorizationServerConfiguration
    ) async throws {
        let server = try LoopbackAuthorizationServer(configuration)
        let client = TestClient(server)
        #expect(try await client.authorize(at: server.gitHubAuthorizationEndpoint).status == 404)
        #expect(try await client.exchange(at: server.gitHubTokenEndpoint, code: "code").status == 404)
        #expect(try await client.post(server.origin + "/login/device/code", ["client_id": "latchkey"]).status == 404)
    }

    // MARK: - Addresses

    @Test func `a redirect address is compared byte by byte, and a port is digits alone`() async throws {
        let composed = "https://app.example/caf\u{e9}"
        let decomposed = "https://app.example/cafe\u{301}"
        let known = RegisteredClient("app", redirectURIs: [composed, "https://app.example/\u{e9}/*"])
        #expect(known.permits(redirectURI: composed) && !known.permits(redirectURI: decomposed))
        #expect(!known.permits(redirectURI: "https://app.example/e\u{301}/a"))
        #expect(!known.permits(redirectURI: "https://app.example/\u{e9}/a#\u{301}"))
        let loopback = RegisteredClient("latchkey", redirectURIs: ["http://127.0.0.1/a"])
        #expect(loopback.permits(redirectURI: "http://127.0.0.1:80/a"))
        for port in ["+80", "00080", "0", "-1", "8 0"] {
            #expect(!loopback.permits(redirectURI: "http://127.0.0.1:\(port)/a"), "\(port)")
        }
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: [known]))
        var client = TestClient(server)
        client.identifier = "app"
        client.redirectURI = composed
        // No client reads a field with such an address.
        _ = try await client.authorize()
        var code = ""
        server.withEachSecret { name, secret in
            if name == "code" { code = secret.withExposedBytes { $0.publicText() ?? "" } }
        }
        let response = try await client.exchange(code: code, ["redirect_uri": decomposed])
        #expect(response.json["error"] == "invalid_grant" && server.record.matchingVerifiers == 0)
    }

    // MARK: - Requests

    @Test(arguments: [
        (["scope": "a\"b"], "invalid_scope"), (["scope": "a\\b"], "invalid_scope"),
        (["scope": "\u{e9}"], "invalid_scope"),
        (["code_challenge": String(repeating: "+", count: 43)], "invalid_request"),
        (["code_challenge": String(repeating: "=", count: 43)], "invalid_request"),
    ])
    func `scopes and challenges have the characters that the standards give them`(
        change: [String: String], error: String
    ) async throws {
        #expect(try await client.authorize(change).redirect["error"] == error)
    }

    @Test func `only a form is read as a form`() async throws {
        let form = ["client_id": "latchkey", "token": "unknown"]
        for (type, status) in [
            ("application/x-www-form-urlencoded", 200), ("Application/X-WWW-Form-URLEncoded ; charset=utf-8", 200),
            ("application/x-www-form-urlencodedX", 400), ("application/x-www-form-urlencoded x", 400),
        ] {
            let response = try await client.post(server.revocationEndpoint, form, type: type)
            #expect(response.status == status, "\(type)")
        }
    }

    @Test func `a client is the one that its password names`() async throws {
        let secret = Array("hush".utf8)
        let known = RegisteredClient(
            "web", redirectURIs: ["http://127.0.0.1/*"], secret: Secret<ClientSecret>(copying: secret.span))
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: [known]))
        var client = TestClient(server)
        client.identifier = "web"
        func status(_ identifier: String?) async throws -> Int {
            let code = try await client.authorize().code
            return try await client.exchange(code: code, ["client_id": identifier], basic: "web:hush").status
        }
        #expect(try await status("other") == 401)
        #expect(try await status("web") == 200)
        #expect(try await status(nil) == 200)
    }

    @Test func `a token that was narrowed to scopes without openid doesn't open the user's information`() async throws {
        let code = try await client.authorize(["scope": "openid a"]).code
        let first = try await client.exchange(code: code)
        #expect(try await client.userInfo(token: first.json["access_token"]!).status == 200)
        let narrow = try await client.refresh(token: first.json["refresh_token"]!, ["scope": "a"])
        #expect(try await client.userInfo(token: narrow.json["access_token"]!).status == 403)
        let again = try await client.refresh(token: narrow.json["refresh_token"]!)
        #expect(try await client.userInfo(token: again.json["access_token"]!).status == 200)
    }

    // MARK: - Registration

    private func register(_ redirect: String, method: String = "none") async throws -> TestClient.Response {
        let body = #"{"redirect_uris": ["\#(redirect)"], "token_endpoint_auth_method": "\#(method)"}"#
        let request = GuardedRequest(
            .post, try HTTPURL(server.origin + "/register"),
            fields: [HeaderField("Content-Type", "application/json")!], body: client.secret(body))
        return TestClient.Response(try await client.http.send(request))
    }

    @Test(arguments: [
        ("javascript:alert(1)", 400), ("/callback", 400), ("callback", 400), ("", 400), ("https:", 400),
        ("https:///a", 400), ("https://app.example/a#b", 400), ("https://evil.example/*", 400), ("127.0.0.1:80/a", 400),
        ("https://app.example/a", 201), ("http://[::1]/a", 201), ("com.example.app:/a", 201),
    ])
    func `only an absolute address without a fragment or a star can be registered`(
        redirect: String, status: Int
    ) async throws {
        #expect(try await register(redirect).status == status)
    }

    @Test func `a registered client proves itself as it said, in a way that the server knows`() async throws {
        let refused = try await register("http://127.0.0.1/a", method: "private_key_jwt")
        #expect(refused.status == 400 && refused.json["error"] == "invalid_client_metadata")
        #expect(refused.json["client_secret"] == nil)
        let registered = try await register("http://127.0.0.1/a", method: "client_secret_basic").json
        var client = client
        client.identifier = registered["client_id"]!
        client.redirectURI = "http://127.0.0.1:4711/a"
        let post = try await client.exchange(
            code: client.authorize().code, ["client_secret": registered["client_secret"]!])
        #expect(post.status == 401 && post.json["error"] == "invalid_client")
        let basic = "\(client.identifier):\(registered["client_secret"]!)"
        #expect(try await client.exchange(code: client.authorize().code, basic: basic).status == 200)
    }

    // MARK: - Proofs

    /// Sends a proof with a made-up code: a good proof gets as far as the code.
    private func error(
        cut: Int = 32, header: String = "", claims: String = ""
    ) async throws -> (String?, [DPoPProofProblem: Int]) {
        let scalar = [UInt8](repeating: 1, count: 32)
        let key = Secret<PrivateKey>(copying: scalar.span)
        let point = try #require(try P256.publicKey(of: key))
        let (x, y) = (Array(point[..<cut]), Array(point[cut...]))
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(x.span))","y":"\#(Base64URL.encode(y.span))"}"#
        let first = #"{"typ":"dpop+jwt","alg":"ES256"\#(header),"jwk":\#(jwk)}"#
        let time = server.service.clock()
        let target = #""htm":"POST","htu":"\#(server.tokenEndpoint)""#
        let second = #"{"jti":"0123456789abcdef",\#(target),"iat":\#(time)\#(claims)}"#
        let parts = [first, second].map { Array($0.utf8) }
        let signed = parts.map { Base64URL.encode($0.span) }.joined(separator: ".")
        let bytes = Array(signed.utf8)
        let signature = try #require(try P256.signature(of: bytes.span, key: key))
        let fields = [HeaderField("Content-Type", "application/x-www-form-urlencoded")!]
        let form = "grant_type=authorization_code&client_id=latchkey&code=made-up"
        var request = GuardedRequest(
            .post, try HTTPURL(server.tokenEndpoint), fields: fields, body: client.secret(form))
        request.proof = client.secret(signed + "." + Base64URL.encode(signature.span))
        let response = TestClient.Response(try await client.http.send(request))
        return (response.json["error"], server.record.proofProblems)
    }

    @Test func `a good proof passes`() async throws {
        #expect(try await error() == ("invalid_grant", [:]))
    }

    @Test func `a proof that has not ended passes`() async throws {
        let end = server.service.clock() + 300
        #expect(try await error(claims: ",\"exp\":\(end)") == ("invalid_grant", [:]))
    }

    @Test(arguments: [",\"exp\":1", ",\"exp\":\"soon\""])
    func `a proof that has ended is refused`(claims: String) async throws {
        #expect(try await error(claims: claims) == ("invalid_dpop_proof", [.time: 1]))
    }

    @Test func `a proof with an extension that must be understood is refused`() async throws {
        #expect(try await error(header: ",\"crit\":[\"x\"],\"x\":1") == ("invalid_dpop_proof", [.malformed: 1]))
    }

    @Test func `a key of coordinates that are too short or too long is refused`() async throws {
        #expect(try await error(cut: 31) == ("invalid_dpop_proof", [.key: 1]))
    }
}
