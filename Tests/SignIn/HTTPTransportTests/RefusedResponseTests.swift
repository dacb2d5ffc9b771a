import LatchkeyHTTP
import LatchkeyLog
import LatchkeySecrets
import Testing
import TestServices

/// Responses that are none: each has its own error.
struct RefusedResponseTests {
    private func failure(of steps: [ScriptedServer.Step], limits: TransferLimits = TransferLimits()) async throws
        -> TransportError?
    {
        let server = try ScriptedServer(steps)
        return await failure(try HTTPURL(server.origin + "/p?q=s3cret"), limits: limits)
    }

    private func failure(_ url: HTTPURL, limits: TransferLimits = TransferLimits()) async -> TransportError? {
        await #expect(throws: TransportError.self) {
            _ = try await CurlTransport().send(GuardedRequest(.get, url), limits: limits)
        }
    }

    // MARK: - Connections

    @Test func `a refused connection is distinguished from a name without an address`() async throws {
        let port = try ReservedPort()
        #expect(await failure(try HTTPURL(port.origin))?.code == .cannotConnect)
        #expect(await failure(try HTTPURL("https://no-such-host.invalid"))?.code == .cannotResolveHost)
    }

    @Test func `silence is a timeout`() async throws {
        let limits = TransferLimits(timeout: .milliseconds(100))
        #expect(try await failure(of: [.readHeader, .waitForEnd], limits: limits)?.code == .timedOut)
    }

    @Test func `a body that keeps coming too slowly is a time-out too`() async throws {
        let start = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"
        let limits = TransferLimits(timeout: .milliseconds(100))
        #expect(try await failure(of: [.readHeader, .say(start), .waitForEnd], limits: limits)?.code == .timedOut)
    }

    /// A response to a request that changes something may hold the only valid token of a session.
    @Test(arguments: [
        (GuardedRequest.Method.get, 30, 2, 2), (.get, 30, 90, 90), (.get, 10, 2, 2), (.get, 10, 90, 10),
        (.post, 30, 2, 30), (.post, 30, 90, 90), (.post, 10, 2, 10), (.post, 10, 90, 10),
    ])
    func `a transport's time limit takes the place of the standard one, and cuts off nothing with effects`(
        method: GuardedRequest.Method, own: Int, configured: Int, result: Int
    ) {
        let configuration = CurlTransport.Configuration(timeout: .seconds(configured))
        let limits = TransferLimits(maximumBodyByteCount: 7, timeout: .seconds(own))
        #expect(
            configuration.limits(limits, for: method)
                == TransferLimits(maximumBodyByteCount: 7, timeout: .seconds(result)))
        #expect(CurlTransport.Configuration().limits(limits, for: method) == limits)
    }

    @Test func `silence ends at the transport's time limit, and a late response to a request with effects counts`()
        async throws
    {
        let http = CurlTransport(configuration: .init(timeout: .milliseconds(100)))
        let silent = try ScriptedServer([.readHeader, .waitForEnd])
        let url = try HTTPURL(silent.origin + "/")
        let error = await #expect(throws: TransportError.self) { _ = try await http.send(GuardedRequest(.get, url)) }
        #expect(error?.code == .timedOut)
        let late = try ScriptedServer([
            .readHeader, .pause(milliseconds: 400), .say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ])
        let request = GuardedRequest(.post, try HTTPURL(late.origin + "/"))
        #expect(try await http.send(request, limits: TransferLimits(timeout: .seconds(300))).status == 200)
    }

    @Test func `a timeout of zero is a timeout, not an unlimited request`() async throws {
        #expect(try await failure(of: [], limits: TransferLimits(timeout: .zero))?.code == .timedOut)
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ])
    func `a connection that ends early is lost`(message: String) async throws {
        #expect(try await failure(of: [.readHeader, .say(message)])?.code == .connectionLost)
    }

    @Test func `plain HTTP to another machine is refused`() async throws {
        #expect(await failure(try HTTPURL("http://example.com/"))?.code == .notConfidential)
    }

    @Test func `a server without TLS fails in the handshake`() async throws {
        let server = try ScriptedServer([.say("220 mail.example ESMTP\r\n")])
        #expect(await failure(try HTTPURL("https://127.0.0.1:\(server.port)"))?.code == .handshakeFailed)
    }

    // MARK: - Sizes

    @Test func `an announced body above the limit is refused`() async throws {
        let message = "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + String(repeating: "a", count: 101)
        let limits = TransferLimits(maximumBodyByteCount: 100)
        #expect(try await failure(of: [.readHeader, .say(message)], limits: limits)?.code == .bodyTooLarge)
    }

    @Test func `a body above the limit is refused without an announcement`() async throws {
        let message = "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "a", count: 101)
        let limits = TransferLimits(maximumBodyByteCount: 100)
        #expect(try await failure(of: [.readHeader, .say(message)], limits: limits)?.code == .bodyTooLarge)
    }

    @Test func `a body of exactly the limit is accepted`() async throws {
        let message = "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "a", count: 100)
        let server = try ScriptedServer([.readHeader, .say(message)])
        let response = try await CurlTransport().send(
            GuardedRequest(.get, HTTPURL(server.origin)), limits: TransferLimits(maximumBodyByteCount: 100))
        #expect(response.body.byteCount == 100)
    }

    @Test func `a response to HEAD may announce any length`() async throws {
        let server = try ScriptedServer([.readHeader, .say("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")])
        let response = try await CurlTransport().send(GuardedRequest(.head, HTTPURL(server.origin)))
        #expect(response.body.byteCount == 0)
    }

    // MARK: - Form

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 20x OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nName: a\u{1}b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
    ])
    func `a response that is invalid HTTP, or encoded, is refused`(message: String) async throws {
        #expect(try await failure(of: [.readHeader, .say(message)])?.code == .malformedResponse)
    }

    @Test func `too many fields are refused`() async throws {
        let fields = (0..<200).map { "F\($0): x\r\n" }.joined()
        #expect(
            try await failure(of: [.readHeader, .say("HTTP/1.1 200 OK\r\n\(fields)\r\n")])?.code == .malformedResponse)
    }

    @Test func `a header that is too large is refused`() async throws {
        let fields = (0..<10).map { "F\($0): " + String(repeating: "x", count: 9000) + "\r\n" }.joined()
        #expect(
            try await failure(of: [.readHeader, .say("HTTP/1.1 200 OK\r\n\(fields)\r\n")])?.code == .malformedResponse)
    }

    @Test func `interim responses and trailers don't affect the final response`() async throws {
        let message =
            "HTTP/1.1 103 Early Hints\r\nEarly: 1\r\n\r\nHTTP/1.1 201 Created\r\nReal: 1\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nTrailer: 1\r\n\r\n"
        let server = try ScriptedServer([.readHeader, .say(message)])
        let response = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin)))
        #expect(response.status == 201)
        #expect(response.text == "ok")
        #expect(response.field("Real") == "1")
        #expect(response.field("Early") == nil)
        #expect(response.field("Trailer") == nil)
    }

    @Test func `a field with bytes beyond ASCII is left out, the others stay`() async throws {
        let server = try ScriptedServer([.readHeader, .say("HTTP/1.1 204 OK\r\nX: caf\u{E9}\r\nY: z\r\n\r\n")])
        let response = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin)))
        #expect(response.field("X") == nil)
        #expect(response.field("Y") == "z")
    }

    @Test func `errors never show the query`() async throws {
        let error = try #require(try await failure(of: [.readHeader]))
        let shown = "\(error) \(error.cause.text) \(error.hint?.text ?? "")"
        #expect(!shown.contains("s3cret"))
    }
}
