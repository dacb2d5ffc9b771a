import Foundation
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import TestSecrets
import TestServices
import Testing

@testable import LatchkeySignIn

/// A server, a store, a person with a browser, and a service between them.
final class SignInScene: Sendable {
    let server: LoopbackAuthorizationServer
    let memory: InMemoryStore
    let store: FaultyStore
    let folder: TestDirectory
    let clock = TestClock()
    let audit = LeakAudit()
    let provider: OAuthProvider
    let context: SignInContext
    let service: SignInService

    init(
        _ configuration: AuthorizationServerConfiguration = AuthorizationServerConfiguration(),
        provider make: (LoopbackAuthorizationServer) throws -> OAuthProvider = SignInScene.provider
    ) throws {
        server = try LoopbackAuthorizationServer(configuration)
        memory = try InMemoryStore()
        store = FaultyStore(memory)
        folder = try TestDirectory()
        provider = try make(server)
        let log = RedactedLogger(
            "latchkey.sign-in", minimumLevel: .trace, sink: audit.logSink(named: "log"))
        var context = SignInContext(
            http: CurlTransport(), leases: LeaseDirectory(path: folder.path + "/leases"),
            now: { [clock] in clock.now }, log: log)
        context.patience = .seconds(2)
        self.context = context
        service = SignInService(provider: provider, store: store, context: context)
    }

    static func provider(_ server: LoopbackAuthorizationServer) throws -> OAuthProvider {
        try .issuer(
            Issuer(server.issuer), name: "test", clientID: "latchkey",
            scopes: ["read", "write"])
    }

    /// A browser with a person who presses a button.
    func browser(_ decision: PageFollower.Decision = .consent) -> BrowserUserAgent {
        let follower = PageFollower(http: CurlTransport(), decision: decision)
        return BrowserUserAgent(
            .opener { link throws(UserAgentError) in try await follower.follow(link) }, log: context.log)
    }

    /// A second service on the same store, as in another process.
    func otherService() -> SignInService { SignInService(provider: provider, store: store, context: context) }

    @discardableResult
    func signIn(account: String? = nil, deadline: Deadline = .unhurried) async throws(SignInError) -> SessionSummary {
        try await service.signIn(presenting: browser(), account: account, deadline: deadline)
    }

    /// The error of a sign-in, which must fail.
    func failure(_ decision: PageFollower.Decision = .consent, deadline: Deadline = .unhurried) async -> SignInError? {
        do throws(SignInError) {
            try await service.signIn(presenting: browser(decision), deadline: deadline)
            return nil
        } catch {
            audit.capture(error: error, as: "error")
            return error
        }
    }

    func token(_ account: String? = nil) async throws(SignInError) -> String {
        try await service.accessToken(for: account).testText
    }

    /// How many places hold a secret of the run that shouldn't.
    func findings() throws -> [String] {
        try server.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in
            if secret.byteCount >= LeakAudit.minimumByteCount { try audit.plant(secret) }
        }
        return try audit.findings(beside: LoopbackAuthorizationServer.prose)
    }

    var requests: [AuthorizationServerEndpoint: Int] { server.record.requests }
}

/// A clock that a test turns.
final class TestClock: Sendable {
    private let offset = Mutex<Int64>(0)

    var now: UnixTime { UnixTime(seconds: UnixTime.now().seconds + offset.withLock { $0 }) }

    func advance(seconds: Int64) { offset.withLock { $0 += seconds } }
}

/// A store that refuses what a test tells it to, in front of another.
final class FaultyStore: CredentialStore {
    private let base: InMemoryStore
    private let refused = Mutex<[CredentialKind: (Int, StoreError.Code)]>([:])
    private let saves = Mutex(0)
    private let readError = Mutex<StoreError.Code?>(nil)
    private let whenSaving = Mutex<[CredentialKind: @Sendable () -> Void]>([:])

    init(_ base: InMemoryStore) { self.base = base }

    /// Refuses the next saves of a kind.
    func refuseSaves(of kind: CredentialKind, times: Int = .max, _ code: StoreError.Code = .cannotWrite) {
        refused.withLock { $0[kind] = (times, code) }
    }

    /// Refuses all reads from now on, or no longer.
    func refuseReads(_ refuse: Bool, _ code: StoreError.Code = .locked) {
        readError.withLock { $0 = refuse ? code : nil }
    }

    /// Runs something just before each save of a kind.
    func beforeSaving(_ kind: CredentialKind, _ body: @escaping @Sendable () -> Void) {
        whenSaving.withLock { $0[kind] = body }
    }

    var saveCount: Int { saves.withLock { $0 } }

    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities { base.capabilities }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        let refusal = refused.withLock { refused -> StoreError.Code? in
            guard let (left, code) = refused[key.kind], left > 0 else { return nil }
            refused[key.kind] = (left - 1, code)
            return code
        }
        // Outside the lock: what runs may set another.
        let body = whenSaving.withLock { $0[key.kind] }
        body?()
        if let refusal { throw StoreError(refusal, "the disk is full, or gone", platform: .errno(28)) }
        saves.withLock { $0 += 1 }
        return try await base.save(secret, for: key, options: options, deadline: deadline)
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        if let code = readError.withLock({ $0 }) { throw StoreError(code, "the store is locked, or gone") }
        return try await base.read(key, as: purpose, deadline: deadline)
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await base.delete(key, condition: condition, deadline: deadline)
    }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await base.page(service: service, after: cursor, deadline: deadline)
    }
}

/// What a server writes for people: a stranger's words, which nobody repeats.
private enum Prose: SecretPurpose { static var name: StaticString { "prose" } }

extension LeakAudit {
    /// What was found of the planted secrets, and of a text as a whole: its words alone are everybody's.
    func findings(beside prose: String) throws -> [String] {
        try plant(Secret<Prose>.test(prose))
        return report().findings.filter { $0.purpose != "prose" || $0.isWhole }.map(\.description)
    }
}

/// Brings the first response back without showing it to the gate.
struct CarelessUserAgent: RedirectUserAgent {
    func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        Attempt(redirect: redirect.withPort(9))
    }

    private final class Attempt: UserAgentAttempt {
        let redirect: RedirectURI

        init(redirect: RedirectURI) { self.redirect = redirect }

        func present(
            _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
        ) async throws(UserAgentError) -> AuthorizationResponse {
            do {
                let location = try #require(try await Fetched.get(url.testText).location)
                return try AuthorizationResponse(pasted: Array(location.utf8).span, redirect: redirect)
            } catch {
                throw .unavailable(.pageFailed)
            }
        }

        func finish(_ outcome: SignInOutcome) async {}
    }
}

extension Deadline {
    /// For what is not about deadlines: the whole suite runs at once, and a single step may wait long for its turn.
    static var unhurried: Deadline { .after(.seconds(600)) }
}

extension TestDirectory {
    /// Writes an executable script and returns its path.
    func script(_ name: String, _ text: String) throws -> String {
        try write(name, "#!/bin/sh\n\(text)\n", mode: 0o700)
    }

    /// The text of a file, or `nil` when there is none.
    func text(_ name: String) -> String? { try? String(contentsOfFile: self / name, encoding: .utf8) }
}
