import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets

@testable import LatchkeyATProtocol

/// What the profile requires of servers, clients and tokens.
struct ProfileTests {
    @Test(
        arguments: [
            ("pushed_authorization_request_endpoint", .pushedRequests),
            ("require_pushed_authorization_requests", .pushedRequestsRequired),
            ("dpop_signing_alg_values_supported", .es256Proofs), ("scopes_supported", .atprotoScope),
            ("client_id_metadata_document_supported", .clientDocuments),
            ("authorization_response_iss_parameter_supported", .issuerInResponses),
            ("code_challenge_methods_supported", .s256Challenge), ("grant_types_supported", .codeGrant),
            ("token_endpoint_auth_methods_supported", .publicClients),
        ] as [(String, ATProtocolError.Requirement)])
    func `an authorization server that lacks what the profile requires is refused`(
        member: String, requirement: ATProtocolError.Requirement
    ) async throws {
        let scene = try NetworkScene()
        scene.network.authorizationServer.switchOn(.metadataWithout(member))
        #expect(await scene.failure() == .requirementMissing(requirement))
        #expect(scene.record.requests[.pushedAuthorization] == nil)
    }

    /// As in the profile's development clients; see `RegisteredClient.init(loopback:)`.
    @Test func `a loopback client's id may have several addresses with ports, and has its scopes`() async throws {
        let network = try NetworkScene().network
        let server = try await AuthorizationServerMetadata.discover(
            Issuer(network.authorizationServer.issuer), over: CurlTransport())
        func push(_ id: String, scope: String...) async throws -> OAuthError? {
            let signer = DPoPProofSigner(key: try .generate())
            let client = try ClientConfiguration(
                clientID: id, redirect: RedirectURI("http://127.0.0.1:4711/cb"), scopes: ScopeList(scope))
            let pending = try AuthorizationRequest(server: server, client: client, dpop: signer).begin(random: .system)
            let endpoint = try #require(
                PushedRequestEndpoint(server: server, client: client, http: CurlTransport(), dpop: signer))
            do throws(OAuthError) {
                _ = try await endpoint.push(pending, authentication: .none)
                return nil
            } catch {
                return error
            }
        }
        let (one, other) = (
            "redirect_uri=http%3A%2F%2F127.0.0.1%3A3000%2Fcb", "redirect_uri=http%3A%2F%2F127.0.0.1%2Fb"
        )
        for query in [one, "\(one)&\(other)", "\(other)&\(one)&scope=atproto%20transition%3Ageneric"] {
            #expect(try await push("http://localhost?\(query)", scope: "atproto") == nil, "\(query)")
        }
        let more = try await push("http://localhost?\(one)", scope: "atproto", "transition:generic")
        #expect(more?.serverError == .invalidScope)
        #expect(try await push("http://localhost?\(other)", scope: "atproto") != nil)
    }

    @Test func `an authorization server that names another issuer is refused`() async throws {
        let scene = try NetworkScene()
        scene.network.authorizationServer.switchOn(.metadataNamesAnotherIssuer)
        guard case .signIn(let error)? = await scene.failure(), case .oauth(let inner) = error.code else {
            return #expect(Bool(false), "no error")
        }
        #expect(inner.code == .issuerMismatch)
    }

    @Test func `the account's server and its authorization server each get only their own requests`() async throws {
        let scene = try NetworkScene()
        let network = scene.network
        #expect(network.personalServerOrigin != network.authorizationServer.origin)
        try await scene.signIn()
        let session = try await scene.session()
        #expect(session.authority == network.authorizationServer.issuer)
        #expect(session.resource == network.personalServerOrigin)
        // The token goes to the account's own server alone.
        for address in [network.authorizationServer.userInfoEndpoint, "https://api.test/xrpc/x"] {
            let url = try HTTPURL(address)
            await #expect(throws: ATProtocolError(.otherServer)) {
                _ = try await scene.client.send(GuardedRequest(.get, url))
            }
        }
    }

    @Test func `a server with an invalid statement of its authorization server is refused`() async throws {
        let scene = try NetworkScene()
        let network = scene.network
        let issuer = network.authorizationServer.issuer
        let cases: [(String?, ATProtocolError.ResourceProblem)] = [
            (nil, .notFound), ("[]", .notJSON), ("{", .notJSON),
            (network.resourceMetadata(resource: "https://pds.test"), .otherResource),
            (network.resourceMetadata(resource: network.personalServerOrigin + "/"), .otherResource),
            (network.resourceMetadata(servers: []), .withoutAuthorizationServer),
            (network.resourceMetadata(servers: [issuer, "https://b.test"]), .severalAuthorizationServers),
            (network.resourceMetadata(servers: [issuer + "/"]), .malformedAuthorizationServer),
            (network.resourceMetadata(servers: ["pds"]), .malformedAuthorizationServer),
        ]
        for (text, problem) in cases {
            network.change { $0.resourceMetadata = text }
            #expect(await scene.failure() == .invalidResourceMetadata(problem))
        }
    }

    // MARK: - Tokens

    @Test(
        arguments: [
            (.wrongSubject, .subjectMismatch), (.missingSubject, .subjectMismatch),
            (.withoutATProtoScope, .scopeMissing),
        ] as [(AuthorizationServerFault, ATProtocolError.Code)])
    func `tokens for another account, or without the scope, are revoked and not kept`(
        fault: AuthorizationServerFault, code: ATProtocolError.Code
    ) async throws {
        let scene = try NetworkScene()
        scene.network.authorizationServer.switchOn(fault)
        #expect(await scene.failure() == code)
        #expect(scene.record.revocations == 1)
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
        #expect(try scene.findings() == [])
    }

    @Test func `a refresh for another account leaves the session unchanged`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        let before = try await scene.session()
        scene.network.authorizationServer.switchOn(.wrongSubject)
        scene.clock.advance(seconds: 4000)
        await #expect(throws: ATProtocolError(.subjectMismatch)) { _ = try await scene.request() }
        // What the refresh brought is revoked.
        #expect(scene.record.revocations == 1)
        #expect(try await scene.session() == before)
    }

    @Test func `a refused request says that its refresh was for another account`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        scene.network.authorizationServer.expireAccessTokens()
        scene.network.authorizationServer.switchOn(.wrongSubject)
        await #expect(throws: ATProtocolError(.subjectMismatch)) { _ = try await scene.request() }
    }

    @Test func `the scopes stay when a refresh names none`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        scene.http.hidesScopes.withLock { $0 = true }
        scene.clock.advance(seconds: 4000)
        #expect(try await scene.request() == 200)
        #expect(scene.record.refreshes == 1)
        #expect(try await scene.client.currentSession()?.scopes.contains("atproto") == true)
        #expect(await scene.failure() == .scopeMissing)
    }

    @Test func `tokens that aren't bound to a key are refused`() async throws {
        let scene = try NetworkScene()
        scene.network.authorizationServer.switchOn(.bearerInsteadOfDPoP)
        #expect(await scene.failure() == .signIn(.oauth(OAuthError(.invalidResponse(.tokenNotBound)))))
        #expect(scene.record.revocations == 1)
        #expect(try await scene.items("session") == [])
    }

    @Test(
        arguments: [
            (.wrongIssuer, OAuthError(.issuerMismatch)), (.missingIssuer, OAuthError(.issuerMismatch)),
            (.denied, OAuthError(.accessDenied)),
        ] as [(AuthorizationServerFault, OAuthError)])
    func `a response from another server, or a refusal, ends the sign-in`(
        fault: AuthorizationServerFault, error: OAuthError
    ) async throws {
        let scene = try NetworkScene()
        scene.network.authorizationServer.switchOn(fault)
        #expect(await scene.failure() == .signIn(.oauth(error)))
        #expect(scene.record.requests[.token] == nil)
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
    }

    // MARK: - Nonces

    @Test func `each server has separate nonces, updated by every response, and one repeat each`() async throws {
        let scene = try NetworkScene()
        scene.network.authorizationServer.switchOn(.dpopNonceChurn)
        try await scene.signIn()
        // The pushed request learned the authorization server's; the code exchange had it already.
        #expect(scene.record.proofProblems == [.nonce: 1])
        for _ in 0..<4 { #expect(try await scene.request() == 200) }
        #expect(scene.record.proofProblems == [.nonce: 2])
        scene.network.authorizationServer.switchOn(.unendingDPoPNonces)
        let path = "/xrpc/com.atproto.server.getSession"
        let before = scene.network.requests[path] ?? 0
        #expect(try await scene.request() == 401)
        #expect((scene.network.requests[path] ?? 0) - before == 2)
        #expect(try await scene.items("session") == ["alice.test"])
    }

    @Test func `a token that was refused is refreshed once, and the request sent once more`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        scene.network.authorizationServer.expireAccessTokens()
        #expect(try await scene.request() == 200)
        #expect(scene.record.refreshes == 1)
    }

    // MARK: - Clients

    private static let clientID = "https://app.test/client-metadata.json"
    private static let metadata = #"""
        {"client_id":"https://app.test/client-metadata.json","application_type":"native","dpop_bound_access_tokens":true,
        "grant_types":["authorization_code","refresh_token"],"response_types":["code"],
        "redirect_uris":["http://127.0.0.1/callback","test.app:/callback"],"scope":"atproto transition:generic",
        "token_endpoint_auth_method":"none"}
        """#

    private func hosted(_ text: String?, redirect: String = "http://127.0.0.1/callback") throws -> NetworkScene {
        let server = AuthorizationServerConfiguration(
            clients: [
                RegisteredClient(
                    Self.clientID, redirectURIs: ["http://127.0.0.1/callback", "test.app:/callback"])
            ])
        let scene = try NetworkScene(
            server: server, client: .document(try HTTPURL(Self.clientID)), redirect: redirect)
        scene.network.change { $0.clientMetadata = text }
        return scene
    }

    @Test func `a client with a document signs in, and its id is the document's address`() async throws {
        let scene = try hosted(Self.metadata)
        try await scene.signIn()
        #expect(try await scene.session().clientID == Self.clientID)
        #expect(try await scene.request() == 200)
    }

    @Test(arguments: ["http://127.0.0.1/other", "http://[::1]/callback", "org.other:/callback", "https://app.test/cb"])
    func `a redirect that isn't in the metadata is refused before any request`(
        redirect: String
    ) async throws {
        let scene = try hosted(Self.metadata, redirect: redirect)
        #expect(await scene.failure() == .invalidRedirectURI)
        #expect(scene.http.asked.withLock { $0 } == [Self.clientID])
        #expect(scene.names.asked.withLock { $0.isEmpty })
        #expect(ATProtocolError(.invalidRedirectURI).codeName.description == "atproto.invalid_redirect_uri")
    }

    @Test func `a document that was loaded before is checked without any network`() async throws {
        let document = try ClientDocument(parsing: Secret.test(Self.metadata), of: Self.clientID)
        let scene = try NetworkScene(client: .loaded(document), redirect: "http://127.0.0.1/elsewhere")
        #expect(await scene.failure() == .invalidRedirectURI)
        #expect(scene.http.asked.withLock { $0.isEmpty })
    }

    @Test func `a private-use scheme is the client's own host in reverse`() throws {
        let text = Self.metadata.replacing("test.app:", with: "org.example:")
        let scopes: ScopeList = ["atproto"]
        let own = try ClientDocument(parsing: Secret.test(Self.metadata), of: Self.clientID)
        try own.check(RedirectURI("test.app:/callback"), scopes)
        let other = try ClientDocument(parsing: Secret.test(text), of: Self.clientID)
        #expect(throws: ATProtocolError(.invalidRedirectURI)) {
            try other.check(RedirectURI("org.example:/callback"), scopes)
        }
    }

    @Test(
        arguments: [
            (#""dpop_bound_access_tokens":true"#, #""dpop_bound_access_tokens":false"#, .withoutBoundTokens),
            (#""none""#, #""private_key_jwt""#, .notPublic), (#""refresh_token""#, #""implicit""#, .withoutCodeGrant),
            (#"["code"]"#, #"["token"]"#, .withoutCodeResponse),
            ("atproto transition", "transition", .withoutATProtoScope),
            (" transition:generic", "", .scopeNotRegistered), (#""native""#, #""web""#, .nativeRedirectOfWebClient),
            ("https://app.test/client", "https://app.test/other", .otherClient),
            (#"["http://127.0.0.1/callback","test.app:/callback"]"#, "[]", .withoutRedirects),
            ("{", "[", .notJSON),
        ] as [(String, String, ATProtocolError.ClientProblem)])
    func `a client document that doesn't follow the profile is refused`(
        old: String, new: String, problem: ATProtocolError.ClientProblem
    ) async throws {
        let scene = try hosted(Self.metadata.replacing(old, with: new))
        #expect(await scene.failure() == .invalidClientMetadata(problem))
        scene.network.change { $0.clientMetadata = nil }
        #expect(await scene.failure() == .invalidClientMetadata(.notFound))
    }

    @Test func `a client on a loopback address says all about itself in its id`() throws {
        let id = try LoopbackClient.identifier(
            redirect: RedirectURI("http://127.0.0.1:4711/callback"), scopes: ["atproto", "transition:generic"])
        let redirect = "http%3A%2F%2F127.0.0.1%2Fcallback"
        #expect(id == "http://localhost?redirect_uri=\(redirect)&scope=atproto%20transition%3Ageneric")
        for redirect in ["https://app.test/cb", "org.example.app:/cb"] {
            #expect(throws: ATProtocolError(.invalidRedirectURI)) {
                try LoopbackClient.identifier(redirect: RedirectURI(redirect), scopes: ["atproto"])
            }
        }
    }

    @Test func `a client that doesn't request atproto is refused before any request`() async throws {
        let scene = try NetworkScene { $0.scopes = ["transition:generic"] }
        #expect(await scene.failure() == .invalidClientMetadata(.withoutATProtoScope))
        #expect(scene.http.asked.withLock { $0.isEmpty })
    }
}
