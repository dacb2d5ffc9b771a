import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets

@testable import LatchkeySignIn

@Suite(.timeLimit(.minutes(15)))
struct RefreshTests {
    @Test func `a token is refreshed before its end, not earlier`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let first = try await scene.token()
        scene.clock.advance(seconds: 3500)
        #expect(try await scene.token() == first)
        scene.clock.advance(seconds: 60)
        let second = try await scene.token()
        #expect(second != first)
        #expect(try await scene.token() == second)
        #expect(scene.server.record.refreshes == 1)
        #expect(try scene.findings() == [])
    }

    /// Swift's own mirror copied what can't be copied, and ended the process: for an expectation that failed, too.
    @Test func `a service with a session can be dumped, and shows no token`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let token = try await scene.token()
        var text = ""
        dump(scene.service, to: &text)
        #expect(text.contains("SignInService") && !text.contains(token))
        scene.audit.capture(value: scene.service, as: "service")
        #expect(try scene.findings() == [])
    }

    @Test func `many tasks with one ended session make one refresh, and all get the new token`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let first = try await scene.token()
        scene.clock.advance(seconds: 4000)
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<40 {
                // Half of them in services of their own, which only share the lease.
                let service = index.isMultiple(of: 2) ? scene.service : scene.otherService()
                group.addTask { try await service.accessToken().testText }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1 && !tokens.contains(first))
        #expect(scene.server.record.refreshes == 1)
        #expect(scene.server.record.replays == 0)
    }

    @Test func `who joins another caller's refresh has its own time to wait for another process`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        let sessions = SessionStore(store: scene.store, provider: scene.provider.name, leases: scene.context.leases)
        let lease = try await sessions.lease("octocat", deadline: .unhurried)
        let service = scene.service
        let first = Task { try await service.refresh("octocat", refused: nil, deadline: .after(.seconds(1))) }
        while await service.refreshes.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        let second = Task { try await service.refresh("octocat", refused: nil, deadline: .unhurried) }
        await #expect(throws: SignInError.self) { try await first.value }
        lease.release()
        try await second.value
        #expect(scene.server.record.refreshes == 1)
    }

    @Test func `after a sign-out that failed, memory gives out no token`() async throws {
        let scene = try SignInScene()
        let first = try await scene.signedInToken()
        scene.store.refuseReads(true, .unavailable)
        #expect(try await scene.token("octocat") == first)
        #expect(await scene.service.signOut("octocat").isSignedOut == false)
        await #expect(throws: SignInError.self) { _ = try await scene.token("octocat") }
        scene.store.refuseReads(false)
        #expect(try await scene.token("octocat") == first)
    }

    @Test func `the next refresh sends the rotated refresh token`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        for _ in 0..<3 {
            scene.clock.advance(seconds: 4000)
            _ = try await scene.token()
        }
        #expect(scene.server.record.refreshes == 3)
        #expect(scene.server.record.replays == 0)
    }

    @Test func `network trouble keeps the session`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        for fault in [AuthorizationServerFault.noResponse(.token), .status(503, .token), .truncatedJSON(.token)] {
            scene.server.switchOn(fault)
            await #expect(throws: SignInError.self) { _ = try await scene.token() }
            scene.server.switchOffAllFaults()
            #expect(try await scene.service.accounts().count == 1)
        }
    }

    @Test func `a token close to its end is used if the server can't refresh it now`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let first = try await scene.token()
        scene.clock.advance(seconds: 3570)
        scene.server.switchOn(.status(503, .token))
        #expect(try await scene.token() == first)
        scene.server.switchOff(.status(503, .token))
        #expect(try await scene.token() != first)
    }

    /// A page of the network that the machine is in, in the place of the server's response.
    @Test func `a token close to its end is used if the response isn't JSON`() async throws {
        let scene = try SignInScene()
        let first = try await scene.signedInToken()
        scene.clock.advance(seconds: 3570)
        scene.server.switchOn(.truncatedJSON(.token))
        #expect(try await scene.token() == first)
    }

    @Test func `a session that the server ended is signed out, with a distinct error`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.server.revokeEverything()
        await #expect(throws: SignInError(.sessionEnded)) { _ = try await scene.token() }
        #expect(SignInError(.sessionEnded).recoveries == [.signIn])
        #expect(try await scene.service.accounts() == [])
        #expect(try await scene.service.currentAccount() == nil)
        await #expect(throws: SignInError(.notSignedIn)) { _ = try await scene.token() }
    }

    /// An app that shows who is signed in said nobody, and sent requests as the other person.
    @Test func `after the current account's sign-out, the one that requests use is shown`() async throws {
        let scene = try SignInScene()
        for account in ["ada", "bob"] { try await scene.signIn(account: account) }
        #expect(await scene.service.signOut().account == "bob")
        #expect(try await scene.service.currentAccount()?.account == "ada")
        let shown = try await scene.token("ada")
        #expect(try await scene.token() == shown)
        // Of several without a current one, none is chosen.
        for account in ["bob", "eve"] { try await scene.signIn(account: account) }
        await scene.service.signOut()
        #expect(try await scene.service.currentAccount() == nil)
        await #expect(throws: SignInError(.noCurrentAccount)) { _ = try await scene.token() }
    }

    /// A full disk, or a limit on a file's size: the server had refreshed, the save failed, and the next call sent the
    /// spent token, at which the server revoked the family.
    @Test func `a store that can't save is noticed before the request`() async throws {
        let scene = try SignInScene()
        let first = try await scene.signedInToken()
        scene.clock.advance(seconds: 4000)
        scene.store.refuseSaves(of: .session)
        let error = await #expect(throws: SignInError.self) { _ = try await scene.token() }
        guard case .store(let cause) = error?.code else { throw try #require(error) }
        #expect(cause.code == .cannotWrite && scene.server.record.refreshes == 0 && scene.requests[.token] == 1)
        #expect(try await scene.service.sessions.load("octocat")!.accessToken.testText == first)
        scene.store.refuseSaves(of: .session, times: 0)
        #expect(try await scene.token() != first)
        #expect(scene.server.record.refreshes == 1 && scene.server.record.replays == 0)
    }

    @Test func `a token that is good for some seconds is handed out while the store can't be written`() async throws {
        let scene = try SignInScene()
        let first = try await scene.signedInToken()
        scene.clock.advance(seconds: 3570)
        scene.store.refuseSaves(of: .session)
        #expect(try await scene.token() == first)
        #expect(scene.server.record.refreshes == 0)
    }

    /// A database that fails over, or a network that is cut.
    @Test func `while the store is unreachable a valid token comes from memory, and nothing is refreshed`() async throws
    {
        let scene = try SignInScene()
        let first = try await scene.signedInToken()
        #expect(try await scene.token() == first)
        for code in [StoreError.Code.unavailable, .timedOut, .busy] {
            scene.store.refuseReads(true, code)
            #expect(try await scene.token() == first)
            #expect(try await scene.token("octocat") == first)
        }
        // What was never read can't be known.
        await #expect(throws: SignInError.self) { _ = try await scene.token("another") }
        await #expect(throws: SignInError.self) { _ = try await scene.otherService().accessToken() }
        // A store that refuses is there.
        scene.store.refuseReads(true, .locked)
        await #expect(throws: SignInError.self) { _ = try await scene.token() }
        scene.store.refuseReads(false)
        #expect(try await scene.token() == first)
        scene.store.refuseReads(true, .unavailable)
        scene.clock.advance(seconds: 4000)
        let error = await #expect(throws: SignInError.self) { _ = try await scene.token() }
        guard case .store(let cause) = error?.code else { throw try #require(error) }
        #expect(cause.code == .unavailable && scene.server.record.refreshes == 0)
        scene.store.refuseReads(false)
        #expect(try await scene.token() != first)
    }

    /// Otherwise a request would be another person's, or have a token that is revoked.
    @Test func `memory knows the account that was chosen last, and its newest token`() async throws {
        let scene = try SignInScene()
        let old = try await scene.signedInToken()
        let other = try await scene.service.signIn(
            presenting: scene.browser(), account: "work", deadline: .unhurried)
        scene.store.refuseReads(true, .unavailable)
        let token = try await scene.token()
        #expect(token != old && other.account == "work")
        scene.store.refuseReads(false)
        #expect(try await scene.token() == token)
        #expect(try await scene.token("octocat") == old)
        try await scene.service.use("octocat")
        scene.store.refuseReads(true, .unavailable)
        #expect(try await scene.token() == old)
        scene.store.refuseReads(false)
        try await scene.signIn(account: "octocat")
        scene.store.refuseReads(true, .unavailable)
        let new = try await scene.token()
        #expect(new != old && new != token)
        // The store goes away when the refreshed session is in it.
        scene.store.refuseReads(false)
        scene.clock.advance(seconds: 4000)
        let saves = Mutex(0)
        scene.store.beforeSaving(.session) { [store = scene.store] in
            let count = saves.withLock { count in
                count += 1
                return count
            }
            if count == 2 { store.refuseReads(true, .unavailable) }
        }
        let refreshed = try await scene.token()
        #expect(refreshed != new && scene.server.record.refreshes == 1)
    }

    @Test func `memory returns nothing after a sign-out`() async throws {
        let scene = try SignInScene()
        _ = try await scene.signedInToken()
        _ = try await scene.token()
        _ = await scene.service.signOut()
        scene.store.refuseReads(true, .unavailable)
        await #expect(throws: SignInError.self) { _ = try await scene.token() }
        await #expect(throws: SignInError.self) { _ = try await scene.token("octocat") }
    }

    @Test func `the session has a mark and room for longer tokens while the server may have spent its token`()
        async throws
    {
        let scene = try SignInScene()
        try await scene.signIn()
        let size = try await scene.sessionByteCount()
        scene.clock.advance(seconds: 4000)
        scene.server.switchOn(.held(.token))
        let refresh = Task { try await scene.token() }
        while (scene.requests[.token] ?? 0) < 2 { try await Task.sleep(for: .milliseconds(2)) }
        let marked = try await scene.service.sessions.load("octocat")!
        #expect(marked.refreshBegan != nil)
        #expect(try await scene.sessionByteCount() >= size + 4096)
        scene.server.switchOff(.held(.token))
        _ = try await refresh.value
        let refreshed = try await scene.service.sessions.load("octocat")!
        #expect(refreshed.refreshBegan == nil)
        #expect(try await scene.sessionByteCount() < size + 4096)
    }

    @Test func `a refusal in which the server has spent nothing leaves no mark`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.server.switchOn(.status(400, .token))
        await #expect(throws: SignInError.self) { _ = try await scene.token() }
        let session = try await scene.service.sessions.load("octocat")!
        #expect(session.refreshBegan == nil)
    }

    /// It has rotated the refresh token, and nothing says so to the next process but the mark.
    @Test(arguments: [AuthorizationServerFault.unknownTokenType, .missingAccessToken, .temporaryRedirect(.token)])
    func `a response that can't be used leaves the mark`(fault: AuthorizationServerFault) async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.server.switchOn(fault)
        await #expect(throws: SignInError.self) { _ = try await scene.token() }
        let session = try await scene.service.sessions.load("octocat")!
        #expect(session.refreshBegan != nil)
        scene.server.switchOff(fault)
        guard fault != .temporaryRedirect(.token) else { return }
        await #expect(throws: SignInError(.refreshLost)) { _ = try await scene.token() }
    }

    /// A clock that was ahead at the sign-in, and is right now: the token's end is too late by as much.
    @Test func `a token from the future is refreshed`() async throws {
        let scene = try SignInScene()
        scene.clock.advance(seconds: 7200)
        try await scene.signIn()
        let first = try await scene.token()
        scene.clock.advance(seconds: -7100)
        #expect(try await scene.token() != first)
        _ = try await scene.token()
        #expect(scene.server.record.refreshes == 1)
    }

    @Test func `a prompt that is dismissed twice isn't shown again`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.refuseSessions(afterTheNext: 3, .promptDismissed)
        let error = await #expect(throws: SignInError.self) { _ = try await scene.token() }
        guard case .tokensNotStored(let cause) = error?.code else { throw try #require(error) }
        #expect(cause.code == .promptDismissed)
    }

    @Test func `a sign-in has as long as it wants`() async throws {
        let scene = try SignInScene()
        try await scene.signIn(deadline: .after(.seconds(Int64.max)))
        _ = try await scene.token()
    }

    @Test(arguments: [(StoreError.Code.cannotWrite, 4), (.promptDismissed, 1)])
    func `a store that refuses for a moment doesn't cost the refreshed session`(
        code: StoreError.Code, count: Int
    ) async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.refuseSessions(afterTheNext: count, code)
        let refreshed = try await scene.token()
        #expect(try await scene.token() == refreshed)
        #expect(scene.server.record.refreshes == 1)
    }

    @Test func `tokens that couldn't be stored are reported as lost, by the next process too`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.refuseSessions(afterTheNext: .max)
        let error = await #expect(throws: SignInError.self) { _ = try await scene.token() }
        guard case .tokensNotStored(let cause) = error?.code else { throw try #require(error) }
        #expect(cause.code == .cannotWrite && error?.hint?.text.contains("then sign in") == true)
        scene.store.refuseSaves(of: .session, times: 0)
        await #expect(throws: SignInError(.refreshLost)) { _ = try await scene.token() }
        #expect(scene.server.record.refreshes == 1)
    }

    @Test func `cancelling the caller doesn't lose a refresh token in transit`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.clock.advance(seconds: 4000)
        scene.server.switchOn(.heldResponse(.token))
        let task = Task { () async -> SignInError? in
            do throws(SignInError) {
                _ = try await scene.token()
                return nil
            } catch {
                return error
            }
        }
        while (scene.requests[.token] ?? 0) < 2 { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await task.value == .cancelled)
        let finished = Task { await scene.service.finishRefreshes() }
        scene.server.switchOff(.heldResponse(.token))
        await finished.value
        let expiry = try await scene.otherService().sessions.summaries().first?.expiry
        #expect(try #require(expiry) > scene.clock.now)
        _ = try await scene.token()
        #expect(scene.server.record.refreshes == 1)
        #expect(scene.server.record.replays == 0)
    }

    // MARK: - Refused tokens

    @Test func `a refused token is refreshed once, and the request sent once more`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.server.expireAccessTokens()
        let before = scene.requests[.userInfo] ?? 0
        let response = try await scene.service.send(GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint)))
        #expect(response.status == 200)
        #expect(scene.server.record.refreshes == 1)
        #expect((scene.requests[.userInfo] ?? 0) - before == 2)
        #expect(try scene.findings() == [])
    }

    @Test func `many requests with one refused token make one refresh`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.server.expireAccessTokens()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                let service = index.isMultiple(of: 2) ? scene.service : scene.otherService()
                let url = try HTTPURL(scene.server.userInfoEndpoint)
                group.addTask { try await service.send(GuardedRequest(.get, url)).status }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(statuses == [200])
        #expect(scene.server.record.refreshes == 1)
    }

    @Test func `a token that stays refused isn't tried indefinitely`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.server.switchOn(.status(401, .userInfo))
        let before = scene.requests[.userInfo] ?? 0
        let response = try await scene.service.send(GuardedRequest(.get, HTTPURL(scene.server.userInfoEndpoint)))
        #expect(response.status == 401)
        #expect((scene.requests[.userInfo] ?? 0) - before == 2)
        #expect(scene.server.record.refreshes == 1)
    }

    @Test func `a redirect is not followed with the token`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.server.switchOn(.temporaryRedirect(.userInfo))
        let response = try await scene.service.send(
            GuardedRequest(.post, HTTPURL(scene.server.userInfoEndpoint), body: .test("x")))
        #expect(response.status == 307 || response.status == 404)
        #expect(scene.requests[.stray] == nil)
    }

    // MARK: - Signing out

    @Test func `sign-out revokes, and the server refuses the token afterwards`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let token = try await scene.token()
        let report = await scene.service.signOut()
        #expect(report == SignOutReport(account: "octocat", revocation: .revoked, deletion: .deleted))
        #expect(report.isSignedOut)
        #expect(scene.server.record.revocations == 1)
        var request = GuardedRequest(.get, try HTTPURL(scene.server.userInfoEndpoint))
        try request.authorize(bearer: Secret<AccessToken>.test(token))
        #expect(try await CurlTransport().send(request).status == 401)
        #expect(try scene.findings() == [])
    }

    @Test func `sign-out deletes the session even if the server is unreachable, and reports that`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.server.stop()
        let report = await scene.service.signOut()
        #expect(report.isSignedOut)
        guard case .failed(let error) = report.revocation, case .oauth = error.code else {
            Issue.record("the failure is not told")
            return
        }
        #expect(try await scene.service.accounts() == [])
        #expect(try scene.findings() == [])
    }

    @Test func `a sign-out that is cancelled after its request is finished`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        scene.server.switchOn(.slow(.milliseconds(300), .revocation))
        let task = Task { await scene.service.signOut() }
        while scene.requests[.revocation] == nil { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await task.value == SignOutReport(account: "octocat", revocation: .revoked, deletion: .deleted))
        #expect(try await scene.service.accounts() == [])
    }

    @Test func `a sign-out that is cancelled before its request changes nothing`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await scene.service.signOut("octocat")
        }
        guard case .failed(let error) = await task.value.deletion else {
            Issue.record("it was signed out")
            return
        }
        #expect(error == .cancelled)
        #expect(scene.requests[.revocation] == nil)
        #expect(try await scene.service.accounts().map(\.account) == ["octocat"])
    }

    @Test func `sign-out deletes an unreadable session`() async throws {
        let scene = try SignInScene()
        try await scene.signIn()
        let key = try CredentialKey(service: "latchkey:test", account: "octocat", kind: .session)
        try await scene.store.save(Secret<StoredLogin>.test("{\"latchkey_session\":2}"), for: key)
        guard
            case .store(let error)? = await #expect(throws: SignInError.self, performing: { try await scene.token() })?
                .code
        else {
            Issue.record("no store error")
            return
        }
        #expect(error.code == .corrupted)
        #expect(await scene.service.signOut().deletion == .deleted)
    }
}

extension SignInScene {
    fileprivate func signedInToken() async throws -> String {
        try await signIn()
        return try await token()
    }

    fileprivate func sessionByteCount() async throws -> Int {
        let key = try service.sessions.key("octocat")
        return try await memory.read(key, as: StoredLogin.self)!.secret.byteCount
    }

    /// The store takes one session, which is the one with the mark, and then refuses so many.
    fileprivate func refuseSessions(afterTheNext count: Int, _ code: StoreError.Code = .cannotWrite) {
        store.beforeSaving(.session) { [store] in
            store.beforeSaving(.session) {}
            store.refuseSaves(of: .session, times: count, code)
        }
    }
}
