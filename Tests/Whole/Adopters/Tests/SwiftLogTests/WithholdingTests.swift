import LatchkeyLog
import LatchkeySwiftLog
import Logging
import Testing

@Suite struct WithholdingTests {
    private static let token = "aRandomToken_of-43_characters0123456789abcd"

    /// As HTTP clients and servers log requests while they are debugged.
    @Test(arguments: [
        "GET https://api.example.org/user [(\"Host\", \"api.example.org\"), (\"Authorization\", \"Bearer TOKEN\")]",
        "HTTPRequestHead { method: GET, uri: \"/user\", headers: authorization: Bearer TOKEN\r\nhost: x }",
        "request head sent: [\"authorization\": [\"Bearer TOKEN\"], \"accept\": [\"*/*\"]]",
        "> Authorization: Bearer TOKEN", "Bearer TOKEN was refused", "Cookie: theme=dark; sid=TOKEN",
        "received {\"access_token\":\"TOKEN\",\"token_type\":\"bearer\",\"expires_in\":3600}",
        "POST /token grant_type=authorization_code&code=abc&client_secret=TOKEN&scope=a",
        "redirected to https://app.example.org/callback?state=xyz&code=TOKEN",
        "Session(accessToken: Optional(\"TOKEN\"))",
        "postgres://shop:TOKEN@db.example.org/shop", "using eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.TOKEN as it is",
    ])
    func `a bearer token in another package's line is withheld`(_ line: String) throws {
        let bridge = Bridge()
        let text = line.replacing("TOKEN", with: Self.token)
        bridge.logger("http").debug("\(text)")
        bridge.logger("http").debug("request", metadata: ["ahc-request": "\(text)", "nested": ["a": ["\(text)"]]])
        #expect(bridge.records.count == 2 && bridge.text.components("(withheld)") >= 3, "\(bridge.text)")
        #expect(!bridge.text.contains(Self.token) && !bridge.text.contains(Self.token.prefix(15)), "\(bridge.text)")
    }

    @Test(arguments: ["authorization", "Set-Cookie", "X-Api-Key", "refreshToken", "db.password", "client_secret"])
    func `the value of a key that names a credential is withheld, whatever its form`(_ key: String) throws {
        let bridge = Bridge()
        bridge.logger().info("line", metadata: [key: "short", "nested": [key: ["a", "short"]]])
        #expect(bridge.records.first?[key] == "(withheld)" && !bridge.text.contains("short"))
    }

    @Test(
        arguments: [
            ["headers": [["Authorization", "TOKEN"], ["Host", "shop"]]],
            ["headers": [["name": "Authorization", "value": "TOKEN"], ["name": "Host", "value": "shop"]]],
            ["code": "TOKEN", "host": "shop"], ["state": "TOKEN", "host": "shop"],
            ["verifier": "TOKEN", "host": "shop"],
            ["bearer": "TOKEN", "host": "shop"],
        ] as [Logger.Metadata])
    func `a value beside its name, or with a name of sign-ins, is withheld`(_ metadata: Logger.Metadata) throws {
        func filled(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
            switch value {
            case .string("TOKEN"): .string(Self.token)
            case .string, .stringConvertible: value
            case .array(let values): .array(values.map(filled))
            case .dictionary(let values): .dictionary(values.mapValues(filled))
            }
        }
        let bridge = Bridge()
        bridge.logger().info("line", metadata: metadata.mapValues(filled))
        #expect(bridge.text.contains("(withheld)") && bridge.text.contains("shop"), "\(bridge.text)")
        #expect(!bridge.text.contains(Self.token), "\(bridge.text)")
    }

    @Test func `a number of tokens isn't withheld`() throws {
        let bridge = Bridge()
        bridge.logger().info(
            "line",
            metadata: ["tokens": "512", "max_tokens": .stringConvertible(8192), "token": "512", "cookies": "a=b"])
        let record = try #require(bridge.records.first)
        #expect(record["tokens"] == "512" && record["max_tokens"] == "8192")
        #expect(record["token"] == "(withheld)" && record["cookies"] == "(withheld)")
    }

    @Test func `ordinary lines stay unchanged`() {
        let bridge = Bridge()
        let lines = [
            "Request was queued (waiting for a connection to become available)", "GET /orders/17?page=2&sort=name: 200",
            "the token endpoint answered in 0.2 s, status code: 200", "basic authentication was refused",
            "2026-11-23T06:01:27Z [info] a=b c=\"d e\" state=idle key=7", "password: nil, token: none",
            "cloning ssh://git@github.com/shop/orders", "oauth2: on, state: idle, code: 200",
        ]
        for line in lines { bridge.logger().info("\(line)") }
        #expect(bridge.records.map(\.message.text) == lines)
    }

    @Test func `a private key is withheld to its end`() {
        let bridge = Bridge()
        let key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIB\n-----END EC PRIVATE KEY-----"
        bridge.logger().info("loaded \(key)", metadata: ["a": "\(key)"])
        #expect(bridge.records.first?.message.text == "loaded (withheld)" && !bridge.text.contains("MHcCAQ"))
    }

    /// Wherever it stands, nothing of the line is shown.
    @Test(arguments: [
        "message", "value", "nested", "convertible", "key", "nested key", "label", "source", "file", "error",
    ])
    func `a line that holds a secret in use is withheld as a whole`(_ place: String) throws {
        struct Failure: Error { let text: String }
        let bridge = Bridge()
        let secret = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let watched = bridge.secrets.watch(secret)
        let text = secret.withExposedBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        func at(_ name: String, _ other: String = "x") -> String { place == name ? "…\(text)…" : other }
        bridge.logger(at("label")).debug(
            "said \(at("message"))", error: place == "error" ? Failure(text: text) : nil,
            metadata: [
                "value": "\(at("value"))", at("key", "key"): "x", "other": "told",
                "nested": [["a": ["\(at("nested"))"]], [at("nested key"): "x"]],
                "convertible": .stringConvertible(Substring(at("convertible"))),
            ], source: at("source"), file: at("file"))
        let record = try #require(bridge.records.first)
        #expect(record.message.text == "withheld a record, because it contained a secret in use")
        #expect(record.fields.isEmpty && record.level == .debug && !bridge.text.contains(text.prefix(8)))
        withExtendedLifetime(watched) {}
    }

    /// The shown part ends in the middle of a secret.
    @Test(arguments: [0, 1, 14, 30, 42])
    func `a secret that begins before the cut is noticed`(_ shown: Int) throws {
        let bridge = Bridge()
        let secret = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let watched = bridge.secrets.watch(secret)
        let text = secret.withExposedBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        bridge.logger().info("\(String(repeating: ".", count: 16_384 - shown))\(text)")
        #expect(bridge.records.first?.message.text.hasPrefix("withheld a record") == true)
        withExtendedLifetime(watched) {}
    }

    @Test func `a token that is cut in two leaves no part`() {
        let bridge = Bridge()
        bridge.logger().info("\(String(repeating: ".", count: 16_370))Bearer \(Self.token)")
        #expect(bridge.records.first?.message.text.hasSuffix(".Bearer (withheld)") == true)
    }
}

extension String {
    /// How often a text stands in it.
    fileprivate func components(_ part: String) -> Int { ranges(of: part).count }
}
