import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization
import TestSecrets
import TestServices

@testable import LatchkeyATProtocol

/// A network with one account, a store, a person with a browser, and a client between them.
final class NetworkScene: Sendable {
    let network: LoopbackATProtocolNetwork
    let store: InMemoryStore
    let folder: TestDirectory
    let clock = TestClock()
    let audit = LeakAudit()
    let http: MappedHTTPClient
    let names = ScriptedNames()
    let context: SignInContext
    let configuration: ATProtocolConfiguration
    let client: ATProtocolClient

    init(
        did: String = "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
        server: AuthorizationServerConfiguration = AuthorizationServerConfiguration(),
        client: ATProtocolConfiguration.Client = .loopback,
        redirect: String = "http://127.0.0.1/callback", change: (inout ATProtocolConfiguration) -> Void = { _ in }
    ) throws {
        network = try LoopbackATProtocolNetwork(did: did, configuration: server)
        store = try InMemoryStore()
        folder = try TestDirectory()
        http = MappedHTTPClient([
            "https://alice.test": network.personalServerOrigin, "https://app.test": network.personalServerOrigin,
        ])
        let log = RedactedLogger("latchkey.atproto", minimumLevel: .trace, sink: audit.logSink(named: "log"))
        context = SignInContext(
            http: http, leases: LeaseDirectory(path: folder.path + "/leases"), now: { [clock] in clock.now }, log: log)
        var configuration = ATProtocolConfiguration(
            client: client, redirect: try RedirectURI(redirect), reach: .development)
        change(&configuration)
        self.configuration = configuration
        names.records.withLock { $0["_atproto.alice.test"] = ["did=" + did] }
        self.client = ATProtocolClient(
            configuration: configuration, store: store, context: context,
            resolver: try Self.resolver(network, http, names, log))
    }

    private static func resolver(
        _ network: LoopbackATProtocolNetwork, _ http: MappedHTTPClient, _ names: ScriptedNames, _ log: RedactedLogger
    ) throws -> NetworkIdentityResolver {
        NetworkIdentityResolver(
            http: http, names: names, directory: try HTTPURL(network.directoryOrigin), reach: .development, log: log)
    }

    var resolver: NetworkIdentityResolver {
        get throws { try Self.resolver(network, http, names, context.log) }
    }

    /// Another client on the same store, as after a relaunch or in another process.
    func relaunched() throws -> ATProtocolClient {
        ATProtocolClient(configuration: configuration, store: store, context: context, resolver: try resolver)
    }

    /// A browser with a person who presses a button.
    func browser(_ decision: PageFollower.Decision = .consent) -> BrowserUserAgent {
        let follower = PageFollower(http: CurlTransport(), decision: decision)
        return BrowserUserAgent(
            .opener { link throws(UserAgentError) in try await follower.follow(link) }, log: context.log)
    }

    @discardableResult
    func signIn(_ handle: String = "alice.test") async throws(ATProtocolError) -> SessionSummary {
        try await client.authenticate(handle: handle, presenting: UserAgent(browser()), deadline: .unhurried)
    }

    /// The error of a sign-in, which must fail.
    func failure(_ handle: String = "alice.test") async -> ATProtocolError.Code? {
        do throws(ATProtocolError) {
            try await signIn(handle)
            return nil
        } catch {
            audit.capture(error: error, as: "error")
            return error.code
        }
    }

    func request(_ client: ATProtocolClient? = nil) async throws -> Int {
        try await (client ?? self.client).send(GuardedRequest(.get, HTTPURL(network.sessionEndpoint))).status
    }

    /// What is kept of a session, the token as text for tests alone.
    struct Kept: Hashable {
        let authority: String
        let clientID: String
        let resource: String?
        let token: String
    }

    func session(_ account: String = "alice.test") async throws -> Kept {
        guard let session = try await client.sessions.load(account) else { throw ATProtocolError(.keyLost) }
        return Kept(
            authority: session.authority, clientID: session.clientID, resource: session.resource,
            token: session.accessToken.testText)
    }

    /// The items that are left, by kind.
    func items(_ kind: String) async throws -> [String] {
        try await store.list(service: "latchkey:bluesky", deadline: .unhurried).all()
            .filter { $0.key.kind.name == kind }.map(\.key.account)
    }

    /// Opens the page of an authorization that has begun, as a browser does, and returns the response.
    func response(to url: consuming AuthorizationURL) async throws -> AuthorizationResponse {
        let response = try await http.send(GuardedRequest(.get, HTTPURL(url.testText)))
        let location = Array((response.field("Location") ?? "").utf8)
        return try AuthorizationResponse(pasted: location.span, redirect: configuration.redirect)
    }

    /// How many places hold a secret of the run that shouldn't.
    func findings() throws -> [String] {
        try network.authorizationServer.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in
            if secret.byteCount >= LeakAudit.minimumByteCount { try audit.plant(secret) }
        }
        return audit.report().findings.map(\.description)
    }

    var record: AuthorizationServerRecord { network.authorizationServer.record }
}

/// A clock that a test turns.
final class TestClock: Sendable {
    private let offset = Mutex<Int64>(0)

    var now: UnixTime { UnixTime(seconds: UnixTime.now().seconds + offset.withLock { $0 }) }

    func advance(seconds: Int64) { offset.withLock { $0 += seconds } }
}

/// The DNS as a test tells it.
final class ScriptedNames: TextRecordLookup {
    let records = Mutex<[String: [String]]>([:])
    let failure = Mutex<NameLookupError?>(nil)
    let asked = Mutex<[String]>([])

    func texts(of name: String) async throws(NameLookupError) -> [String] {
        asked.withLock { $0.append(name) }
        if let failure = failure.withLock({ $0 }) { throw failure }
        return records.withLock { $0[name] ?? [] }
    }
}

/// Sends what goes to a public name to a server of the test, and remembers what was asked.
final class MappedHTTPClient: HTTPTransport {
    private let base = CurlTransport()
    private let origins: [String: String]
    let asked = Mutex<[String]>([])
    /// Token responses name no scopes from now on.
    let hidesScopes = Mutex(false)

    init(_ origins: [String: String]) { self.origins = origins }

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        let url = request.url
        asked.withLock { $0.append(url.origin + url.path) }
        guard let origin = origins[url.origin], let mapped = try? HTTPURL(origin + url.path) else {
            let response = try await base.send(request, limits: limits)
            guard hidesScopes.withLock({ $0 }), url.path.hasSuffix("/token") else { return response }
            let text = Array(response.body.testText.replacing(#""scope""#, with: #""scopes""#).utf8)
            return GuardedResponse(status: response.status, fields: response.fields, body: Secret(copying: text.span))
        }
        return try await base.send(
            GuardedRequest(request.method, mapped, fields: request.fields, body: request.body), limits: limits)
    }
}

extension Deadline {
    /// For what is not about deadlines: the whole suite runs at once, and a single step may wait long for its turn.
    static var unhurried: Deadline { .after(.seconds(600)) }
}
