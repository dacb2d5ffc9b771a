import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestSecrets

@testable import LatchkeySignIn

struct SignInServiceTests {
    @Test func `a sign-in keeps the session and makes its account the current one`() async throws {
        let scene = try SignInScene(AuthorizationServerConfiguration(consent: .page))
        let summary = try await scene.signIn()
        #expect(summary.account == "octocat")
        #expect(summary.subject == "octocat")
        #expect(summary.scopes == ["read", "write"])
        #expect(summary.isRefreshable)
        #expect(try await scene.service.currentAccount() == summary)
        #expect(try await scene.service.accounts() == [summary])

        let response = try await scene.service.send(
            GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint)))
        #expect(response.status == 200)
        let record = scene.server.record
        #expect(record.matchingVerifiers == 1 && record.wrongVerifiers == 0 && record.lastRequestHadState)
        #expect(try scene.findings() == [])
    }

    @Test func `a scene's audit finds a printed token, so an empty audit means something`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.audit.capture("token \(try await scene.token())", as: "a careless line")
        #expect(try scene.findings().count == 1)
    }

    @Test func `every line of a sign-in has the sign-in's id, and another sign-in has another id`() async throws {
        let scene = try SignInScene(AuthorizationServerConfiguration(consent: .page))
        let sink = MemoryLogSink()
        var context = scene.context
        context.log = RedactedLogger("latchkey.sign-in", minimumLevel: .trace, sink: sink)
        let service = SignInService(provider: scene.provider, store: scene.store, context: context)
        let follower = PageFollower(http: CurlTransport(), decision: .consent)
        var identifiers: [String] = []
        for _ in 0..<2 {
            let before = sink.records.count
            let browser = BrowserUserAgent(
                .opener { link throws(UserAgentError) in try await follower.follow(link) },
                log: context.log.category("latchkey.user-agent"))
            try await service.signIn(presenting: browser, deadline: .unhurried)
            let records = sink.records.dropFirst(before)
            // Of several parts.
            #expect(records.count >= 6 && Set(records.map(\.category.name.description)).count >= 2)
            let found = records.map { record in record.fields.first { $0.name == "sign_in" }?.value.text }
            #expect(Set(found).count == 1 && !found.contains(nil), "\(found)")
            identifiers += found.prefix(1).compactMap(\.self)
        }
        #expect(identifiers.count == 2 && identifiers[0] != identifiers[1])
    }

    @Test func `another service on the same store uses the session`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let token = try await scene.otherService().accessToken().testText
        #expect(try await scene.token() == token)
    }

    @Test func `a chosen name is used, without requesting another from the server`() async throws {
        let scene = try SignInScene()
        #expect(try await scene.signIn(account: "work").account == "work")
        #expect(scene.requests[.userInfo] == nil)
    }

    @Test func `several accounts exist side by side, and one is the current one`() async throws {
        let scene = try SignInScene()
        try await scene.signIn(account: "a")
        try await scene.signIn(account: "b")
        #expect(try await scene.service.accounts().map(\.account) == ["a", "b"])
        #expect(try await scene.service.currentAccount()?.account == "b")
        let (first, second) = (try await scene.token("a"), try await scene.token("b"))
        #expect(first != second)
        #expect(try await scene.token() == second)
        try await scene.service.use("a")
        #expect(try await scene.token() == first)
        await #expect(throws: SignInError(.notSignedIn)) { try await scene.service.use("c") }

        let report = await scene.service.signOut()
        #expect(report == SignOutReport(account: "a", revocation: .revoked, deletion: .deleted))
        #expect(try await scene.service.currentAccount()?.account == "b")
        #expect(try await scene.token() == second)
    }

    @Test func `signing in again replaces the account's session, and no other`() async throws {
        let scene = try SignInScene()
        try await scene.signIn(account: "other")
        try await scene.signIn()
        let (other, first) = (try await scene.token("other"), try await scene.token("octocat"))
        try await scene.signIn()
        #expect(try await scene.service.accounts().map(\.account) == ["octocat", "other"])
        #expect(try await scene.token("octocat") != first)
        #expect(try await scene.token("other") == other)
    }

    @Test func `without a current account, several accounts are an error, not a guess`() async throws {
        let scene = try SignInScene()
        for account in ["a", "b", "c"] { try await scene.signIn(account: account) }
        await scene.service.signOut("c")
        await #expect(throws: SignInError(.noCurrentAccount)) { _ = try await scene.token() }
    }

    @Test func `a missing sign-in has a distinct error`() async throws {
        let scene = try SignInScene()
        await #expect(throws: SignInError(.notSignedIn)) { _ = try await scene.token() }
        #expect(try await scene.service.currentAccount() == nil)
        let report = await scene.service.signOut()
        #expect(report == SignOutReport(account: nil, revocation: .notNeeded, deletion: .absent))
    }

    @Test func `two attempts share neither state nor verifier`() async throws {
        let scene = try SignInScene()
        try await scene.signIn(account: "a")
        try await scene.signIn(account: "b")
        var states: Set<String> = []
        var verifiers: Set<String> = []
        scene.server.withEachSecret { name, secret in
            if name == "state" { states.insert(secret.testText) }
            if name == "code_verifier" { verifiers.insert(secret.testText) }
        }
        #expect(states.count == 2 && verifiers.count == 2)
        #expect(states.allSatisfy { $0.utf8.count == 43 })
        #expect(verifiers.allSatisfy { $0.utf8.count == 86 })
    }

    @Test func `a new attempt cancels the old one, which reports that`() async throws {
        let scene = try SignInScene()
        let waiting = BrowserUserAgent(.opener { _ throws(UserAgentError) in })
        let old = Task { () async -> SignInError? in
            do throws(SignInError) {
                try await scene.service.signIn(presenting: waiting, deadline: .unhurried)
                return nil
            } catch {
                return error
            }
        }
        while await scene.service.attemptCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(try await scene.signIn().account == "octocat")
        #expect(await old.value == SignInError(.superseded))
    }

    @Test func `a cancelled sign-in ends, and leaves nothing`() async throws {
        let scene = try SignInScene()
        let waiting = BrowserUserAgent(.opener { _ throws(UserAgentError) in })
        let task = Task { () async -> SignInError? in
            do throws(SignInError) {
                try await scene.service.signIn(presenting: waiting, deadline: .unhurried)
                return nil
            } catch {
                return error
            }
        }
        while await scene.service.attemptCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(try await scene.service.accounts() == [])
    }

    @Test func `a fixed redirect address is used unchanged`() async throws {
        // No other test gets this port by chance.
        let fixed = try RedirectURI.loopback(path: "/callback").withFreePort()
        let scene = try SignInScene(
            AuthorizationServerConfiguration(clients: [RegisteredClient("latchkey", redirectURIs: [fixed.text])]))
        try await scene.service.signIn(presenting: scene.browser(), redirect: fixed, deadline: .unhurried)
        #expect(scene.server.record.codesExchanged == 1)
    }

    @Test func `for a server without account names a name is required before any request`() async throws {
        let scene = try SignInScene { server in
            server.switchOn(.missingIssuer)
            let metadata = try AuthorizationServerMetadata(
                authorizationEndpoint: HTTPURL(server.authorizationEndpoint),
                tokenEndpoint: HTTPURL(server.tokenEndpoint))
            return try OAuthProvider(
                name: "plain", server: .endpoints(metadata), clientID: "latchkey",
                scopes: ["x"],
                account: .nowhere)
        }
        #expect(await scene.failure() == SignInError(.accountNameNeeded))
        #expect(scene.requests == [:])
        #expect(try await scene.signIn(account: "me").account == "me")
        #expect(await scene.service.signOut().revocation == .unsupported)
    }

    @Test func `a session of another server is neither used nor sent to this one`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let elsewhere = try SignInScene()
        let service = SignInService(provider: elsewhere.provider, store: scene.store, context: scene.context)
        await #expect(throws: SignInError(.otherAuthority)) { _ = try await service.accessToken() }
        let report = await service.signOut()
        #expect(report.revocation == .failed(SignInError(.otherAuthority)))
        #expect(report.deletion == .deleted)
        #expect(elsewhere.requests == [:])
    }

    /// Refreshes were distinguished by Swift's text, which takes these for one.
    @Test func `two accounts that differ only in their normal form are refreshed separately`() async throws {
        let scene = try SignInScene()
        let names = ["ren\u{E9}", "rene\u{301}"]
        for name in names { try await scene.signIn(account: name) }
        #expect(try await scene.service.accounts().count == 2)
        scene.clock.advance(seconds: 4000)
        let service = scene.service
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names { group.addTask { _ = try await service.accessToken(for: name) } }
            try await group.waitForAll()
        }
        #expect(scene.server.record.refreshes == 2)
    }

    /// A token was sent wherever the request's address led.
    @Test func `the token goes only to the provider's origins`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let other = try LoopbackAuthorizationServer()
        for address in [other.userInfoEndpoint, "https://api.example.org/", "http://127.0.0.1:1/"] {
            await #expect(throws: SignInError(.otherOrigin)) {
                _ = try await scene.service.send(GuardedRequest(.get, HTTPURL(address)))
            }
        }
        #expect(other.record.requests == [:])
        var provider = scene.provider
        // As an address, too.
        provider.apiOrigins = [other.origin + "/"]
        #expect(provider.apiOrigins == [other.origin])
        let wider = SignInService(provider: provider, store: scene.store, context: scene.context)
        // The other server refuses the token, but was to have it.
        #expect(try await wider.send(GuardedRequest(.get, HTTPURL(other.userInfoEndpoint))).status == 401)
    }

    /// Where an account has a server of its own, the session names it; one that names none opens no other origin.
    @Test func `a session without its own server goes to the provider's origins alone`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let other = try LoopbackAuthorizationServer()
        var provider = scene.provider
        provider.knownAccount = OAuthProvider.KnownAccount(subject: "any", resource: scene.server.origin)
        let service = SignInService(provider: provider, store: scene.store, context: scene.context)
        await #expect(throws: SignInError(.otherOrigin)) {
            _ = try await service.send(GuardedRequest(.get, HTTPURL(other.userInfoEndpoint)))
        }
        #expect(other.record.requests == [:])
    }

    @Test(arguments: [ClientAuthentication.Method.secretBasic, .secretPost])
    func `a client secret is read from the store`(method: ClientAuthentication.Method) async throws {
        let secret: Secret<ClientSecret> = .test("q8Zp3vK1xW6tR0mY5bN2")
        let configuration = AuthorizationServerConfiguration(clients: [
            RegisteredClient("latchkey", redirectURIs: ["http://127.0.0.1/*"], secret: secret.duplicate())
        ])
        let scene = try SignInScene(configuration) { server in
            try .issuer(
                Issuer(server.issuer), name: "test", clientID: "latchkey", scopes: ["read"],
                proof: .secret(method))
        }
        #expect(await scene.failure() == SignInError(.clientSecretMissing))
        #expect(scene.requests == [:])
        let key = try CredentialKey(service: "latchkey:test", account: "latchkey", kind: .clientSecret)
        try await scene.store.save(secret, for: key)
        try await scene.signIn()
        // A refresh must not have to try: some servers spend the refresh token on the first form, right or wrong.
        let form = try await scene.service.sessions.load("octocat")?.basicForm
        #expect(form == (method == .secretBasic ? .formEncoded : .body))
        #expect(await scene.service.signOut().revocation == .revoked)
        #expect(scene.server.record.clientAuthentication[.none] == nil)
        let findings = try scene.findings()
        #expect(findings == [])
    }
}
