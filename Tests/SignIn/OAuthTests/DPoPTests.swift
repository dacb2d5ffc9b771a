@testable import LatchkeyJSON
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyCrypto
import LatchkeySecrets
import Testing

@testable import LatchkeyOAuth

/// Proofs of possession (RFC 9449): what they say, and what responses teach about the next one.
@Suite struct DPoPTests {
    // MARK: - The RFCs' examples

    @Test func `RFC 7638's key has its thumbprint`() {
        let json =
            #"{"e":"AQAB","kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}"#
        #expect(JWKThumbprint.of(json: json) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    private static let x = "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"
    private static let y = "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"

    private static func base64(_ text: String) -> String { Base64URL.encode(Array(text.utf8).span) }

    @Test func `RFC 9449's key has its thumbprint`() {
        #expect(JWKThumbprint.ofP256(x: Self.x, y: Self.y) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test(arguments: [
        (
            #"{"jti":"-BwC3ESc6acc2lTc","htm":"POST","htu":"https://server.example.com/token","iat":1562262616}"#,
            "2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
        ),
        (
            #"{"jti":"e1j3V_bKic8-LAEB","htm":"GET","htu":"https://resource.example.org/protectedresource","iat":1562262618,"ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}"#,
            "2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
        ),
    ])
    func `RFC 9449's proofs verify, and damaged ones don't`(payload: String, signature: String) throws {
        let header =
            #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","x":"\#(Self.x)","y":"\#(Self.y)","crv":"P-256"}}"#
        let signed = Array((Self.base64(header) + "." + Self.base64(payload)).utf8)
        let point = try #require(Base64URL.decode(Self.x)) + #require(Base64URL.decode(Self.y))
        let bytes = try #require(Base64URL.decode(signature))
        #expect(try isValid(bytes, signed, point))
        for index in [0, 31, 32, 63] {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(try !isValid(damaged, signed, point))
        }
        let shorter = Array(signed.dropLast())
        #expect(try !isValid(bytes, shorter, point))
        #expect(try !isValid(Array(bytes.dropLast()), signed, point))
        var off = point
        off[0] ^= 1
        #expect(try !isValid(bytes, signed, off))
    }

    @Test func `our proofs have the form of RFC 9449, with an expiry`() throws {
        let proof = DPoPProof(
            method: "GET", address: "https://resource.example.org/protectedresource", identifier: "e1j3V_bKic8-LAEB",
            issued: UnixTime(seconds: 1_562_262_618),
            tokenHash: DPoPProof.hash(of: Secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")), nonce: nil)
        #expect(
            try proof.payload().reveal()
                == #"{"jti":"e1j3V_bKic8-LAEB","htm":"GET","htu":"https://resource.example.org/protectedresource","iat":1562262618,"exp":1562262918,"ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}"#
        )
        let key = try ES256Key.generate()
        #expect(
            DPoPProof.header(x: key.x, y: key.y)
                == #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","x":"\#(key.x)","y":"\#(key.y)","crv":"P-256"}}"#
        )
    }

    private func isValid(_ signature: [UInt8], _ message: [UInt8], _ point: [UInt8]) throws -> Bool {
        try P256.isValid(signature, of: message.span, publicKey: point)
    }

    // MARK: - Keys

    @Test func `each key makes its own signatures`() throws {
        let message = Array("message".utf8)
        let one = try ES256Key.generate()
        let other = try ES256Key.generate()
        #expect(one.thumbprint != other.thumbprint && one.thumbprint.utf8.count == 43)
        let signature = try one.sign(message.span)
        let point = try #require(Base64URL.decode(one.x)) + #require(Base64URL.decode(one.y))
        let otherPoint = try #require(Base64URL.decode(other.x)) + #require(Base64URL.decode(other.y))
        #expect(try isValid(signature, message, point))
        #expect(try !isValid(signature, message, otherPoint))
    }

    @Test func `RFC 6979's private key has its point`() throws {
        // Appendix A.2.5.
        let scalar: [UInt8] = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
        let key = try ES256Key(scalar: Secret(copying: scalar.span))!
        #expect(Base64URL.decode(key.x) == hex("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"))
        #expect(Base64URL.decode(key.y) == hex("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"))
    }

    private func hex(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
    }

