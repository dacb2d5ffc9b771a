import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets
import TestServices

@testable import LatchkeySignIn

/// Hosts that give any program a client: registered once, and kept.
struct MastodonTests {
    private let scene: MastodonScene

    init() throws {
        scene = try MastodonScene()
    }

    @Test func `a program registers once at each host, and signs in with the host's client`() async throws {
        let provider = try await scene.registered()
        #expect(provider.clientID == "client-1")
        let service = SignInService(provider: provider, store: scene.store, context: scene.context)
        let session = try await service.signIn(presenting: scene.browser, deadline: .unhurried)
        #expect(session.account == "octocat@social.example")
        #expect(scene.server.record.clientAuthentication == [.post: 1])
        // As another process does, and again.
        for _ in 0..<3 { #expect(try await scene.registered() == provider) }
        #expect(scene.hosts.registrations.count == 1)
        // Another host gives a client of its own, and the first one's stays.
        #expect(try await scene.registered(host: "other.example").clientID == "client-2")
        #expect(try await scene.registered() == provider)
        #expect(scene.hosts.registrations.map(\.host) == ["https://social.example", "https://other.example"])
    }

    @Test func `the registration is a form with the client's purpose`() async throws {
        _ = try await scene.registered(scopes: ["read", "write"])
        let seen = try #require(scene.hosts.registrations.first)
        #expect(
            seen.form
                == "client_name=Example+program&redirect_uris=http%3A%2F%2F127.0.0.1%2F9F-eWVKzESyg56T4%2Fcallback"
                + "&scopes=read+write")
        #expect(seen.path == "/api/v1/apps")
    }

    @Test func `a program registers again for another redirect, a new scope, or a lost client`() async throws {
        #expect(try await scene.registered(scopes: ["read", "write"]).clientID == "client-1")
        // Fewer scopes are no reason.
        #expect(try await scene.registered(scopes: ["read"]).clientID == "client-1")
        #expect(try await scene.registered(scopes: ["read", "follow"]).clientID == "client-2")
        #expect(try await scene.registered(scopes: ["read"], redirect: "http://[::1]/callback").clientID == "client-3")
        let kept = try await scene.store.list(deadline: .unhurried).all().map(\.key)
        for key in kept where key.kind == .clientSecret { try await scene.store.delete(key) }
        #expect(try await scene.registered(redirect: "http://[::1]/callback").clientID == "client-4")
        for key in kept where key.kind.name == "client" {
            try await scene.store.save(Secret<StoredLogin>.test("{\"latchkey_client\":2}"), for: key)
        }
        #expect(try await scene.registered(redirect: "http://[::1]/callback").clientID == "client-5")
        try await BuiltInProvider.mastodon.forgetRegistration(
            of: BuiltInProvider.mastodon.name, at: "social.example", in: scene.store)
        #expect(try await scene.registered(redirect: "http://[::1]/callback").clientID == "client-6")
    }

    @Test func `many tasks register once`() async throws {
        let clients = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await scene.registered().clientID } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(clients == ["client-1"] && scene.hosts.registrations.count == 1)
    }

    @Test(arguments: [
        (422, "{\"error\":\"no\"}"), (200, "<html>"), (200, "{}"), (200, "{\"client_id\":\"\"}"),
        (200, "{\"client_id\":\"a\"}"), (200, "{\"client_id\":\"a\",\"client_secret\":\"a\\nb\"}"),
    ])
    func `a host that refuses, or responds with nonsense, makes no client`(status: Int, answer: String) async throws {
        scene.hosts.respond(status, answer)
        let error = await #expect(throws: SignInError.self) { _ = try await scene.registered() }
        guard case .oauth? = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await scene.store.list(deadline: .unhurried).all() == [])
        scene.hosts.respond(nil, "")
        #expect(try await scene.registered().clientID == "client-2")
    }

    @Test func `a service without registration reports that`() async throws {
        #expect(BuiltInProvider.all.filter(\.registersPrograms).map(\.name.text) == ["mastodon"])
        let error = await #expect(throws: SignInError.self) {
            _ = try await BuiltInProvider.gitHub.registered(
                BuiltInProvider.Choices(name: .gitHub, clientID: ""), as: "x", keptIn: scene.store,
                context: scene.context)
        }
        #expect(error == .oauth(OAuthError(.invalidMetadata(.withoutRegistration))))
    }
}

