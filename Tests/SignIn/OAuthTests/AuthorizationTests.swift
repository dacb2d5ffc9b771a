import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import Testing

@Suite struct AuthorizationTests {
    private func query(_ pending: borrowing PendingAuthorization) throws -> String {
        let url = try pending.authorizationURL().reveal()
        return String(url[url.index(after: url.firstIndex(of: "?")!)...])
    }

    private func outcome(
        _ pending: consuming PendingAuthorization, _ query: String
    ) -> OAuthError? {
        do throws(OAuthError) {
            let response = try Sample.response(query)
            _ = try pending.validate(response)
            return nil
        } catch {
            return error
        }
    }

    // MARK: - The request

    @Test func `the address has each parameter of the code flow once`() throws {
        let pending = Sample.pending(client: Sample.client(scopes: ["user", "public_repo", "repo:status"]))
        let fields = formFields(try query(pending))
        #expect(
            fields.map(\.name) == [
                "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge",
                "code_challenge_method",
            ])
        #expect(fields[0].value == "code")
        #expect(fields[1].value == "client one")
        #expect(fields[2].value == "http://127.0.0.1:4711/callback")
        #expect(fields[3].value == "user public_repo repo:status")
        #expect(fields[4].value.utf8.count == 43)
        #expect(fields[5].value.utf8.count == 43)
        #expect(fields[6].value == "S256")
    }

    @Test func `GitHub's address is what GitHub documents`() throws {
        let server = try AuthorizationServerMetadata(
            authorizationEndpoint: HTTPURL("https://github.com/login/oauth/authorize"),
            tokenEndpoint: HTTPURL("https://github.com/login/oauth/access_token"))
        let client = try ClientConfiguration(
            clientID: "Iv1.8a61f9b3a7aba766",
            redirect: RedirectURI("relay://oauth/callback", allowingAnyPrivateScheme: true), scopes: ["repo"])
        let pending = try AuthorizationRequest(server: server, client: client).begin(random: .system)
        let url = try pending.authorizationURL().reveal()
        #expect(
            url.hasPrefix(
                "https://github.com/login/oauth/authorize?response_type=code&client_id=Iv1.8a61f9b3a7aba766"
                    + "&redirect_uri=relay%3A%2F%2Foauth%2Fcallback&scope=repo&state="))
    }

    @Test func `two attempts share no state, verifier or nonce`() throws {
        let client = Sample.client(scopes: ["openid"])
        let one = Sample.pending(client: client)
        let two = Sample.pending(client: client)
        for name in ["state", "code_challenge", "nonce"] {
            let left = try Sample.parameter(name, of: one)
            let right = try Sample.parameter(name, of: two)
            #expect(left != right && left.utf8.count == 43)
        }
    }

    @Test func `the address of one attempt is always the same`() throws {
        let pending = Sample.pending()
        let first = try pending.authorizationURL().reveal()
        #expect(try pending.authorizationURL().reveal() == first)
    }

    @Test func `a nonce goes with openid and with nothing else`() throws {
        let with = Sample.pending(client: Sample.client(scopes: ["openid", "email"]))
        #expect(field("nonce", of: try query(with)) != nil)
        let without = Sample.pending(client: Sample.client(scopes: ["email"]))
        #expect(field("nonce", of: try query(without)) == nil)
    }

    /// OpenID Connect Core section 11: a strict server ignores `offline_access` without consent.
    @Test func `consent goes with offline_access, unless the client has a prompt of its own`() throws {
        func prompt(_ scopes: ScopeList, at server: String = "https://id.example/a", _ own: String? = nil) throws
            -> String?
        {
            let extra = try own.map { [try AuthorizationParameter("prompt", $0)] } ?? []
            let pending = Sample.pending(
                server: Sample.server(authorization: server), client: Sample.client(scopes: scopes, extra: extra))
            return field("prompt", of: try query(pending))
        }
        #expect(try prompt(["openid", "offline_access"]) == "consent")
        #expect(try prompt(["offline_access"]) == "consent")
        #expect(try prompt(["openid"]) == nil)
        #expect(try prompt(["openid", "offline_access"], "login consent") == "login consent")
        // AADSTS90094: people whose administrator has consented for them are refused with it.
        #expect(
            try prompt(
                ["openid", "offline_access"], at: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize")
                == nil)
    }

    @Test func `an endpoint's own query stays`() throws {
        let pending = Sample.pending(server: Sample.server(authorization: "https://id.example/a?tenant=x%20y"))
        #expect(
            try pending.authorizationURL().reveal().hasPrefix("https://id.example/a?tenant=x%20y&response_type=code&"))
    }

    @Test func `extra parameters are added but can't replace ours`() throws {
        let extra = [
            try AuthorizationParameter("access_type", "offline"), try AuthorizationParameter("login_hint", "ä&b=c"),
        ]
        let pending = Sample.pending(client: Sample.client(extra: extra))
        #expect(field("access_type", of: try query(pending)) == "offline")
        #expect(field("login_hint", of: try query(pending)) == "ä&b=c")
        for name in [
            "state", "code_challenge", "code_challenge_method", "redirect_uri", "client_id", "response_type",
            "nonce", "scope", "request", "request_uri", "response_mode", "client_secret", "code", "code_verifier",
        ] {
            let error = failure { () throws(OAuthError) in try AuthorizationParameter(name, "x") }
            #expect(error == OAuthError(.invalidConfiguration(.reservedParameter)))
        }
    }

    @Test(arguments: ["state=x", "a=1&code_challenge=y", "client_id", "redirect_uri=z&b=2", "st%61te=x"])
    func `an endpoint whose own query sets one of our parameters is refused`(query: String) throws {
        let endpoint = try HTTPURL("https://id.example/a?\(query)")
        let token = try HTTPURL("https://id.example/token")
        let error = failure { () throws(OAuthError) in
            try AuthorizationServerMetadata(authorizationEndpoint: endpoint, tokenEndpoint: token)
        }
        #expect(error == OAuthError(.invalidMetadata(.reservedParameter)))
    }

    @Test func `the public part excludes the query`() throws {
        let url = try Sample.pending().authorizationURL()
        #expect(url.publicPart.logMessage.text == "https://id.example/authorize")
    }

    @Test func `a loopback address without a port can't be used yet`() throws {
        let client = try ClientConfiguration(clientID: "c", redirect: RedirectURI.loopback(path: "/callback"))
        let server = Sample.server()
        let early = failure { () throws(OAuthError) in try AuthorizationRequest(server: server, client: client) }
        #expect(early == OAuthError(.invalidConfiguration(.redirectPort)))
        let request = try AuthorizationRequest(
            server: server, client: client, redirect: client.redirect.withPort(40_000))
        #expect(request.redirect.text == "http://127.0.0.1:40000/callback")
        let other = try RedirectURI("http://127.0.0.1:40000/other")
        let wrong = failure { () throws(OAuthError) in
            try AuthorizationRequest(server: server, client: client, redirect: other)
        }
        #expect(wrong == OAuthError(.invalidConfiguration(.redirect)))
    }

    @Test(arguments: [1, 2, 3])
    func `an attempt without random octets doesn't begin`(failingCall: Int) throws {
        let request = try AuthorizationRequest(server: Sample.server(), client: Sample.client(scopes: ["openid"]))
        let random = RandomCalls(failing: failingCall)
        let error = failure { () throws(OAuthError) in try request.begin(random: random.source) }
        #expect(error == OAuthError(.noRandomOctets(number: 5)))
    }

    // MARK: - The response

    @Test func `a valid response is accepted`() throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        #expect(outcome(pending, "code=x&state=\(state)") == nil)
    }

    @Test func `a missing, other, longer or shorter state is refused`() throws {
        let other = try Sample.parameter("state", of: Sample.pending())
        let changes: [(String) -> String] = [
            { _ in "" }, { _ in "state=\(other)" }, { "state=\($0)a" }, { "state=\($0.dropLast())" },
            { "state=\($0.swappedCase)" }, { _ in "state=" },
        ]
        for change in changes {
            for start in ["code=x", "error=access_denied"] {
                let pending = Sample.pending()
                let state = try Sample.parameter("state", of: pending)
                #expect(outcome(pending, "\(start)&\(change(state))") == OAuthError(.stateMismatch))
            }
        }
    }

    @Test func `the wrong issuer is refused, on errors too`() throws {
        for announces in [false, true] {
            for start in ["code=x", "error=access_denied"] {
                let pending = Sample.pending(server: Sample.server(announcesIssuer: announces))
                let state = try Sample.parameter("state", of: pending)
                let error = outcome(pending, "\(start)&state=\(state)&iss=https%3A%2F%2Fevil.example")
                #expect(error == OAuthError(.issuerMismatch))
            }
        }
    }

    @Test(arguments: ["https://id.example/", "HTTPS://id.example", "https://id.example:443", "https://ID.example"])
    func `issuers are compared byte for byte`(issuer: String) throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        #expect(outcome(pending, "code=x&state=\(state)&iss=\(issuer)") == OAuthError(.issuerMismatch))
    }

    /// It was ignored: another server's response, with its name in it, was taken for that of a server without a name.
    @Test(arguments: ["https%3A%2F%2Fid.example", "https%3A%2F%2Fevil.example", "x"])
    func `an issuer without another one to compare it with is refused`(issuer: String) throws {
        for start in ["code=x", "error=access_denied"] {
            let pending = Sample.pending(server: Sample.server(issuer: nil))
            let state = try Sample.parameter("state", of: pending)
            #expect(
                outcome(pending, "\(start)&state=\(state)&iss=\(issuer)") == OAuthError(.issuerMismatch))
        }
    }

    @Test func `a missing issuer is refused where the server announces it`() throws {
        for start in ["code=x", "error=access_denied"] {
            let pending = Sample.pending(server: Sample.server(announcesIssuer: true))
            let state = try Sample.parameter("state", of: pending)
            #expect(outcome(pending, "\(start)&state=\(state)") == OAuthError(.issuerMismatch))
        }
    }

    @Test func `the right issuer is fine`() throws {
        for announces in [false, true] {
            let pending = Sample.pending(server: Sample.server(announcesIssuer: announces))
            let state = try Sample.parameter("state", of: pending)
            #expect(outcome(pending, "code=x&state=\(state)&iss=https://id.example") == nil)
        }
    }

    @Test func `a denial and another error are distinguished`() throws {
        let denied = Sample.pending()
        let first = try Sample.parameter("state", of: denied)
        #expect(outcome(denied, "error=access_denied&state=\(first)") == OAuthError(.accessDenied))
        let failed = Sample.pending()
        let second = try Sample.parameter("state", of: failed)
        #expect(
            outcome(failed, "error=invalid_scope&state=\(second)")
                == OAuthError(.authorizationFailed, serverError: .invalidScope))
    }

    // MARK: - The gate

    @Test func `the gate admits one response, the first with our state`() throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let gate = pending.responseGate()
        let forged = try Sample.response("code=evil&state=\(String(state.reversed()))a")
        let bare = try Sample.response("error=access_denied")
        let ours = try Sample.response("code=x&state=\(state)")
        #expect(gate.admit(forged) == .foreign)
        #expect(gate.admit(bare) == .foreign)
        #expect(gate.admit(ours) == .admitted)
        #expect(gate.admit(ours) == .repeated)
        #expect(gate.admit(forged) == .foreign)
    }

    @Test func `of many concurrent responses the gate admits one`() async throws {
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let gate = pending.responseGate()
        let admitted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let response = try Sample.response("code=x&state=\(state)")
                    return gate.admit(response) == .admitted
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(admitted == 1)
    }
}

extension String {
    var swappedCase: String {
        String(map { $0.isLowercase ? Character($0.uppercased()) : Character($0.lowercased()) })
    }
}
