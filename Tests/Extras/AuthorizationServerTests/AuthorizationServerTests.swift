import LatchkeyHTTP
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyTestServer

struct AuthorizationServerTests {
    private let server: LoopbackAuthorizationServer
    private let client: TestClient

    init() throws {
        // One path, where the default client takes any.
        let known = RegisteredClient("latchkey", redirectURIs: ["http://127.0.0.1/callback", "http://[::1]/callback"])
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: [known]))
        client = TestClient(server)
    }

    @Test func `a client registered with a path and a star can use any path below it, and no other`() {
        let client = RegisteredClient("any", redirectURIs: ["http://127.0.0.1/a/*"])
        #expect(client.permits(redirectURI: "http://127.0.0.1:4711/a/b/callback"))
        for other in [
            "http://127.0.0.1:4711/b", "http://127.0.0.1:4711/a", "http://127.0.0.1.attacker.example/a/b",
            "http://127.0.0.1:x@attacker.example/a/b", "https://attacker.example/a/b", "http://127.0.0.1:4711/a/b#c",
        ] { #expect(!client.permits(redirectURI: other), "\(other)") }
    }

    // MARK: - The code flow

    @Test func `a code becomes tokens, and the access token opens the user's information`() async throws {
        let redirect = try await client.authorize()
        #expect(redirect.status == 302)
        #expect(redirect.location?.hasPrefix("http://127.0.0.1:4711/callback?code=") == true)
        #expect(redirect.redirect["state"] == "st ate&1")
        #expect(redirect.redirect["iss"] == server.issuer)
        let response = try await client.exchange(code: redirect.code)
        #expect(response.status == 200)
        #expect(response.json["token_type"] == "Bearer")
        #expect(response.json["expires_in"] == "3600")
        #expect(response.json["scope"] == "repo gist")
        let info = try await client.userInfo(token: response.json["access_token"]!)
        #expect(info.json["sub"] == "octocat")
        #expect(server.record.matchingVerifiers == 1)
        #expect(server.record.lastScopes == ["repo", "gist"])
    }

    @Test func `a second use of a code ends the tokens of the first`() async throws {
        let code = try await client.authorize().code
        let token = try await client.exchange(code: code).json["access_token"]!
        let again = try await client.exchange(code: code)
        #expect(again.status == 400)
        #expect(again.json["error"] == "invalid_grant")
        #expect(server.record.replays == 1)
        #expect(try await client.userInfo(token: token).status == 401)
    }

    @Test(
        arguments: [
            ["code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl"], ["code_verifier": nil],
            ["code_verifier": "short"], ["redirect_uri": "http://127.0.0.1:4712/callback"], ["redirect_uri": nil],
            ["code": "made-up"], ["client_id": "someone-else"], ["grant_type": "password"], ["client_secret": "x"],
        ] as [[String: String?]])
    func `a code is good only with its verifier, its redirect and its client`(change: [String: String?]) async throws {
        let code = try await client.authorize().code
        let response = try await client.exchange(code: code, change)
        #expect(response.status == 400 || response.status == 401)
        #expect(response.json["error"] != nil)
        #expect(server.record.codesExchanged == 0)
    }

    @Test(
        arguments: [
            ["code_challenge": nil], ["code_challenge_method": "plain"], ["code_challenge_method": nil],
            ["code_challenge": "short"], ["response_type": "token"], ["response_type": nil],
        ] as [[String: String?]])
    func `a request without S256 or for anything but a code goes back with an error`(
        change: [String: String?]
    ) async throws {
        let response = try await client.authorize(change)
        #expect(response.status == 302)
        let isOther = change.values.contains("token")
        #expect(response.redirect["error"] == (isOther ? "unsupported_response_type" : "invalid_request"))
        #expect(response.redirect["state"] == "st ate&1")
        #expect(response.redirect["code"] == nil)
    }

    @Test(
        arguments: [
            ["client_id": "someone-else"], ["client_id": nil], ["redirect_uri": "https://attacker.example/"],
            ["redirect_uri": "http://127.0.0.1:4711/callback/"],
            ["redirect_uri": "http://127.0.0.1.attacker.example/callback"],
            ["redirect_uri": "http://127.0.0.1:x@attacker.example/callback"], ["redirect_uri": nil],
            ["redirect_uri": "http://127.0.0.1:99999/callback"],
        ] as [[String: String?]])
    func `the server never redirects to an unregistered address`(change: [String: String?]) async throws {
        let response = try await client.authorize(change)
        #expect(response.status == 400)
        #expect(response.location == nil)
    }

    @Test func `scopes are separated by spaces alone, and a refresh gets no more of them`() async throws {
        let comma = try await client.exchange(code: client.authorize(["scope": "openid,profile"]).code)
        #expect(comma.json["scope"] == "openid,profile" && comma.json["id_token"] == nil)
        let none = try await client.exchange(code: client.authorize(["scope": nil]).code)
        #expect(none.status == 200 && none.json["scope"] == nil)
        let token = try await client.signIn().json["refresh_token"]!
        let more = try await client.refresh(token: token, ["scope": "repo admin"])
        #expect(more.status == 400 && more.json["error"] == "invalid_scope")
        let less = try await client.refresh(token: token, ["scope": "repo"])
        #expect(less.status == 200 && less.json["scope"] == "repo")
        #expect(try await client.refresh(token: less.json["refresh_token"]!).json["scope"] == "repo gist")
    }

    @Test func `an empty parameter counts as left out`() async throws {
        let code = try await client.authorize(["nonce": "", "scope": ""]).code
        #expect(try await client.exchange(code: code, ["client_secret": ""]).status == 200)
    }

    // MARK: - Devices

    private func deviceServer() throws -> TestClient {
        TestClient(
            try LoopbackAuthorizationServer(
                AuthorizationServerConfiguration(offersDeviceGrant: true, deviceIntervalSeconds: 0)))
    }

    private func poll(_ client: TestClient, _ device: TestClient.Response) async throws -> TestClient.Response {
        try await client.post(
            client.server.tokenEndpoint,
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "latchkey",
                "device_code": device.json["device_code"]!,
            ])
    }

    private func decide(_ client: TestClient, _ device: TestClient.Response) async throws -> Int {
        try await client.get(client.server.origin + "/device?user_code=\(device.json["user_code"]!)").status
    }

    @Test func `a device's code is approved once and brings tokens once, whatever came before`() async throws {
        let client = try deviceServer()
        let begin = client.server.origin + "/device_authorization"
        let device = try await client.post(begin, ["client_id": "latchkey", "scope": "repo"])
        #expect(try await poll(client, device).json["error"] == "authorization_pending")
        #expect(try await decide(client, device) == 200)
        // An answer that a client can't use yet uses nothing up.
        client.server.switchOn(.deviceCodeExpired)
        #expect(try await poll(client, device).json["error"] == "expired_token")
        client.server.switchOff(.deviceCodeExpired)
        #expect(try await poll(client, device).status == 200)
        #expect(try await decide(client, device) == 404)
        #expect(try await poll(client, device).json["error"] == "invalid_grant")
    }

    @Test func `after slow_down a device has to wait five seconds more`() async throws {
        let client = try deviceServer()
        let begin = client.server.origin + "/device_authorization"
        let device = try await client.post(begin, ["client_id": "latchkey"])
        client.server.switchOn(.slowDown)
        #expect(try await poll(client, device).json["error"] == "slow_down")
        client.server.switchOff(.slowDown)
        #expect(try await poll(client, device).json["error"] == "slow_down")
        #expect(client.server.record.hurriedQuestions == 1)
    }

    @Test func `the metadata has the device grant where it is offered`() async throws {
        let path = "/.well-known/oauth-authorization-server"
        #expect(try await client.get(server.origin + path).json["grant_types_supported"]?.contains("device") == false)
        let other = try deviceServer()
        let offered = try await other.get(other.server.origin + path)
        #expect(offered.json["grant_types_supported"]?.contains("device_code") == true)
    }

    @Test func `a registration comes back with what was registered, and its secret with an end`() async throws {
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(allowsRegistration: true))
        let body = client.secret(#"{"redirect_uris": ["http://127.0.0.1/a", "http://127.0.0.1/b"]}"#)
        let request = GuardedRequest(
            .post, try HTTPURL(server.origin + "/register"),
            fields: [HeaderField("Content-Type", "application/json")!], body: body)
        let response = TestClient.Response(try await client.http.send(request))
        #expect(response.text.contains(#""redirect_uris":["http://127.0.0.1/a","http://127.0.0.1/b"]"#))
        #expect(response.status == 201 && response.json["client_secret_expires_at"] == "0")
    }

    @Test func `an expired code is worthless`() async throws {
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(codeLifetime: .zero))
        let client = TestClient(server)
        let response = try await client.exchange(code: client.authorize().code)
        #expect(response.json["error"] == "invalid_grant")
    }

    @Test func `a repeated parameter invalidates the request`() async throws {
        let query = TestClient.form(["client_id": "latchkey", "redirect_uri": client.redirectURI])
        let response = try await client.get(server.authorizationEndpoint + "?\(query)&client_id=latchkey")
        #expect(response.status == 400)
    }

    @Test func `the whole flow works over HTTPS and IPv6`() async throws {
        let directory = try TestDirectory()
        let authority = try await CertificateAuthority(in: directory)
        let key = try directory.read("certificates/server.key")
        let chain = String(decoding: try directory.read("certificates/server.pem"), as: UTF8.self)
        let server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(
                family: .ipv6,
                tls: AuthorizationServerConfiguration.TLS(certificatePEM: chain, key: Secret(copying: key.span))))
        #expect(server.issuer == "https://[::1]:\(server.port)")
        var client = TestClient(server)
        client.http = CurlTransport(configuration: .init(trust: .only(file: authority.certificate)))
        client.redirectURI = "http://[::1]:4711/callback"
        let response = try await client.signIn()
        #expect(try await client.userInfo(token: response.json["access_token"]!).status == 200)
    }

    // MARK: - Refresh and revocation

    @Test func `a refresh token is good once, and a second use ends the family`() async throws {
        let first = try await client.signIn()
        let second = try await client.refresh(token: first.json["refresh_token"]!)
        #expect(second.status == 200)
        #expect(second.json["refresh_token"] != first.json["refresh_token"])
        let replay = try await client.refresh(token: first.json["refresh_token"]!)
        #expect(replay.json["error"] == "invalid_grant")
        #expect(try await client.refresh(token: second.json["refresh_token"]!).status == 400)
        #expect(try await client.userInfo(token: second.json["access_token"]!).status == 401)
        #expect(server.record.refreshes == 1)
    }

    @Test func `an expired access token is refused and a refreshed one is not`() async throws {
        let tokens = try await client.signIn()
        server.expireAccessTokens()
        let refused = try await client.userInfo(token: tokens.json["access_token"]!)
        #expect(refused.status == 401)
        #expect(refused.fields.contains { $0.value == "Bearer error=\"invalid_token\"" })
        let fresh = try await client.refresh(token: tokens.json["refresh_token"]!)
        #expect(try await client.userInfo(token: fresh.json["access_token"]!).status == 200)
    }

    @Test func `a refresh token alone opens nothing`() async throws {
        let tokens = try await client.signIn()
        #expect(try await client.userInfo(token: tokens.json["refresh_token"]!).status == 401)
    }

    @Test func `revoking ends both tokens, and an unknown token is no error`() async throws {
        let tokens = try await client.signIn()
        for token in [tokens.json["refresh_token"]!, "unknown"] {
            let response = try await client.post(server.revocationEndpoint, ["client_id": "latchkey", "token": token])
            #expect(response.status == 200)
        }
        #expect(server.record.revocations == 1)
        #expect(try await client.userInfo(token: tokens.json["access_token"]!).status == 401)
        #expect(try await client.refresh(token: tokens.json["refresh_token"]!).status == 400)
    }

    // MARK: - Clients with a secret

    @Test func `a confidential client proves itself with Basic or with parameters, and never without`() async throws {
        let secret = Array("s/ecret +:1".utf8)
        let registered = RegisteredClient(
            "web:app", redirectURIs: ["http://127.0.0.1/callback"], secret: Secret(copying: secret.span))
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: [registered]))
        var client = TestClient(server)
        client.identifier = "web:app"
        func status(_ changes: [String: String?], basic: String? = nil) async throws -> Int {
            try await client.exchange(code: client.authorize().code, changes, basic: basic).status
        }
        #expect(try await status(["client_secret": "s/ecret +:1"]) == 200)
        #expect(try await status(["client_id": nil], basic: "web%3Aapp:s%2Fecret+%2B%3A1") == 200)
        #expect(try await status([:]) == 401)
        #expect(try await status(["client_secret": "wrong"]) == 401)
        #expect(try await status([:], basic: "web%3Aapp:wrong") == 401)
        #expect(server.record.clientAuthentication == [.basic: 2, .post: 2, .none: 1])
    }

    // MARK: - Metadata

    @Test func `the metadata is at the addresses of both standards`() async throws {
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(issuerPath: "/tenant"))
        let client = TestClient(server)
        for path in ["/.well-known/oauth-authorization-server/tenant", "/tenant/.well-known/openid-configuration"] {
            let response = try await client.get(server.origin + path)
            #expect(response.json["issuer"] == server.origin + "/tenant")
            #expect(response.json["token_endpoint"] == server.tokenEndpoint)
        }
        #expect(try await client.get(server.origin + "/.well-known/oauth-authorization-server").status == 404)
    }
}
