import LatchkeySecrets
import Testing

@testable import LatchkeyOAuth

/// Clients that register themselves (RFC 7591), and how a client with a secret proves itself.
@Suite struct RegistrationTests {
    private static let server = Sample.server(registration: "https://id.example/register")

    private func register(
        _ http: ScriptedHTTPClient, method: ClientAuthentication.Method = .none
    ) async throws(OAuthError) -> ClientIdentity {
        let client = ClientRegistration(
            name: "App", redirects: [try RedirectURI("http://127.0.0.1/callback")], scopes: ["read"], method: method,
            usesDPoP: true)
        return try await RegistrationEndpoint(server: Self.server, http: http)!.register(client)
    }

    @Test(arguments: [200, 201])
    func `a registration sends the client's metadata, and reads the server's`(status: Int) async throws {
        let http = ScriptedHTTPClient(.status(status, #"{"client_id":"c-1","client_secret":"s-1"}"#))
        let client = try await register(http, method: .secretPost)
        #expect(client.clientID == "c-1" && client.method == .secretPost)
        #expect(client.secret!.reveal() == "s-1")
        #expect(
            http.requests[0].body
                == #"{"client_name":"App","application_type":"native","redirect_uris":["http://127.0.0.1/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"client_secret_post","scope":"read","dpop_bound_access_tokens":true}"#
        )
        #expect(http.requests[0].authorization == nil)
    }

    @Test func `the server's way of authentication counts, and a public client keeps no secret`() async throws {
        let other = try await register(
            ScriptedHTTPClient(
                .json(
                    #"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":["client_secret_basic"]}"#)))
        #expect(other.method == .secretBasic)
        let open = try await register(ScriptedHTTPClient(.json(#"{"client_id":"c","client_secret":"s"}"#)))
        let hasSecret = open.secret != nil
        #expect(open.method == .none && !hasSecret)
        // A server that says nothing of the method and gives no secret has registered a public client.
        let silent = try await register(ScriptedHTTPClient(.json(#"{"client_id":"c"}"#)), method: .secretBasic)
        #expect(silent.method == .none)
    }

    @Test func `a client registers itself as public if the server allows it`() throws {
        #expect(try ClientAuthentication.methodToRegister(offered: [.secretBasic, .none, .secretPost]) == .none)
        #expect(try ClientAuthentication.methodToRegister(offered: [.secretPost]) == .secretPost)
        // RFC 8414 section 2: a server that doesn't say takes Basic.
        #expect(try ClientAuthentication.methodToRegister(offered: nil) == .secretBasic)
    }

    @Test(arguments: [
        "{}", #"{"client_id":""}"#, #"{"client_id":"a\u0001"}"#, #"{"client_id":5}"#, "[]", "",
        #"{"client_id":"c","token_endpoint_auth_method":"private_key_jwt"}"#,
        #"{"client_id":"c","token_endpoint_auth_method":"client_secret_basic"}"#,
        #"{"client_id":"c","client_secret":"a\nb"}"#,
    ])
    func `an unusable registration is refused`(text: String) async {
        let error = await failure { () async throws(OAuthError) in
            try await register(ScriptedHTTPClient(.status(201, text)))
        }
        #expect(error == OAuthError(.invalidResponse(.registration)))
    }

    @Test func `a refused registration is an error`() async {
        let error = await failure { () async throws(OAuthError) in
            try await register(ScriptedHTTPClient(.status(403, #"{"error":"access_denied"}"#)))
        }
        #expect(error == OAuthError(.requestRefused(.registration, statusCode: 403), serverError: .accessDenied))
    }

    @Test func `a client with a secret prefers Basic, then the form, among the server's methods`() throws {
        #expect(try ClientAuthentication.methodWithSecret(offered: nil) == .secretBasic)
        #expect(try ClientAuthentication.methodWithSecret(offered: [.none, .secretPost, .secretBasic]) == .secretBasic)
        #expect(try ClientAuthentication.methodWithSecret(offered: [.none, .secretPost]) == .secretPost)
        for offered in [[], [.none]] as [Set<ClientAuthentication.Method>] {
            #expect(
                failure { () throws(OAuthError) in
                    Secret<AuthorizationState>(try ClientAuthentication.methodWithSecret(offered: offered).rawValue)
                } == OAuthError(.invalidMetadata(.withoutClientAuthentication)))
        }
    }
}
