import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySystem
import Testing

@Suite struct TokenEndpointTests {
    private func endpoint(_ http: ScriptedHTTPClient, server: AuthorizationServerMetadata = Sample.server())
        -> TokenEndpoint
    {
        TokenEndpoint(server: server, client: Sample.client(), http: http, now: { UnixTime(seconds: 1_000_000) })
    }

    private func exchangeFailure(_ response: ScriptedHTTPClient.Response) async -> OAuthError? {
        let http = ScriptedHTTPClient(response)
        let endpoint = endpoint(http)
        return await failure { () async throws(OAuthError) in
            try await endpoint.exchange(try Sample.callback(), authentication: .none)
        }
    }

    private func exchange(_ json: String, server: AuthorizationServerMetadata = Sample.server()) async throws
        -> TokenResponse
    {
        try await endpoint(ScriptedHTTPClient(.json(json)), server: server)
            .exchange(try Sample.callback(server: server), authentication: .none)
    }

    // MARK: - The request

    @Test func `the exchange posts a form with code, verifier and redirect`() async throws {
        let http = ScriptedHTTPClient(.json(Sample.tokens))
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let challenge = try Sample.parameter("code_challenge", of: pending)
        let callback = try pending.validate(try Sample.response("code=a%26b&state=\(state)"))
        _ = try await endpoint(http).exchange(callback, authentication: .none)
        let request = try #require(http.requests.first)
        #expect(http.requests.count == 1)
        #expect(request.method == .post)
        #expect(request.url == "https://id.example/token")
        #expect(request.authorization == nil)
        #expect(request.fields.contains(HeaderField("Accept", "application/json")!))
        #expect(request.fields.contains(HeaderField("Content-Type", "application/x-www-form-urlencoded")!))
        #expect(
            formFields(request.body).map(\.name) == [
                "grant_type", "code", "redirect_uri", "code_verifier", "client_id",
            ])
        #expect(field("grant_type", of: request.body) == "authorization_code")
        #expect(field("code", of: request.body) == "a&b")
        #expect(field("redirect_uri", of: request.body) == "http://127.0.0.1:4711/callback")
        #expect(field("client_id", of: request.body) == "client one")
        let verifier = Array(try #require(field("code_verifier", of: request.body)).utf8)
        #expect(try PKCEChallenge.challenge(for: verifier.span) == challenge)
    }

    @Test func `a client secret goes into the form or into the field, as configured`() async throws {
        let post = ScriptedHTTPClient(.json(Sample.tokens))
        _ = try await endpoint(post).exchange(
            try Sample.callback(), authentication: .secretPost(Secret("s&cret")))
        #expect(field("client_secret", of: post.requests[0].body) == "s&cret")
        #expect(field("client_id", of: post.requests[0].body) == "client one")
        #expect(post.requests[0].authorization == nil)
        let basic = ScriptedHTTPClient(.json(Sample.tokens))
        _ = try await endpoint(basic).exchange(
            try Sample.callback(), authentication: .secretBasic(Secret("s&cret")))
        // client+one:s%26cret
        #expect(basic.requests[0].authorization == "Basic Y2xpZW50K29uZTpzJTI2Y3JldA==")
        #expect(field("client_secret", of: basic.requests[0].body) == nil)
        #expect(field("client_id", of: basic.requests[0].body) == nil)
    }

