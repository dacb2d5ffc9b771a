import Foundation
import LatchkeyCredentials
import LatchkeyFoundation
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization

/// A server, a person with a browser, and an authenticator between them.
final class AuthenticatorScene: Sendable {
    let server: LoopbackAuthorizationServer
    let audit = LeakAudit()
    let person: Person
    let statuses = Statuses()
    let configuration: OAuthAuthenticator.Configuration
    let authenticator: OAuthAuthenticator
    private let offset = Turned()
    private let folder: String

    /// - Parameters:
    ///   - http: the transport of authenticator and browser.
    ///   - change: of the configuration that the authenticator is made from.
    init(
        _ server: AuthorizationServerConfiguration = AuthorizationServerConfiguration(),
        http: any HTTPTransport = CurlTransport(), mode: OAuthAuthenticator.Configuration.Mode = .automatic,
        _ change: (inout OAuthAuthenticator.Configuration) -> Void = { _ in }
    ) throws {
        self.server = try LoopbackAuthorizationServer(server)
        folder = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        let log = RedactedLogger("latchkey.authenticator", minimumLevel: .trace, sink: audit.logSink(named: "log"))
        let context = SignInContext(
            http: http, leases: LeaseDirectory(path: folder),
            now: { [offset] in UnixTime(seconds: UnixTime.now().seconds + offset.seconds) }, log: log)
        person = Person(http: http)
        let provider = try OAuthProvider.issuer(
            Issuer(self.server.issuer), name: "test", clientID: "latchkey",
            scopes: ["read", "write"])
        var configuration = OAuthAuthenticator.Configuration(
            provider: provider, userAuthenticator: UserAgent(person.browser), mode: mode, context: context)
        configuration.statusHandler = { [statuses] in statuses.add($0) }
        change(&configuration)
        self.configuration = configuration
        authenticator = try OAuthAuthenticator(config: configuration)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Lets time pass.
    func advance(seconds: Int64) { offset.add(seconds) }

    /// A second authenticator, as in another process.
    func another(_ change: (inout OAuthAuthenticator.Configuration) -> Void = { _ in }) throws -> OAuthAuthenticator {
        var configuration = configuration
        change(&configuration)
        return try OAuthAuthenticator(config: configuration)
    }

    var url: HTTPURL { get throws { try HTTPURL(server.userInfoEndpoint) } }

    /// The status of a request with the token.
    func ask(_ other: OAuthAuthenticator? = nil) async throws(OAuthAuthenticator.Failure) -> Int {
        guard let url = try? url else { throw .cancelled }
        do throws(OAuthAuthenticator.Failure) {
            return try await (other ?? authenticator).response(for: GuardedRequest(.get, url)).status
        } catch {
            audit.capture(error: error, as: "error")
            throw error
        }
    }

    /// The error of a request, which must fail.
    func failure(of other: OAuthAuthenticator? = nil) async -> OAuthAuthenticator.Failure? {
        do throws(OAuthAuthenticator.Failure) {
            _ = try await ask(other)
            return nil
        } catch {
            return error
        }
    }

    var asked: Int { server.record.requests[.userInfo] ?? 0 }

    /// What of the run's secrets stands in log, errors and statuses.
    func findings() throws -> [String] {
        for status in statuses.all { audit.capture("\(status)", as: "status") }
        try server.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in
            if secret.byteCount >= LeakAudit.minimumByteCount { try audit.plant(secret) }
        }
        return audit.report().findings.map(\.description)
    }
}

/// Somebody before a browser, who says yes, and how often they were asked.
final class Person: Sendable {
    private let http: any HTTPTransport
    private let count = Mutex(0)
    private let gate = Mutex<[CheckedContinuation<Void, Never>]?>(nil)

    init(http: any HTTPTransport) {
        self.http = http
    }

    var timesAsked: Int { count.withLock { $0 } }

    /// From now on nobody answers until `answer()`.
    func hesitate() { gate.withLock { $0 = [] } }

    func answer() {
        let waiting = gate.withLock { gate in
            defer { gate = nil }
            return gate ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    var browser: BrowserUserAgent {
        let follower = PageFollower(http: http)
        return BrowserUserAgent(
            .opener { [self] link throws(UserAgentError) in
                count.withLock { $0 += 1 }
                await withCheckedContinuation { continuation in
                    let waits = gate.withLock { gate in
                        gate?.append(continuation)
                        return gate != nil
                    }
                    if !waits { continuation.resume() }
                }
                if Task.isCancelled { throw .cancelled }
                try await follower.follow(link)
            })
    }
}

/// What a status handler was told.
final class Statuses: Sendable {
    private let told = Mutex<[OAuthAuthenticator.Status]>([])

    func add(_ status: OAuthAuthenticator.Status) { told.withLock { $0.append(status) } }
    var all: [OAuthAuthenticator.Status] { told.withLock { $0 } }
}

/// Seconds that a test's clock is ahead.
private final class Turned: Sendable {
    private let value = Mutex<Int64>(0)

    var seconds: Int64 { value.withLock { $0 } }
    func add(_ more: Int64) { value.withLock { $0 += more } }
}

/// How much was asked each time that something happened.
final class SeenAsked: Sendable {
    private let state = Mutex<(counts: [Int], count: (@Sendable () -> Int)?)>(([], nil))

    var count: (@Sendable () -> Int)? {
        get { state.withLock { $0.count } }
        set { state.withLock { $0.count = newValue } }
    }

    func note() {
        let now = count?() ?? -1
        state.withLock { $0.counts.append(now) }
    }

    var seen: [Int] { state.withLock { $0.counts } }
}

/// What a response-status provider was asked about.
final class Responses: Sendable {
    private let seen = Mutex<[OAuthAuthenticator.ResponseRule.Response]>([])

    func add(_ response: OAuthAuthenticator.ResponseRule.Response) { seen.withLock { $0.append(response) } }
    var all: [OAuthAuthenticator.ResponseRule.Response] { seen.withLock { $0 } }
}

/// A transport that remembers where requests went.
final class CountingClient: HTTPTransport {
    private let base = CurlTransport()
    private let seen = Mutex<[String]>([])

    var origins: [String] { seen.withLock { $0 } }

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        let origin = request.url.origin
        seen.withLock { $0.append(origin) }
        return try await base.send(request, limits: limits)
    }
}
