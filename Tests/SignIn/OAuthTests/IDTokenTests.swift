import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import Testing

@Suite struct IDTokenTests {
    private static let now: Int64 = 1_000_000
    private static let server = Sample.server()
    private static let client = Sample.client(scopes: ["openid"])

    private func token(_ payload: String, header: String = #"{"alg":"RS256"}"#, signature: String = "c2ln") -> String {
        let parts = [header, payload].map { part in
            let bytes = Array(part.utf8)
            return Base64URL.encode(bytes.span)
        }
        return parts.joined(separator: ".") + "." + signature
    }

    /// - Parameter idToken: made for the attempt's nonce; `nil` for a response without one.
    private func exchange(_ idToken: (String) -> String?) async throws(OAuthError) -> TokenResponse {
        let pending = Sample.pending(server: Self.server, client: Self.client)
        let state = try Sample.parameter("state", of: pending)
        let member = idToken(try Sample.parameter("nonce", of: pending)).map { #","id_token":"\#($0)""# } ?? ""
        let http = ScriptedHTTPClient(.json(#"{"access_token":"t","token_type":"Bearer"\#(member)}"#))
        let endpoint = TokenEndpoint(
            server: Self.server, client: Self.client, http: http, now: { UnixTime(seconds: Self.now) })
        return try await endpoint.exchange(
            try pending.validate(try Sample.response("code=c&state=\(state)")), authentication: .none)
    }

    private func failure(_ idToken: (String) -> String?) async -> OAuthError? {
        do throws(OAuthError) {
            _ = try await exchange(idToken)
            return nil
        } catch {
            return error
        }
    }

    private func claims(
        iss: String = "https://id.example", aud: String = #""client one""#, exp: String = "1000060", nonce: String,
        more: String = ""
    ) -> String {
        #"{"iss":"\#(iss)","sub":"user-1","aud":\#(aud),"exp":\#(exp),"iat":999990,"nonce":"\#(nonce)"\#(more)}"#
    }

    @Test func `a valid ID token is stored and identifies the person`() async throws {
        let tokens = try await exchange { token(claims(nonce: $0)) }
        #expect(tokens.subject == "user-1")
        let kept = tokens.idToken != nil
        #expect(kept)
    }

    @Test func `openid without an ID token is an error`() async {
        #expect(await failure { _ in nil } == OAuthError(.invalidResponse(.missingIDToken)))
    }

    @Test func `an ID token that wasn't requested is dropped`() async throws {
        let http = ScriptedHTTPClient(.json(#"{"access_token":"t","token_type":"bearer","id_token":"x"}"#))
        let tokens = try await TokenEndpoint(server: Self.server, client: Sample.client(), http: http)
            .exchange(try Sample.callback(), authentication: .none)
        let kept = tokens.idToken != nil
        #expect(!kept)
    }

    @Test func `another sign-in's nonce, or a missing one, is refused`() async {
        let expected = OAuthError(.invalidResponse(.idTokenNonce))
        #expect(await failure { _ in token(claims(nonce: "other")) } == expected)
        #expect(await failure { token(claims(nonce: $0 + "a")) } == expected)
        #expect(
            await failure { _ in token(#"{"iss":"https://id.example","sub":"u","aud":"client one","exp":1000060}"#) }
                == expected)
    }

    @Test(arguments: ["https://id.example/", "https://evil.example", ""])
    func `another issuer is refused`(issuer: String) async {
        #expect(
            await failure { token(claims(iss: issuer, nonce: $0)) } == OAuthError(.invalidResponse(.idTokenIssuer)))
    }

    @Test(arguments: [#""other""#, "[]", #"["other"]"#, "1", "null", #"["client one","other"]"#, #"["client one",1]"#])
    func `another audience is refused`(audience: String) async {
        #expect(
            await failure { token(claims(aud: audience, nonce: $0)) } == OAuthError(.invalidResponse(.idTokenAudience)))
    }

    @Test func `several audiences need us as the authorized party`() async {
        let audiences = #"["other","client one"]"#
        #expect(await failure { token(claims(aud: audiences, nonce: $0, more: #","azp":"client one""#)) } == nil)
        #expect(
            await failure { token(claims(aud: audiences, nonce: $0, more: #","azp":"other""#)) }
                == OAuthError(.invalidResponse(.idTokenAudience)))
        #expect(await failure { token(claims(aud: #"["client one"]"#, nonce: $0)) } == nil)
    }

    @Test(arguments: ["999699", "0", "-1", "\"1000060\"", "null", "true"])
    func `an expired ID token is refused`(expiry: String) async {
        #expect(
            await failure { token(claims(exp: expiry, nonce: $0)) } == OAuthError(.invalidResponse(.idTokenExpired)))
    }

    @Test func `an old ID token is expired by the time of its own response`() async throws {
        // Ours is a day behind, and would take it.
        let pending = Sample.pending(server: Self.server, client: Self.client)
        let (state, nonce) = (try Sample.parameter("state", of: pending), try Sample.parameter("nonce", of: pending))
        let idToken = token(claims(exp: "784111777", nonce: nonce))
        let date = try #require(HeaderField("Date", "Mon, 07 Nov 1994 08:49:37 GMT"))
        let endpoint = TokenEndpoint(
            server: Self.server, client: Self.client,
            http: ScriptedHTTPClient(
                .fields(200, [date], #"{"access_token":"t","token_type":"Bearer","id_token":"\#(idToken)"}"#)),
            now: { UnixTime(seconds: 784_111_000) })
        let response = try pending.validate(try Sample.response("code=c&state=\(state)"))
        do throws(OAuthError) {
            _ = try await endpoint.exchange(response, authentication: .none)
            Issue.record("it was taken")
        } catch {
            #expect(error == OAuthError(.invalidResponse(.idTokenExpired)))
        }
    }

    /// `nbf` was not looked at. A token that isn't good yet may be one that was made in stock.
    @Test(arguments: ["iat", "nbf"])
    func `an ID token more than two days in the future is refused, by each of its times`(
        claim: String
    ) async {
        let expired = OAuthError(.invalidResponse(.idTokenExpired))
        for (time, expected) in [
            ("1172799", nil), ("1172800", expired), ("99999999999", expired), ("\"1000000\"", expired), ("0", nil),
        ] as [(String, OAuthError?)] {
            let error = await failure { nonce in
                var times = ["iat": "999990"]
                times[claim] = time
                let members = times.map { "\"\($0)\":\($1)" }.joined(separator: ",")
                return token(
                    #"{"iss":"https://id.example","sub":"user-1","aud":"client one","exp":1000060,"nonce":"\#(nonce)",\#(members)}"#
                )
            }
            #expect(error == expected, "\(time)")
        }
    }

    @Test func `clocks may differ by five minutes`() async {
        #expect(await failure { token(claims(exp: "999701", nonce: $0)) } == nil)
    }

    @Test(arguments: [
        ".", "..", "a.b.c", "e30.e30", "e30.e30.e30.e30", "e30=.e30.", "{}.{}.{}",
    ])
    func `a malformed ID token is refused`(text: String) async {
        let expected = OAuthError.Malformation.malformedIDToken
        #expect(await failure { _ in text } == OAuthError(.invalidResponse(expected)))
    }

    @Test(arguments: [#"{"alg":"none"}"#, #"{"alg":"NONE"}"#, "{}", "[]", #"{"alg":1}"#, #"{"alg":"a","alg":"b"}"#])
    func `an unsigned token is refused`(header: String) async {
        #expect(
            await failure { token(claims(nonce: $0), header: header) }
                == OAuthError(.invalidResponse(.malformedIDToken)))
    }

    @Test(arguments: [
        #"{"iss":"https://id.example","aud":"client one","exp":1000060}"#, #"{"sub":""}"#, #"{"sub":1}"#, "[]", "x",
    ])
    func `an ID token without a subject is refused`(payload: String) async {
        #expect(await failure { _ in token(payload) } == OAuthError(.invalidResponse(.malformedIDToken)))
    }

    // MARK: - Refresh

    private func refresh(_ payload: String?, subject: String?) async -> OAuthError? {
        let member = payload.map { #","id_token":"\#(token($0))""# } ?? ""
        let http = ScriptedHTTPClient(.json(#"{"access_token":"t","token_type":"Bearer"\#(member)}"#))
        let endpoint = TokenEndpoint(
            server: Self.server, client: Self.client, http: http, now: { UnixTime(seconds: Self.now) })
        do throws(OAuthError) {
            _ = try await endpoint.refresh(Secret("r"), subject: subject, authentication: .none)
            return nil
        } catch {
            return error
        }
    }

    @Test func `after a refresh the ID token may be missing but not another person's`() async {
        #expect(await refresh(nil, subject: "user-1") == nil)
        #expect(await refresh(claims(nonce: "any"), subject: "user-1") == nil)
        #expect(await refresh(claims(nonce: "any"), subject: nil) == nil)
        #expect(await refresh(claims(nonce: "any"), subject: "user-2") == OAuthError(.invalidResponse(.idTokenSubject)))
    }
}
