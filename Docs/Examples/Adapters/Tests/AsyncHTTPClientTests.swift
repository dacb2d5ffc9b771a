import Adapters
import AsyncHTTPClient
import Foundation
import FoundationNetworking
import Latchkey
import LatchkeyTestServer
import NIOHTTP1
import Testing

@Suite struct AsyncHTTPClientTests {
    /// Answers a client's requests over Foundation's session, in the place of SwiftNIO.
    private static func client() -> HTTPClient {
        HTTPClient { request in
            var theirs = URLRequest(url: URL(string: request.url)!)
            theirs.httpMethod = request.method.rawValue
            for field in request.headers { theirs.addValue(field.value, forHTTPHeaderField: field.name) }
            theirs.httpBody = request.body.map { Data($0.bytes) }
            let (data, response) = try await URLSession.shared.data(for: theirs)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            var headers = HTTPHeaders()
            for (name, value) in (response as? HTTPURLResponse)?.allHeaderFields ?? [:] {
                headers.add(name: "\(name)", value: "\(value)")
            }
            return HTTPClientResponse(
                status: HTTPResponseStatus(statusCode: status), headers: headers, bytes: Array(data))
        }
    }

    @Test func `a whole sign-in, a refresh and a request go over it`() async throws {
        let server = try LoopbackAuthorizationServer()
        defer { server.stop() }
        let context = SignInContext(
            environment: .current(), http: AsyncHTTPClientTransport(Self.client()), log: .disabled)
        let service = SignInService(
            provider: try .issuer(
                Issuer(server.issuer), name: "test", clientID: "latchkey"),
            store: try InMemoryStore(), context: context)
        try await service.signIn(presenting: .consenting())
        server.expireAccessTokens()
        let response = try await service.send(GuardedRequest(.get, HTTPURL(server.userInfoEndpoint)))
        #expect(response.status == 200 && server.record.refreshes == 1)
    }

    @Test func `nothing is sent in the clear, and what is too large or fails is an error`() async throws {
        let unreachable = AsyncHTTPClientTransport(HTTPClient { _ in throw CancellationError() })
        let open = try HTTPURL("http://api.example.org/")
        let error = await #expect(throws: TransportError.self) {
            _ = try await unreachable.send(GuardedRequest(.get, open))
        }
        #expect(error?.code == .notConfidential)
        let large = AsyncHTTPClientTransport(
            HTTPClient { _ in
                HTTPClientResponse(
                    status: HTTPResponseStatus(statusCode: 200), headers: HTTPHeaders(),
                    bytes: Array(repeating: 0, count: 100))
            })
        let secure = try HTTPURL("https://api.example.org/")
        await #expect(throws: TransportError.self) {
            _ = try await large.send(GuardedRequest(.get, secure), limits: TransferLimits(maximumBodyByteCount: 99))
        }
        let cancelled = await #expect(throws: TransportError.self) {
            _ = try await unreachable.send(GuardedRequest(.get, secure))
        }
        #expect(cancelled?.code == .cancelled)
    }
}
