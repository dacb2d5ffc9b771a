import LatchkeyHTTP
import LatchkeySecrets
import Testing

@testable import LatchkeyOAuth

/// Authorization requests that are pushed beforehand (RFC 9126).
@Suite struct PushedRequestTests {
    private static let server = Sample.server(
        authorization: "https://id.example/authorize?a=b", pushing: "https://id.example/par")

    private static let response = #"{"request_uri":"urn:ietf:params:oauth:request_uri:6esc&x","expires_in":60}"#

    private func push(
        _ http: ScriptedHTTPClient, dpop: DPoPProofSigner? = nil, authentication: consuming ClientAuthentication = .none
    ) async throws(OAuthError) -> String {
        let client = Sample.client(scopes: ["openid", "repo"])
        let pending = try AuthorizationRequest(server: Self.server, client: client, dpop: dpop).begin(random: .system)
        let endpoint = PushedRequestEndpoint(server: Self.server, client: client, http: http, dpop: dpop)!
        return try await endpoint.push(pending, authentication: authentication).reveal()
    }

    @Test func `every parameter is pushed, and the browser's address has only the client and the reference`()
        async throws
    {
        let http = ScriptedHTTPClient(.status(201, Self.response))
        let url = try await push(http, authentication: .secretPost(Secret("s3cret")))
        #expect(
            url == "https://id.example/authorize?a=b&client_id=client%20one"
                + "&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3A6esc%26x")
        let sent = try #require(http.requests.first)
        #expect(sent.url == "https://id.example/par" && sent.method == .post && sent.proof == nil)
        let names = Set(formFields(sent.body).map(\.name))
        #expect(
            names == [
                "response_type", "client_id", "client_secret", "redirect_uri", "scope", "state", "nonce",
                "code_challenge", "code_challenge_method",
            ])
        #expect(formFields(sent.body).count == names.count)
        #expect(field("code_challenge_method", of: sent.body) == "S256")
    }

    @Test func `a request names the key first, and proves it if the server asks for that`() async throws {
        let signer = DPoPProofSigner(key: try .generate())
        let http = ScriptedHTTPClient(
            .status(400, #"{"error":"invalid_dpop_proof"}"#),
            .fields(400, [HeaderField("DPoP-Nonce", "n-1")!], #"{"error":"use_dpop_nonce"}"#),
            .status(201, Self.response)
        )
        _ = try await push(http, dpop: signer)
        #expect(http.requests.map { $0.proof != nil } == [false, true, true])
        #expect(http.requests.allSatisfy { field("dpop_jkt", of: $0.body) == signer.thumbprint })
        let last = try DPoPTests.Parts(#require(http.requests[2].proof))
        #expect(try last.member("nonce") == "n-1")
        #expect(try last.member("htu") == "https://id.example/par")
    }

    @Test(arguments: [
        "{}", #"{"request_uri":"urn:x"}"#, #"{"request_uri":"urn:x","expires_in":0}"#,
        #"{"request_uri":"","expires_in":60}"#, #"{"request_uri":5,"expires_in":60}"#, "<html>", "",
        #"{"request_uri":"a\u0000b","expires_in":60}"#,
    ])
    func `a response without a valid reference is refused`(text: String) async throws {
        let http = ScriptedHTTPClient(.status(201, text))
        let error = await failure { () async throws(OAuthError) in Secret<AuthorizationState>(try await push(http)) }
        #expect(error == OAuthError(.invalidResponse(.pushedRequest)))
    }

    @Test func `a refusal is reported, and redirects are not followed`() async throws {
        for (status, text, code) in [
            (400, #"{"error":"invalid_request"}"#, ServerErrorCode.invalidRequest), (307, "", nil), (403, "", nil),
        ] as [(Int, String, ServerErrorCode?)] {
            let http = ScriptedHTTPClient(.status(status, text), .status(201, Self.response))
            let error = await failure { () async throws(OAuthError) in Secret<AuthorizationState>(try await push(http))
            }
            #expect(
                error == OAuthError(.requestRefused(.pushedAuthorization, statusCode: status), serverError: code))
            #expect(http.requests.count == 1)
        }
    }
}
