import Testing

@testable import LatchkeySwiftLog

@Suite struct CredentialFieldsTests {
    /// The text with `*` in the place of each value.
    static func withheld(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result = ""
        var start = 0
        for range in CredentialFields.ranges(in: bytes.span) {
            result += String(decoding: bytes[start..<range.lowerBound], as: UTF8.self) + "*"
            start = range.upperBound
        }
        return result + String(decoding: bytes[start...], as: UTF8.self)
    }

    @Test(arguments: [
        // Fields of HTTP, to the end of the line.
        ("Authorization: Bearer abc def\nHost: x", "Authorization: *\nHost: x"),
        ("authorization=Basic YWRhOnM=", "authorization=*"),
        ("Set-Cookie: sid=1; Path=/\r\nA: b", "Set-Cookie: *\r\nA: b"),
        ("Proxy-Authorization: Digest a=\"b\", c=d", "Proxy-Authorization: *"),
        // Lists of fields, as Swift describes them.
        ("[(\"Authorization\", \"Bearer a\"), (\"Host\", \"x\")]", "[(\"Authorization\", \"*\"), (\"Host\", \"x\")]"),
        ("[\"Cookie\": [\"a=b\"], \"Accept\": \"*/*\"]", "[\"Cookie\": [\"*\"], \"Accept\": \"*/*\"]"),
        ("headers[\"cookie\"] = \"a=b; c\"", "headers[\"cookie\"] = \"*\""),
        // JSON, also within a string.
        ("{\"access_token\":\"a\",\"scope\":\"b\"}", "{\"access_token\":\"*\",\"scope\":\"b\"}"),
        (#"{\"access_token\": \"a\", \"scope\": \"b\"}"#, #"{\"access_token\": \"*\", \"scope\": \"b\"}"#),
        (#"{"password":"a\"b","c":1}"#, #"{"password":"*","c":1}"#),
        // Swift's own descriptions.
        ("Login(password: \"a b\", user: \"c\")", "Login(password: \"*\", user: \"c\")"),
        ("refreshToken: Optional(\"a\"), id: 7", "refreshToken: Optional(\"*\"), id: 7"),
        ("token: Token(value: \"a b\", expires: [1, 2]), id: 7", "token: *, id: 7"),
        // URLs and forms.
        ("/callback?code=abc&state=xyz&page=2", "/callback?code=*&state=*&page=2"),
        ("/#access_token=a&token_type=bearer", "/#access_token=*&token_type=bearer"),
        ("grant_type=password&client_secret=a;b", "grant_type=password&client_secret=*;b"),
        ("https://x.example/?X-Amz-Security-Token=a%2Bb&sig=c d", "https://x.example/?X-Amz-Security-Token=*&sig=* d"),
        // Schemes without a field's name.
        ("sent Bearer abcdef0123.x to x", "sent Bearer * to x"), ("DPoP eyJhbGciOi.J9 ok", "DPoP * ok"),
        ("bearer aaaaaaaaaaaaaaaaaaaaaaaa", "bearer *"),
        ("https://x.example/?next=%2Fcb%3Faccess_token%3Dabc", "https://x.example/?next=%2Fcb%3Faccess_token%3D*"),
        ("redis://:a.b@cache:6379", "redis://:*@cache:6379"), ("Server=db;Password=a;", "Server=db;Password=*;"),
        // Pairs, elements, and a name beside its value.
        (#"{"name":"authorization","value":"a b"}"#, #"{"name":"authorization","value":"*"}"#),
        ("HTTPField(name: \"x-api-key\", value: \"a\")", "HTTPField(name: \"x-api-key\", value: \"*\")"),
        ("name: Cookie, value: a=b; c", "name: Cookie, value: *"),
        ("<add key=\"Password\" value=\"a\"/>", "<add key=\"Password\" value=\"*\"/>"),
        ("<access_token>a</access_token><b>c</b>", "<access_token>*</access_token><b>c</b>"),
        ("apiKey \"a b\" was refused", "apiKey \"*\" was refused"),
        // Short names, names in one word and in several, and lists.
        ("db_pwd=a jwt: b sid=c", "db_pwd=* jwt: * sid=*"), ("AccountKey=a==;x=1", "AccountKey=*;x=1"),
        ("X-Amz-Signature=a&b=1", "X-Amz-Signature=*&b=1"), ("secret-key: a", "secret-key: *"),
        ("tokens: [\"a\", \"b\"], id: 7", "tokens: *, id: 7"),
        ("(tokens: (access: \"a\"), id: 7)", "(tokens: *, id: 7)"),
        ("DB_PASS=a {\"user_pass\":\"b\"} dbPwd=c", "DB_PASS=* {\"user_pass\":\"*\"} dbPwd=*"),
        ("\"cookies\": \"a=b; c=d\", x", "\"cookies\": \"*\", x"),
        ("Cookies: a=b; c=d\nHost: x", "Cookies: *\nHost: x"),
        ("{\"tokens\":\"a b,c\",\"d\":1}", "{\"tokens\":\"*\",\"d\":1}"),
        ("authorization_code: a", "authorization_code: *"),
        // In a string of JSON's within another, and in a URL within another.
        (#"{\"password\":\"ab\\\"cdef\",\"b\":1}"#, #"{\"password\":\"*\",\"b\":1}"#),
        (#"{\\\"token\\\":\\\"ab\\\",\\\"c\\\":1}"#, #"{\\\"token\\\":\\\"*\\\",\\\"c\\\":1}"#),
        ("next=https%3A%2F%2Fa%2Fcb%3Fcode%3Dabc%26state%3Dxyz", "next=https%3A%2F%2Fa%2Fcb%3Fcode%3D*"),
        ("?a=1%26state%3Dxyz&b=2", "?a=1%26state%3D*&b=2"),
        // Without an end.
        ("password=\"a b", "password=\"*"), ("secret = (a, b", "secret = (*, b"), ("token: a", "token: *"),
    ])
    func `the value of a credential's name is found`(_ text: String, _ expected: String) {
        #expect(Self.withheld(text) == expected)
    }

    /// What people and programs write in less regular ways; nothing of the token is left.
    @Test(arguments: [
        // An object, whose own members have other names.
        (#"{"access_token":{"value":"T"},"b":1}"#, #"{"access_token":*,"b":1}"#),
        (#"{\"token\":{\"a\":\"x}\",\"value\":\"T\"},\"b\":1}"#, #"{\"token\":*,\"b\":1}"#),
        ("token: {value: T}, id: 7", "token: *, id: 7"), ("token=[\"a\", \"T\"], id: 7", "token=*, id: 7"),
        // Passwords, to the line's end; in a URL to `&`, in a list of settings to `;`.
        ("password=ab,T", "password=*"), ("password=ab;T", "password=*"), ("password=ab&T", "password=*"),
        ("passwd=ab<T", "passwd=*"), ("password=ab\"T", "password=*"), ("passphrase: a b T\nx", "passphrase: *\nx"),
        ("/?password=ab,T&b=1 c", "/?password=*&b=1 c"), ("a=1&password=ab;T&b=1", "a=1&password=*&b=1"),
        ("a=1; password=ab,T;b=1", "a=1; password=*;b=1"),
        // Schemes before other blanks, or a quote.
        ("Bearer  T", "Bearer  *"), ("Bearer\tT", "Bearer\t*"), ("Bearer\nT x", "Bearer\n* x"),
        ("Bearer \"T\" x", "Bearer \"*\" x"), (#"Basic \"T\" x"#, #"Basic \"*\" x"#),
        ("token:\nT\nx", "token:\n*\nx"), ("Cookie:\r\n a=T; b", "Cookie:\r\n *"),
        // Names with additions, and others.
        ("password1=T", "password1=*"), ("password_confirmation=T", "password_confirmation=*"),
        ("tokenValue=T", "tokenValue=*"), ("PHPSESSID=T", "PHPSESSID=*"), ("id_token_hint=T", "id_token_hint=*"),
        ("Cookie2: a=b; T", "Cookie2: *"), ("verifier: T", "verifier: *"),
        // Elements with attributes, a value before its name, and a token as a user's name.
        ("<token type=\"x\">T</token>", "<token type=\"x\">*</token>"),
        ("<a:token>T</a:token>", "<a:token>*</a:token>"),
        (#"{"value":"T","name":"token"}"#, #"{"value":"*","name":"token"}"#),
        (#"{\"value\":\"T\",\"key\":\"token\"}"#, #"{\"value\":\"*\",\"key\":\"token\"}"#),
        ("value: T, name: token", "value: *, name: token"), ("https://T@github.com/a", "https://*@github.com/a"),
    ])
    func `a credential in an unusual place is found`(_ text: String, _ expected: String) {
        #expect(Self.withheld(text.replacing("T", with: "wK2mVb9RtYpLz4HcNd8F")) == expected)
    }

    @Test(arguments: [
        "", ":", "=", " ", ": =", "status code: 200", "state=idle", "code=7", "a: b", "token", "token:", "token: ",
        "password: nil, token=null", "the bearer token was refused", "Bearer authentication", "basic rules of it",
        "tokens: 5", "tokens=512.5", "compass: north", "bypass=1", "a, values: b",
        "the value, token, is old", "passes: 7", "a > b", "<b>c</b>", "100%", "%3D", "redis://cache:6379/",
        "tokenType: x", "secretary: Ann", "token://x", "2026-11-23T06:01:27Z", "a, token, b",
        "\"token\", 5", "keys=7&page=2", "https://x.example/?page=2#top",
        "ssh://git@github.com/a", "https://ada.lovelace@x.example/", "oauth2: on", "the bearer\nwas refused",
        "password: nil, a b", "(value: 5, name: page)", "{\"value\":\"a\",\"name\":\"b\"}", "<tokens/>a", "pass1: 7",
        "{\"token_type\":\"bearer\",\"expires_in\":3600}", "<a token=\"\">b", "value: a, name", "Bearer \"", "://@",
    ])
    func `text without a credential's name stays unchanged`(_ text: String) {
        #expect(Self.withheld(text) == text)
    }

    @Test(arguments: [
        ("authorization", true), ("X-Api-Key", true), ("accessToken", true), ("db.password", true),
        ("token_type", false),
        ("code", false), ("request-id", false), ("", false), ("cookies", true), ("db_pass", true), ("db.pwd", true),
        ("http.auth", true), ("dbPass", true), ("idJwt", true), ("compass", false), ("passes", false),
    ])
    func `a name says whether its value is a credential`(_ name: String, _ isCredential: Bool) {
        #expect(CredentialFields.isCredential(name.utf8.span) == isCredential)
    }

    @Test(arguments: [
        ("bearer", "x", true), ("code", "wK2mVb9RtYpLz4HcNd8F", true), ("state", "wK2mVb9RtYpLz4HcNd8F", true),
        ("code", "200", false), ("state", "waitingForConnection", false), ("code", "line 17 of the file", false),
        ("state", "20261123060127000000", false), ("key", "wK2mVb9RtYpLz4HcNd8F", false), ("verifier", "x", true),
    ])
    func `a key of metadata says it too, and of code and state the value has to`(
        _ key: String, _ value: String, _ isCredential: Bool
    ) {
        #expect(CredentialFields.isCredentialKey(key.utf8.span, of: value.utf8.span) == isCredential)
    }

    /// Whatever comes, the ranges are in order, within the text, and none is empty.
    @Test func `text of any form is parsed`() {
        let parts = [
            "token", "=", ":", "\"", "'", "\\", " ", "(", ")", "[", ",", "Bearer ", "Optional(", "&", "?", "é", "\n",
            "abc12345", "{", "}", "value", "name", "<", ">", "\t", "password", "://", "@", ";",
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                parts.randomElement(using: &generator)!
            }
            .joined()
            let bytes = Array(text.utf8)
            var end = 0
            for range in CredentialFields.ranges(in: bytes.span) {
                #expect(range.lowerBound >= end && !range.isEmpty && range.upperBound <= bytes.count, "\(text)")
                end = range.upperBound
            }
        }
    }
}
