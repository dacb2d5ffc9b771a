import Foundation
import Testing
import TestServices

struct GlewlwydTests {
    private static let redirect = "http://127.0.0.1:1/callback"

    @Test(arguments: [false, true])
    func `a server describes its issuers, with and without TLS`(tls: Bool) async throws {
        let server = try await Glewlwyd(redirectURIs: [Self.redirect], tls: tls)
        for issuer in Glewlwyd.Issuer.allCases {
            let run = try await curl(server, [server.issuer(issuer) + "/.well-known/openid-configuration"])
            let metadata = try JSONSerialization.jsonObject(with: Data(run.output)) as? [String: Any]
            #expect(metadata?["issuer"] as? String == server.issuer(issuer))
            #expect(metadata?["code_challenge_methods_supported"] as? [String] == ["S256"])
        }
        await server.stop()
        #expect(try await curl(server, [server.base + "/config"]).status == 7, "curl's status for a refused connection")
    }

    @Test func `a user who signed in and consented is sent back with a code that buys tokens`() async throws {
        let server = try await Glewlwyd(redirectURIs: [Self.redirect])
        let cookies = try await server.consent()
        // Appendix B of RFC 7636.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        let query =
            "response_type=code&client_id=native&redirect_uri=\(Self.redirect)&scope=openid%20offline_access"
            + "&state=s&nonce=n&code_challenge=\(challenge)&code_challenge_method=S256&g_continue"
        let answer = try await curl(
            server,
            ["--cookie", cookies, "--write-out", "%{redirect_url}", server.issuer(.brief) + "/auth?" + query]
        ).outputText
        let callback = try #require(URLComponents(string: answer))
        #expect(answer.hasPrefix(Self.redirect + "?"))
        let code = try #require(callback.queryItems?.first { $0.name == "code" }?.value)
        let tokens = try await curl(
            server,
            ["--data", "grant_type=authorization_code&client_id=native&code=\(code)&code_verifier=\(verifier)"]
                + ["--data-urlencode", "redirect_uri=" + Self.redirect, server.issuer(.brief) + "/token"])
        let members = try JSONSerialization.jsonObject(with: Data(tokens.output)) as? [String: Any]
        #expect(members?["expires_in"] as? Int == 3)
        #expect(members?["refresh_token"] is String)
        #expect(try server.accessTokensIssued(.brief) == 1)
        #expect(try server.accessTokensIssued(.hour) == 0)
    }

    private func curl(_ server: Glewlwyd, _ arguments: [String]) async throws -> ProgramRun {
        let trust = server.certificateAuthority.map { ["--cacert", $0.certificate] } ?? []
        return try await Program("curl").run(["--silent", "--noproxy", "*"] + trust + arguments)
    }
}
