import LatchkeyOAuth
import Testing

@Suite struct ScopeListTests {
    @Test func `scopes are joined by spaces, in order`() throws {
        let scopes = try ScopeList(["user", "public_repo", "repo", "repo:status", "read:org"])
        #expect(scopes.text == "user public_repo repo repo:status read:org")
        #expect(try ScopeList(text: scopes.text) == scopes)
    }

    @Test func `a repeated scope counts once`() throws {
        #expect(try ScopeList(["a", "b", "a"]).scopes == ["a", "b"])
    }

    @Test func `text is split at spaces, and at commas if the server uses them`() throws {
        #expect(try ScopeList(text: " repo  gist ").scopes == ["repo", "gist"])
        #expect(try ScopeList(text: "repo,gist").scopes == ["repo,gist"])
        #expect(try ScopeList(text: "repo,gist, user", separatedByComma: true).scopes == ["repo", "gist", "user"])
        #expect(try ScopeList(text: "").isEmpty)
    }

    @Test(arguments: ["", "a b", "a\"b", "a\\b", "é", "a\n", "\u{7F}", "\0"])
    func `a malformed scope is refused`(scope: String) {
        let error = failure { () throws(OAuthError) in try ScopeList(["ok", scope]) }
        #expect(error == OAuthError(.invalidConfiguration(.scope)))
    }

    @Test func `too many and too long scopes are refused`() throws {
        let expected = OAuthError(.invalidConfiguration(.scope))
        let many = (0...ScopeList.maximumCount).map { "s\($0)" }
        #expect(failure { () throws(OAuthError) in try ScopeList(many) } == expected)
        #expect(try ScopeList(Array(many.dropLast())).scopes.count == ScopeList.maximumCount)
        let long = String(repeating: "a", count: ScopeList.maximumByteCount)
        #expect(failure { () throws(OAuthError) in try ScopeList([long]) } == expected)
    }

    @Test func `a scope list knows whether it has openid`() {
        #expect((["openid", "email"] as ScopeList).includesOpenID)
        #expect(!(["openid2", "email"] as ScopeList).includesOpenID)
    }

    @Test(arguments: ["", "a\nb", "é", String(repeating: "a", count: 2049)])
    func `an invalid client id is refused`(id: String) throws {
        let redirect = try RedirectURI("com.example:/cb")
        let error = failure { () throws(OAuthError) in try ClientConfiguration(clientID: id, redirect: redirect) }
        #expect(error == OAuthError(.invalidConfiguration(.clientID)))
    }

    @Test(arguments: [
        ("", "x"), ("a b", "x"), ("a", "\u{0}"), ("a", "\u{9F}"), ("a", String(repeating: "x", count: 2049)),
    ])
    func `a malformed extra parameter is refused`(name: String, value: String) {
        let error = failure { () throws(OAuthError) in try AuthorizationParameter(name, value) }
        #expect(error == OAuthError(.invalidConfiguration(.parameter)))
    }
}
