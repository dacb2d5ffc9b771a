import Foundation
import LatchkeyCrypto
import LatchkeyHTTP
import LatchkeyLog
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyOAuth

/// Signatures of ID tokens (OpenID Connect Core section 3.1.3.7) against servers' key sets (RFC 7517).
@Suite struct SignatureTests {
    private static let url = Sample.url("https://id.example/jwks")

    /// A key of P-256 that signs.
    private struct Key: ~Copyable {
        let scalar: Secret<PrivateKey>
        let json: String

        /// - Parameter isShort: a key with a zero at the start of a coordinate, which is left out.
        init(_ identifier: String?, extra: String = "", isShort: Bool = false) throws {
            var scalar = try Secret<PrivateKey>.random(byteCount: 32)
            var point = try P256.publicKey(of: scalar)!
            while isShort && point[0] != 0 && point[32] != 0 {
                scalar = try .random(byteCount: 32)
                point = try P256.publicKey(of: scalar)!
            }
            self.scalar = scalar
            let (x, y) = (
                Array(point[..<32].drop { isShort && $0 == 0 }), Array(point[32...].drop { isShort && $0 == 0 })
            )
            let name = identifier.map { #","kid":"\#($0)""# } ?? ""
            json =
                #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(x.span))","y":"\#(Base64URL.encode(y.span))"\#(name)\#(extra)}"#
        }

        func token(header: String) throws -> Secret<IDToken> {
            let payload = #"{"sub":"alice"}"#
            let signed = Base64URL.encode(Array(header.utf8).span) + "." + Base64URL.encode(Array(payload.utf8).span)
            let bytes = Array(signed.utf8)
            let signature = try P256.signature(of: bytes.span, key: scalar)!
            return Secret(signed + "." + Base64URL.encode(signature.span))
        }
    }

    private static func set(_ keys: String...) -> ScriptedHTTPClient.Response {
        .json("{\"keys\":[" + keys.joined(separator: ",") + "]}")
    }

    private func check(
        _ token: borrowing Secret<IDToken>, _ http: ScriptedHTTPClient, keys: SigningKeys = SigningKeys()
    ) async -> OAuthError? {
        do throws(OAuthError) {
            try await keys.check(token, by: [.es256, .rs256], keysAt: Self.url, over: http, log: .disabled)
            return nil
        } catch {
            return error
        }
    }

    private static let wrong = OAuthError(.invalidResponse(.idTokenSignature))
    private static let noKey = OAuthError(.invalidResponse(.keySet))

