import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeySecrets
import Testing

struct CurlHTTPClientTests {
    @Test func `a response's status, fields and body arrive`() async throws {
        let server = try LoopbackServer { request in
            LoopbackResponse(status: 203, contentType: "text/plain", publicText: "hello \(request.path)")
        }
        let response = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin + "/a%20b")))
        #expect(response.status == 203)
        #expect(response.field("content-type") == "text/plain")
        #expect(response.text == "hello /a%20b")
    }

    @Test func `a form, its authorization and the query reach the server as they are`() async throws {
        let server = try LoopbackServer { request in
            let query = request.query!.matches(text: "a=1&b=%20")
            let body = request.body.matches(text: "code=x")
            let authorization = request.authorization!.matches(text: "Bearer t0ken")
            let type = request.field("Content-Type") == "application/x-www-form-urlencoded"
            return LoopbackResponse(
                status: 200, contentType: "text/plain", publicText: "\(query) \(body) \(authorization) \(type)")
        }
        var request = try GuardedRequest(
            .post, HTTPURL(server.origin + "/token?a=1&b=%20"), authorization: .text("Bearer t0ken"),
            body: .text("code=x"))
        request.fields = [HeaderField("Content-Type", "application/x-www-form-urlencoded")!]
        let response = try await CurlTransport().send(request)
        #expect(response.text == "true true true true")
    }

    @Test(arguments: [LoopbackServer.Family.ipv4, .ipv6])
    func `both loopback addresses work`(family: LoopbackServer.Family) async throws {
        let server = try LoopbackServer(.init(family: family)) { _ in LoopbackResponse(status: 204) }
        let response = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin)))
        #expect(response.status == 204)
    }
}
