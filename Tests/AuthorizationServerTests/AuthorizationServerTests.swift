import AuthorizationServer
import HTTPTransport
import LoopbackHTTP
import Secrets
import Testing

struct AuthorizationServerTests {
    @Test func `a code is exchanged once, by who holds the verifier`() async throws {
        let server = try LoopbackAuthorizationServer()
        let client = TestClient(server)
        let code = try await client.authorize().code
        let answer = try await client.exchange(code: code)
        #expect(answer.status == 200)
        #expect(answer.json["token_type"] == "Bearer")
        #expect(answer.json["refresh_token"] != nil)
        let again = try await client.exchange(code: code)
        #expect(again.status == 400)
        #expect(again.json["error"] == "invalid_grant")
        #expect(server.record.replays == 1)
        #expect(try await client.userInfo(token: answer.json["access_token"]!).status == 401)
    }
}
