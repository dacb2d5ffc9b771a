import Foundation
import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeySecrets
import Testing
import TestServices

/// What the environment may change, and what it may not.
struct EnvironmentTests {
    private func client(_ environment: [String: String]) -> CurlTransport {
        CurlTransport(configuration: .init(proxies: HTTPProxies(environment: environment)))
    }

    // MARK: - Proxies

    @Test func `a proxy gets a request for a tunnel and sees no authorization`() async throws {
        let proxy = try ScriptedServer([.readHeader, .say("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")])
        let error = await #expect(throws: TransportError.self) {
            _ = try await client(["https_proxy": proxy.origin]).send(
                GuardedRequest(.get, HTTPURL("https://service.example/secret"), authorization: .text("Bearer t0ken")))
        }
        #expect(error?.code == .proxyRefused)
        #expect(proxy.headers.count == 1)
        #expect(proxy.headers.first?.hasPrefix("CONNECT service.example:443 HTTP/1.1\r\n") == true)
        #expect(!proxy.headers.joined().contains("t0ken"))
        #expect(!proxy.headers.joined().contains("secret"))
    }

    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    func `every variable for a proxy works`(name: String) async throws {
        let proxy = try ScriptedServer([.readHeader])
        await #expect(throws: TransportError.self) {
            _ = try await client([name: proxy.origin]).send(GuardedRequest(.get, HTTPURL("https://service.example/")))
        }
        #expect(proxy.headers.count == 1)
    }

    @Test func `a proxy's password goes to the proxy, and into no error`() async throws {
        let proxy = try ScriptedServer([.readHeader, .say("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")])
        let error = await #expect(throws: TransportError.self) {
            _ = try await client(["https_proxy": "http://user:pa55@127.0.0.1:\(proxy.port)"]).send(
                GuardedRequest(.get, HTTPURL("https://service.example/")))
        }
        let expected = Data("user:pa55".utf8).base64EncodedString()
        #expect(proxy.headers.first?.contains("Proxy-Authorization: Basic \(expected)\r\n") == true)
        #expect(error?.code == .proxyRefused)
        #expect(error.map { "\($0)".contains("pa55") } == false)
        #expect("\(HTTPProxies(environment: ["https_proxy": "http://user:pa55@h"]))".contains("pa55") == false)
    }

    @Test func `an unreachable proxy is distinguished from an unreachable server`() async throws {
        let gone = try ReservedPort()
        let error = await #expect(throws: TransportError.self) {
            _ = try await client(["https_proxy": gone.origin]).send(
                GuardedRequest(.get, HTTPURL("https://service.example")))
        }
        #expect(error?.code == .proxyRefused)
    }

    @Test func `a host on the list of exceptions is reached without the proxy`() async throws {
        let proxy = try ScriptedServer([.readHeader])
        let error = await #expect(throws: TransportError.self) {
            _ = try await client(["https_proxy": proxy.origin, "no_proxy": "other.example,.invalid"]).send(
                GuardedRequest(.get, HTTPURL("https://no-such-host.invalid/")))
        }
        #expect(error?.code == .cannotResolveHost)
        #expect(proxy.headers.isEmpty)
    }

    /// An exception names what is inside of a network; a stranger's name must not be led there past the proxy.
    @Test func `a client that reaches public addresses alone leaves exceptions to the proxy`() async throws {
        let proxy = try ScriptedServer([.readHeader, .say("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")])
        let open = client(["https_proxy": proxy.origin, "no_proxy": ".invalid"])
        let error = await #expect(throws: TransportError.self) {
            _ = try await open.reaching(.publicInternet).send(
                GuardedRequest(.get, HTTPURL("https://no-such-host.invalid/")))
        }
        #expect(error?.code == .proxyRefused)
        #expect(proxy.headers.first?.hasPrefix("CONNECT no-such-host.invalid:443 HTTP/1.1\r\n") == true)
    }

    @Test func `loopback addresses never go through a proxy`() async throws {
        let proxy = try ScriptedServer([.readHeader])
        let all = ["http_proxy", "https_proxy", "all_proxy"].map { ($0, proxy.origin) }
        let server = try LoopbackServer { _ in LoopbackResponse(status: 204) }
        let response = try await client(Dictionary(uniqueKeysWithValues: all)).send(
            GuardedRequest(.get, HTTPURL(server.origin)))
        #expect(response.status == 204)
        #expect(proxy.headers.isEmpty)
    }

    // MARK: - The process's own environment

    @Test func `the transport never reads the process's own proxy variables`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try ScriptedServer([.readHeader])
            for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                unsafe setenv(name, proxy.origin, 1)
            }
            unsafe setenv("no_proxy", "", 1)
            let server = try LoopbackServer { _ in LoopbackResponse(status: 204) }
            let response = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin)))
            #expect(response.status == 204)
            let error = await #expect(throws: TransportError.self) {
                _ = try await CurlTransport().send(GuardedRequest(.get, HTTPURL("https://no-such-host.invalid/")))
            }
            #expect(error?.code == .cannotResolveHost)
            #expect(proxy.headers.isEmpty)
        }
    }

    @Test func `session keys are never written to SSLKEYLOGFILE`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let file = directory / "keys.log"
            unsafe setenv("SSLKEYLOGFILE", file, 1)
            let authority = try await CertificateAuthority(in: directory)
            let server = try await OpenSSLServer(authority)
            let client = CurlTransport(configuration: .init(trust: .only(file: authority.certificate)))
            let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin)))
            #expect(response.status == 200)
            // libcurl opens the file at its start; nothing may stand in it.
            let written = (try? Data(contentsOf: URL(fileURLWithPath: file)))?.count ?? 0
            #expect(written == 0)
            await server.stop()
        }
    }
}
