import LatchkeyCredentials
import LatchkeySecrets
import Testing

@testable import LatchkeyOAuth

/// Who is meant is compared octet by octet. Swift's `==` takes the Kelvin sign (U+212A) for a K, and a composed é for a
/// decomposed one: a token for another audience, and another person's, passed for ours.
@Suite struct OctetIdentityTests {
    /// What a refresh says to an ID token; `nil` when it takes it.
    private func refusal(
        iss: String = "https://id.example/K", aud: String = #""Key""#, sub: String = "ren\u{E9}", more: String = "",
        type: String = "Bearer", dpop: Bool = false
    ) async throws -> OAuthError? {
        let client = try ClientConfiguration(
            clientID: "Key", redirect: RedirectURI("app.example:/x"), scopes: ["openid"])
        let server = Sample.server(issuer: try Issuer("https://id.example/K"))
        let parts = [#"{"alg":"RS256"}"#, #"{"iss":"\#(iss)","sub":"\#(sub)","aud":\#(aud),"exp":1000060\#(more)}"#]
            .map { Base64URL.encode(Array($0.utf8).span) }
        let token = parts.joined(separator: ".") + ".c2ln"
        let http = ScriptedHTTPClient(.json(#"{"access_token":"t","token_type":"\#(type)","id_token":"\#(token)"}"#))
        let endpoint = TokenEndpoint(
            server: server, client: client, http: http, now: { UnixTime(seconds: 1_000_000) })
        do throws(OAuthError) {
            _ = try await endpoint.refresh(Secret("r"), subject: "ren\u{E9}", authentication: .none)
            return nil
        } catch {
            return error
        }
    }

    @Test func `values with equal octets are accepted`() async throws {
        #expect(try await refusal() == nil)
        #expect(try await refusal(aud: #"["Key","other"]"#, more: #","azp":"Key""#) == nil)
        #expect(try await refusal(type: "bEARER") == nil)
    }

    @Test func `an audience with a Kelvin sign isn't a client with a K`() async throws {
        let expected = OAuthError(.invalidResponse(.idTokenAudience))
        #expect(try await refusal(aud: "\"\u{212A}ey\"") == expected)
        #expect(try await refusal(aud: #"["Key","other"]"#, more: ",\"azp\":\"\u{212A}ey\"") == expected)
    }

    @Test func `an issuer with a Kelvin sign isn't one with a K`() async throws {
        #expect(
            try await refusal(iss: "https://id.example/\u{212A}") == OAuthError(.invalidResponse(.idTokenIssuer)))
    }

    @Test func `a subject in another normal form is another person`() async throws {
        #expect(try await refusal(sub: "rene\u{301}") == OAuthError(.invalidResponse(.idTokenSubject)))
    }

    @Test func `letters beyond ASCII have no other case`() async throws {
        #expect("KEY".hasSameOctetsButForCase(as: "key") && !"\u{212A}ey".hasSameOctetsButForCase(as: "key"))
        #expect(!"\u{C9}".hasSameOctetsButForCase(as: "\u{E9}") && !"[".hasSameOctetsButForCase(as: "{"))
        #expect(!"@".hasSameOctetsButForCase(as: "`") && !"key".hasSameOctetsButForCase(as: "keys"))
        #expect(Set([Octets("\u{E9}"), Octets("e\u{301}"), Octets("\u{E9}")]).count == 2)
    }
}
