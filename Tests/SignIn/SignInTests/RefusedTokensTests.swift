import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets
import TestServices

@testable import LatchkeySignIn

/// Tokens that a server issues and that are then refused don't stay good at the server (RFC 7009).
struct RefusedTokensTests {
    /// A person who goes to the address with the code.
    private struct Person: DevicePrompt {
        func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError) {
            let code = device.userCode.testText
            do {
                _ = try await Fetched.get(device.address.text + "?user_code=" + code)
            } catch {
                throw .unavailable(.pageFailed)
            }
        }

        func finish(_ outcome: SignInOutcome) async {}
    }

    private func scene(dpop: Bool = false) throws -> SignInScene {
        try SignInScene(AuthorizationServerConfiguration(offersDeviceGrant: true)) { server in
            try .issuer(
                Issuer(server.issuer), name: "test", clientID: "latchkey",
                scopes: ["openid", "read"], usesDPoP: dpop)
        }
    }

    /// Whether the server takes any token that it has issued.
    private func hasGoodToken(_ scene: SignInScene) async throws -> Bool {
        let tokens = Mutex<[String]>([])
        scene.server.withEachSecret { name, secret in
            if name == "access_token" { tokens.withLock { $0.append(secret.testText) } }
        }
        for token in tokens.withLock({ $0 }) {
            var request = GuardedRequest(.get, try HTTPURL(scene.server.userInfoEndpoint))
            try request.authorize(bearer: Secret<AccessToken>.test(token))
            if try await CurlTransport().send(request).status == 200 { return true }
        }
        return false
    }

    static let faults: [(AuthorizationServerFault, OAuthError.Malformation)] = [
        (.unknownTokenType, .unknownTokenType), (.missingAccessToken, .missingAccessToken),
        (.forgedIDToken, .idTokenSignature), (.symmetricIDToken, .idTokenAlgorithm),
    ]

    @Test(arguments: faults + [(.wrongNonce, .idTokenNonce), (.missingIDToken, .missingIDToken)])
    func `tokens of an unusable response are revoked`(
        fault: AuthorizationServerFault, problem: OAuthError.Malformation
    ) async throws {
        let scene = try scene()
        scene.server.switchOn(fault)
        #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidResponse(problem)))))
        #expect(scene.server.record.codesExchanged == 1 && scene.server.record.revocations == 1)
        #expect(try await !hasGoodToken(scene))
        #expect(try await scene.service.accounts() == [])
        #expect(try scene.findings() == [])
    }

    @Test(arguments: faults)
    func `tokens of an unusable response to a device are revoked`(
        fault: AuthorizationServerFault, problem: OAuthError.Malformation
    ) async throws {
        let scene = try scene()
        scene.server.switchOn(fault)
        await #expect(throws: SignInError(.oauth(OAuthError(.invalidResponse(problem))))) {
            try await scene.service.signIn(showing: Person(), deadline: .unhurried)
        }
        #expect(scene.server.record.revocations == 1)
        #expect(try await !hasGoodToken(scene))
    }

    @Test func `unbound tokens are revoked if bound ones were requested`() async throws {
        let scene = try scene(dpop: true)
        scene.server.switchOn(.bearerInsteadOfDPoP)
        #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidResponse(.tokenNotBound)))))
        #expect(scene.server.record.revocations == 1)
    }

    @Test func `tokens that came in spite of a cancellation are revoked`() async throws {
        let scene = try scene()
        scene.server.switchOn(.heldResponse(.token))
        let attempt = Task { await scene.failure() }
        while scene.server.record.codesExchanged == 0 { try await Task.sleep(for: .milliseconds(2)) }
        attempt.cancel()
        scene.server.switchOff(.heldResponse(.token))
        #expect(await attempt.value == .cancelled)
        #expect(scene.server.record.revocations == 1)
        #expect(try await !hasGoodToken(scene))
        #expect(try await scene.service.accounts() == [])
    }

    @Test func `tokens that a device got in spite of a cancellation are revoked`() async throws {
        let scene = try scene()
        scene.server.switchOn(.heldResponse(.token))
        let attempt = Task { () async -> SignInError? in
            do throws(SignInError) {
                try await scene.service.signIn(showing: Person(), deadline: .unhurried)
                return nil
            } catch {
                return error
            }
        }
        while scene.requests[.token] == nil { try await Task.sleep(for: .milliseconds(2)) }
        attempt.cancel()
        scene.server.switchOff(.heldResponse(.token))
        #expect(await attempt.value == .cancelled)
        #expect(scene.server.record.revocations == 1)
        #expect(try await !hasGoodToken(scene))
    }

    @Test func `a server that doesn't revoke delays nothing, and the error stays the refusal`() async throws {
        for fault in [AuthorizationServerFault.status(500, .revocation), .metadataWithout("revocation_endpoint")] {
            let scene = try scene()
            scene.server.switchOn(fault)
            scene.server.switchOn(.unknownTokenType)
            #expect(await scene.failure() == SignInError(.oauth(OAuthError(.invalidResponse(.unknownTokenType)))))
            #expect(try scene.findings() == [])
        }
    }

    @Test func `a refused refresh revokes the tokens of its response`() async throws {
        let scene = try scene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.server.switchOn(.unknownTokenType)
        await #expect(throws: SignInError(.oauth(OAuthError(.invalidResponse(.unknownTokenType))))) {
            _ = try await scene.token()
        }
        #expect(scene.server.record.revocations == 1)
    }
}
