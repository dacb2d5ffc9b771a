import Foundation
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Testing
import TestServices

@testable import LatchkeyFoundation

/// Tokens that are bound to a key, over TLS with an authority that this test alone trusts.
struct TLSTests {
    private func tls(_ authority: CertificateAuthority) throws -> AuthorizationServerConfiguration.TLS {
        let key = Array(try Data(contentsOf: URL(fileURLWithPath: authority.serverKey)))
        return AuthorizationServerConfiguration.TLS(
            certificatePEM: try String(contentsOfFile: authority.serverChain, encoding: .utf8),
            key: Secret<PrivateKey>(copying: key.span))
    }

    @Test(arguments: [false, true])
    func `over TLS a sign-in, a request and a refresh prove the key, each for its https address`(
        pushed: Bool
    ) async throws {
        let directory = try TestDirectory()
        let authority = try await CertificateAuthority(in: directory)
        let http = CurlTransport(
            configuration: CurlTransport.Configuration(trust: .only(file: authority.certificate)))
        let configuration = AuthorizationServerConfiguration(
            dpopNonces: true, requiresDPoP: true, pushedRequests: pushed ? .required : .none, tls: try tls(authority))
        let scene = try AuthenticatorScene(configuration, http: http) { $0.tokens.bindsTokensToKey = true }
        #expect(scene.server.origin.hasPrefix("https://"))
        #expect(try await scene.ask() == 200)
        scene.server.expireAccessTokens()
        #expect(try await scene.ask() == 200)
        #expect(scene.server.record.refreshes == 1 && scene.server.record.proofs >= 4)
        // Proofs for http, or for another address, would be among them.
        #expect(Set(scene.server.record.proofProblems.keys).isSubset(of: [.nonce]))
        #expect(try scene.findings() == [])
    }

    @Test func `a server with an unknown authority gets nothing`() async throws {
        let directory = try TestDirectory()
        let authority = try await CertificateAuthority(in: directory)
        let scene = try AuthenticatorScene(AuthorizationServerConfiguration(tls: try tls(authority)))
        guard case .signIn(let error)? = await scene.failure()?.code, case .oauth(let cause) = error.code,
            case .networkError(let network) = cause.code
        else {
            Issue.record("no network error")
            return
        }
        #expect(network.code == .certificateRefused)
        #expect(scene.server.record.requests.isEmpty && scene.person.timesAsked == 0)
    }
}
