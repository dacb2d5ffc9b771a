import Foundation
import FoundationNetworking
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization
import TestServices
import Testing

@testable import LatchkeyFoundation

/// Requests of Foundation's with the login's token, over a real URLSession.
struct URLRequestTests {
    @Test func `a URLRequest gets its response after the person has signed in`() async throws {
        let scene = try BridgeScene()
        let (data, response) = try await scene.authenticator.response(for: scene.request)
        #expect(status(response) == 200 && String(decoding: data, as: UTF8.self).contains("octocat"))
        let address = try scene.request.url
        #expect((response as? HTTPURLResponse)?.url == address)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(try scene.findings() == [])
    }

    @Test func `a refused token is refreshed, and after a refused refresh the person signs in again`() async throws {
        let scene = try BridgeScene()
        #expect(status(try await scene.authenticator.response(for: scene.request).1) == 200)
        scene.server.expireAccessTokens()
        #expect(status(try await scene.authenticator.response(for: scene.request).1) == 200)
        #expect(scene.server.record.refreshes == 1)
        scene.server.revokeEverything()
        #expect(status(try await scene.authenticator.response(for: scene.request).1) == 200)
        #expect(scene.server.record.codesExchanged == 2)
    }

    @Test(arguments: [false, true])
    func `key-bound tokens are proved over a URLSession too`(nonces: Bool) async throws {
        let scene = try BridgeScene(AuthorizationServerConfiguration(dpopNonces: nonces, requiresDPoP: true)) {
            $0.tokens.bindsTokensToKey = true
        }
        for _ in 0..<2 { #expect(status(try await scene.authenticator.response(for: scene.request).1) == 200) }
        scene.server.expireAccessTokens()
        #expect(status(try await scene.authenticator.response(for: scene.request).1) == 200)
    }

    @Test func `everything can go over a URLSession, the sign-in too`() async throws {
        let client = URLSessionTransport()
        let scene = try BridgeScene {
            $0.context.http = client
            $0.responses = client
        }
        #expect(status(try await scene.authenticator.response(for: scene.request).1) == 200)
        scene.server.expireAccessTokens()
        #expect(status(try await scene.authenticator.response(for: scene.request).1) == 200)
        #expect(await scene.authenticator.signOut().isSignedOut)
        #expect(try scene.findings() == [])
    }

    @Test func `method, fields and body arrive unchanged`() async throws {
        let echo = try Echo()
        let scene = try BridgeScene()
        var request = URLRequest(url: echo.url("/things?a=b%20c"))
        request.httpMethod = "PUT"
        request.httpBody = Data("a body".utf8)
        request.setValue("text/x-thing", forHTTPHeaderField: "Content-Type")
        request.setValue("one", forHTTPHeaderField: "X-Thing")
        #expect(status(try await scene.authenticator.response(for: request).1) == 200)
        let seen = try #require(echo.seen.first)
        #expect(seen.target == "PUT /things?a=b%20c" && seen.body == "a body")
        #expect(seen.fields["x-thing"] == "one" && seen.fields["content-type"] == "text/x-thing")
        #expect(seen.fields["authorization"]?.hasPrefix("Bearer ") == true)
    }

    @Test func `cookies and cached responses are neither stored nor sent`() async throws {
        let server = try ScriptedServer([
            .readHeader,
            .say(
                "HTTP/1.1 200 OK\r\nSet-Cookie: crumb=1; Path=/\r\nCache-Control: max-age=3600\r\n"
                    + "Content-Length: 2\r\nConnection: close\r\n\r\nok"),
        ])
        let scene = try BridgeScene()
        let request = URLRequest(url: try #require(URL(string: server.origin + "/")))
        for _ in 0..<2 { #expect(status(try await scene.authenticator.response(for: request).1) == 200) }
        let headers = server.headers.map { $0.lowercased() }
        #expect(headers.count == 2 && headers.allSatisfy { !$0.contains("cookie:") && $0.contains("authorization: ") })
    }

    @Test func `a request that can't be sent unchanged is refused before a prompt`() async throws {
        let scene = try BridgeScene()
        var requests: [(URLRequest, OAuthAuthenticator.Failure.RequestProblem)] = []
        for address in [
            "ftp://example.org/", "file:///etc/hostname", "http://127.0.0.1/#part", "http://me:pw@127.0.0.1/",
        ] {
            requests.append((URLRequest(url: try #require(URL(string: address))), .address))
        }
        var request = try scene.request
        request.httpMethod = "TRACE"
        requests.append((request, .method))
        for name in ["Authorization", "DPoP", "cookie", "Host", "Content-Length", "Transfer-Encoding"] {
            var request = try scene.request
            request.setValue("x", forHTTPHeaderField: name)
            requests.append((request, .field))
        }
        request = try scene.request
        request.setValue("caf\u{e9}", forHTTPHeaderField: "X-Thing")
        requests.append((request, .field))
        request = try scene.request
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        requests.append((request, .body))
        for (request, problem) in requests {
            await #expect(throws: OAuthAuthenticator.Failure(.unsupportedRequest(problem)), "\(request)") {
                _ = try await scene.authenticator.response(for: request)
            }
        }
        #expect(scene.server.record.requests.isEmpty)
    }

    @Test func `a redirect is returned, and nothing is sent to its location`() async throws {
        let elsewhere = try Echo()
        let echo = try Echo(status: 302, fields: [("Location", elsewhere.url("/stray").absoluteString)])
        let scene = try BridgeScene()
        let (_, response) = try await scene.authenticator.response(for: URLRequest(url: echo.url("/")))
        #expect(status(response) == 302)
        var post = URLRequest(url: echo.url("/"))
        post.httpMethod = "POST"
        post.httpBody = Data("x".utf8)
        scene.server.switchOn(.temporaryRedirect(.userInfo))
        #expect(status(try await scene.authenticator.response(for: scene.request).1) == 307)
        #expect(status(try await scene.authenticator.response(for: post).1) == 302)
        #expect(elsewhere.seen.isEmpty && scene.server.record.requests[.stray] == nil)
    }

    @Test func `a response that is too large is refused, announced or not`() async throws {
        let scene = try BridgeScene()
        _ = try await scene.authenticator.authenticate()
        scene.server.switchOn(.hugeBody(byteCount: 1 << 20, .userInfo))
        let error = await #expect(throws: OAuthAuthenticator.Failure.self) {
            _ = try await scene.authenticator.response(for: scene.request, maximumByteCount: 1000)
        }
        #expect(error.map(Self.network) == .bodyTooLarge)
        let (data, _) = try await scene.authenticator.response(for: scene.request, maximumByteCount: 1 << 20)
        #expect(data.count == 1 << 20)
    }

    static func network(_ error: OAuthAuthenticator.Failure) -> TransportError.Code? {
        guard case .signIn(let signIn) = error.code, case .oauth(let oauth) = signIn.code,
            case .networkError(let network) = oauth.code
        else { return nil }
        return network.code
    }

    @Test func `a silent server and a broken response are distinguished, and cancelling ends the wait`()
        async throws
    {
        let scene = try BridgeScene()
        _ = try await scene.authenticator.authenticate()
        scene.server.switchOn(.noResponse(.userInfo))
        let lost = await #expect(throws: OAuthAuthenticator.Failure.self) {
            _ = try await scene.authenticator.response(for: scene.request)
        }
        #expect(lost.map(Self.network) == .connectionLost)
        scene.server.switchOff(.noResponse(.userInfo))
        scene.server.switchOn(.slow(.seconds(600), .userInfo))
        let hurried = try {
            var request = try scene.request
            request.timeoutInterval = 0.2
            return request
        }()
        let late = await #expect(throws: OAuthAuthenticator.Failure.self) {
            _ = try await scene.authenticator.response(for: hurried)
        }
        #expect(late.map(Self.network) == .timedOut)
        let before = scene.server.record.requests[.userInfo] ?? 0
        let task = Task { () async -> OAuthAuthenticator.Failure? in
            do {
                _ = try await scene.authenticator.response(for: scene.request)
                return nil
            } catch {
                return error as? OAuthAuthenticator.Failure
            }
        }
        while (scene.server.record.requests[.userInfo] ?? 0) == before { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test(arguments: ["no HTTP at all\r\n\r\n", "HTTP/1.1 000 X\r\n\r\n"])
    func `a response that isn't HTTP is the server's mistake`(text: String) async throws {
        let server = try ScriptedServer([.readHeader, .say(text)])
        let error = await #expect(throws: TransportError.self) {
            _ = try await URLSessionTransport().send(GuardedRequest(.get, HTTPURL(server.origin)))
        }
        #expect(error?.code == .malformedResponse)
    }

    @Test func `a very long timeout is one`() async throws {
        let server = try ScriptedServer([.readHeader, .say("HTTP/1.1 204 No Content\r\n\r\n")])
        let response = try await URLSessionTransport().send(
            GuardedRequest(.get, HTTPURL(server.origin)), limits: TransferLimits(timeout: .seconds(Int64.max)))
        #expect(response.status == 204)
    }

    @Test func `a limit below zero takes an empty body, and without time nothing is sent`() async throws {
        let closure = ClosureTransport { request in
            let response = HTTPURLResponse(
                url: try #require(request.url), statusCode: 204, httpVersion: nil, headerFields: nil)
            return (Data(), try #require(response))
        }
        for transport in [URLSessionTransport(), CurlTransport(), closure] as [any HTTPTransport] {
            let server = try ScriptedServer([.readHeader, .say("HTTP/1.1 204 No Content\r\n\r\n")])
            let error = await #expect(throws: TransportError.self) {
                _ = try await transport.send(
                    GuardedRequest(.get, HTTPURL(server.origin)), limits: TransferLimits(timeout: .zero))
            }
            #expect(error?.code == .timedOut && server.headers.isEmpty)
            let response = try await transport.send(
                GuardedRequest(.get, HTTPURL(server.origin)), limits: TransferLimits(maximumBodyByteCount: -1))
            #expect(response.status == 204)
        }
    }

    @Test(arguments: ["Bearer x\r\nX-Evil: 1", "Bearer x\n"])
    func `a secret field that could begin another one is refused`(value: String) async throws {
        let server = try ScriptedServer([.readHeader, .say("HTTP/1.1 204 No Content\r\n\r\n")])
        let error = await #expect(throws: TransportError.self) {
            _ = try await URLSessionTransport().send(
                GuardedRequest(
                    .get, HTTPURL(server.origin), authorization: Secret(copying: Array(value.utf8).span)))
        }
        #expect(error?.code == .malformedRequest)
        #expect(server.headers.isEmpty)
    }

    @Test func `plain HTTP goes to loopback addresses alone`() async throws {
        for client in [URLSessionTransport(), ClosureTransport { _ in throw URLError(.unknown) }]
            as [any HTTPTransport]
        {
            let error = await #expect(throws: TransportError.self) {
                _ = try await client.send(GuardedRequest(.get, HTTPURL("http://example.org/")))
            }
            #expect(error?.code == .notConfidential)
        }
    }

    // MARK: - Other providers

    @Test func `a caller's closure can respond, and gets the token`() async throws {
        let seen = Mutex<[String]>([])
        let provider = ClosureTransport { request in
            seen.withLock { $0.append(request.value(forHTTPHeaderField: "Authorization") ?? "") }
            let url = try #require(request.url)
            let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: nil, headerFields: ["X-Mine": "1"])
            return (Data("mine".utf8), try #require(response))
        }
        let scene = try BridgeScene { $0.responses = provider }
        let (data, response) = try await scene.authenticator.response(for: scene.request)
        #expect(status(response) == 203 && data == Data("mine".utf8))
        #expect(seen.withLock { $0 }.allSatisfy { $0.hasPrefix("Bearer ") } && seen.withLock { $0 }.count == 1)
    }

    @Test(arguments: [
        (URLError(.cannotFindHost), TransportError.Code.cannotResolveHost), (URLError(.timedOut), .timedOut),
        (URLError(.networkConnectionLost), .connectionLost),
        (URLError(.serverCertificateUntrusted), .certificateRefused),
        (URLError(.cannotParseResponse), .malformedResponse), (URLError(.unknown), .other),
    ])
    func `an error of a closure is typed, and its words are dropped`(thrown: URLError, code: TransportError.Code)
        async throws
    {
        let provider = ClosureTransport { _ in throw thrown }
        let error = await #expect(throws: TransportError.self) {
            _ = try await provider.send(GuardedRequest(.get, HTTPURL("https://example.org/")))
        }
        #expect(error?.code == code)
        struct Prose: Error, CustomStringConvertible { var description: String { "prose of a stranger" } }
        let foreign = await #expect(throws: TransportError.self) {
            _ = try await ClosureTransport { _ in throw Prose() }.send(
                GuardedRequest(.get, HTTPURL("https://a.example/")))
        }
        let refusal = try #require(foreign)
        #expect(refusal.code == .other && !"\(refusal)".contains("prose"))
    }

