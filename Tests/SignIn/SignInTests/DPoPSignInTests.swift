import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Testing

@testable import LatchkeySignIn

/// Sessions whose tokens are bound to a key (RFC 9449), against a server that checks every proof.
struct DPoPSignInTests {
    private static func provider(_ server: LoopbackAuthorizationServer) throws -> OAuthProvider {
        try .issuer(
            Issuer(server.issuer), name: "test", clientID: "latchkey",
            scopes: ["read", "write"], usesDPoP: true)
    }

    private func scene(nonces: Bool, requires: Bool = true) throws -> SignInScene {
        try SignInScene(
            AuthorizationServerConfiguration(dpopNonces: nonces, requiresDPoP: requires), provider: Self.provider)
    }

    private func request(_ scene: SignInScene) async throws -> Int {
        try await scene.service.send(GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint))).status
    }

    private func keys(_ scene: SignInScene) async throws -> [String] {
        try await scene.memory.list(service: "latchkey:test", deadline: .unhurried).all()
            .filter { $0.key.kind == .privateKey }.map(\.key.account)
    }

    @Test(arguments: [false, true])
    func `a bound session signs in, asks, refreshes and signs out`(nonces: Bool) async throws {
        let scene = try scene(nonces: nonces)
        try await scene.signIn()
        #expect(try await request(scene) == 200)
        scene.clock.advance(seconds: 4000)
        let before = scene.server.record.refreshes
        #expect(try await request(scene) == 200)
        #expect(scene.server.record.refreshes == before + 1)
        // Nothing was refused but the first proof without a nonce, and the first one after the clock was turned.
        let problems = scene.server.record.proofProblems
        #expect(problems == (nonces ? [.nonce: 1, .time: 1] : [.time: 1]))
        let session = try await scene.service.sessions.load("octocat")!
        let thumbprint = session.keyThumbprint
        #expect(try await keys(scene) == [thumbprint])
        let report = await scene.service.signOut()
        #expect(report.revocation == .revoked && report.isSignedOut)
        #expect(try await keys(scene) == [])
        #expect(try scene.findings() == [])
    }

    @Test func `a proof of any time gets an answer`() async throws {
        let scene = try scene(nonces: false)
        let signer = DPoPProofSigner(key: try .generate(), now: { UnixTime(seconds: .min) })
        let body = Array("grant_type=refresh_token&client_id=latchkey&refresh_token=x".utf8)
        var request = GuardedRequest(
            .post, try HTTPURL(scene.server.tokenEndpoint),
            fields: [HeaderField("Content-Type", "application/x-www-form-urlencoded")!],
            body: Secret(copying: body.span))
        _ = try signer.prove(&request, tokenHash: nil)
        #expect(try await CurlTransport().send(request).status == 400)
        #expect(scene.server.record.proofProblems == [.time: 1])
    }

    @Test func `another process continues with the key from the store`() async throws {
        let scene = try scene(nonces: true)
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        let other = scene.otherService()
        let status = try await other.send(GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint))).status
        #expect(status == 200 && scene.server.record.refreshes == 1)
    }

    @Test func `a missing or different key is reported, and nothing is sent`() async throws {
        for isOther in [false, true] {
            let scene = try scene(nonces: false)
            try await scene.signIn()
            let thumbprint = try #require(try await keys(scene).first)
            let key = try CredentialKey(service: "latchkey:test", account: thumbprint, kind: .privateKey)
            if isOther {
                try await scene.memory.save(
                    ES256Key.generate().encoded(), for: key, options: SaveOptions(), deadline: .unhurried)
            } else {
                try await scene.memory.delete(key, condition: .none, deadline: .unhurried)
            }
            let service = scene.otherService()
            let before = scene.requests
            await #expect(throws: SignInError(.keyLost)) {
                _ = try await service.send(GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint)))
            }
            #expect(scene.requests == before)
            // Signing in again is the cure, and leaves one key.
            _ = try await service.signIn(presenting: scene.browser(), deadline: .unhurried)
            #expect(try await service.send(GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint))).status == 200)
            #expect(try await keys(scene).count == 1)
        }
    }

    @Test func `the key is written before the session, and a store that fails leaves neither`() async throws {
        let scene = try scene(nonces: false)
        scene.store.refuseSaves(of: .session)
        guard case .store = await scene.failure()?.code else {
            Issue.record("the store's refusal is not told")
            return
        }
        #expect(try await keys(scene) == [])
        #expect(scene.server.record.revocations == 1)
        scene.store.refuseSaves(of: .session, times: 0)
        scene.store.refuseSaves(of: .privateKey)
        let saves = scene.store.saveCount
        guard case .store = await scene.failure()?.code else {
            Issue.record("the store's refusal is not told")
            return
        }
        #expect(scene.store.saveCount == saves)
        #expect(scene.server.record.revocations == 2)
    }

    @Test func `a second sign-in that can't be kept leaves the first one's key`() async throws {
        let scene = try scene(nonces: false)
        try await scene.signIn()
        let before = try await keys(scene)
        scene.store.refuseSaves(of: .current)
        _ = await scene.failure()
        scene.store.refuseSaves(of: .current, times: 0)
        #expect(try await keys(scene) == before)
        #expect(try await request(scene) == 200)
    }

    @Test func `an unbound token is refused if a bound one was requested`() async throws {
        let scene = try scene(nonces: false)
        scene.server.switchOn(.bearerInsteadOfDPoP)
        #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidResponse(.tokenNotBound)))))
        #expect(scene.server.record.revocations == 1)
        #expect(try await scene.service.accounts() == [])
        #expect(try await keys(scene) == [])
    }

    @Test func `a server without ES256 is refused before a prompt`() async throws {
        let scene = try scene(nonces: false)
        scene.server.switchOn(.metadataWithoutES256)
        #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidMetadata(.withoutES256)))))
        #expect(scene.requests[.authorization] == nil)
    }

    @Test(arguments: [86_400, -86_400, 300])
    func `a wrong clock is corrected by the server's`(seconds: Int64) async throws {
        let scene = try scene(nonces: false)
        scene.clock.advance(seconds: seconds)
        try await scene.signIn(account: "octocat")
        #expect(try await request(scene) == 200)
        #expect(scene.server.record.proofProblems == [.time: 1])
    }

    @Test func `each response's nonce is used at once, and a server that always wants another gets two requests`()
        async throws
    {
        let scene = try scene(nonces: true)
        scene.server.switchOn(.dpopNonceChurn)
        try await scene.signIn()
        for _ in 0..<5 { #expect(try await request(scene) == 200) }
        #expect(scene.server.record.proofProblems == [.nonce: 1])
        scene.server.switchOff(.dpopNonceChurn)
        scene.server.switchOn(.unendingDPoPNonces)
        let before = scene.requests[.userInfo] ?? 0
        let tokens = scene.requests[.token] ?? 0
        #expect(try await request(scene) == 401)
        // Twice for the request, and no refresh: it is the proof that is refused, not the token.
        #expect((scene.requests[.userInfo] ?? 0) - before == 2)
        #expect((scene.requests[.token] ?? 0) == tokens)
        #expect(try await scene.service.accounts().count == 1)
    }

    @Test func `a stolen session is useless without the key`() async throws {
        let scene = try scene(nonces: false)
        try await scene.signIn()
        let session = try await scene.service.sessions.load("octocat")!
        let thief = DPoPProofSigner(key: try .generate())
        let url = try HTTPURL(scene.server.userInfoEndpoint)
        for signer in [nil, thief] {
            let resource = ResourceClient(http: CurlTransport(), dpop: signer)
            #expect(try await resource.send(GuardedRequest(.get, url), token: session.accessToken).status == 401)
        }
        let server = try await AuthorizationServerMetadata.discover(Issuer(scene.server.issuer), over: CurlTransport())
        let endpoint = TokenEndpoint(
            server: server, client: try scene.provider.client, http: CurlTransport(), dpop: thief)
        let refresh = session.refreshToken!.duplicate()
        await #expect(throws: OAuthError.self) { _ = try await endpoint.refresh(refresh, authentication: .none) }
        #expect(scene.server.record.proofProblems[.otherKey] == 1)
        #expect(try await request(scene) == 200)
    }
}