    @Test func `a number outside the curve's range isn't a key`() throws {
        let order = hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
        for scalar in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 255, count: 32), [1, 2, 3]] {
            let isKey = try ES256Key(scalar: Secret(copying: scalar.span)) != nil
            #expect(!isKey)
        }
        let failing = RandomCalls(failing: 1)
        #expect(
            failure { () throws(OAuthError) in try ES256Key.generate(random: failing.source) }
                == OAuthError(.noRandomOctets(number: 5)))
        let zeros = RandomSource { (span) throws(RandomSourceError) in for index in span.indices { span[index] = 0 } }
        #expect(
            failure { () throws(OAuthError) in try ES256Key.generate(random: zeros) }
                == OAuthError(.invalidConfiguration(.signingKey)))
    }

    @Test func `a key survives a store, and a damaged one is none`() throws {
        let key = try ES256Key.generate()
        let text = try key.encoded().reveal()
        #expect(try ES256Key(decoding: Secret(text))?.thumbprint == key.thumbprint)
        let other = try ES256Key.generate()
        for wrong in [
            text.replacingOccurrences(key.x, other.x), text.replacingOccurrences(key.y, other.y),
            text.replacingOccurrences("P-256", "P-384"), text.replacingOccurrences("\"EC\"", "\"RSA\""), "{}", "",
            String(text.dropLast(3)) + "\"}",
        ] {
            let isKey = try ES256Key(decoding: Secret(wrong)) != nil
            #expect(!isKey, "\(wrong.count)")
        }
    }

    // MARK: - Proofs

    /// A proof taken apart.
    struct Parts {
        let header: String
        let payload: String

        init(_ proof: String) throws {
            let parts = proof.split(separator: ".").map(String.init)
            try #require(parts.count == 3)
            header = String(decoding: try #require(Base64URL.decode(parts[0])), as: UTF8.self)
            payload = String(decoding: try #require(Base64URL.decode(parts[1])), as: UTF8.self)
        }

        func member(_ name: String) throws -> String? {
            let document = try JSONDocument(Secret<MessageBody>(payload))
            return try document.member(named: name, of: document.root).map { try document.publicText($0, limit: 9999) }
        }
    }

    @Test(arguments: [
        ("https://h.example/x/", "https://h.example/x/"), ("https://h.example/x", "https://h.example/x"),
        ("https://h.example/a%2Fb%20c", "https://h.example/a%2Fb%20c"), ("http://[::1]:81/p", "http://[::1]:81/p"),
        ("https://h.example?q=1", "https://h.example/"), ("https://h.example", "https://h.example/"),
        ("HTTPS://H.Example:443/P?q=%2F#".dropLast().description, "https://h.example/P"),
        ("https://h.example:8443/p?a=b&c", "https://h.example:8443/p"), ("http://127.0.0.1:80/", "http://127.0.0.1/"),
        ("https://h.example/a/../b//c;d", "https://h.example/a/../b//c;d"),
    ])
    func `the address of a proof is the request's without its query, and is otherwise unchanged`(
        url: String, expected: String
    ) async throws {
        let http = ScriptedHTTPClient(.json("{}"))
        let signer = DPoPProofSigner(key: try .generate())
        _ = try await ResourceClient(http: http, dpop: signer).send(
            GuardedRequest(.get, HTTPURL(url)), token: Secret("token"))
        let sent = try #require(http.requests.first)
        let parts = try Parts(#require(sent.proof))
        #expect(try parts.member("htu") == expected)
        #expect(try parts.member("htm") == "GET")
        #expect(sent.authorization == "DPoP token")
        #expect(try parts.member("ath") == DPoPProof.hash(of: Secret("token")))
    }

    @Test func `every proof has a separate identifier, even for a repeated request`() async throws {
        let challenge = HeaderField("WWW-Authenticate", #"DPoP realm="a, b", error="use_dpop_nonce""#)!
        let http = ScriptedHTTPClient(
            .fields(401, [challenge, HeaderField("DPoP-Nonce", "n-1")!]),
            .fields(200, [HeaderField("DPoP-Nonce", "n-2")!]),
            .json("{}"))
        let resource = ResourceClient(http: http, dpop: DPoPProofSigner(key: try .generate()))
        let url = try HTTPURL("https://api.example/a")
        #expect(try await resource.send(GuardedRequest(.get, url), token: Secret("t")).status == 200)
        #expect(try await resource.send(GuardedRequest(.get, url), token: Secret("t")).status == 200)
        let proofs = try http.requests.map { try Parts(#require($0.proof)) }
        #expect(try proofs.map { try $0.member("nonce") } == [nil, "n-1", "n-2"])
        let identifiers = try proofs.map { try #require(try $0.member("jti")) }
        #expect(Set(identifiers).count == 3)
        #expect(identifiers.allSatisfy { Base64URL.decode($0)?.count == 16 })
    }

    @Test func `a nonce belongs to one origin, and a malformed one is ignored`() async throws {
        let http = ScriptedHTTPClient(
            .fields(200, [HeaderField("DPoP-Nonce", "one")!]), .json("{}"),
            .fields(200, [HeaderField("DPoP-Nonce", "a b")!]),
            .json("{}"))
        let resource = ResourceClient(http: http, dpop: DPoPProofSigner(key: try .generate()))
        for url in ["https://a.example/1", "https://b.example/1", "https://a.example:443/2", "https://A.example/3"] {
            _ = try await resource.send(GuardedRequest(.get, HTTPURL(url)), token: Secret("t"))
        }
        let nonces = try http.requests.map { try Parts(#require($0.proof)).member("nonce") }
        #expect(nonces == [nil, nil, "one", "one"])
    }

    @Test func `a server that always wants another nonce gets two requests`() async throws {
        let challenge = HeaderField("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#)!
        let http = ScriptedHTTPClient(
            .fields(401, [challenge, HeaderField("DPoP-Nonce", "n-1")!]),
            .fields(401, [challenge, HeaderField("DPoP-Nonce", "n-2")!]), .json("{}"))
        let resource = ResourceClient(http: http, dpop: DPoPProofSigner(key: try .generate()))
        let response = try await resource.send(
            GuardedRequest(.get, HTTPURL("https://api.example/")), token: Secret("t"))
        #expect(response.status == 401 && http.requests.count == 2)
    }

    @Test(arguments: [
        [#"Bearer error="use_dpop_nonce""#], [#"DPoP error="invalid_token""#], [#"DPoP error="use_dpop_nonce"#], [],
    ])
    func `a refusal that doesn't concern the proof isn't repeated`(challenges: [String]) async throws {
        let fields = challenges.map { HeaderField("WWW-Authenticate", $0)! } + [HeaderField("DPoP-Nonce", "n-1")!]
        let http = ScriptedHTTPClient(.fields(401, fields), .json("{}"))
        let resource = ResourceClient(http: http, dpop: DPoPProofSigner(key: try .generate()))
        let response = try await resource.send(
            GuardedRequest(.get, HTTPURL("https://api.example/")), token: Secret("t"))
        #expect(response.status == 401 && http.requests.count == 1)
    }

    @Test func `a demand for a nonce without a new one isn't repeated`() async throws {
        let challenge = HeaderField("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#)!
        let http = ScriptedHTTPClient(.fields(401, [challenge]), .json("{}"))
        let resource = ResourceClient(http: http, dpop: DPoPProofSigner(key: try .generate()))
        _ = try await resource.send(GuardedRequest(.get, HTTPURL("https://api.example/")), token: Secret("t"))
        #expect(http.requests.count == 1)
    }

    // MARK: - Clocks

    @Test func `a server's clock is learned from its Date, within two days`() throws {
        let url = try HTTPURL("https://id.example/token")
        let memory = DPoPNonceCache()
        let now = try #require(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT"))
        func skew(_ date: String) throws -> Int64 {
            memory.learn(
                from: GuardedResponse(status: 200, fields: [HeaderField("Date", date)!], body: Secret("")), of: url,
                now: now
            )
            return memory.origin(of: url).skew
        }
        #expect(try skew("Sun, 06 Nov 1994 08:49:38 GMT") == 0)
        #expect(try skew("Mon, 07 Nov 1994 08:49:37 GMT") == 86_400)
        #expect(try skew("Mon, 07 Nov 1994 08:49:39 GMT") == 86_400)
        #expect(try skew("Sun, 06 Nov 2094 08:49:37 GMT") == 86_400)
        #expect(try skew("Sun, 06 Nov 1994 08:48:37 GMT") == -60)
        #expect(try skew("Sun, 06 Nov 1994 08:49:37 GMT") == 0)
    }

    @Test func `dates are read in the one form that servers write`() {
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT")?.seconds == 784_111_777)
        #expect(HTTPDate.parse("Thu, 01 Jan 1970 00:00:00 GMT")?.seconds == 0)
        #expect(HTTPDate.parse("Thu, 29 Feb 2024 23:59:60 GMT")?.seconds == 1_709_251_200)
        for text in [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
        ] {
            #expect(HTTPDate.parse(text) == nil, "\(text)")
        }
    }

    // MARK: - The token endpoint

    private func endpoint(_ http: ScriptedHTTPClient) throws -> TokenEndpoint {
        TokenEndpoint(
            server: Sample.server(), client: Sample.client(), http: http, dpop: DPoPProofSigner(key: try .generate()))
    }

    private static let bound = #"{"access_token":"at-1","token_type":"dpop"}"#

    @Test func `a token request is proven, and repeated once with the nonce of a refusal`() async throws {
        let http = ScriptedHTTPClient(
            .fields(400, [HeaderField("DPoP-Nonce", "n-1")!], #"{"error":"use_dpop_nonce"}"#), .json(Self.bound))
        let tokens = try await endpoint(http).refresh(Secret("r"), authentication: .none)
        #expect(tokens.accessToken.reveal() == "at-1")
        let parts = try http.requests.map { try Parts(#require($0.proof)) }
        #expect(try parts.map { try $0.member("nonce") } == [nil, "n-1"])
        #expect(try parts.map { try $0.member("htu") } == Array(repeating: "https://id.example/token", count: 2))
        #expect(try parts.map { try $0.member("ath") } == [nil, nil])
        #expect(http.requests.map(\.body) == Array(repeating: http.requests[0].body, count: 2))
    }

    @Test func `a repeated token request has an assertion of its own, since a server takes each once`() async throws {
        let http = ScriptedHTTPClient(
            .fields(400, [HeaderField("DPoP-Nonce", "n-1")!], #"{"error":"use_dpop_nonce"}"#), .json(Self.bound))
        let key = try ES256Key.generate().encoded()
        let client = try ClientAuthentication.privateKeyJWT(
            key.duplicate(as: ClientSecret.self), audience: "https://id.example", now: UnixTime.now)
        _ = try await endpoint(http).refresh(Secret("r"), authentication: client)
        let identifiers = try http.requests.map { request in
            let fields = request.body.split(separator: "&")
            let assertion = try #require(fields.first { $0.hasPrefix("client_assertion=") })
            return try #require(try Parts(String(assertion.dropFirst(17))).member("jti"))
        }
        #expect(Set(identifiers).count == 2)
    }

    @Test func `an unbound token is refused if a key was proven, and a bound one if none was`() async throws {
        let endpoint = try endpoint(ScriptedHTTPClient(.json(Sample.tokens)))
        let unbound = await failure { () async throws(OAuthError) in
            try await endpoint.refresh(Secret("r"), authentication: .none)
        }
        #expect(unbound == OAuthError(.invalidResponse(.tokenNotBound)))
        let bound = await failure { () async throws(OAuthError) in
            let endpoint = TokenEndpoint(
                server: Sample.server(), client: Sample.client(), http: ScriptedHTTPClient(.json(Self.bound)))
            return try await endpoint.refresh(Secret("r"), authentication: .none)
        }
        #expect(bound == OAuthError(.invalidResponse(.unknownTokenType)))
    }

    @Test func `a server without ES256 is refused before any request`() throws {
        var server = Sample.server()
        server.dpopAlgorithms = ["EdDSA"]
        let signer = DPoPProofSigner(key: try .generate())
        #expect(
            failure { () throws(OAuthError) in
                try AuthorizationRequest(server: server, client: Sample.client(), dpop: signer)
            } == OAuthError(.invalidMetadata(.withoutES256)))
        server.dpopAlgorithms = ["ES256", "EdDSA"]
        let request = try AuthorizationRequest(server: server, client: Sample.client(), dpop: signer)
        #expect(try Sample.parameter("dpop_jkt", of: request.begin(random: .system)) == signer.thumbprint)
    }

    // MARK: - Challenges

    @Test func `challenges are read one after the other`() {
        let read = AuthenticateChallenge.parse(
            #"Basic realm="a \"b\", DPoP", DPoP algs="ES256 PS256" , error=use_dpop_nonce, Negotiate abc==, Bearer"#)
        #expect(read.map(\.scheme) == ["basic", "dpop", "negotiate", "bearer"])
        #expect(read.map(\.error) == [nil, .useDPoPNonce, nil, nil])
        #expect(AuthenticateChallenge.parse("DPoP error=\"something a stranger wrote\"").first?.error == .other)
        #expect(AuthenticateChallenge.parse(String(repeating: "a, ", count: 1000)).count == 16)
        #expect(AuthenticateChallenge.parse(String(repeating: "a", count: 9000)).isEmpty)
        let bare = AuthenticateChallenge.parse(
            "BEARER Scope=User.Read, resource_metadata=https://api.example/.well-known/x?a=b , DPoP")
        #expect(bare.map(\.scheme) == ["bearer", "dpop"] && bare[0].scopes == ["User.Read"])
        #expect(bare[0].resourceMetadata == "https://api.example/.well-known/x?a=b")
        #expect(AuthenticateChallenge.parse(" , ,").isEmpty && AuthenticateChallenge.parse("=x").isEmpty)
    }
}

extension String {
    fileprivate func replacingOccurrences(_ old: String, _ new: String) -> String {
        split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }
}