    @Test func `a token signed by one of the server's keys is accepted, and no other`() async throws {
        let one = try Key("1")
        let other = try Key("1")
        let token = try one.token(header: #"{"alg":"ES256","kid":"1"}"#)
        #expect(await check(token, ScriptedHTTPClient(Self.set(one.json))) == nil)
        #expect(await check(token, ScriptedHTTPClient(Self.set(other.json))) == Self.wrong)
        #expect(await check(token, ScriptedHTTPClient(Self.set())) == Self.noKey)
        // Without a name in the token, every key of the kind may be the one.
        let nameless = try one.token(header: #"{"alg":"ES256"}"#)
        #expect(await check(nameless, ScriptedHTTPClient(Self.set(other.json, one.json))) == nil)
        // Another key's name: the key that signed it doesn't count.
        let misnamed = try one.token(header: #"{"alg":"ES256","kid":"2"}"#)
        #expect(await check(misnamed, ScriptedHTTPClient(Self.set(one.json))) == Self.noKey)
    }

    @Test func `a key without the zeros at its start, as some servers write it, is the same key`() async throws {
        let key = try Key("1", isShort: true)
        let token = try key.token(header: #"{"alg":"ES256","kid":"1"}"#)
        #expect(await check(token, ScriptedHTTPClient(Self.set(key.json))) == nil)
        #expect(try await check(token, ScriptedHTTPClient(Self.set(Key("1", isShort: true).json))) == Self.wrong)
    }

    @Test func `one more request finds a server's new key, and a known key needs none`() async throws {
        let first = try Key("1")
        let second = try Key("2")
        let keys = SigningKeys()
        let http = ScriptedHTTPClient(Self.set(first.json), Self.set(second.json))
        let early = try first.token(header: #"{"alg":"ES256","kid":"1"}"#)
        #expect(await check(early, http, keys: keys) == nil)
        #expect(await check(early, http, keys: keys) == nil)
        #expect(http.requests.count == 1)
        #expect(await check(try second.token(header: #"{"alg":"ES256","kid":"2"}"#), http, keys: keys) == nil)
        #expect(http.requests.count == 2)
    }

    @Test(arguments: [
        #"{"alg":"none"}"#, #"{"alg":"HS256","kid":"1"}"#, #"{"alg":"ES384","kid":"1"}"#, #"{"alg":"es256"}"#, "{}",
        #"{"alg":"ES256","kid":"1","crit":["b64"],"b64":false}"#, #"{"alg":["ES256"]}"#,
    ])
    func `another algorithm is refused before any key is asked for`(header: String) async throws {
        let key = try Key("1")
        let http = ScriptedHTTPClient(Self.set(key.json))
        let token = try key.token(header: header)
        #expect(await check(token, http) == OAuthError(.invalidResponse(.idTokenAlgorithm)))
        #expect(http.requests.isEmpty)
    }

    @Test func `a key for something else doesn't count, whatever it has signed`() async throws {
        for extra in [#","use":"enc""#, #","alg":"ES512""#, #","alg":"HS256""#, #","d":"AAAA""#, #","k":"AAAA""#] {
            let key = try Key("1", extra: extra)
            let token = try key.token(header: #"{"alg":"ES256","kid":"1"}"#)
            #expect(await check(token, ScriptedHTTPClient(Self.set(key.json))) == Self.noKey, "\(extra)")
        }
        // An ES256 key can't verify what says RS256, nor the other way round.
        let key = try Key("1")
        let token = try key.token(header: #"{"alg":"RS256","kid":"1"}"#)
        #expect(await check(token, ScriptedHTTPClient(Self.set(key.json))) == Self.noKey)
    }

    @Test func `a key in the token itself is ignored`() async throws {
        let thief = try Key("1")
        let server = try Key("1")
        let token = try thief.token(
            header: #"{"alg":"ES256","kid":"1","jwk":\#(thief.json),"jku":"https://thief.example/jwks"}"#)
        let http = ScriptedHTTPClient(Self.set(server.json))
        #expect(await check(token, http) == Self.wrong)
        #expect(http.requests.map(\.url) == ["https://id.example/jwks"])
    }

    @Test func `RS256 agrees with OpenSSL, and damaged signatures don't verify`() async throws {
        let directory = try TestDirectory()
        let openssl = try Program("openssl")
        try await openssl.run(["genrsa", "-out", directory / "key", "2048"]).successful("genrsa")
        let modulus = try await openssl.run(["rsa", "-in", directory / "key", "-noout", "-modulus"]).successful("rsa")
            .outputText.split(separator: "=")[1].trimmingCharacters(in: .newlines)
        let n = stride(from: 0, to: modulus.count, by: 2).map { index in
            UInt8(modulus.dropFirst(index).prefix(2), radix: 16) ?? 0
        }
        let header = Base64URL.encode(Array(#"{"alg":"RS256","kid":"r"}"#.utf8).span)
        let signed = Array((header + "." + Base64URL.encode(Array(#"{"sub":"alice"}"#.utf8).span)).utf8)
        try directory.write("message", signed)
        let signature = try await openssl.run(
            ["dgst", "-sha256", "-sign", directory / "key", directory / "message"]
        ).successful("dgst").output
        let json = #"{"kty":"RSA","kid":"r","alg":"RS256","use":"sig","n":"\#(Base64URL.encode(n.span))","e":"AQAB"}"#
        let text = String(decoding: signed, as: UTF8.self) + "."
        #expect(
            await check(Secret(text + Base64URL.encode(signature.span)), ScriptedHTTPClient(Self.set(json))) == nil)
        for index in [0, 100, 255] {
            var damaged = signature
            damaged[index] ^= 1
            let token = Secret<IDToken>(text + Base64URL.encode(damaged.span))
            #expect(await check(token, ScriptedHTTPClient(Self.set(json))) == Self.wrong)
        }
        for exponent in ["Ag", "AQ", "", "AAAA"] {
            let weak = json.replacingOccurrences(of: "AQAB", with: exponent)
            let token = Secret<IDToken>(text + Base64URL.encode(signature.span))
            #expect(await check(token, ScriptedHTTPClient(Self.set(weak))) == Self.wrong, "\(exponent)")
        }
    }

    @Test func `a key set that is malformed, too large or unavailable is an error`() async throws {
        let key = try Key("1")
        let token = try key.token(header: #"{"alg":"ES256","kid":"1"}"#)
        let many = Array(repeating: key.json, count: 33).joined(separator: ",")
        for text in ["", "[]", "{}", #"{"keys":{}}"#, "{\"keys\":[\(many)]}", "<html>"] {
            #expect(await check(token, ScriptedHTTPClient(.json(text))) == OAuthError(.invalidResponse(.keySet)))
        }
        #expect(
            await check(token, ScriptedHTTPClient(.status(404, "")))
                == OAuthError(.requestRefused(.keySet, statusCode: 404)))
        // What is malformed among the keys hides no other.
        #expect(
            await check(token, ScriptedHTTPClient(Self.set("5", "{}", #"{"kty":"EC","crv":"P-256"}"#, key.json))) == nil
        )
    }

    @Test func `the token endpoint of a server with keys checks its ID tokens`() async throws {
        let key = try Key("1")
        let token = try key.token(header: #"{"alg":"ES256","kid":"1"}"#).reveal()
        let parts = token.split(separator: ".")
        let claims = #"{"iss":"https://id.example","sub":"alice","aud":"client one","exp":99999999999}"#
        let body = Array((String(parts[0]) + "." + Base64URL.encode(Array(claims.utf8).span)).utf8)
        let signature = try P256.signature(of: body.span, key: key.scalar)!
        let idToken = String(decoding: body, as: UTF8.self) + "." + Base64URL.encode(signature.span)
        let response =
            #"{"access_token":"at","token_type":"bearer","refresh_token":"r","id_token":"\#(idToken)"}"#
        let server = try AuthorizationServerMetadata(
            issuer: Sample.issuer, authorizationEndpoint: HTTPURL("https://id.example/authorize"),
            tokenEndpoint: HTTPURL("https://id.example/token"), keySetEndpoint: Self.url)
        let other = try Key("1")
        for (set, expected) in [(key.json, nil), (other.json, Self.wrong)] as [(String, OAuthError?)] {
            let http = ScriptedHTTPClient(.json(response), Self.set(set))
            let error = await failure { () async throws(OAuthError) in
                let endpoint = TokenEndpoint(
                    server: server, client: Sample.client(scopes: ["openid"]), http: http)
                let tokens = try await endpoint.refresh(Secret("old"), subject: "alice", authentication: .none)
                // The keys are asked for by whoever has stored the tokens, and not before.
                #expect(http.requests.count == 1)
                try await endpoint.checkSignature(of: tokens)
                return tokens
            }
            #expect(error == expected)
        }
    }
}
