import LatchkeyATProtocol
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeySignIn
import LatchkeyTestServer
import Testing
import TestSecrets

// Docs/ATProtocol.md shows this function word for word.

func sessionOf(
    handle: String, with client: ATProtocolClient, asking agent: UserAgent, at server: String
) async throws -> GuardedResponse {
    if try await client.currentSession() == nil {
        try await client.authenticate(handle: handle, presenting: agent, deadline: .after(.seconds(300)))
    }
    let url = try HTTPURL(server + "/xrpc/com.atproto.server.getSession")
    return try await client.send(GuardedRequest(.get, url))  // with token and proof; to no other server
}

struct ExampleTests {
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
