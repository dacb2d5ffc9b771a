import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeySystem
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets
import TestServices

@testable import LatchkeyATProtocol

/// A store that checks a condition and deletes in two steps, and that a test makes fail.
private struct SlowStore: CredentialStore {
    let base: InMemoryStore
    /// Whether it refuses to read keys.
    let refusesKeys: @Sendable () -> Bool
    /// Runs when an attempt was taken, in the task that took it.
    let taken: @Sendable () -> Void

    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.hasAtomicConditions = false
        return capabilities
    }

    init(
        _ base: InMemoryStore, refusesKeys: @escaping @Sendable () -> Bool = { false },
        taken: @escaping @Sendable () -> Void = {}
    ) {
        self.base = base
        self.refusesKeys = refusesKeys
        self.taken = taken
    }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try await base.save(secret, for: key, options: options, deadline: deadline)
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        if key.kind == .privateKey, refusesKeys() { throw StoreError(.unavailable, "the store is away") }
        return try await base.read(key, as: purpose, deadline: deadline)
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        if Task.isCancelled { throw .cancelled }
        guard key.kind.name == "authorization" else {
            return try await base.delete(key, condition: condition, deadline: deadline)
        }
        let present = try await base.read(key, as: PendingSecrets.self, deadline: deadline)?.version
        try condition.check(against: present)
        // Long enough for another caller's check.
        try? await Task.sleep(for: .milliseconds(300))
        _ = try await base.delete(key, condition: .none, deadline: deadline)
        taken()
        return true
    }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await base.page(service: service, after: cursor, deadline: deadline)
    }
}

/// An authorization that begins in one place and ends in another, and sessions that outlive their process.
struct TwoStepTests {
    private func scene() throws -> NetworkScene {
        try NetworkScene(redirect: "http://127.0.0.1:\(try LoopbackPort.free())/callback")
    }

