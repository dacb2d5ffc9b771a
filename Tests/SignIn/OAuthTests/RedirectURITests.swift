import LatchkeyOAuth
import Testing

@Suite struct RedirectURITests {
    @Test func `a loopback address has a port, or gets one`() throws {
        #expect(
            try RedirectURI.loopback(.ipv6, port: 1, authority: "https://id.example").text
                == "http://[::1]:1/IKabd8GBCXguvRlD/callback")
        let fixed = try RedirectURI("http://127.0.0.1:4711/callback")
        #expect(fixed.kind == .loopback && fixed.port == 4711 && !fixed.needsPort && fixed.path == "/callback")
        let open = try RedirectURI.loopback(.ipv6, path: "/oauth/done")
        #expect(open.needsPort && open.text == "http://[::1]/oauth/done")
        let chosen = open.withPort(50_000)
        #expect(chosen.text == "http://[::1]:50000/oauth/done" && !chosen.needsPort)
        #expect(try chosen == RedirectURI("http://[::1]:50000/oauth/done"))
    }

    @Test func `reverse-domain schemes are accepted`() throws {
        let bare = try RedirectURI("com.example.app:/callback")
        #expect(bare.kind == .privateUse && bare.scheme == "com.example.app" && bare.path == "/callback")
        let authority = try RedirectURI("COM.example.app://oauth/callback")
        #expect(authority.scheme == "com.example.app" && authority.path == "/callback")
        #expect(authority.text == "COM.example.app://oauth/callback")
    }

    @Test func `a short scheme needs to be allowed explicitly`() throws {
        let error = failure { () throws(OAuthError) in try RedirectURI("relay://oauth/callback") }
        #expect(error == OAuthError(.invalidConfiguration(.redirectScheme)))
        let allowed = try RedirectURI("relay://oauth/callback", allowingAnyPrivateScheme: true)
        #expect(allowed.kind == .privateUse && allowed.scheme == "relay" && allowed.path == "/callback")
    }

    @Test func `an https page is accepted`() throws {
        let page = try RedirectURI("https://app.example/done")
        #expect(page.kind == .https && page.text == "https://app.example/done")
        #expect(page.withPort(1).text == page.text)
    }

    @Test(arguments: [
        ("http://localhost:80/cb", "http://localhost:7/cb"), ("http://localhost/cb", "http://localhost:7/cb"),
        ("http://localhost", "http://localhost:7"), ("http://localhost:80", "http://localhost:7"),
        ("http://localhost/", "http://localhost:7/"),
    ])
    func `localhost is accepted if a person sets it, and stays as registered`(text: String, other: String)
        throws
    {
        let redirect = try RedirectURI(text)
        #expect(redirect.text == text && redirect.loopbackAddress == .localhost)
        #expect(redirect.withPort(7).text == other)
        #expect(try RedirectURI.loopback(path: "/cb").loopbackAddress == .ipv4)
    }

    @Test(arguments: [
        "", "callback", "http://LOCALHOST/cb", "http://localhost.:80/cb", "http://a.localhost/cb", ":", "http:",
        "http://", "http://127.0.0.2/cb", "http://10.0.0.1/cb", "http://evil.example/cb",
        "http://127.0.0.1.evil.example/cb", "http://127.0.0.1@evil.example/cb", "http://user@127.0.0.1/cb",
        "http://127.0.0.1:0/cb", "http://127.0.0.1:65536/cb", "http://127.0.0.1:x/cb", "http://[::2]/cb",
        "http://[::ffff:127.0.0.1]/cb", "http://2130706433/cb", "http://127.1/cb", "http://127.0.0.1/cb?x=1",
        "http://127.0.0.1/cb#x", "http://127.0.0.1/c b", "http://127.0.0.1/c%20b", "http://127.0.0.1/cb\n",
        "http://127.0.0.1\\@evil.example/", "javascript:/alert", "data:/x", "file:///etc/passwd", "ftp://a.b/c",
        "1a.b:/x", "a_b.c:/x", "com.example:callback", "com.example://", "com.example:///x", "com.example://u@h/x",
        "https://user@app.example/x", "https://app.example/x?y", "http://127.0.0.1/é",
    ])
    func `another kind of address is refused`(text: String) {
        for any in [false, true] {
            let error = failure { () throws(OAuthError) in try RedirectURI(text, allowingAnyPrivateScheme: any) }
            #expect(error == OAuthError(.invalidConfiguration(.redirect)))
        }
    }

    @Test(arguments: ["relay:/cb", ".relay:/cb", "com..example:/cb", "com.example.:/cb"])
    func `a scheme that isn't a reverse domain name is refused by default`(text: String) {
        #expect(failure { () throws(OAuthError) in try RedirectURI(text) }?.code.isConfiguration == true)
    }

    @Test func `an address longer than its limit is refused`() {
        let text = "com.example:/" + String(repeating: "a", count: RedirectURI.maximumByteCount)
        let error = failure { () throws(OAuthError) in try RedirectURI(text) }
        #expect(error == OAuthError(.invalidConfiguration(.redirect)))
    }
}

extension OAuthError.Code {
    var isConfiguration: Bool {
        if case .invalidConfiguration = self { true } else { false }
    }
}
