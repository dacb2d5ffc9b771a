import Foundation
import LatchkeyHTTP
import LatchkeySecrets
import Synchronization
import Testing

@testable import LatchkeyLoopback

struct LoopbackServerTests {
    private let client = CurlTransport()

    private func empty(_ request: consuming LoopbackRequest) async -> LoopbackResponse { LoopbackResponse(status: 204) }

    // MARK: - Starting and stopping

    @Test func `a used port is a typed error`() throws {
        let first = try LoopbackServer(handler: empty)
        let error = #expect(throws: LoopbackError.self) {
            _ = try LoopbackServer(.init(port: first.port), handler: empty)
        }
        #expect(error?.code == .portInUse)
    }

    @Test func `a key that doesn't fit the certificate is a typed error`() throws {
        let key = Array("no key".utf8)
        let tls = LoopbackTLS(certificatePEM: "no certificate", key: Secret(copying: key.span))
        let error = #expect(throws: LoopbackError.self) { _ = try LoopbackServer(.init(tls: tls), handler: empty) }
        #expect(error?.code == .badCertificate)
    }

    /// A start that failed closed its socket twice: libmicrohttpd had closed it already. In between, the number could
    /// belong to somebody else, whose descriptor was gone then; once it was another server's, which ended the process.
    @Test func `a start that fails closes no other descriptor`() async {
        await #expect(processExitsWith: .success) {
            let isDone = Atomic(false)
            let lost = Atomic(0)
            let neighbour = Task.detached {
                while !isDone.load(ordering: .relaxed) {
                    let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
                    for _ in 0..<20 where fcntl(descriptor, F_GETFD) < 0 { lost.add(1, ordering: .relaxed) }
                    close(descriptor)
                }
            }
            for _ in 0..<1000 {
                let key = Array("no key".utf8)
                let tls = LoopbackTLS(certificatePEM: "no certificate", key: Secret(copying: key.span))
                #expect(throws: LoopbackError.self) {
                    _ = try LoopbackServer(.init(tls: tls)) { _ in LoopbackResponse(status: 204) }
                }
            }
            isDone.store(true, ordering: .relaxed)
            await neighbour.value
            exit(lost.load(ordering: .relaxed) == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `a stopped server calls its handler no more`() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed)
            return LoopbackResponse(status: 204)
        }
        let url = try HTTPURL(server.origin)
        _ = try await client.send(GuardedRequest(.get, url))
        server.stop()
        server.stop()
        // Another test's server may have the port by now, so whatever responds is not looked at.
        _ = try? await client.send(GuardedRequest(.get, url))
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test func `stopping doesn't wait for a handler, but cancels it and closes its connection`() async throws {
        let (started, hasStarted) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, wasCancelled) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { _ in
            hasStarted.yield()
            await withTaskCancellationHandler {
                try? await Task.sleep(for: .seconds(3600))
            } onCancel: {
                wasCancelled.yield()
            }
            return LoopbackResponse(status: 204)
        }
        let url = try HTTPURL(server.origin)
        let request = Task { [client] () -> TransportError? in
            do throws(TransportError) {
                _ = try await client.send(GuardedRequest(.get, url))
                return nil
            } catch {
                return error
            }
        }
        for await _ in started { break }
        server.stop()
        for await _ in cancelled { break }
        #expect(await request.value?.code == .connectionLost)
    }

    @Test func `the end of a response says whether it was sent or the server stopped first`() async throws {
        let (ended, hasEnded) = AsyncStream.makeStream(of: String.self)
        let (started, hasStarted) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { request in
            let path = request.path
            if path == "/late" {
                hasStarted.yield()
                try? await Task.sleep(for: .seconds(3600))
            }
            var response = LoopbackResponse(status: 204)
            response.whenEnded = { hasEnded.yield(path) }
            return response
        }
        var ends = ended.makeAsyncIterator()
        _ = try await client.send(GuardedRequest(.get, HTTPURL(server.origin + "/soon")))
        #expect(await ends.next() == "/soon")
        let late = try HTTPURL(server.origin + "/late")
        let request = Task { [client] in try? await client.send(GuardedRequest(.get, late)).status }
        for await _ in started { break }
        server.stop()
        #expect(await ends.next() == "/late")
        #expect(await request.value == nil)
    }

    @Test func `a server that is no longer referenced stops`() async throws {
        weak var gone: LoopbackServer?
        do {
            let server = try LoopbackServer(handler: empty)
            gone = server
            let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin)))
            #expect(response.status == 204)
        }
        #expect(gone == nil)
    }

    @Test func `starting and stopping in the middle of requests never hangs or crashes`() async throws {
        let made = Mutex(0)
        let ended = Mutex(0)
        for _ in 0..<20 {
            let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
            let server = try LoopbackServer { _ in
                isAsked.yield()
                await Task.yield()
                var response = LoopbackResponse(status: 204)
                response.whenEnded = { ended.withLock { $0 += 1 } }
                made.withLock { $0 += 1 }
                return response
            }
            let url = try HTTPURL(server.origin)
            let client = client
            await withTaskGroup { group in
                for _ in 0..<8 { group.addTask { _ = try? await client.send(GuardedRequest(.get, url)) } }
                group.addTask {
                    for await _ in asked { break }
                    server.stop()
                }
            }
        }
        // Each response has its end, and one: those that left, those that came too late, those that were handed over
        // just as the server stopped, which were written and read by two threads and forgotten.
        let limit = ContinuousClock.now + .seconds(60)
        while ended.withLock({ $0 }) < made.withLock({ $0 }), ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(ended.withLock { $0 } == made.withLock { $0 } && made.withLock { $0 } > 0)
    }

    @Test func `a stopped server leaves no thread`() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<20 {
                let server = try LoopbackServer { _ in LoopbackResponse(status: 204) }
                let response = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin)))
                #expect(response.status == 204)
            }
            // A thread that has been waited for may be listed for a moment.
            var names: [String] = []
            for _ in 0..<6000 {
                names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").map {
                    (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) ?? ""
                }
                names = names.filter { $0.hasPrefix("MHD") }
                if names.isEmpty { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(names == [])
        }
    }

    // MARK: - Who gets a response

    @Test func `a method that isn't served gets 405 and the list of the served ones`() async throws {
        let server = try LoopbackServer(.init(methods: [.get]), handler: empty)
        let response = try await client.send(GuardedRequest(.post, HTTPURL(server.origin)))
        #expect(response.status == 405)
        #expect(response.field("Allow") == "GET")
    }

    @Test(arguments: [
        "attacker.example", "127.0.0.1", "127.0.0.1:1", "[::1]:PORT", "", "127.0.0.1:PORT.attacker.example",
    ])
    func `another host's name is refused, as a page that rebinds DNS would send it`(host: String) async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed)
            return LoopbackResponse(status: 204)
        }
        let name = host.replacing("PORT", with: "\(server.port)")
        let received = try await RawConnection(port: server.port).exchange("GET / HTTP/1.1\r\nHost: \(name)\r\n\r\n")
        #expect(received.hasPrefix("HTTP/1.1 421 "))
        #expect(count.load(ordering: .relaxed) == 0)
    }

    @Test(arguments: ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT"])
    func `the server's own names are accepted`(host: String) async throws {
        let server = try LoopbackServer(handler: empty)
        let name = host.replacing("PORT", with: "\(server.port)")
        let received = try await RawConnection(port: server.port).exchange("GET / HTTP/1.1\r\nHost: \(name)\r\n\r\n")
        #expect(received.hasPrefix("HTTP/1.1 204 "))
    }

    @Test(arguments: ["GET http://HOST/ HTTP/1.1", "GET * HTTP/1.1", "FROB / HTTP/1.1", "GET / HTTP/9.9", "GARBAGE"])
    func `a malformed request is refused`(line: String) async throws {
        let server = try LoopbackServer(handler: empty)
        let text = line.replacing("HOST", with: server.authority)
        let received = try await RawConnection(port: server.port).exchange(
            "\(text)\r\nHost: \(server.authority)\r\n\r\n")
        #expect(!received.contains(" 204 "))
    }

    @Test func `the same user may connect where only the same user may`() async throws {
        for family in [LoopbackServer.Family.ipv4, .ipv6] {
            let server = try LoopbackServer(.init(family: family, peers: .sameUser), handler: empty)
            let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin)))
            #expect(response.status == 204)
        }
    }

    // MARK: - What arrives

    @Test func `the path stays as written, and the query keeps its bytes`() async throws {
        let server = try LoopbackServer { request in
            return LoopbackResponse(
                status: 200, fields: [LoopbackField("X-Path", request.path)], body: request.query?.duplicate())
        }
        let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin + "/a/../%2F+?code=%41+%00&x")))
        #expect(response.field("X-Path") == "/a/../%2F+")
        let same = response.body.matches(text: "code=%41+%00&x")
        #expect(same)
    }

    @Test func `credentials are separate from the other fields`() async throws {
        let server = try LoopbackServer { request in
            let names = request.fields.map { $0.name.lowercased() }.sorted().joined(separator: ",")
            let isThere = request.authorization?.byteCount == 8
            return LoopbackResponse(status: 200, contentType: "text/plain", publicText: "\(names) \(isThere)")
        }
        let received = try await RawConnection(port: server.port).exchange(
            "GET / HTTP/1.1\r\nHost: \(server.authority)\r\nAuthorization: Bearer t\r\nCookie: a=b\r\n"
                + "Proxy-Authorization: x\r\nOrigin: null\r\n\r\n")
        #expect(received.hasSuffix("\r\n\r\nhost,origin true"))
    }

    @Test func `a body above the limit never reaches the handler`() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer(.init(maximumBodyByteCount: 10)) { _ in
            count.add(1, ordering: .relaxed)
            return LoopbackResponse(status: 204)
        }
        let head = "POST / HTTP/1.1\r\nHost: \(server.authority)\r\n"
        let announced = try await RawConnection(port: server.port).exchange(
            head + "Content-Length: 11\r\n\r\n12345678901")
        #expect(announced.hasPrefix("HTTP/1.1 413 "))
        let chunked = try await RawConnection(port: server.port).exchange(
            head + "Transfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n0\r\n\r\n")
        #expect(!chunked.contains(" 204 "))
        #expect(count.load(ordering: .relaxed) == 0)
        let fitting = try await RawConnection(port: server.port).exchange(head + "Content-Length: 10\r\n\r\n1234567890")
        #expect(fitting.hasPrefix("HTTP/1.1 204 "))
    }

    @Test func `a header above the limit is refused`() async throws {
        let server = try LoopbackServer(handler: empty)
        let field = "X: " + String(repeating: "x", count: 100_000)
        let received = try await RawConnection(port: server.port).exchange(
            "GET / HTTP/1.1\r\nHost: \(server.authority)\r\n\(field)\r\n\r\n")
        #expect(!received.contains(" 204 "))
    }

    @Test func `a query of many thousand bytes arrives whole`() async throws {
        let server = try LoopbackServer { request in
            LoopbackResponse(status: 200, contentType: "text/plain", publicText: "\(request.query?.byteCount ?? 0)")
        }
        let query = String(repeating: "a", count: 7000)
        let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin + "/?" + query)))
        let same = response.body.matches(text: "7000")
        #expect(same)
    }

    // MARK: - What goes out

    @Test func `a response isn't stored and closes its connection`() async throws {
        let server = try LoopbackServer(handler: empty)
        let received = try await RawConnection(port: server.port).exchange(
            "GET / HTTP/1.1\r\nHost: \(server.authority)\r\n\r\n")
        #expect(received.contains("\r\nCache-Control: no-store\r\n"))
        #expect(received.contains("\r\nConnection: close\r\n"))
    }

    @Test func `a redirect carries its location`() async throws {
        let server = try LoopbackServer { _ in .redirect(publicLocation: "https://example.com/?code=x&state=y") }
        let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin)))
        #expect(response.status == 302)
        #expect(response.field("Location") == "https://example.com/?code=x&state=y")
    }

    @Test func `a large body arrives whole`() async throws {
        let body = Secret<MessageBody>(byteCount: 900_000) { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 7) }
        }
        let expected = body.duplicate()
        let kept = Mutex<Secret<MessageBody>?>(body)
        let server = try LoopbackServer { _ in
            let body = kept.withLock { $0.take() }
            return LoopbackResponse(status: 200, body: body)
        }
        let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin)))
        let same = response.body.matches(expected)
        #expect(same)
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Whether the secret is this text.
    func matches(text: StaticString) -> Bool {
        let expected = Array(text.description.utf8)
        return matches(expected.span)
    }
}