    private func code(_ body: () async throws -> Void) async -> ATProtocolError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ATProtocolError)?.code
        }
    }

    @Test func `another process can resume an authorization that has begun`() async throws {
        let scene = try scene()
        let response = try await scene.response(to: scene.client.beginAuthorization(handle: "alice.test"))
        #expect(try await scene.items("authorization") == ["pending"])
        #expect(try await scene.items("private-key").count == 1)
        let other = try scene.relaunched()
        #expect(try await other.resumeAuthorization(with: response).subject == scene.network.did)
        #expect(try await scene.items("authorization") == [])
        #expect(try await scene.items("private-key").count == 1)
        #expect(try await scene.request(other) == 200)
        #expect(try scene.findings() == [])
    }

    @Test func `a second authorization is refused until the first one ends`() async throws {
        let scene = try scene()
        let url = try await scene.client.beginAuthorization(handle: "alice.test")
        let other = try scene.relaunched()
        for client in [scene.client, other] {
            #expect(
                await code { _ = try await client.beginAuthorization(handle: "alice.test") } == .authorizationInProgress
            )
        }
        #expect(await scene.failure() == .authorizationInProgress)
        #expect(
            ATProtocolError(.authorizationInProgress).codeName.description == "atproto.authorization_in_progress")
        try await other.resumeAuthorization(with: scene.response(to: url))
        let again = try await scene.client.beginAuthorization(handle: "alice.test")
        #expect(try await scene.client.cancelAuthorization())
        #expect(try await !scene.client.cancelAuthorization())
        try await scene.signIn()
        // The page of the one that was cancelled is of no use any more.
        let late = try await scene.response(to: again)
        #expect(await resumeCode(scene.client, late) == .noAuthorizationPending)
        #expect(try await scene.items("private-key").count == 1)
    }

    private func resumeCode(
        _ client: ATProtocolClient, _ response: consuming AuthorizationResponse
    ) async -> ATProtocolError.Code? {
        do throws(ATProtocolError) {
            try await client.resumeAuthorization(with: response)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `two authorizations that begin at the same moment don't both continue`() async throws {
        let scene = try scene()
        let clients = try (0..<4).map { _ in try scene.relaunched() }
        let codes = await withTaskGroup(of: ATProtocolError.Code?.self) { group in
            for client in clients {
                group.addTask { await code { _ = try await client.beginAuthorization(handle: "alice.test") } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 1)
        #expect(codes.filter { $0 == .authorizationInProgress }.count == 3)
        // Those that lost left no key behind.
        #expect(try await scene.items("private-key").count == 1)
    }

    @Test func `a response with another state changes nothing, and the right one still counts, once`() async throws {
        let scene = try scene()
        let url = try await scene.client.beginAuthorization(handle: "alice.test")
        let before = scene.record.requests
        let forged = Array("code=abc&state=\(String(repeating: "x", count: 43))".utf8)
        let mismatch = ATProtocolError.Code.signIn(.oauth(OAuthError(.stateMismatch)))
        #expect(await resumeCode(scene.client, try AuthorizationResponse(query: forged.span)) == mismatch)
        #expect(scene.record.requests[.token] == nil)
        #expect(scene.record.requests == before)
        let location = try await location(scene, url.testText)
        #expect(await resumeCode(scene.client, try pasted(location, scene)) == nil)
        let second = await resumeCode(try scene.relaunched(), try pasted(location, scene))
        #expect(second == .noAuthorizationPending)
        #expect(scene.record.requests[.token] == 2)
    }

    /// The address to which an authorization redirects the browser, by default one that begins now.
    private func location(_ scene: NetworkScene, _ begun: String? = nil) async throws -> [UInt8] {
        var url = begun
        if url == nil { url = try await scene.client.beginAuthorization(handle: "alice.test").testText }
        let page = try await scene.http.send(GuardedRequest(.get, HTTPURL(url ?? "")))
        return Array((page.field("Location") ?? "").utf8)
    }

    private func pasted(_ location: [UInt8], _ scene: NetworkScene) throws -> AuthorizationResponse {
        try AuthorizationResponse(pasted: location.span, redirect: scene.configuration.redirect)
    }

    private func client(_ scene: NetworkScene, _ store: SlowStore) throws -> ATProtocolClient {
        ATProtocolClient(
            configuration: scene.configuration, store: store, context: scene.context, resolver: try scene.resolver)
    }

    @Test func `of two responses at once one counts, also in a store that keeps conditions under a lease alone`()
        async throws
    {
        let scene = try scene()
        let location = try await location(scene)
        let codes = try await withThrowingTaskGroup(of: ATProtocolError.Code?.self) { group in
            for _ in 0..<2 {
                let client = try client(scene, SlowStore(scene.store))
                group.addTask { await resumeCode(client, try pasted(location, scene)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.contains(nil) && codes.contains(.noAuthorizationPending), "\(codes)")
        #expect(try await scene.request() == 200)
    }

    @Test func `a caller that is cancelled leaves no key behind`() async throws {
        let scene = try scene()
        let location = try await location(scene)
        let store = SlowStore(scene.store, taken: { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } })
        let client = try client(scene, store)
        let code = try await Task { await resumeCode(client, try pasted(location, scene)) }.value
        #expect(code == .cancelled)
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
    }

    @Test func `a store that can't read the key leaves the authorization as it is`() async throws {
        let scene = try scene()
        let location = try await location(scene)
        let isAway = Mutex(true)
        let client = try client(scene, SlowStore(scene.store, refusesKeys: { isAway.withLock { $0 } }))
        guard case .signIn(let error) = await resumeCode(client, try pasted(location, scene)),
            case .store(let cause) = error.code
        else { throw ATProtocolError(.keyLost) }
        #expect(cause.code == .unavailable)
        isAway.withLock { $0 = false }
        #expect(await resumeCode(client, try pasted(location, scene)) == nil)
        #expect(try await scene.request() == 200)
    }

    @Test func `an authorization in two steps can't ask for an ID token`() async throws {
        let scene = try NetworkScene(redirect: "http://127.0.0.1:\(try LoopbackPort.free())/callback") {
            $0.scopes = ["atproto", "openid"]
        }
        let refused = await code { _ = try await scene.client.beginAuthorization(handle: "alice.test") }
        #expect(refused == .signIn(.oauth(OAuthError(.invalidConfiguration(.scope)))))
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
    }

    @Test func `a late response is refused, and a new authorization can begin`() async throws {
        let scene = try scene()
        let response = try await scene.response(to: scene.client.beginAuthorization(handle: "alice.test"))
        scene.clock.advance(seconds: 601)
        #expect(await resumeCode(scene.client, response) == .authorizationExpired)
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
        _ = try await scene.client.beginAuthorization(handle: "alice.test")
        scene.clock.advance(seconds: 601)
        _ = try await scene.client.beginAuthorization(handle: "alice.test")
        #expect(try await scene.items("private-key").count == 1)
    }

    @Test func `a denial ends the authorization, and leaves nothing`() async throws {
        let scene = try scene()
        scene.network.authorizationServer.switchOn(.denied)
        let response = try await scene.response(to: scene.client.beginAuthorization(handle: "alice.test"))
        #expect(await resumeCode(scene.client, response) == .signIn(.oauth(OAuthError(.accessDenied))))
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
    }

    @Test func `tokens for another account are revoked after two steps too`() async throws {
        let scene = try scene()
        scene.network.authorizationServer.switchOn(.wrongSubject)
        let response = try await scene.response(to: scene.client.beginAuthorization(handle: "alice.test"))
        #expect(await resumeCode(scene.client, response) == .subjectMismatch)
        #expect(scene.record.revocations == 1)
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
    }

    @Test func `an attempt without its key, or a damaged one, is a typed error`() async throws {
        let scene = try scene()
        let response = try await scene.response(to: scene.client.beginAuthorization(handle: "alice.test"))
        let thumbprint = try #require(try await scene.items("private-key").first)
        try await scene.client.sessions.deleteKey(thumbprint)
        #expect(await resumeCode(scene.client, response) == .keyLost)
        #expect(try await scene.items("authorization") == [])
        let key = try KeptAuthorization.key(in: scene.client.sessions)
        try await scene.store.save(Secret<PendingSecrets>.test("{}"), for: key)
        guard case .signIn(let cause) = await scene.failure(), case .store(let error) = cause.code else {
            Issue.record("the damage is not told")
            return
        }
        #expect(error.code == .corrupted)
        #expect(try await scene.client.cancelAuthorization())
        try await scene.signIn()
    }

    // MARK: - A new process

    @Test func `after a relaunch the session is used and refreshed with its key`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        let second = try scene.relaunched()
        #expect(try await scene.request(second) == 200)
        scene.clock.advance(seconds: 4000)
        let third = try scene.relaunched()
        #expect(try await scene.request(third) == 200)
        #expect(scene.record.refreshes == 1)
        #expect(await third.signOut().revocation == .revoked)
    }

    @Test func `a session with a lost or a different key is a typed error`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        let thumbprint = try #require(try await scene.items("private-key").first)
        let key = try scene.client.sessions.key(thumbprint, kind: .privateKey)
        let other = try ES256Key.generate()
        try await scene.store.save(other.encoded(), for: key)
        await #expect(throws: ATProtocolError(.keyLost)) { _ = try await scene.request(scene.relaunched()) }
        try await scene.client.sessions.deleteKey(thumbprint)
        await #expect(throws: ATProtocolError(.keyLost)) { _ = try await scene.request(scene.relaunched()) }
        scene.clock.advance(seconds: 4000)
        await #expect(throws: ATProtocolError(.keyLost)) { _ = try await scene.request(scene.relaunched()) }
        #expect(scene.record.refreshes == 0)
    }

    @Test func `many processes refresh a session once`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        let clients = try (0..<24).map { _ in try scene.relaunched() }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in clients { group.addTask { try await scene.request(client) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 24))
        #expect(scene.record.refreshes == 1 && scene.record.replays == 0)
    }

    @Test func `a session that the server ended is ended here too, and the account is signed out`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        scene.network.authorizationServer.revokeEverything()
        await #expect(throws: ATProtocolError(.signIn(SignInError(.sessionEnded)))) { _ = try await scene.request() }
        #expect(try await scene.client.currentSession() == nil)
        #expect(try await scene.items("private-key") == [])
        let sessions = SessionStore(store: scene.store, provider: scene.configuration.provider.text, leases: .standard)
        #expect(try await sessions.currentAccount() != nil)
        #expect(await scene.client.signOut().deletion == .absent)
        // Nothing of it is left, so another account can be the only one.
        #expect(try await sessions.currentAccount() == nil)
        #expect(try await sessions.endedSessions().isEmpty)
    }

    @Test func `signing out deletes session and key even if the servers are unreachable`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        scene.network.stop()
        let report = await scene.client.signOut()
        #expect(report.deletion == .deleted)
        guard case .failed = report.revocation else {
            Issue.record("\(report)")
            return
        }
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
    }

    // MARK: - An adopter's own user interface

    private struct Presenter: AuthorizationPresenter {
        let redirect: RedirectURI
        let body: @Sendable (_ url: String, _ scheme: String) async throws -> String?

        func presentAuthorization(
            at url: consuming AuthorizationURL, callbackScheme: String
        ) async throws -> AuthorizationResponse? {
            guard let location = try await body(url.testText, callbackScheme) else { return nil }
            return try AuthorizationResponse(
                pasted: Array(location.utf8).span, redirect: redirect)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a presenter that ignores its end doesn't hold up the deadline or a cancellation`() async throws {
        let scene = try scene()
        let (never, shown) = (Pending<Void>(), [Pending<Void>(), Pending<Void>()])
        defer { never.complete(()) }
        func agent(_ number: Int) -> UserAgent {
            .presenter(
                Presenter(redirect: scene.configuration.redirect) { (_, _) in
                    shown[number].complete(())
                    await never.value()
                    return nil
                })
        }
        let timedOut = await code {
            try await scene.client.authenticate(
                handle: "alice.test", presenting: agent(0), deadline: .after(.seconds(15)))
        }
        #expect(shown[0].present != nil)
        #expect(timedOut == .signIn(.userAgent(.timedOut)))
        let second = agent(1)
        let task = Task {
            await code {
                try await scene.client.authenticate(handle: "alice.test", presenting: second, deadline: .unhurried)
            }
        }
        await shown[1].value()
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    private struct Prose: Error, CustomStringConvertible { let description = "code=abc&state=def" }

    private func present(
        _ scene: NetworkScene, _ body: @escaping @Sendable (String, String) async throws -> String?
    ) async -> ATProtocolError.Code? {
        await code {
            try await scene.client.authenticate(
                handle: "alice.test",
                presenting: .presenter(Presenter(redirect: scene.configuration.redirect, body: body)),
                deadline: .unhurried)
        }
    }

    @Test func `an adopter's user interface can bring the response`() async throws {
        let scene = try scene()
        let http = scene.http
        let code = await present(scene) { url, scheme in
            #expect(scheme == "http")
            return try await http.send(GuardedRequest(.get, HTTPURL(url))).field("Location")
        }
        #expect(code == nil)
        #expect(try await scene.request() == 200)
    }

    @Test func `a missing response is a cancellation, and an interface's error isn't repeated`() async throws {
        let scene = try scene()
        #expect(await present(scene) { _, _ in nil } == .authorizationCancelled)
        #expect(await present(scene) { _, _ in throw Prose() } == .presenterFailed)
        #expect(await present(scene) { _, _ in throw CancellationError() } == .cancelled)
        let foreign = scene.configuration.redirect.text + "?code=a&state=b"
        #expect(await present(scene) { _, _ in foreign } == .signIn(.oauth(OAuthError(.stateMismatch))))
        #expect(scene.record.requests[.token] == nil)
        // Each ended: the next may begin.
        try await scene.client.cancelAuthorization()
        _ = try await scene.client.beginAuthorization(handle: "alice.test")
    }

    @Test func `cancelling the task ends the sign-in and leaves nothing`() async throws {
        let scene = try scene()
        let (shown, showing) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            await present(scene) { _, _ in
                showing.yield()
                try await Task.sleep(for: .seconds(600))
                return nil
            }
        }
        for await _ in shown { break }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(try await scene.store.list(service: nil, deadline: .unhurried).all().isEmpty)
    }
}
