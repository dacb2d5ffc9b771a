import HTTPTransport
import LoopbackHTTP
import Testing

struct LoopbackServerTests {
    @Test func `a port that is taken is a typed error`() throws {
        let first = try LoopbackServer { _ in LoopbackResponse(status: 204) }
        let error = #expect(throws: LoopbackError.self) {
            _ = try LoopbackServer(.init(port: first.port)) { _ in LoopbackResponse(status: 204) }
        }
        #expect(error?.code == .portInUse)
    }

    @Test func `a method that isn't served gets 405 and the list of those that are`() async throws {
        let server = try LoopbackServer(.init(methods: [.get])) { _ in LoopbackResponse(status: 204) }
        let response = try await CurlHTTPClient().send(HTTPRequest(.post, HTTPURL(server.origin)))
        #expect(response.status == 405)
        #expect(response.field("Allow") == "GET")
    }

    @Test func `nobody answers once it has stopped`() async throws {
        let server = try LoopbackServer { _ in LoopbackResponse(status: 204) }
        let url = try HTTPURL(server.origin)
        server.stop()
        let error = await #expect(throws: HTTPError.self) {
            _ = try await CurlHTTPClient().send(HTTPRequest(.get, url))
        }
        #expect(error?.code == .cannotConnect)
    }
}
