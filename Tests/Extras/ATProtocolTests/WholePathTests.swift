import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import TestSecrets
import TestServices
import Testing

@testable import LatchkeyATProtocol

/// From a handle to a session and back out, against a network in the process that refuses what the profile forbids.
struct WholePathTests {
    @Test func `an account signs in by its handle, asks its own server, refreshes, and signs out`() async throws {
        let scene = try NetworkScene()
        let session = try await scene.signIn()
        #expect(session.account == "alice.test")
        #expect(session.subject == scene.network.did)
        #expect(try await scene.request() == 200)
        scene.clock.advance(seconds: 4000)
        #expect(try await scene.request() == 200)
        #expect(scene.record.refreshes == 1)
        await scene.client.finishRefreshes()
        #expect(try await scene.client.accounts().map(\.account) == ["alice.test"])
        #expect(try await scene.client.currentSession()?.subject == scene.network.did)
        let report = await scene.client.signOut()
        #expect(report.revocation == .revoked)
        #expect(report.deletion == .deleted)
        #expect(scene.record.revocations == 1)
        #expect(try await scene.items("session") == [])
        #expect(try await scene.items("private-key") == [])
        #expect(try await scene.client.currentSession() == nil)
        #expect(try scene.findings() == [])
    }

    @Test func `a sign-out deletes a session that can't be read`() async throws {
        let scene = try NetworkScene()
        try await scene.store.save(Secret<Password>.test("damaged"), for: scene.client.sessions.key("alice.test"))
        let report = await scene.client.signOut("alice.test")
        #expect(report.deletion == .deleted)
        #expect(try await scene.items("session") == [])
    }

    /// Its domain changed hands: the session of the one before was deleted, and the name led to another's server.
    @Test func `a handle that leads to another account replaces no session, also of another server`() async throws {
        let scene = try NetworkScene()
        try await scene.client.sessions.save(
            StoredSession(
                authority: "https://former.example", clientID: "http://localhost", account: "alice.test",
                subject: "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", scopes: ["atproto"], issued: scene.clock.now, expiry: nil,
                accessToken: .test("former"), refreshToken: nil))
        guard case .signIn(let cause) = await scene.failure(), cause.code == .otherPerson else {
            Issue.record("the sign-in didn't end with the right error")
            return
        }
        #expect(try await scene.session().token == "former")
    }
}

// Docs/HowTo/at-protocol.md shows these functions word for word.

func sessionOf(
    handle: String, with client: ATProtocolClient, asking agent: UserAgent, at server: String
) async throws -> GuardedResponse {
    if try await client.currentSession() == nil {
        try await client.authenticate(handle: handle, presenting: agent, deadline: .after(.seconds(300)))
    }
    let url = try HTTPURL(server + "/xrpc/com.atproto.server.getSession")
    return try await client.send(GuardedRequest(.get, url))  // with token and proof; to no other server
}

/// Writes the `Location` of a redirect, whose response needs `Cache-Control: no-store`.
func begin(handle: String, with client: ATProtocolClient, location: inout some SecretSink) async throws {
    try await client.beginAuthorization(handle: handle).pour(into: &location)
}

func resume(at url: [UInt8], with client: ATProtocolClient, redirect: RedirectURI) async throws -> String {
    let response = try AuthorizationResponse(pasted: url.span, redirect: redirect)
    return try await client.resumeAuthorization(with: response).account
}

struct ExampleTests {
    @Test func `the page's example for web servers signs in, in two steps`() async throws {
        let redirect = "http://127.0.0.1:\(try LoopbackPort.free())/callback"
        let scene = try NetworkScene(redirect: redirect)
        var location = TextSink()
        try await begin(handle: "alice.test", with: scene.client, location: &location)
        let page = try await scene.http.send(GuardedRequest(.get, HTTPURL(location.text)))
        let url = Array((page.field("Location") ?? "").utf8)
        let account = try await resume(at: url, with: scene.relaunched(), redirect: RedirectURI(redirect))
        #expect(account == "alice.test")
    }

    @Test func `the page's example signs in once, and asks the account's own server`() async throws {
        let scene = try NetworkScene()
        for _ in 0..<2 {
            let response = try await sessionOf(
                handle: "alice.test", with: scene.client, asking: .consenting(),
                at: scene.network.personalServerOrigin)
            let (status, text) = (response.status, response.body.testText)
            #expect(status == 200 && text.contains(scene.network.did))
        }
        #expect(scene.record.codesExchanged == 1)
        #expect(try scene.findings() == [])
    }
}
