import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeySecrets
import Testing
import TestServices

/// What goes over the wire, and what doesn't.
struct RequestTests {
    private let noContent = ScriptedServer.Step.say("HTTP/1.1 204 No Content\r\n\r\n")

    @Test func `a request has only its own fields, its length, a host and an agent`() async throws {
        let server = try ScriptedServer([.readHeader, noContent])
        let fields = [("Accept", "application/json"), ("X-Empty", ""), ("X-Blank", " ")].map { HeaderField($0, $1)! }
        _ = try await CurlTransport().send(GuardedRequest(.post, HTTPURL(server.origin + "/t"), fields: fields))
        #expect(
            server.headers == [
                "POST /t HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nUser-Agent: Latchkey\r\n"
                    + "Accept: application/json\r\nX-Empty:\r\nX-Blank:\r\nContent-Length: 0\r\n\r\n"
            ])
    }

    @Test(arguments: GuardedRequest.Method.allCases)
    func `each method arrives unchanged`(method: GuardedRequest.Method) async throws {
        let server = try ScriptedServer([.readHeader, noContent])
        let response = try await CurlTransport().send(GuardedRequest(method, HTTPURL(server.origin)))
        #expect(response.status == 204)
        #expect(server.headers.first?.hasPrefix("\(method.rawValue) / HTTP/1.1\r\n") == true)
    }

    @Test(arguments: [GuardedRequest.Method.post, .put, .patch, .delete])
    func `each byte of a body arrives`(method: GuardedRequest.Method) async throws {
        let server = try LoopbackServer(.init(methods: Set(LoopbackMethod.allCases), maximumBodyByteCount: 1 << 21)) {
            request in LoopbackResponse(status: 200, body: request.body.duplicate())
        }
        let body = Secret<MessageBody>(byteCount: 1_500_000) { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        }
        let response = try await CurlTransport().send(
            GuardedRequest(method, HTTPURL(server.origin), body: body.duplicate()),
            limits: TransferLimits(maximumBodyByteCount: 1 << 21))
        let same = response.body.matches(body)
        #expect(same)
    }

    @Test(arguments: [
        "Authorization", "Host", "content-length", "Transfer-Encoding", "Connection", "Cookie", "Proxy-Authorization",
    ])
    func `a field that belongs to the transport is refused`(name: String) async throws {
        let server = try ScriptedServer([.readHeader, noContent])
        let error = await #expect(throws: TransportError.self) {
            _ = try await CurlTransport().send(
                GuardedRequest(.get, HTTPURL(server.origin), fields: [HeaderField(name, "x")!]))
        }
        #expect(error?.code == .malformedRequest)
        #expect(server.headers.isEmpty)
    }

    @Test(arguments: ["Bearer x\r\nX-Evil: 1", "Bearer x\n", "Bearer x\0", "Bearer \u{E9}", ""], [false, true])
    func `a secret field that could begin another one is refused`(value: String, isProof: Bool) async throws {
        let server = try ScriptedServer([.readHeader, noContent])
        let error = await #expect(throws: TransportError.self) {
            var request = try GuardedRequest(.get, HTTPURL(server.origin))
            let secret = Secret<MessageBody>.text(value)
            if isProof { request.proof = consume secret } else { request.authorization = consume secret }
            _ = try await CurlTransport().send(request)
        }
        #expect(error?.code == .malformedRequest)
        #expect(server.headers.isEmpty)
    }

    @Test func `the path stays unchanged`() async throws {
        let server = try ScriptedServer([.readHeader, noContent])
        _ = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin + "/a/../%2F/./b?x=%20+")))
        #expect(server.headers.first?.hasPrefix("GET /a/../%2F/./b?x=%20+ HTTP/1.1\r\n") == true)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is returned, and never followed`(status: Int) async throws {
        let second = try ScriptedServer([.readHeader, noContent])
        let first = try LoopbackServer { _ in .redirect(status: status, publicLocation: second.origin) }
        let response = try await CurlTransport().send(
            GuardedRequest(.post, HTTPURL(first.origin), authorization: .text("Bearer t"), body: .text("code=c")))
        #expect(response.status == status)
        #expect(second.headers.isEmpty)
    }

    @Test func `a cookie isn't sent back`() async throws {
        let server = try ScriptedServer([
            .readHeader, .say("HTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n"),
        ])
        let client = CurlTransport()
        for _ in 0..<2 { _ = try await client.send(GuardedRequest(.get, HTTPURL(server.origin))) }
        #expect(server.headers.count == 2)
        #expect(!server.headers.joined().contains("Cookie"))
    }

    @Test func `a POST is never sent a second time on another connection`() async throws {
        // libcurl repeats a request when a kept connection turns out to be closed. Here the first connection closes
        // after its second request, without a response: a POST that used it would come twice, and a code must not.
        let server = try ScriptedServer([.readHeader, .say("HTTP/1.1 204 No Content\r\n\r\n"), .readHeader])
        let client = CurlTransport()
        _ = try await client.send(GuardedRequest(.get, HTTPURL(server.origin)))
        let response = try await client.send(GuardedRequest(.post, HTTPURL(server.origin), body: .text("code=c")))
        #expect(response.status == 204)
        #expect(server.headers.map { $0.prefix(4) } == ["GET ", "POST"])
    }

    // MARK: - Cancellation

    @Test func `cancelling ends a request without a response`() async throws {
        let server = try ScriptedServer([.readHeader, .waitForEnd])
        let url = try HTTPURL(server.origin)
        let task = Task { () -> TransportError? in
            do throws(TransportError) {
                _ = try await CurlTransport().send(
                    GuardedRequest(.get, url), limits: TransferLimits(timeout: .seconds(3600)))
                return nil
            } catch {
                return error
            }
        }
        while server.headers.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
    }

    @Test func `a cancelled task sends nothing`() async throws {
        let server = try ScriptedServer([.readHeader, noContent])
        let url = try HTTPURL(server.origin)
        let task = Task { () -> TransportError? in
            while !Task.isCancelled { await Task.yield() }
            do throws(TransportError) {
                _ = try await CurlTransport().send(GuardedRequest(.get, url))
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(server.headers.isEmpty)
    }

    @Test func `responses to concurrent requests aren't mixed up`() async throws {
        let server = try LoopbackServer { request in
            await Task.yield()
            return LoopbackResponse(status: 200, contentType: "text/plain", publicText: request.path)
        }
        let client = CurlTransport()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                let url = try HTTPURL(server.origin + "/\(number)")
                group.addTask { try await client.send(GuardedRequest(.get, url)).text == "/\(number)" }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