    // MARK: - The caller's own client

    @Test(arguments: [false, true])
    func `a request of the caller's own URLSession is signed`(bound: Bool) async throws {
        let scene = try BridgeScene(AuthorizationServerConfiguration(dpopNonces: bound, requiresDPoP: bound)) {
            $0.tokens.bindsTokensToKey = bound
        }
        var last = 0
        for _ in 0..<2 {
            let request = try await scene.authenticator.unprotectedAuthenticatedRequest(for: scene.request)
            #expect((request.value(forHTTPHeaderField: "DPoP") != nil) == bound)
            let (_, response) = try await URLSession.shared.data(for: request)
            try await scene.authenticator.learn(from: response)
            last = status(response)
        }
        #expect(last == 200)
    }
}

// Docs/HowTo/authenticated-requests.md shows this function word for word.

func profile(
    at address: URL, of provider: OAuthProvider, asking agent: UserAgent, keptIn store: any CredentialStore,
    context: SignInContext, show: @escaping @Sendable (OAuthAuthenticator.Status) async -> Void
) async throws -> Data {
    var configuration = OAuthAuthenticator.Configuration(
        provider: provider, userAuthenticator: agent, storage: .store(store), context: context)
    configuration.statusHandler = show  // a name and times, or an error: never a token
    let authenticator = try OAuthAuthenticator(config: configuration)
    let (data, _) = try await authenticator.response(for: URLRequest(url: address))
    return data
}

struct ExampleTests {
    @Test func `the page's example signs in, gets its response, and stores the login`() async throws {
        let scene = try BridgeScene()
        let store = try InMemoryStore()
        let address = try #require(scene.request.url)
        for _ in 0..<2 {
            let data = try await profile(
                at: address, of: scene.authenticator.configuration.provider, asking: .consenting(), keptIn: store,
                context: scene.authenticator.configuration.context, show: { _ in })
            #expect(String(decoding: data, as: UTF8.self).contains("octocat"))
        }
        #expect(scene.server.record.codesExchanged == 1)
    }
}
