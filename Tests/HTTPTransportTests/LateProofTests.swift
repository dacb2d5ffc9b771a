import Glibc
import HTTPTransport
import Secrets
import Synchronization
import TestServices
import Testing

/// A proof that is made while the request is on its way.
struct LateProofTests {
    private static let answer = ScriptedServer.Step.say("HTTP/1.1 204 No Content\r\n\r\n")

    private func field(_ header: String?) -> String? {
        header?.split(separator: "\r\n").first { $0.hasPrefix("DPoP: ") }.map(String.init)
    }

    @Test func `a proof is made while the connection is, and goes with the request`() async throws {
        let server = try ScriptedServer([.readHeader, Self.answer])
        let deadline = ContinuousClock.now + .seconds(60)
        let response = try await CurlHTTPClient().send(
            HTTPRequest(.get, HTTPURL(server.origin), authorization: .text("DPoP t")), limits: HTTPLimits()
        ) {
            while server.connectionCount == 0 {
                if ContinuousClock.now > deadline { return nil }
                usleep(1000)
            }
            return .text("late.proof")
        }
        #expect(response.status == 204)
        #expect(server.headers.count == 1)
        #expect(server.headers.first?.hasSuffix("Authorization: DPoP t\r\nDPoP: late.proof\r\n\r\n") == true)
    }

    @Test func `it stands in place of the request's own`() async throws {
        let server = try ScriptedServer([.readHeader, Self.answer])
        var request = HTTPRequest(.get, try HTTPURL(server.origin))
        request.proof = .text("early.proof")
        _ = try await CurlHTTPClient().send(request, limits: HTTPLimits()) { .text("late.proof") }
        #expect(field(server.headers.first) == "DPoP: late.proof")
        #expect(server.headers.first?.contains("early") == false)
    }

    @Test func `without a proof nothing is sent`() async throws {
        let server = try ScriptedServer([.readHeader, Self.answer])
        let client = CurlHTTPClient()
        let error = await #expect(throws: HTTPError.self) {
            _ = try await client.send(HTTPRequest(.get, HTTPURL(server.origin)), limits: HTTPLimits()) { nil }
        }
        #expect(error?.code == .cancelled)
        // A connection that ends unused counts as an empty header.
        _ = try await client.send(HTTPRequest(.post, HTTPURL(server.origin)))
        #expect(server.headers.filter { !$0.isEmpty }.map { $0.prefix(5) } == ["POST "])
    }

    @Test func `a task that is cancelled while the proof is made sends nothing`() async throws {
        let server = try ScriptedServer([.readHeader, Self.answer])
        let url = try HTTPURL(server.origin)
        let code = await Task { () -> HTTPError.Code? in
            do throws(HTTPError) {
                _ = try await CurlHTTPClient().send(HTTPRequest(.get, url), limits: HTTPLimits()) {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return .text("late.proof")
                }
                return nil
            } catch {
                return error.code
            }
        }.value
        #expect(code == .cancelled)
        _ = try await CurlHTTPClient().send(HTTPRequest(.post, url))
        #expect(server.headers.filter { !$0.isEmpty }.map { $0.prefix(5) } == ["POST "])
    }

    @Test func `a request that is sent anew on another connection has the same proof`() async throws {
        // The first connection closes after its second request, without an answer.
        let server = try ScriptedServer([.readHeader, Self.answer, .readHeader])
        let client = CurlHTTPClient()
        _ = try await client.send(HTTPRequest(.get, HTTPURL(server.origin)))
        let count = Mutex(0)
        let response = try await client.send(HTTPRequest(.get, HTTPURL(server.origin)), limits: HTTPLimits()) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .text("proof.\(number)")
        }
        #expect(response.status == 204)
        #expect(server.headers.map(field) == [nil, "DPoP: proof.1", "DPoP: proof.1"])
    }

    @Test func `a request that can't be sent fails as others do`() async throws {
        let port = try ReservedPort()
        let url = try HTTPURL("http://127.0.0.1:\(port.number)")
        let error = await #expect(throws: HTTPError.self) {
            _ = try await CurlHTTPClient().send(HTTPRequest(.get, url), limits: HTTPLimits()) { .text("late.proof") }
        }
        #expect(error?.code == .cannotConnect)
        let remote = try HTTPURL("http://example.com")
        let refused = await #expect(throws: HTTPError.self) {
            _ = try await CurlHTTPClient().send(HTTPRequest(.get, remote), limits: HTTPLimits()) {
                Issue.record("a proof was made for a request that is refused")
                return nil
            }
        }
        #expect(refused?.code == .notConfidential)
    }

    @Test func `a client that can't connect meanwhile makes the proof first`() async throws {
        let client = EarlyClient()
        let url = try HTTPURL("https://example.com")
        _ = try await client.send(HTTPRequest(.get, url), limits: HTTPLimits()) { .text("proof") }
        #expect(client.proofs.withLock { $0 } == ["proof"])
        let error = await #expect(throws: HTTPError.self) {
            _ = try await client.send(HTTPRequest(.get, url), limits: HTTPLimits()) { nil }
        }
        #expect(error?.code == .cancelled)
        #expect(client.proofs.withLock { $0 } == ["proof"])
    }

    private final class EarlyClient: HTTPClient {
        let proofs = Mutex<[String]>([])

        func send(_ request: consuming HTTPRequest, limits: HTTPLimits) async throws(HTTPError) -> HTTPResponse {
            let proof = request.proof?.withExposedBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
            proofs.withLock { $0.append(proof ?? "none") }
            return HTTPResponse(status: 204, fields: [], body: .text(""))
        }
    }
}
