import LatchkeyHTTP
import LatchkeySecrets
import Testing

@testable import LatchkeyOAuth

@Suite struct FormTests {
    private func encoded(_ text: String, _ space: FormEncoding.Space = .plus) throws -> String {
        var builder = SecretBuilder()
        let bytes = Array(text.utf8)
        try FormEncoding.append(bytes.span, to: &builder, space: space)
        return builder.finish(as: MessageBody.self).reveal()
    }

    private func decoded(_ bytes: [UInt8]) throws -> [UInt8]? {
        var builder = SecretBuilder()
        guard try FormEncoding.decode(bytes.span, into: &builder) else { return nil }
        return builder.finish(as: MessageBody.self).revealBytes()
    }

    @Test func `the form of RFC 6749 appendix B's text is the RFC's`() throws {
        #expect(try encoded(" %&+£€") == "+%25%26%2B%C2%A3%E2%82%AC")
    }

    @Test func `in a query a space is %20`() throws {
        #expect(try encoded("a b+~*-._", .percent) == "a%20b%2B~*-._")
    }

    @Test func `every byte survives encoding and decoding`() throws {
        let every = (0...255).map(UInt8.init)
        for space in [FormEncoding.Space.plus, .percent] {
            var builder = SecretBuilder()
            try FormEncoding.append(every.span, to: &builder, space: space)
            let text = builder.finish(as: MessageBody.self).revealBytes()
            #expect(text.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "=") })
            #expect(try decoded(text) == every)
        }
    }

    @Test(arguments: [
        "%", "%4", "%4G", "%G4", "a%", "a%2", "%%41", " ", "a b", "\n", "\u{7F}", "é", "\0", "% 41", "%+1",
    ])
    func `malformed encoding is refused`(text: String) throws {
        #expect(try decoded(Array(text.utf8)) == nil)
    }

    @Test func `a form holds its fields in order, secrets encoded`() throws {
        var form = FormBody()
        try form.append("grant_type", text: "authorization code")
        try form.append("code", secret: Secret<AuthorizationCode>("a&b=c d"))
        #expect(form.finish(as: MessageBody.self).reveal() == "grant_type=authorization+code&code=a%26b%3Dc+d")
    }

    @Test func `a form past its limit is an error`() {
        let error = failure { () throws(OAuthError) in
            var form = FormBody()
            try form.append("code", text: String(repeating: "a", count: FormBody.limit))
        }
        #expect(error == OAuthError(.invalidConfiguration(.requestTooLarge)))
    }

    // MARK: - Authorization fields

    @Test func `an access token follows Bearer`() throws {
        var request = GuardedRequest(.get, try HTTPURL("https://api.example/"))
        try request.authorize(bearer: Secret("gho_16C7e42F292c6912E7710c838347Ae178B4a"))
        let value = request.authorization?.reveal()
        #expect(value == "Bearer gho_16C7e42F292c6912E7710c838347Ae178B4a")
    }

    @Test(arguments: ["", "a b", "a\r\nX-Evil: 1", "a\0", "é", "\t"])
    func `a token that could end its field is refused`(token: String) throws {
        let url = try HTTPURL("https://api.example/")
        let error = failure { () throws(OAuthError) in
            var request = GuardedRequest(.get, url)
            try request.authorize(bearer: Secret(token))
        }
        #expect(error == OAuthError(.invalidResponse(.malformedToken)))
    }

    @Test func `Basic credentials are form-encoded, or raw on demand`() throws {
        var request = GuardedRequest(.post, try HTTPURL("https://id.example/token"))
        try request.authorize(clientID: "s6BhdRkqt3", secret: Secret("7Fjfp0ZBr1KtDRbnfVdmIw"))
        let simple = request.authorization?.reveal()
        #expect(simple == "Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3")
        try request.authorize(clientID: "a:b", secret: Secret("c d/%"))
        let encoded = request.authorization?.reveal()
        // a%3Ab:c+d%2F%25
        #expect(encoded == "Basic YSUzQWI6YytkJTJGJTI1")
        try request.authorize(clientID: "a", secret: Secret("c d/%"), formEncoded: false)
        let raw = request.authorization?.reveal()
        // a:c d/%
        #expect(raw == "Basic YTpjIGQvJQ==")
    }
}
