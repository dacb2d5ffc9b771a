import LatchkeyOAuth
import LatchkeySecrets
import Testing

@Suite struct RevocationTests {
    private func endpoint(_ http: ScriptedHTTPClient) -> RevocationEndpoint {
        RevocationEndpoint(server: Sample.server(), client: Sample.client(), http: http)!
    }

    @Test func `a token is revoked with its kind`() async throws {
        let http = ScriptedHTTPClient(.status(200, ""), .status(200, ""))
        try await endpoint(http).revoke(Secret<RefreshToken>("r&1"), authentication: .none)
        try await endpoint(http).revoke(Secret<AccessToken>("a1"), authentication: .none)
        #expect(
            http.requests.map(\.body) == [
                "token=r%261&token_type_hint=refresh_token&client_id=client+one",
                "token=a1&token_type_hint=access_token&client_id=client+one",
            ])
        #expect(http.requests.allSatisfy { $0.url == "https://id.example/revoke" && $0.authorization == nil })
    }

    @Test func `a public client that is refused proves itself with its access token once`() async throws {
        let http = ScriptedHTTPClient(.status(401, ""), .status(200, ""))
        try await endpoint(http).revoke(
            Secret<RefreshToken>("r1"), bearer: Secret("a1"), authentication: .none)
        #expect(http.requests.count == 2)
        #expect(http.requests[1].authorization == "Bearer a1")
        #expect(http.requests[1].body == "token=r1&token_type_hint=refresh_token")
    }

    @Test func `without an access token a refusal stays one`() async {
        let http = ScriptedHTTPClient(.status(401, ""), .status(200, ""))
        let error = await failure { () async throws(OAuthError) in
            try await endpoint(http).revoke(Secret<RefreshToken>("r1"), authentication: .none)
        }
        #expect(error == OAuthError(.revocationFailed(statusCode: 401)))
        #expect(http.requests.count == 1)
    }

    @Test func `a client with a secret never sends the access token instead`() async {
        let http = ScriptedHTTPClient(.status(401, ""), .status(200, ""))
        let error = await failure { () async throws(OAuthError) in
            try await endpoint(http).revoke(
                Secret<RefreshToken>("r1"), bearer: Secret("a1"), authentication: .secretPost(Secret("s")))
        }
        #expect(error == OAuthError(.revocationFailed(statusCode: 401)))
        #expect(http.requests.count == 1)
    }

    @Test(arguments: [307, 400, 503])
    func `another status is an error with its number`(status: Int) async {
        let http = ScriptedHTTPClient(.status(status, ""), .status(200, ""))
        let error = await failure { () async throws(OAuthError) in
            try await endpoint(http).revoke(Secret<AccessToken>("a1"), authentication: .none)
        }
        #expect(error == OAuthError(.revocationFailed(statusCode: status)))
        #expect(error?.isTransient == (status == 503))
        #expect(http.requests.count == 1)
    }

    @Test func `a server without the endpoint revokes nothing`() throws {
        let server = try AuthorizationServerMetadata(
            authorizationEndpoint: Sample.server().authorizationEndpoint,
            tokenEndpoint: Sample.server().tokenEndpoint)
        #expect(RevocationEndpoint(server: server, client: Sample.client(), http: ScriptedHTTPClient()) == nil)
    }
}
