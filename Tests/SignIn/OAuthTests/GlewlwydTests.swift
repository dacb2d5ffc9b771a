import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import Testing
import TestServices

/// The code flow against a real OAuth and OpenID server, with its own ideas of statuses and encodings.
@Suite struct GlewlwydTests {
    private static let redirect = "http://127.0.0.1:4711/callback"
    private let http = CurlTransport()

    /// One sign-in's parts, against one server.
    private struct Session {
        let server: AuthorizationServerMetadata
        let client: ClientConfiguration
        let endpoint: TokenEndpoint
        let dpop: DPoPProofSigner?
    }

    private func session(
        _ glewlwyd: Glewlwyd, issuer: Glewlwyd.Issuer = .hour, client: String = Glewlwyd.nativeClient,
        dpop: DPoPProofSigner? = nil
    ) async throws -> Session {
        let server = try await AuthorizationServerMetadata.discover(try Issuer(glewlwyd.issuer(issuer)), over: http)
        let client = try ClientConfiguration(
            clientID: client, redirect: RedirectURI(Self.redirect), scopes: ["openid", "notes:read", "offline_access"])
        return Session(
            server: server, client: client,
            endpoint: TokenEndpoint(server: server, client: client, http: http, dpop: dpop), dpop: dpop)
    }

    /// Plays the browser of a person who is signed in and has consented: `jar` holds the session's cookie.
    private func response(
        to pending: borrowing PendingAuthorization, jar: String
    ) async throws -> AuthorizationResponse {
        let url = try pending.authorizationURL().reveal() + "&g_continue"
        let result = try await Program("curl").run([
            "--silent", "--show-error", "--noproxy", "*", "--cookie", jar, "--output", "/dev/null", "--write-out",
            "%{redirect_url}", url,
        ]).successful("curl")
        let location = result.output
        return try AuthorizationResponse(pasted: location.span, redirect: pending.request.redirect)
    }

    private func signIn(
        _ session: Session, _ glewlwyd: Glewlwyd, authentication: consuming ClientAuthentication
    ) async throws -> TokenResponse {
        let jar = try await glewlwyd.consent(client: session.client.clientID, scopes: session.client.scopes.scopes)
        let pending = try AuthorizationRequest(server: session.server, client: session.client, dpop: session.dpop)
            .begin(random: .system)
        let response = try await response(to: pending, jar: jar)
        return try await session.endpoint.exchange(try pending.validate(response), authentication: authentication)
    }

