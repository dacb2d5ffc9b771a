@testable import LatchkeyJSON
import Foundation
import LatchkeyHTTP
import LatchkeyCrypto
import LatchkeySecrets
import LatchkeySystem
import Testing
import TestServices

@testable import LatchkeyOAuth

/// Parsers of what strangers send, given thousands of damaged samples. The seed is fixed: a failure names the input and
/// comes back. `LATCHKEY_LONG=1` makes it a million for each, from another seed each time.
@Suite struct FuzzTests {
    private static let count = runsLong ? 1_000_000 : 4000
    private static let seed: UInt64 = runsLong ? UInt64.random(in: 0 ... .max) : 0x6C61_7463_686B_6579

    /// Runs `check` on mutations of the samples, and expects some inputs to be accepted and some to be refused: else
    /// the check shows nothing.
    func fuzz(
        _ samples: [String], words: [String], check: (_ input: [UInt8]) async throws -> Bool
    ) async throws {
        var mutator = Mutator(seed: Self.seed, samples: samples, words: words)
        var accepted = 0
        for round in 0..<Self.count {
            // Tests beside this one wait for responses over HTTP, and there are few threads for all.
            if round % 128 == 0 { await Task.yield() }
            let input = mutator.next()
            do {
                if try await check(input) { accepted += 1 }
            } catch {
                Issue.record(
                    "seed \(Self.seed), input \(String(reflecting: String(decoding: input, as: UTF8.self))): \(error)")
                return
            }
        }
        #expect(accepted > Self.count / 100 && accepted < Self.count)
    }

