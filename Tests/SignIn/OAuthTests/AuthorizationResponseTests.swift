import LatchkeyOAuth
import Testing

@Suite struct AuthorizationResponseTests {
    private func malformation(_ query: String) -> OAuthError? {
        failure { () throws(OAuthError) in try Sample.response(query) }
    }

    private func response(pasted text: String, _ redirect: String) throws(OAuthError) -> AuthorizationResponse {
        let bytes = Array(text.utf8)
        return try AuthorizationResponse(
            pasted: bytes.span, redirect: RedirectURI(redirect, allowingAnyPrivateScheme: true))
    }

    @Test(arguments: [
        "code=a&state=b&code=a", "state=b&state=b&code=a", "code=a&iss=x&iss=x&state=b", "code=a&c%6Fde=b",
        "code=a&x=1&x=2", "error=access_denied&error=access_denied", "code=&code=a",
    ])
    func `a repeated parameter is refused`(query: String) {
        #expect(malformation(query) == OAuthError(.invalidResponse(.duplicateParameter)))
    }

    @Test(arguments: [
        "code=%", "code=%4", "code=%zz", "code=a b", "code=a\nb", "code=%0a", "code=%00", "code=é", "code=%C3%A9",
        "=x&code=a", "%=1&code=a", "state=%80&code=a", "iss=%0d%0a&code=a", "code=a&\u{0}=1",
    ])
    func `malformed encoding is refused`(query: String) {
        #expect(malformation(query) == OAuthError(.invalidResponse(.malformedQuery)))
    }

    @Test(arguments: [
        "", "&", "&&&", "state=a", "code=", "code=&error=", "code", "code=a&error=access_denied",
        "access_token=x&state=y",
    ])
    func `a response needs a code or an error`(query: String) {
        #expect(malformation(query) == OAuthError(.invalidResponse(.neitherCodeNorError)))
    }

    @Test func `a response past the limits is refused`() {
        let tooLarge = OAuthError(.invalidResponse(.tooLarge))
        let limit = AuthorizationResponse.maximumByteCount
        #expect(malformation("code=" + String(repeating: "a", count: limit)) == tooLarge)
        #expect(malformation("code=" + String(repeating: "a", count: 16 << 10 | 1)) == tooLarge)
        #expect(malformation("code=a&state=" + String(repeating: "a", count: 1025)) == tooLarge)
        #expect(malformation("code=a&error=" + String(repeating: "a", count: 129)) == tooLarge)
        #expect(malformation((0...64).map { "p\($0)=1" }.joined(separator: "&")) == tooLarge)
    }

    @Test func `empty parts and unknown parameters are harmless`() throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let response = try Sample.response("&&scope=a+b&code=a%2Fb&&authuser=0&state=\(state)&")
        #expect(pending.recognizes(response) == true)
        #expect(response.error == nil)
    }

    @Test(arguments: [
        ("access_denied", ServerErrorCode.accessDenied), ("server_error", .serverError),
        ("ghp_tokenlike", .other), ("other+error", .other), ("ACCESS_DENIED", .other),
    ])
    func `an error is a known word or absent`(text: String, code: ServerErrorCode) throws {
        let response = try Sample.response("error=\(text)&error_description=do+not+keep+this")
        #expect(response.error == code)
    }

    // MARK: - Paste

    @Test(arguments: ["", " ", "\n\t ", "\r\n"])
    func `a pasted address may have white space around it`(space: String) throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let response = try response(
            pasted: "\(space)http://127.0.0.1:4711/callback?code=a&state=\(state)#_=_\(space)",
            "http://127.0.0.1:4711/callback")
        #expect(pending.recognizes(response) == true)
    }

    @Test func `a pasted address longer than a terminal's line is accepted`() throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let code = String(repeating: "a", count: 9000)
        let response = try response(pasted: "https://app.example/?code=\(code)&state=\(state)", "https://app.example")
        #expect(pending.recognizes(response) == true)
    }

    @Test(arguments: [
        "", "code=a&state=b", "?code=a", "http://127.0.0.1:4712/callback?code=a", "http://127.0.0.1:4711/?code=a",
        "http://127.0.0.1:4711/callback/?code=a", "https://127.0.0.1:4711/callback?code=a",
        "http://127.0.0.1:4711/callback#code=a", "http://127.0.0.1:4711/callbackx?code=a",
        "xhttp://127.0.0.1:4711/callback?code=a",
    ])
    func `a pasted address of another kind is refused`(text: String) {
        let error = failure { () throws(OAuthError) in
            try response(pasted: text, "http://127.0.0.1:4711/callback")
        }
        let expected: OAuthError.Malformation =
            text == "http://127.0.0.1:4711/callback#code=a" ? .neitherCodeNorError : .notThisRedirect
        #expect(error == OAuthError(.invalidResponse(expected)))
    }

    @Test func `the address of a private-use scheme is compared whole`() throws {
        let taken = try response(pasted: "relay://oauth/callback?error=access_denied", "relay://oauth/callback")
        #expect(taken.error == .accessDenied)
        let error = failure { () throws(OAuthError) in
            try response(pasted: "relay://evil/callback?code=a", "relay://oauth/callback")
        }
        #expect(error == OAuthError(.invalidResponse(.notThisRedirect)))
    }
}
