import LatchkeyCrypto
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import Testing

@Suite struct ServerMetadataTests {
    private static let document = #"""
        {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",
        "token_endpoint":"https://id.example/token","revocation_endpoint":"https://id.example/revoke",
        "userinfo_endpoint":"https://id.example/me","device_authorization_endpoint":"https://id.example/device",
        "pushed_authorization_request_endpoint":"https://id.example/par","registration_endpoint":null,
        "jwks_uri":"https://id.example/jwks","response_types_supported":["code","id_token"],
        "code_challenge_methods_supported":["plain","S256"],"unknown":{"deep":[1,2,3]},
        "token_endpoint_auth_methods_supported":["client_secret_basic","private_key_jwt","none"],
        "authorization_response_iss_parameter_supported":true}
        """#

    private func problem(_ text: String) -> OAuthError? {
        failure { () throws(OAuthError) in
            try AuthorizationServerMetadata(parsing: Secret(text), expecting: Sample.issuer)
        }
    }

    private func changed(_ old: String, _ new: String) -> String {
        precondition(Self.document.contains(old))
        return Self.document.replacing(old, with: new)
    }

    private func discover(
        _ issuer: String = "https://id.example", _ client: ScriptedHTTPClient
    ) async -> OAuthError? {
        await failure { () async throws(OAuthError) in
            try await AuthorizationServerMetadata.discover(try Issuer(issuer), over: client)
        }
    }

    // MARK: - The document

    @Test func `a whole document is read`() throws {
        let server = try AuthorizationServerMetadata(parsing: Secret(Self.document), expecting: Sample.issuer)
        #expect(server.issuer?.text == "https://id.example")
        #expect(server.authorizationEndpoint.text == "https://id.example/authorize")
        #expect(server.tokenEndpoint.text == "https://id.example/token")
        #expect(server.revocationEndpoint?.text == "https://id.example/revoke")
        #expect(server.userinfoEndpoint?.text == "https://id.example/me")
        #expect(server.deviceAuthorizationEndpoint?.text == "https://id.example/device")
        #expect(server.pushedAuthorizationRequestEndpoint?.text == "https://id.example/par")
        #expect(server.registrationEndpoint == nil)
        #expect(server.keySetEndpoint?.text == "https://id.example/jwks")
        #expect(server.announcesIssuerInResponses)
        #expect(server.clientAuthenticationMethods == [.secretBasic, .privateKeyJWT, .none])
    }

    @Test func `the algorithms of ID tokens are the listed ones that we support`() throws {
        func algorithms(_ list: String) throws -> Set<SignatureAlgorithm> {
            try AuthorizationServerMetadata(
                parsing: Secret(changed("{", "{\(list)")), expecting: Sample.issuer
            ).idTokenAlgorithms
        }
        #expect(try algorithms("") == [.es256, .rs256])
        let name = #""id_token_signing_alg_values_supported":"#
        #expect(
            try algorithms(name + #"["none","HS256","PS256","EdDSA","ES256K","rs256"],"#) == [.ps256, .edDSA])
        #expect(try algorithms(name + "[],") == [])
    }

    @Test(arguments: ["https://id.example/", "https://ID.example", "http://id.example", "https://evil.example", ""])
    func `another issuer is refused`(issuer: String) {
        #expect(
            problem(changed(#""issuer":"https://id.example""#, #""issuer":"\#(issuer)""#))?.code == .issuerMismatch)
    }

    @Test func `a document without issuer is refused`() {
        #expect(problem(changed(#""issuer":"https://id.example","#, "")) == OAuthError(.issuerMismatch))
    }

    @Test func `methods without S256 are refused`() {
        #expect(problem(changed(#"["plain","S256"]"#, #"["plain"]"#)) == OAuthError(.invalidMetadata(.withoutS256)))
        #expect(problem(changed(#"["plain","S256"]"#, "[]")) == OAuthError(.invalidMetadata(.withoutS256)))
        #expect(problem(changed(#"["plain","S256"]"#, "null")) == nil)
    }

    @Test func `a server without the code flow is refused`() {
        #expect(
            problem(changed(#"["code","id_token"]"#, #"["token"]"#)) == OAuthError(.invalidMetadata(.withoutCodeFlow)))
    }

    @Test(arguments: ["authorize", "token", "revoke", "me", "device", "par", "jwks"])
    func `a plain-text endpoint is refused, unless all are on loopback`(path: String) {
        let secure = "\"https://id.example/\(path)\""
        #expect(
            problem(changed(secure, "\"http://id.example/\(path)\""))
                == OAuthError(.invalidMetadata(.endpointNotConfidential)))
        let local = changed("\"issuer\":\"https://id.example\"", "\"issuer\":\"http://127.0.0.1:8080\"")
        for host in ["127.0.0.1:8080", "[::1]:8080"] {
            let clear = "\"http://\(host)/\(path)\""
            // A server elsewhere could have us post a code to whatever listens on this machine.
            #expect(problem(changed(secure, clear)) == OAuthError(.invalidMetadata(.endpointNotConfidential)))
            let error = failure { () throws(OAuthError) in
                try AuthorizationServerMetadata(
                    parsing: Secret(local.replacing(secure, with: clear)), expecting: Issuer("http://127.0.0.1:8080"))
            }
            #expect(error == nil)
        }
    }

    @Test(arguments: [
        "/token", "ftp://id.example/token", "https://user@id.example/token", "https://id.example/#x", "https://",
    ])
    func `an endpoint that isn't a URL is refused`(url: String) {
        #expect(
            problem(changed("\"https://id.example/token\"", "\"\(url)\""))
                == OAuthError(.invalidMetadata(.malformedEndpoint)))
    }

    @Test(arguments: ["authorization_endpoint", "token_endpoint"])
    func `a required endpoint that is missing is an error`(name: String) {
        #expect(problem(changed("\"\(name)\"", "\"other\"")) == OAuthError(.invalidMetadata(.missingEndpoint)))
    }

    @Test func `an empty endpoint counts as none`() throws {
        let missing = OAuthError(.invalidMetadata(.missingEndpoint))
        #expect(problem(changed("\"https://id.example/token\"", "\"\"")) == missing)
        let server = try AuthorizationServerMetadata(
            parsing: Secret(changed("\"https://id.example/me\"", "\"\"")), expecting: Issuer("https://id.example"))
        #expect(server.userinfoEndpoint == nil)
    }

    @Test(arguments: ["", "[]", "null", "\"x\"", "<html>", "{", #"{"issuer":"a","issuer":"b"}"#])
    func `a document that isn't a JSON object is refused`(text: String) {
        #expect(problem(text) == OAuthError(.invalidMetadata(.notJSON)))
    }

    @Test(arguments: [
        (#""issuer":"https://id.example""#, #""issuer":1"#), (#"["plain","S256"]"#, "\"S256\""),
        (#"["plain","S256"]"#, "[1]"), ("\"https://id.example/token\"", "{}"),
        ("iss_parameter_supported\":true", "iss_parameter_supported\":\"true\""),
    ])
    func `a member of the wrong type is refused`(old: String, new: String) {
        #expect(problem(changed(old, new)) == OAuthError(.invalidMetadata(.notJSON)))
    }

    @Test func `a large document is refused`() {
        let padding = "\"pad\":\"" + String(repeating: "a", count: 256 << 10) + "\","
        #expect(problem(changed("{\"issuer\"", "{\(padding)\"issuer\"")) == OAuthError(.invalidMetadata(.tooLarge)))
    }

    @Test func `a deep document is refused`() {
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(problem(changed(#"{"deep":[1,2,3]}"#, deep)) == OAuthError(.invalidMetadata(.notJSON)))
    }

    // MARK: - Discovery

    @Test func `RFC 8414's address is asked first and is enough`() async throws {
        let client = ScriptedHTTPClient(.json(Self.document))
        let server = try await AuthorizationServerMetadata.discover(Sample.issuer, over: client)
        #expect(server.tokenEndpoint.text == "https://id.example/token")
        #expect(client.requests.map(\.url) == ["https://id.example/.well-known/oauth-authorization-server"])
        #expect(client.requests.allSatisfy { $0.method == .get && $0.limits.maximumBodyByteCount <= 256 << 10 })
    }

    @Test(arguments: [404, 410, 401, 500])
    func `OpenID's address is asked if the first has no document`(status: Int) async throws {
        let client = ScriptedHTTPClient(.status(status, ""), .json(Self.document))
        let error = await discover("https://id.example", client)
        #expect(error == nil)
        #expect(
            client.requests.map(\.url) == [
                "https://id.example/.well-known/oauth-authorization-server",
                "https://id.example/.well-known/openid-configuration",
            ])
    }

    @Test func `a page in place of metadata is skipped`() async throws {
        let client = ScriptedHTTPClient(
            .status(200, "<html>", type: "text/html; charset=utf-8"), .json(Self.document))
        #expect(await discover("https://id.example", client) == nil)
    }

    @Test(arguments: ["https://h.example/tenant/a", "https://h.example/tenant/a/"])
    func `an issuer's path is placed as each standard requires`(issuer: String) async {
        let client = ScriptedHTTPClient(.status(404, ""), .status(404, ""), .status(404, ""))
        #expect(await discover(issuer, client) == OAuthError(.invalidMetadata(.notFound)))
        #expect(
            client.requests.map(\.url) == [
                "https://h.example/.well-known/oauth-authorization-server/tenant/a",
                "https://h.example/.well-known/openid-configuration/tenant/a",
                "https://h.example/tenant/a/.well-known/openid-configuration",
            ])
    }

    @Test func `a redirect is not followed`() async {
        let client = ScriptedHTTPClient(.status(302, ""), .status(307, ""))
        #expect(await discover("https://id.example", client) == OAuthError(.invalidMetadata(.redirected)))
        #expect(client.requests.count == 2)
    }

    @Test func `a server's trouble keeps its status`() async {
        let client = ScriptedHTTPClient(.status(404, ""), .status(503, ""))
        let error = await discover("https://id.example", client)
        #expect(error == OAuthError(.discoveryFailed(statusCode: 503)))
        #expect(error?.isTransient == true)
    }

    @Test func `invalid metadata at the first address isn't replaced by the second`() async {
        let lie = Self.document.replacing("https://id.example\"", with: "https://evil.example\"")
        let client = ScriptedHTTPClient(.json(lie), .json(Self.document))
        let error = await discover("https://id.example", client)
        #expect(error?.code == .issuerMismatch)
        #expect(
            error?.explanation.cause.text
                == #"the server's issuer is "https://evil.example", which differs from the one that was set"#)
        #expect(client.requests.count == 1)
    }

    @Test func `network trouble and a huge response are distinguished`() async {
        let down = await discover("https://id.example", ScriptedHTTPClient(.failure(.cannotConnect)))
        guard case .networkError(let error) = down?.code else { return #expect(Bool(false)) }
        #expect(error.code == .cannotConnect)
        let huge = await discover("https://id.example", ScriptedHTTPClient(.failure(.bodyTooLarge)))
        #expect(huge == OAuthError(.invalidMetadata(.tooLarge)))
    }

    @Test(arguments: [
        "", "id.example", "http://id.example", "https://id.example?x", "https://id.example/#f", "https://u@id.example",
        "ftp://id.example", "https://",
    ])
    func `an invalid issuer is refused before any request`(text: String) {
        let error = failure { () throws(OAuthError) in try Issuer(text) }
        #expect(error == OAuthError(.invalidConfiguration(.issuer)))
    }
}