    @Test(arguments: [
        ScriptedHTTPClient.Response.status(401, #"{"error":"invalid_client"}"#),
        .status(400, #"{"error":"invalid_client"}"#),
        .status(403, ""), .status(401, ""), .status(400, ""), .status(403, #"{"error":"unauthorized_client"}"#),
    ])
    func `Basic credentials are sent once more raw when the client is refused`(
        refusal: ScriptedHTTPClient.Response
    ) async throws {
        let http = ScriptedHTTPClient(refusal, .json(Sample.tokens))
        let tokens = try await endpoint(http).exchange(
            try Sample.callback(), authentication: .secretBasic(Secret("s&cret")))
        #expect(tokens.acceptedBasicForm == .raw)
        #expect(http.requests.count == 2)
        // client one:s&cret
        #expect(http.requests[1].authorization == "Basic Y2xpZW50IG9uZTpzJmNyZXQ=")
        #expect(http.requests[0].body == http.requests[1].body)
    }

    @Test func `Basic credentials are sent raw at most once, and never after another error`() async throws {
        let refused = ScriptedHTTPClient(.status(401, ""), .status(401, ""), .json(Sample.tokens))
        let first = await failure { () async throws(OAuthError) in
            try await endpoint(refused).exchange(
                try Sample.callback(), authentication: .secretBasic(Secret("s&cret")))
        }
        #expect(first == OAuthError(.exchangeFailed(statusCode: 401)))
        #expect(refused.requests.count == 2)
        let expired = ScriptedHTTPClient(.status(400, #"{"error":"invalid_grant"}"#), .json(Sample.tokens))
        let second = await failure { () async throws(OAuthError) in
            try await endpoint(expired).exchange(
                try Sample.callback(), authentication: .secretBasic(Secret("s&cret")))
        }
        #expect(second == OAuthError(.exchangeFailed(statusCode: 400), serverError: .invalidGrant))
        #expect(expired.requests.count == 1)
    }

    @Test(arguments: [401, 400]) func `after invalid_client the secret is sent once more by the other method`(
        status: Int
    ) async throws {
        let refusal = ScriptedHTTPClient.Response.status(status, #"{"error":"invalid_client"}"#)
        let basic = ScriptedHTTPClient(refusal, .json(Sample.tokens))
        let inBody = try await endpoint(basic).exchange(
            try Sample.callback(), authentication: .secretBasic(Secret("secret")))
        // The client id has a space, so that the raw form is another one.
        #expect(inBody.acceptedBasicForm == .raw)
        let strict = ScriptedHTTPClient(refusal, refusal, .json(Sample.tokens))
        let last = try await endpoint(strict).exchange(
            try Sample.callback(), authentication: .secretBasic(Secret("secret")))
        #expect(last.acceptedBasicForm == .body && strict.requests[2].authorization == nil)
        #expect(field("client_secret", of: strict.requests[2].body) == "secret")
        #expect(field("client_id", of: strict.requests[2].body) == "client one")
        #expect(field("code", of: strict.requests[2].body) == field("code", of: strict.requests[0].body))
        let post = ScriptedHTTPClient(refusal, .json(Sample.tokens))
        let inField = try await endpoint(post).exchange(
            try Sample.callback(), authentication: .secretPost(Secret("secret")))
        #expect(inField.acceptedBasicForm == .formEncoded)
        #expect(field("client_secret", of: post.requests[1].body) == nil)
        let refused = ScriptedHTTPClient(refusal, refusal, refusal, .json(Sample.tokens))
        let error = await failure { () async throws(OAuthError) in
            try await endpoint(refused).exchange(
                try Sample.callback(), authentication: .secretPost(Secret("secret")))
        }
        #expect(error == OAuthError(.exchangeFailed(statusCode: status), serverError: .invalidClient))
        #expect(refused.requests.count == 2)
    }

    @Test(arguments: ClientAuthentication.BasicForm.allCases)
    func `if the form of Basic credentials is known, only that form is sent`(
        form: ClientAuthentication.BasicForm
    ) async throws {
        let good = ScriptedHTTPClient(.json(Sample.tokens))
        let tokens = try await endpoint(good).refresh(
            Secret("r"), authentication: .secretBasic(Secret("s&cret"), form: form))
        #expect(tokens.acceptedBasicForm == form)
        let raw = "Basic Y2xpZW50IG9uZTpzJmNyZXQ="
        #expect((good.requests[0].authorization == raw) == (form == .raw))
        let bad = ScriptedHTTPClient(.status(401, ""), .json(Sample.tokens))
        let error = await failure { () async throws(OAuthError) in
            try await endpoint(bad).refresh(
                Secret("r"), authentication: .secretBasic(Secret("s&cret"), form: form))
        }
        #expect(error == OAuthError(.exchangeFailed(statusCode: 401)))
        #expect(bad.requests.count == 1)
    }

    @Test func `credentials that are the same in both forms are not sent twice`() async throws {
        let http = ScriptedHTTPClient(.status(401, ""), .json(Sample.tokens))
        let client = try ClientConfiguration(
            clientID: "plain", redirect: RedirectURI("http://127.0.0.1:4711/callback"))
        let endpoint = TokenEndpoint(server: Sample.server(), client: client, http: http)
        let error = await failure { () async throws(OAuthError) in
            try await endpoint.exchange(
                try Sample.callback(client: client), authentication: .secretBasic(Secret("plain")))
        }
        #expect(error == OAuthError(.exchangeFailed(statusCode: 401)))
        #expect(http.requests.count == 1)
    }

    @Test func `a client secret may have each printable character of ASCII and the space, and nothing else`() {
        for byte in UInt8.min...UInt8.max {
            let error = failure { () throws(OAuthError) in
                _ = try ClientAuthentication.secretBasic(Secret(copying: [0x61, byte, 0x62].span))
                _ = try ClientAuthentication.secretPost(Secret(copying: [0x61, byte, 0x62].span))
            }
            #expect((error == nil) == (0x20...0x7E).contains(byte), "\(byte)")
        }
        let longest = failure { () throws(OAuthError) in
            try ClientAuthentication.secretPost(Secret(copying: Array(repeating: 0x61, count: 4096).span))
        }
        #expect(longest == nil)
    }

    @Test(arguments: [[], Array("a\nb".utf8), Array("é".utf8), Array(repeating: 0x61, count: 4097)] as [[UInt8]])
    func `an invalid client secret is refused`(secret: [UInt8]) {
        let error = failure { () throws(OAuthError) in
            try ClientAuthentication.secretPost(Secret(copying: secret.span))
        }
        #expect(error == OAuthError(.invalidConfiguration(.clientSecret)))
    }

    @Test func `a callback of another server is not exchanged`() async throws {
        let http = ScriptedHTTPClient(.json(Sample.tokens))
        let other = Sample.server(authorization: "https://id.example/other")
        let error = await failure { () async throws(OAuthError) in
            try await endpoint(http).exchange(try Sample.callback(server: other), authentication: .none)
        }
        #expect(error == OAuthError(.invalidConfiguration(.otherServer)))
        #expect(http.requests.isEmpty)
    }

    // MARK: - The response

    @Test func `a complete response is read`() async throws {
        let tokens = try await exchange(
            #"""
            {"access_token":"gho_\u0061","token_type":"BeArEr","expires_in":28800,"refresh_token":"ghr_1",
            "refresh_token_expires_in":15811200,"scope":"repo gist","unknown":[{}]}
            """#)
        #expect(tokens.accessToken.reveal() == "gho_a")
        let refresh = tokens.refreshToken?.reveal()
        #expect(refresh == "ghr_1")
        #expect(tokens.expiresInSeconds == 28_800)
        #expect(tokens.grantedScopes == ["repo", "gist"])
        #expect(tokens.subject == nil)
    }

    @Test func `a minimal response is read`() async throws {
        let tokens = try await exchange(#"{"access_token":"t","token_type":"bearer","refresh_token":null}"#)
        #expect(tokens.accessToken.reveal() == "t")
        let hasMore = tokens.refreshToken != nil || tokens.idToken != nil
        #expect(!hasMore)
        #expect(tokens.expiresInSeconds == nil && tokens.grantedScopes == nil)
    }

    @Test func `GitHub's scopes are separated by commas`() async throws {
        let tokens = try await exchange(
            #"{"access_token":"t","token_type":"bearer","scope":"repo,gist"}"#, server: Sample.server(commas: true))
        #expect(tokens.grantedScopes == ["repo", "gist"])
    }

    @Test(arguments: [
        ("3600", 3600), ("\"3600\"", 3600), ("3599.5", 3599), ("0", 0), ("1e300", 3_155_760_000),
    ])
    func `a lifetime may be written in several ways`(text: String, seconds: Int64) async throws {
        let tokens = try await exchange(#"{"access_token":"t","token_type":"bearer","expires_in":\#(text)}"#)
        #expect(tokens.expiresInSeconds == seconds)
    }

    @Test(arguments: ["-1", "\"soon\"", "\"\"", "true", "[]", "1e999", "\"-5\""])
    func `an unreadable lifetime counts as absent`(text: String) async throws {
        let tokens = try await exchange(#"{"access_token":"t","token_type":"bearer","expires_in":\#(text)}"#)
        #expect(tokens.expiresInSeconds == nil)
    }

    @Test(arguments: [
        "bad_verification_code", "incorrect_client_credentials", "redirect_uri_mismatch", "device_flow_disabled",
    ])
    func `200 with an error member is never success`(error: String) async {
        let text = #"{"error":"\#(error)","error_description":"canary","access_token":"t","token_type":"bearer"}"#
        #expect(
            await exchangeFailure(.json(text))
                == OAuthError(.exchangeFailed(statusCode: 200), serverError: ServerErrorCode(text: error)))
    }

    @Test(arguments: [#"{"error":{"code":1}}"#, #"{"error":""}"#, #"{"error":"made up"}"#, #"{"error":1}"#])
    func `an error of any shape is an error`(text: String) async {
        #expect(await exchangeFailure(.json(text)) == OAuthError(.exchangeFailed(statusCode: 200), serverError: .other))
    }

    @Test(arguments: [301, 302, 303, 307, 308, 400, 401, 403, 404, 429, 500, 503])
    func `another status keeps its number`(status: Int) async {
        for body in ["", "<html>", Sample.tokens] {
            #expect(await exchangeFailure(.status(status, body)) == OAuthError(.exchangeFailed(statusCode: status)))
        }
    }

    @Test func `a refusal keeps the server's word if the standards define it`() async {
        #expect(
            await exchangeFailure(.status(403, #"{"error":"invalid_code"}"#))
                == OAuthError(.exchangeFailed(statusCode: 403), serverError: .invalidCode))
    }

    @Test(arguments: [
        "", "[]", "<html>", "access_token=t&token_type=bearer", #"{"access_token":"t","token_type":"bearer""#,
        #"{"access_token":"t","access_token":"u","token_type":"bearer"}"#,
    ])
    func `a response that isn't a JSON object is refused`(text: String) async {
        #expect(await exchangeFailure(.json(text)) == OAuthError(.invalidResponse(.notJSON)))
    }

    @Test(arguments: [
        #"{}"#, #"{"token_type":"bearer"}"#, #"{"access_token":null,"token_type":"bearer"}"#,
        #"{"access_token":"","token_type":"bearer"}"#,
    ])
    func `a response without an access token is refused`(text: String) async {
        #expect(await exchangeFailure(.json(text)) == OAuthError(.invalidResponse(.missingAccessToken)))
    }

    @Test(arguments: [
        #""access_token":"a\nb","token_type":"bearer""#,
        #""access_token":"a b","token_type":"bearer""#, #""access_token":"é","token_type":"bearer""#,
        #""access_token":1,"token_type":"bearer""#,
        #""access_token":{},"token_type":"bearer""#,
        #""access_token":"t","refresh_token":[],"token_type":"bearer""#,
    ])
    func `a malformed token is refused`(members: String) async {
        #expect(await exchangeFailure(.json("{\(members)}")) == OAuthError(.invalidResponse(.malformedToken)))
    }

    @Test(arguments: [
        #""access_token":"t""#, #""access_token":"t","token_type":"""#, #""access_token":"t","token_type":"mac""#,
        #""access_token":"t","token_type":"DPoP""#, #""access_token":"t","token_type":1"#,
        #""access_token":"t","token_type":"bearer ""#,
    ])
    func `an unknown token type is refused`(members: String) async {
        #expect(await exchangeFailure(.json("{\(members)}")) == OAuthError(.invalidResponse(.unknownTokenType)))
    }

    @Test(arguments: ["1", "[1]", "[\"a b\"]", "{}", "\"a\\\"b\"", "\"a\\u0000\""])
    func `malformed scopes are refused`(scope: String) async {
        let text = #"{"access_token":"t","token_type":"bearer","scope":\#(scope)}"#
        #expect(await exchangeFailure(.json(text)) == OAuthError(.invalidResponse(.malformedScope)))
    }

    @Test func `an empty refresh token or ID token counts as none`() async throws {
        let tokens = try await exchange(
            #"{"access_token":"t","token_type":"bearer","refresh_token":"","id_token":""}"#)
        #expect(tokens.accessToken.reveal() == "t")
        let hasOther = tokens.refreshToken != nil || tokens.idToken != nil
        #expect(!hasOther)
    }

    /// As Twitch writes them.
    @Test func `scopes in a list are read`() async throws {
        let tokens = try await exchange(
            #"{"access_token":"t","token_type":"bearer","scope":["user:read","chat:edit"]}"#)
        #expect(tokens.grantedScopes == ["user:read", "chat:edit"])
    }

    @Test func `network trouble keeps its kind, and a huge response is reported`() async {
        let codes: [TransportError.Code] = [
            .cannotResolveHost, .cannotConnect, .proxyRefused, .handshakeFailed, .certificateRefused,
            .certificateAuthoritiesUnreadable, .connectionLost, .timedOut, .cancelled, .bodyTooLarge,
            .malformedResponse, .malformedRequest, .notConfidential, .addressRefused,
            .noLibrary(LibraryFailure(.missing, .curl, name: "libcurl.so.4")), .other,
        ]
        for code in codes {
            let error = await exchangeFailure(.failure(code))
            switch error?.code {
            case .networkError(let kept): #expect(kept.code == code && code != .bodyTooLarge)
            default: #expect(code == .bodyTooLarge && error == OAuthError(.invalidResponse(.tooLarge)))
            }
        }
    }

    // MARK: - Refresh

    private func refresh(_ response: ScriptedHTTPClient.Response) async throws(OAuthError) -> TokenResponse {
        try await endpoint(ScriptedHTTPClient(response)).refresh(Secret("old"), authentication: .none)
    }

    @Test func `a refresh posts the refresh token`() async throws {
        let http = ScriptedHTTPClient(.json(Sample.tokens))
        _ = try await endpoint(http).refresh(Secret("old/token"), authentication: .none)
        #expect(http.requests[0].body == "grant_type=refresh_token&refresh_token=old%2Ftoken&client_id=client+one")
    }

    @Test(arguments: ["1", "[\"a b\"]", "\"a\\\"b\""])
    func `refreshed tokens with malformed scopes have the old scopes`(scope: String) async throws {
        let tokens = try await refresh(.json(#"{"access_token":"t","token_type":"bearer","scope":\#(scope)}"#))
        #expect(tokens.grantedScopes == nil)
    }

    @Test func `the old refresh token stays unless the response has a new one`() async throws {
        let kept = try await refresh(.json(Sample.tokens)).refreshToken?.reveal()
        #expect(kept == "old")
        let rotated = try await refresh(
            .json(#"{"access_token":"t","token_type":"bearer","refresh_token":"new"}"#)
        ).refreshToken?.reveal()
        #expect(rotated == "new")
    }

    @Test(arguments: [
        ScriptedHTTPClient.Response.status(400, #"{"error":"invalid_grant"}"#),
        .status(401, #"{"error":"invalid_grant"}"#),
        .json(#"{"error":"bad_refresh_token"}"#),
    ])
    func `a refresh token that is no longer accepted ends the session`(response: ScriptedHTTPClient.Response) async {
        let error = await failure { () async throws(OAuthError) in try await refresh(response) }
        #expect(error?.code == .sessionEnded)
    }

    @Test(arguments: [
        ScriptedHTTPClient.Response.status(500, ""), .status(503, #"{"error":"temporarily_unavailable"}"#),
        .status(429, ""), .status(502, "<html>"), .failure(.timedOut), .failure(.cannotConnect),
        .failure(.connectionLost), .status(500, #"{"error":"invalid_grant"}"#), .status(408, ""),
        .status(400, #"{"error":"server_error"}"#),
    ])
    func `network trouble doesn't end the session`(response: ScriptedHTTPClient.Response) async {
        let error = await failure { () async throws(OAuthError) in try await refresh(response) }
        #expect(error != nil && error?.code != .sessionEnded)
        #expect(error?.isTransient == true)
    }

    @Test(arguments: ["", "<html>", "{}", #"{"error":"invalid_request"}"#, #"{"error":"invalid_scope"}"#])
    func `a refusal that doesn't concern the token doesn't end the session`(body: String) async {
        let error = await failure { () async throws(OAuthError) in try await refresh(.status(400, body)) }
        #expect(error?.code == .exchangeFailed(statusCode: 400))
    }

    @Test func `a refused client doesn't end the session, and isn't a temporary error`() async {
        let error = await failure { () async throws(OAuthError) in
            try await refresh(.status(401, #"{"error":"invalid_client"}"#))
        }
        #expect(error == OAuthError(.exchangeFailed(statusCode: 401), serverError: .invalidClient))
        #expect(error?.isTransient == false)
    }
}