/// A loopback authorization server that responds as Mastodon hosts do, by their names and paths.
private final class MastodonScene: Sendable {
    let server: LoopbackAuthorizationServer
    let hosts: Hosts
    let store: InMemoryStore
    let context: SignInContext
    private let folder: TestDirectory

    init() throws {
        folder = try TestDirectory()
        let clients = (1...6).map {
            RegisteredClient(
                "client-\($0)", redirectURIs: ["http://127.0.0.1/*", "http://[::1]/*"],
                secret: .test("secret-of-client-\($0)"))
        }
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: clients))
        // Mastodon's hosts don't name themselves in their responses.
        server.switchOn(.missingIssuer)
        hosts = Hosts(origin: server.origin)
        store = try InMemoryStore()
        context = SignInContext(http: hosts, leases: LeaseDirectory(path: folder.path + "/leases"))
    }

    func registered(
        host: String = "social.example", scopes: ScopeList = ["read"], redirect: String? = nil
    ) async throws -> OAuthProvider {
        var choices = BuiltInProvider.Choices(name: "mastodon", clientID: "")
        (choices.host, choices.scopes) = (host, scopes)
        choices.redirect = try redirect.map { try RedirectURI($0) }
        return try await BuiltInProvider.mastodon.registered(
            choices, as: "Example program", keptIn: store, context: context, deadline: .unhurried)
    }

    var browser: BrowserUserAgent {
        let follower = PageFollower(http: hosts)
        return BrowserUserAgent(.opener { link throws(UserAgentError) in try await follower.follow(link) })
    }
}

/// The way to the hosts: what is for them goes to the loopback server, under its own paths.
private final class Hosts: HTTPTransport {
    struct Registration: Sendable {
        let host: String
        let path: String
        let form: String
    }

    private let origin: String
    private let base = CurlTransport()
    private let seen = Mutex<[Registration]>([])
    private let replacement = Mutex<(status: Int, text: String)?>(nil)

    init(origin: String) {
        self.origin = origin
    }

    var registrations: [Registration] { seen.withLock { $0 } }

    func respond(_ status: Int?, _ text: String) { replacement.withLock { $0 = status.map { ($0, text) } } }

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        guard request.url.host.hasSuffix(".example") else { return try await base.send(request, limits: limits) }
        let (host, path) = (request.url.origin, request.url.path)
        switch path {
        case "/api/v1/apps":
            let form =
                switch request.body {
                case .some(let body): body.testText
                case .none: ""
                }
            let number = seen.withLock { seen in
                seen.append(Registration(host: host, path: path, form: form))
                return seen.count
            }
            let (status, text) =
                replacement.withLock { $0 }
                ?? (200, #"{"id":"7","client_id":"client-\#(number)","client_secret":"secret-of-client-\#(number)"}"#)
            return GuardedResponse(status: status, fields: [], body: .test(text))
        case "/api/v1/accounts/verify_credentials":
            let response = try await forward(request, to: "/userinfo", limits)
            guard response.status == 200 else { return response }
            return GuardedResponse(
                status: 200, fields: [], body: .test(#"{"id":"1","acct":"octocat@\#(host.dropFirst(8))"}"#))
        default:
            return try await forward(request, to: String(path.dropFirst("/oauth".count)), limits)
        }
    }

    private func forward(
        _ request: consuming GuardedRequest, to path: String, _ limits: TransferLimits
    ) async throws(TransportError) -> GuardedResponse {
        guard let url = try? HTTPURL(origin + path + (request.url.query.map { "?" + $0 } ?? "")) else {
            preconditionFailure("a path of ours")
        }
        var forwarded = GuardedRequest(request.method, url, fields: request.fields)
        forwarded.authorization = request.authorization.take()
        forwarded.body = request.body.take()
        return try await base.send(forwarded, limits: limits)
    }
}