    @Test func `a public client signs in, refreshes and revokes`() async throws {
        let glewlwyd = try await Glewlwyd(redirectURIs: [Self.redirect])
        let session = try await session(glewlwyd)
        let tokens = try await signIn(session, glewlwyd, authentication: .none)
        #expect(tokens.subject?.isEmpty == false)
        #expect(tokens.expiresInSeconds == 3600)
        #expect(tokens.grantedScopes?.includesOpenID == true)

        let first = tokens.refreshToken!.duplicate()
        let refreshed = try await session.endpoint.refresh(first, subject: tokens.subject, authentication: .none)
        let second = refreshed.refreshToken!.duplicate()
        let isRotated = !second.matches(first)
        #expect(isRotated)

        let revocation = try #require(
            RevocationEndpoint(server: session.server, client: session.client, http: http))
        try await revocation.revoke(second, bearer: refreshed.accessToken, authentication: .none)
        #expect(try glewlwyd.refreshTokensRevoked(.hour) == 1)
        let ended = await failure { () async throws(OAuthError) in
            try await session.endpoint.refresh(second, authentication: .none)
        }
        #expect(ended == OAuthError(.exchangeFailed(statusCode: 400)))
        await glewlwyd.stop()
    }

    @Test func `a client whose secret needs escaping signs in by Basic and by form`() async throws {
        let glewlwyd = try await Glewlwyd(redirectURIs: [Self.redirect])
        let session = try await session(glewlwyd, client: Glewlwyd.confidentialClient)
        let basic = try await signIn(
            session, glewlwyd, authentication: .secretBasic(Secret(Glewlwyd.confidentialSecret)))
        #expect(basic.subject != nil)
        try await glewlwyd.addClient(
            [
                "client_id": "posting", "confidential": true, "client_secret": Glewlwyd.confidentialSecret,
                "token_endpoint_auth_method": ["client_secret_post"],
            ], redirectURIs: [Self.redirect])
        let posting = try await self.session(glewlwyd, client: "posting")
        let post = try await signIn(
            posting, glewlwyd, authentication: .secretPost(Secret(Glewlwyd.confidentialSecret)))
        #expect(post.subject != nil)
        // It spends a refresh token before it looks at the client, so the form must be known by then.
        #expect(basic.acceptedBasicForm == .raw)
        let refreshed = try await session.endpoint.refresh(
            basic.refreshToken!.duplicate(),
            authentication: .secretBasic(Secret(Glewlwyd.confidentialSecret), form: basic.acceptedBasicForm))
        // And it says of a wrong secret what it says of an old token: 400 without a word.
        let wrong = await failure { () async throws(OAuthError) in
            try await session.endpoint.refresh(
                refreshed.refreshToken!.duplicate(), authentication: .secretBasic(Secret("wrong")))
        }
        #expect(wrong == OAuthError(.exchangeFailed(statusCode: 400)))
        await glewlwyd.stop()
    }

    @Test(arguments: [Glewlwyd.Issuer.hour, .nonce])
    func `a session that is bound to a key signs in, asks and refreshes`(issuer: Glewlwyd.Issuer) async throws {
        let glewlwyd = try await Glewlwyd(redirectURIs: [Self.redirect])
        try await glewlwyd.addClient(
            ["client_id": "bound", "dpop_bound_access_tokens": "1"], redirectURIs: [Self.redirect])
        let signer = DPoPProofSigner(key: try .generate())
        let session = try await session(glewlwyd, issuer: issuer, client: "bound", dpop: signer)
        #expect(session.server.dpopAlgorithms?.contains("ES256") == true)
        let tokens = try await signIn(session, glewlwyd, authentication: .none)
        let resource = ResourceClient(http: http, dpop: signer)
        let url = try #require(session.server.userinfoEndpoint)
        // More often than one nonce is good for.
        for _ in 0..<5 {
            #expect(try await resource.send(GuardedRequest(.get, url), token: tokens.accessToken).status == 200)
        }
        let bearer = ResourceClient(http: http)
        #expect(try await bearer.send(GuardedRequest(.get, url), token: tokens.accessToken).status == 401)
        let refreshed = try await session.endpoint.refresh(
            tokens.refreshToken!.duplicate(), subject: tokens.subject, authentication: .none)
        #expect(try await resource.send(GuardedRequest(.get, url), token: refreshed.accessToken).status == 200)
        let revocation = try #require(
            RevocationEndpoint(server: session.server, client: session.client, http: http, dpop: signer))
        // It lets no public client revoke tokens that are bound, however it asks.
        let refusal = await failure { () async throws(OAuthError) in
            try await revocation.revoke(
                refreshed.refreshToken!.duplicate(), bearer: refreshed.accessToken, authentication: .none)
        }
        #expect(refusal == OAuthError(.revocationFailed(statusCode: 401), serverError: .invalidDPoPProof))
        await glewlwyd.stop()
    }

    @Test func `a code that is not the server's, or another attempt's, is refused`() async throws {
        let glewlwyd = try await Glewlwyd(redirectURIs: [Self.redirect])
        let session = try await session(glewlwyd)
        let error = await failure { () async throws(OAuthError) in
            let pending = try AuthorizationRequest(server: session.server, client: session.client)
                .begin(random: .system)
            let state = try Sample.parameter("state", of: pending)
            let response = try Sample.response("code=made-up&state=\(state)&iss=\(glewlwyd.issuer(.hour))")
            return try await session.endpoint.exchange(try pending.validate(response), authentication: .none)
        }
        #expect(error == OAuthError(.exchangeFailed(statusCode: 403), serverError: .invalidCode))
        await glewlwyd.stop()
    }
}