    struct Violation: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private static let tokenResponses = [
        #"{"access_token":"gho_16C7e42F292c6912E7710c838347Ae178B4a","token_type":"bearer","scope":"repo,gist"}"#,
        #"{"access_token":"a\u0062c","token_type":"Bearer","expires_in":3600,"refresh_token":"r","scope":"a b"}"#,
        #"{"error":"invalid_grant","error_description":"gone"}"#, #"{"error":{"code":400},"access_token":"x"}"#,
        #" [ 1 , -0.5e+7 , "é\ud83d\ude00\n" , true , false , null , { } , [ ] , {"a":{"b":[[]]}} ] "#,
    ]
    static let jsonWords = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "\\udc00", "\\u0000", "null", "true", "1e999", "-",
        "0", ".", "\"access_token\"", "\"a\":1", "\u{FEFF}", " ", "e", "\"error\":null,", "{\"a\":{\"a\":",
        "[[[[[[[[[[",
    ]

    @Test func `the JSON reader accepts nothing that Foundation refuses, and reads the same`() async throws {
        try await fuzz(Self.tokenResponses, words: Self.jsonWords) { input in
            guard let document = try? JSONDocument(Secret(copying: input.span)) else { return false }
            let theirs: Any
            do {
                theirs = try JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)
            } catch {
                // Foundation refuses numbers too large for a double; RFC 8259 section 6 leaves that open.
                guard String(decoding: input, as: UTF8.self).contains(/[eE][+]?[0-9]{3}/) else {
                    throw Violation("Foundation refuses it")
                }
                return true
            }
            // Foundation drops a byte-order mark at the start of a string or name.
            let hasMark = String(decoding: input, as: UTF8.self).unicodeScalars.contains("\u{FEFF}")
            guard hasMark || same(document, document.root, theirs) else { throw Violation("read differently") }
            return true
        }
    }

    private static let roleAnswer =
        "<r><SessionToken>t/=</SessionToken>\n<SecretAccessKey>s+</SecretAccessKey>"
        + "<Expiration>2040-01-01T00:00:00Z</Expiration><AccessKeyId>ASIA</AccessKeyId></r>"

    @Test func `accepted credentials of a role have each part once, as in the response`() async throws {
        let words = ["<SessionToken>", "</SessionToken>", "<AccessKeyId>", "&lt;", "<", "&", "Z", ".5", "\0", "\u{7F}"]
        try await fuzz([Self.roleAnswer], words: words) { input in
            guard let credentials = try? SecurityTokenService.read(Secret(copying: input.span)) else { return false }
            let text = String(decoding: input, as: UTF8.self)
            let made = credentials.withExposedBytes { bytes in Data((0..<bytes.count).map { bytes[$0] }) }
            guard let members = try JSONSerialization.jsonObject(with: made) as? [String: Any], members.count == 5,
                RoleCredentials.end(of: credentials) != nil
            else { throw Violation("the answer can't be read again") }
            for name in ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"] {
                guard let value = members[name] as? String,
                    text.components(separatedBy: "<\(name)>\(value)</\(name)>").count == 2
                else { throw Violation("\(name) isn't what stands there") }
            }
            return true
        }
    }

    @Test func `an accepted client's key signs, and stays unchanged in a store`() async throws {
        let jwk = try ES256Key.generate().encoded().withExposedBytes { $0.publicText()! }
        let pem = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAQEBAQEBAQEBAQEB
            AQEBAQEBAQEBAQEBAQEBAQEBAQGhRANCAARv8DuUkkHOHa3UNRnmlg4KhbQaaaBc
            MoEDqivOFZTKFjxPdTpVvwHcU/bAsMfu54tAxv99JaluIoK5ic73HBRK
            -----END PRIVATE KEY-----
            """
        try await fuzz([jwk, pem], words: ["-----", "\n", "=", "\"", "P-384", "}", "MIGH", "A", "\0"]) { input in
            guard let key = try? ES256Key.read(Secret(copying: input.span)) else { return false }
            guard let again = try ES256Key(decoding: key.encoded()), again.thumbprint == key.thumbprint else {
                throw Violation("another key was stored")
            }
            _ = try key.sign(input.span)
            return true
        }
    }

    private func same(_ document: borrowing JSONDocument, _ value: JSONValue, _ theirs: Any) -> Bool {
        switch value.kind {
        case .null: return theirs is NSNull
        case .boolean: return (try? document.boolean(value)) == (theirs as? Bool)
        case .number: return (try? document.double(value)) == (theirs as? NSNumber)?.doubleValue
        case .string:
            return (try? document.publicText(value, limit: 1 << 20)).map { Array($0.utf8) }
                == (theirs as? String).map { Array($0.utf8) }
        case .array:
            let ours = document.elements(of: value)
            guard let theirs = theirs as? [Any], ours.count == theirs.count else { return false }
            for (left, right) in zip(ours, theirs) where !same(document, left, right) { return false }
            return true
        case .object:
            guard let theirs = theirs as? [String: Any] else { return false }
            for (name, right) in theirs {
                guard let inner = document.member(named: name, of: value) else {
                    if right is NSNull { continue }
                    return false
                }
                if !same(document, inner, right) { return false }
            }
            return true
        }
    }

    @Test func `JSON that the reader accepts survives being written and read again`() async throws {
        try await fuzz(Self.tokenResponses, words: Self.jsonWords) { input in
            guard let document = try? JSONDocument(Secret(copying: input.span)),
                let member = document.member("access_token"),
                let token = try? document.secret(member, as: AccessToken.self)
            else { return false }
            var writer = JSONWriter()
            try writer.member("access_token", secret: token)
            let again = try JSONDocument(writer.finish(as: MessageBody.self))
            let same = try again.secret(again.member("access_token")!, as: AccessToken.self).matches(token)
            guard same else { throw Violation("changed on the way") }
            return true
        }
    }

    // MARK: - Responses

    @Test func `a damaged response is accepted as ours only if its state is ours`() async throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let samples = [
            "code=SplxlOBeZQQYbYS6WxSbIA&state=\(state)", "state=\(state)&error=access_denied&error_description=no+way",
            "code=a%2Fb+c&iss=https%3A%2F%2Fid.example&state=\(state)&scope=a+b",
        ]
        let words = [
            "&", "=", "%", "%00", "%26", "+", "code=", "&state=", "&code=x", "state", "&iss=", "#", "%0D%0A", "=",
        ]
        try await fuzz(samples, words: words) { input in
            guard let response = try? AuthorizationResponse(query: input.span) else { return false }
            let text = String(decoding: input, as: UTF8.self)
            guard pending.recognizes(response) == (field("state", of: text) == state) else {
                throw Violation("recognized wrongly")
            }
            let names = formFields(text).map(\.name)
            guard Set(names).count == names.count else { throw Violation("a name comes twice") }
            let values = ["code", "error"].filter { field($0, of: text)?.isEmpty == false }
            guard values.count == 1 else { throw Violation("both or none of code and error") }
            return true
        }
    }

    @Test func `a damaged address never counts as another redirect`() async throws {
        let redirect = try RedirectURI("http://127.0.0.1:4711/callback")
        let samples = [
            "http://127.0.0.1:4711/callback?code=a&state=b",
            " http://127.0.0.1:4711/callback?error=access_denied#_=_\n",
        ]
        let words = ["?", "#", "http://", "/", "@", ":", " ", "evil.example", "\\", "/../", "%2F"]
        try await fuzz(samples, words: words) { input in
            guard (try? AuthorizationResponse(pasted: input.span, redirect: redirect)) != nil else { return false }
            let text = String(decoding: input.drop { $0 <= 0x20 }, as: UTF8.self)
            guard text.hasPrefix(redirect.text + "?") else { throw Violation("another address") }
            return true
        }
    }

    @Test func `an accepted redirect address is a loopback literal, a page, or a private-use scheme`()
        async throws
    {
        let samples = [
            "http://127.0.0.1:4711/callback", "http://[::1]/cb", "com.example.app:/callback", "https://app.example/x",
            "relay://oauth/callback",
        ]
        let words = [
            "://", ":", "/", "@", "localhost", "127.0.0.2", "[::]", "%", "?", "#", "http", "file", "\\", ".", "0",
        ]
        try await fuzz(samples, words: words) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let redirect = try? RedirectURI(text, allowingAnyPrivateScheme: true) else { return false }
            guard redirect.text == text, try RedirectURI(text, allowingAnyPrivateScheme: true) == redirect else {
                throw Violation("not kept as written")
            }
            switch redirect.kind {
            case .loopback:
                let starts = ["http://127.0.0.1/", "http://127.0.0.1:", "http://[::1]/", "http://[::1]:"]
                guard starts.contains(where: text.hasPrefix) || text == "http://127.0.0.1" || text == "http://[::1]"
                else { throw Violation("not a loopback literal") }
            case .https:
                guard text.lowercased().hasPrefix("https://") else { throw Violation("not https") }
            case .privateUse:
                guard !["http", "https", "file", "javascript", "data"].contains(redirect.scheme) else {
                    throw Violation("a scheme of the browser's")
                }
            }
            return true
        }
    }

    // MARK: - Servers

    @Test func `accepted metadata is the issuer's and stays confidential`() async throws {
        let samples = [
            #"""
            {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize?a=b",
            "token_endpoint":"https://id.example/token","revocation_endpoint":"https://id.example/revoke",
            "code_challenge_methods_supported":["S256"],"response_types_supported":["code"]}
            """#
        ]
        let words =
            Self.jsonWords + [
                "http://", "https://", "evil.example", "?state=x", "#", "@", "http://127.0.0.1:80/", "\"issuer\":",
                "[]",
            ]
        try await fuzz(samples, words: words) { input in
            guard
                let server = try? AuthorizationServerMetadata(
                    parsing: Secret(copying: input.span), expecting: Sample.issuer)
            else {
                return false
            }
            guard server.issuer == Sample.issuer else { throw Violation("another issuer") }
            let endpoints =
                [server.authorizationEndpoint, server.tokenEndpoint] + [server.revocationEndpoint].compactMap(\.self)
            guard endpoints.allSatisfy({ $0.scheme == .https }) else { throw Violation("an endpoint in the clear") }
            return true
        }
    }

    @Test func `an accepted key set holds only keys of the two kinds`() async throws {
        let point = String(repeating: "A", count: 43)
        let samples = [
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(point)","y":"\#(point)","kid":"1","use":"sig","alg":"ES256"}]}"#,
            #"{"keys":[{"kty":"RSA","n":"sXch","e":"AQAB","kid":"2"},{"kty":"oct","k":"AAAA"}]}"#,
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"\#(point)"},{"kty":"EC","crv":"P-521","x":"A","y":"A"}]}"#,
        ]
        let words = Self.jsonWords + ["\"kty\":", "\"d\":\"A\"", "\"alg\":\"HS256\"", "\"use\":\"enc\"", "\"k\":\"A\""]
        try await fuzz(samples, words: words) { input in
            guard let set = try? KeySet(parsing: Secret(copying: input.span)) else { return false }
            for key in set.keys {
                if case .ecdsa(let curve, let point) = key.key, point.count != 2 * curve.byteCount {
                    throw Violation("a point of another size")
                }
                for algorithm in SignatureAlgorithm.allCases {
                    _ = try key.key.accepts([UInt8](repeating: 0, count: 64), of: input.span, by: algorithm)
                }
            }
            return true
        }
    }

    @Test func `challenges of any form are read to their end, and in bounds`() async throws {
        let samples = [#"DPoP error="use_dpop_nonce", algs="ES256", Basic realm="a\"b", Negotiate abc=="#, "Bearer"]
        let words = ["\"", "\\", ",", "=", " ", "error=", "DPoP ", "\t", ";"]
        try await fuzz(samples, words: words) { input in
            let text = String(decoding: input, as: UTF8.self)
            let read = AuthenticateChallenge.parse(text)
            guard read.count <= AuthenticateChallenge.maximumCount else { throw Violation("too many") }
            return read.contains { $0.error != nil }
        }
    }

    @Test func `an accepted token response holds a token that fits into a field`() async throws {
        var mutator = Mutator(seed: Self.seed, samples: Self.tokenResponses, words: Self.jsonWords)
        var accepted = 0
        for _ in 0..<Self.count / 4 {
            let input = String(decoding: mutator.next(), as: UTF8.self)
            let http = ScriptedHTTPClient(.json(input))
            let endpoint = TokenEndpoint(server: Sample.server(), client: Sample.client(), http: http)
            guard let tokens = try? await endpoint.refresh(Secret("old"), authentication: .none) else { continue }
            accepted += 1
            var request = GuardedRequest(.get, Sample.server().tokenEndpoint)
            try request.authorize(bearer: tokens.accessToken)
            let refreshable = tokens.refreshToken != nil
            let lifetime = tokens.expiresInSeconds ?? 0
            #expect(refreshable && lifetime >= 0)
        }
        #expect(accepted > Self.count / 400)
    }
}
