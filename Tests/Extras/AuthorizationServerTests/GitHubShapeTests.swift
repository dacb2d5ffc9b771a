import Foundation
import LatchkeyHTTP
import LatchkeySecrets
import LatchkeyTestServer
import Testing

/// The endpoints that respond as GitHub does.
struct GitHubShapeTests {
    private let server: LoopbackAuthorizationServer
    private let client: TestClient

    private static func registered() throws -> RegisteredClient {
        RegisteredClient(
            "latchkey", redirectURIs: ["http://127.0.0.1/callback"], secret: Secret(copying: Array("hush".utf8).span))
    }

    init() throws {
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: [try Self.registered()]))
        client = TestClient(server)
    }

    @Test func `a code is refused without the application's secret, with PKCE too`() async throws {
        let server = try LoopbackAuthorizationServer()
        let client = TestClient(server)
        let redirect = try await client.authorize(at: server.gitHubAuthorizationEndpoint)
        let response = try await client.exchange(at: server.gitHubTokenEndpoint, code: redirect.code)
        #expect(response.status == 200 && response.json["error"] == "incorrect_client_credentials")
        #expect(try await exchange(["client_secret": nil]).json["error"] == "incorrect_client_credentials")
    }

    private func exchange(
        _ changes: [String: String?] = [:], accept: String = "application/json"
    ) async throws -> TestClient.Response {
        let redirect = try await client.authorize(at: server.gitHubAuthorizationEndpoint, ["response_type": nil])
        #expect(redirect.redirect["iss"] == nil)
        var all: [String: String?] = ["grant_type": nil, "client_secret": "hush"]
        all.merge(changes) { $1 }
        return try await client.exchange(at: server.gitHubTokenEndpoint, code: redirect.code, all, accept: accept)
    }

    @Test func `a code becomes a token without expiry, and the token names its user`() async throws {
        let response = try await exchange()
        #expect(response.status == 200)
        #expect(response.json["access_token"]?.hasPrefix("gho_") == true)
        #expect(response.json["token_type"] == "bearer")
        #expect(response.json["scope"] == "repo,gist")
        #expect(response.json["refresh_token"] == nil)
        #expect(response.json["expires_in"] == nil)
        let user = try await client.userInfo(token: response.json["access_token"]!, at: server.gitHubUserEndpoint)
        #expect(user.json["login"] == "octocat")
    }

    @Test func `without a request for JSON the response is a form`() async throws {
        let response = try await exchange(accept: "*/*")
        #expect(response.form["access_token"]?.hasPrefix("gho_") == true)
        #expect(response.form["scope"] == "repo,gist")
    }

    @Test(arguments: ["*/*", "application/json"])
    func `a device gets forms or JSON as it asks, and GitHub's tokens`(accept: String) async throws {
        let server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(offersDeviceGrant: true, deviceIntervalSeconds: 0))
        let client = TestClient(server)
        func post(_ path: String, _ parameters: [String: String]) async throws -> [String: String] {
            let response = try await client.post(
                server.origin + path, parameters.merging(["client_id": "latchkey"]) { $1 }, accept: accept)
            return accept == "*/*" ? response.form : response.json
        }
        let device = try await post("/login/device/code", ["scope": "repo"])
        #expect(try await client.get(server.origin + "/device?user_code=\(device["user_code"]!)").status == 200)
        let tokens = try await post(
            "/login/oauth/access_token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "device_code": device["device_code"]!,
            ])
        #expect(tokens["access_token"]?.hasPrefix("gho_") == true && tokens["expires_in"] == nil)
    }

    @Test func `the redirect address may be left out, and is then the registered one`() async throws {
        let redirect = try await client.authorize(at: server.gitHubAuthorizationEndpoint, ["redirect_uri": nil])
        #expect(redirect.location?.hasPrefix("http://127.0.0.1/callback?code=") == true)
        #expect(try await exchange(["redirect_uri": nil]).json["access_token"] != nil)
    }

    @Test(
        arguments: [
            (["code": "x"], "bad_verification_code"), (["client_secret": "x"], "incorrect_client_credentials"),
            (["redirect_uri": "http://127.0.0.1:1/callback"], "redirect_uri_mismatch"),
            (["code_verifier": "x"], "bad_verification_code"),
        ] as [([String: String?], String)])
    func `an error has status 200`(change: [String: String?], name: String) async throws {
        let response = try await exchange(change)
        #expect(response.status == 200)
        #expect(response.json["error"] == name)
        #expect(response.json["access_token"] == nil)
    }

    @Test func `only an application's own credentials can revoke its token`() async throws {
        let token = try await exchange().json["access_token"]!
        func delete(_ token: String, basic: String?) async throws -> Int {
            let url = try HTTPURL(server.gitHubRevocationEndpoint(client: "latchkey"))
            var request = GuardedRequest(.delete, url, body: client.secret("{\"access_token\": \"\(token)\"}"))
            if let basic { request.authorization = client.secret("Basic " + Data(basic.utf8).base64EncodedString()) }
            return try await client.http.send(request).status
        }
        #expect(try await delete(token, basic: nil) == 404)
        #expect(try await delete(token, basic: "latchkey:wrong") == 404)
        #expect(try await delete("unknown", basic: "latchkey:hush") == 422)
        #expect(try await client.userInfo(token: token, at: server.gitHubUserEndpoint).status == 200)
        #expect(try await delete(token, basic: "latchkey:hush") == 204)
        #expect(try await client.userInfo(token: token, at: server.gitHubUserEndpoint).status == 401)
    }

    @Test func `an application whose tokens expire gets refresh tokens`() async throws {
        let server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(clients: [try Self.registered()], gitHubTokensExpire: true))
        let client = TestClient(server)
        let redirect = try await client.authorize(at: server.gitHubAuthorizationEndpoint)
        let own = ["client_secret": "hush"]
        let response = try await client.exchange(at: server.gitHubTokenEndpoint, code: redirect.code, own)
        let token = try #require(response.json["refresh_token"])
        #expect(token.hasPrefix("ghr_"))
        let fresh = try await client.refresh(token: token, own, at: server.gitHubTokenEndpoint)
        #expect(fresh.json["access_token"]?.hasPrefix("ghu_") == true && fresh.json["scope"] == "")
        let replay = try await client.refresh(token: token, own, at: server.gitHubTokenEndpoint)
        #expect(replay.status == 200)
        #expect(replay.json["error"] == "bad_refresh_token")
    }
}
