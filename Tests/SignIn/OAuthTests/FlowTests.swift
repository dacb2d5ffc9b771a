import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestServices

/// The code flow from discovery to revocation, over real HTTP, against the in-process server and its faults.
@Suite struct FlowTests {
    private let server: LoopbackAuthorizationServer
    private let http = CurlTransport()
    private let client: ClientConfiguration

    init() throws {
        // A port that no other test's server is given when this one has left it.
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(port: LoopbackPort.free()))
        client = try ClientConfiguration(
            clientID: "latchkey", redirect: RedirectURI("http://127.0.0.1:4711/callback"),
            scopes: ["openid", "profile"])
    }

    private func discover() async throws(OAuthError) -> AuthorizationServerMetadata {
        try await AuthorizationServerMetadata.discover(try Issuer(server.issuer), over: http)
    }

    /// Plays the browser: asks for the authorization page, whose consent is automatic, and reads where it leads.
    private func response(
        to pending: borrowing PendingAuthorization
    ) async throws(OAuthError) -> AuthorizationResponse {
        let url = try pending.authorizationURL().reveal()
        let location: String
        do {
            location = try await http.send(GuardedRequest(.get, HTTPURL(url))).field("Location") ?? ""
        } catch {
            location = ""
        }
        let bytes = Array(location.utf8)
        return try AuthorizationResponse(pasted: bytes.span, redirect: pending.request.redirect)
    }

    private func signIn() async throws(OAuthError) -> TokenResponse {
        let metadata = try await discover()
        let pending = try AuthorizationRequest(server: metadata, client: client).begin(random: .system)
        let response = try await response(to: pending)
        let callback = try pending.validate(response)
        return try await TokenEndpoint(server: metadata, client: client, http: http)
            .exchange(callback, authentication: .none)
    }

    private func signInFailure(_ fault: AuthorizationServerFault) async -> OAuthError? {
        server.switchOn(fault)
        return await failure { () async throws(OAuthError) in try await signIn() }
    }

    // MARK: - What works

    @Test func `a sign-in is refreshed and revoked`() async throws {
        let metadata = try await discover()
        let tokens = try await signIn()
        #expect(server.record.matchingVerifiers == 1 && server.record.wrongVerifiers == 0)
        #expect(server.record.lastRequestHadState && server.record.lastRequestHadNonce)
        #expect(server.record.clientAuthentication == [.none: 1])
        #expect(tokens.subject != nil)
        let first = tokens.refreshToken!.duplicate()
        let endpoint = TokenEndpoint(server: metadata, client: client, http: http)
        let refreshed = try await endpoint.refresh(first, subject: tokens.subject, authentication: .none)
        let second = refreshed.refreshToken!.duplicate()
        let isRotated = !first.matches(second)
        #expect(isRotated && server.record.refreshes == 1)
        let revocation = try #require(RevocationEndpoint(server: metadata, client: client, http: http))
        try await revocation.revoke(second, authentication: .none)
        #expect(server.record.revocations == 1)
        let ended = await failure { () async throws(OAuthError) in
            try await endpoint.refresh(second, authentication: .none)
        }
        #expect(ended == OAuthError(.sessionEnded, serverError: .invalidGrant))
    }

    @Test func `a code is exchanged once`() async throws {
        let metadata = try await discover()
        let pending = try AuthorizationRequest(server: metadata, client: client).begin(random: .system)
        let response = try await response(to: pending)
        let callback = try pending.validate(response)
        let endpoint = TokenEndpoint(server: metadata, client: client, http: http)
        _ = try await endpoint.exchange(callback, authentication: .none)
        // `callback` is gone: exchanging it again doesn't compile.
        #expect(server.record.codesExchanged == 1 && server.record.replays == 0)
    }

    // MARK: - What the server does wrong

    @Test(arguments: [
        (AuthorizationServerFault.wrongState, OAuthError(.stateMismatch)), (.missingState, OAuthError(.stateMismatch)),
        (.wrongIssuer, OAuthError(.issuerMismatch)), (.missingIssuer, OAuthError(.issuerMismatch)),
        (.repeatedParameters, OAuthError(.invalidResponse(.duplicateParameter))),
        (.denied, OAuthError(.accessDenied)),
        (.metadataNamesAnotherIssuer, OAuthError(.issuerMismatch)),
        (.metadataWithoutS256, OAuthError(.invalidMetadata(.withoutS256))),
        (.temporaryRedirect(.metadata), OAuthError(.invalidMetadata(.redirected))),
        (.status(500, .metadata), OAuthError(.discoveryFailed(statusCode: 500))),
        (.truncatedJSON(.metadata), OAuthError(.invalidMetadata(.notJSON))),
        (.hugeBody(byteCount: 1 << 20, .metadata), OAuthError(.invalidMetadata(.tooLarge))),
    ])
    func `a fault before the exchange ends it without a token request`(
        fault: AuthorizationServerFault, expected: OAuthError
    ) async {
        let error = await signInFailure(fault)
        #expect(error?.code == expected.code && error?.serverError == expected.serverError)
        #expect(server.record.requests[.token, default: 0] == 0)
        #expect(server.record.requests[.stray, default: 0] == 0)
    }

    @Test(arguments: [
        (AuthorizationServerFault.status(400, .token), OAuthError.Code.exchangeFailed(statusCode: 400)),
        (.status(500, .token), .exchangeFailed(statusCode: 500)),
        (.errorWithStatus200(.token), .exchangeFailed(statusCode: 200)),
        (.temporaryRedirect(.token), .exchangeFailed(statusCode: 307)),
        (.truncatedJSON(.token), .invalidResponse(.notJSON)),
        (.hugeBody(byteCount: 1 << 20, .token), .invalidResponse(.tooLarge)),
        (.unknownTokenType, .invalidResponse(.unknownTokenType)),
        (.missingAccessToken, .invalidResponse(.missingAccessToken)),
        (.wrongNonce, .invalidResponse(.idTokenNonce)), (.missingIDToken, .invalidResponse(.missingIDToken)),
    ])
    func `a fault at the token endpoint is reported and nothing is sent elsewhere`(
        fault: AuthorizationServerFault, expected: OAuthError.Code
    ) async {
        let error = await signInFailure(fault)
        #expect(error?.code == expected, "\(String(describing: error))")
        #expect(server.record.requests[.token] == 1)
        #expect(server.record.requests[.stray, default: 0] == 0)
        #expect(!server.record.strayCredentials)
    }

    @Test(arguments: [AuthorizationServerFault.noResponse(.token), .cutConnection(.token)])
    func `a broken connection is network trouble`(fault: AuthorizationServerFault) async {
        let error = await signInFailure(fault)
        guard case .networkError = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isTransient == true)
        // A code that may have arrived is never sent again.
        #expect(server.record.requests[.token] == 1)
    }

    @Test func `an unreachable server is network trouble`() async {
        server.stop()
        let error = await failure { () async throws(OAuthError) in try await signIn() }
        guard case .networkError(let network) = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(network.code == .cannotConnect)
    }
}
