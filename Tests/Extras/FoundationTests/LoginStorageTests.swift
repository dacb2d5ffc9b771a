import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization
import Testing
import TestSecrets

@testable import LatchkeyFoundation

/// Where a login is kept: nowhere else than in this authenticator, in any store, or behind three closures.
struct LoginStorageTests {
    @Test func `without storage the login lives as long as its authenticator`() async throws {
        let scene = try AuthenticatorScene()
        #expect(try await scene.ask() == 200)
        #expect(try await scene.authenticator.login() != nil)
        #expect(try await scene.another().login() == nil)
    }

    @Test func `another authenticator can use a login in a store`() async throws {
        let store = try InMemoryStore()
        let scene = try AuthenticatorScene { $0.storage = .store(store) }
        #expect(try await scene.ask() == 200)
        #expect(try await scene.ask(try scene.another { $0.mode = .manualOnly }) == 200)
        #expect(scene.person.timesAsked == 1)
        let service = SignInService(
            provider: scene.configuration.provider, store: store, context: scene.configuration.context)
        #expect(try await service.currentAccount()?.account == "octocat")
    }

    @Test(arguments: [false, true])
    func `a login behind closures is used, refreshed and deleted`(bound: Bool) async throws {
        let shelf = Shelf()
        let scene = try AuthenticatorScene(AuthorizationServerConfiguration(requiresDPoP: bound)) {
            $0.storage = shelf.storage
            $0.tokens.bindsTokensToKey = bound
        }
        #expect(try await scene.ask() == 200)
        #expect(shelf.kinds == (bound ? ["current", "private-key", "session"] : ["current", "session"]))
        // As after a restart.
        let later = try scene.another { $0.mode = .manualOnly }
        scene.server.expireAccessTokens()
        #expect(try await scene.ask(later) == 200)
        #expect(scene.person.timesAsked == 1 && scene.server.record.refreshes == 1)
        #expect(await later.signOut().isSignedOut)
        #expect(shelf.kinds.isEmpty)
        #expect(try scene.findings() == [])
    }

    @Test func `an error of a closure is typed, and its words are dropped`() async throws {
        let shelf = Shelf()
        let scene = try AuthenticatorScene { $0.storage = shelf.storage }
        shelf.fail(with: { Prose() })
        let error = try #require(await scene.failure())
        guard case .signIn(let cause) = error.code, case .store(let refusal) = cause.code else {
            Issue.record("\(error)")
            return
        }
        #expect(refusal.code == .unavailable && !"\(error)".contains("prose"))
        // Before anybody was asked.
        #expect(scene.person.timesAsked == 0)
        shelf.fail(with: { StoreError(.locked, "the shelf is locked") })
        #expect(await scene.failure() == .signIn(.store(StoreError(.locked, "the shelf is locked"))))
        shelf.fail(with: { CancellationError() })
        #expect(await scene.failure() == .cancelled)
        shelf.fail(with: nil)
        #expect(try await scene.ask() == 200)
    }

    @Test func `if the storage fails to save, the tokens are revoked`() async throws {
        let shelf = Shelf()
        let scene = try AuthenticatorScene { $0.storage = shelf.storage }
        shelf.refuseSaving(StoreError(.cannotWrite, "the shelf is full"))
        guard case .signIn(let cause)? = await scene.failure()?.code, case .store = cause.code else {
            Issue.record("no store error")
            return
        }
        #expect(scene.server.record.revocations >= 1 && shelf.kinds.isEmpty)
    }

    @Test func `a refresh whose tokens can't be stored is an error, and the person isn't asked`() async throws {
        let shelf = Shelf()
        let full = StoreError(.tooLarge, "the shelf takes no more")
        let scene = try AuthenticatorScene { $0.storage = shelf.storage }
        #expect(try await scene.ask() == 200)
        scene.server.expireAccessTokens()
        // What is saved before the request, to see whether the store takes anything, is taken.
        shelf.refuseSaving(full, after: 1)
        #expect(await scene.failure() == .signIn(SignInError(.tokensNotStored(full))))
        #expect(scene.person.timesAsked == 1 && scene.server.record.refreshes == 1)
    }

    @Test func `a refresh that brings another person's tokens is an error, and the person isn't asked`() async throws {
        let store = try InMemoryStore()
        let scene = try AuthenticatorScene { $0.storage = .store(store) }
        #expect(try await scene.ask() == 200)
        let other = try scene.another {
            $0.provider.knownAccount = OAuthProvider.KnownAccount(subject: "somebody", resource: scene.server.issuer)
        }
        scene.server.expireAccessTokens()
        #expect(await scene.failure(of: other) == .signIn(SignInError(.accountMismatch)))
        #expect(scene.person.timesAsked == 1 && scene.server.record.refreshes == 1)
    }

    @Test func `closures support no conditions and no listing`() async throws {
        let store = ClosureStore(name: "none", load: { _ in nil }, save: { _, _ in }, delete: { _ in })
        let key = try CredentialKey(service: "example.org", account: "alice")
        let error = await #expect(throws: StoreError.self) {
            try await store.save(
                Secret<StoredLogin>.test("x"), for: key, options: SaveOptions(condition: .absent),
                deadline: .after(.seconds(60)))
        }
        #expect(error?.code == .unsupported)
        #expect(try await store.list(deadline: .after(.seconds(60))).all() == [])
        #expect(try await store.delete(key) == false)
    }

    private struct Prose: Error, CustomStringConvertible {
        var description: String { "prose of a stranger" }
    }
}

/// Items behind closures, as a program of its own might keep them.
private final class Shelf: Sendable {
    private final class Item: Sendable {
        let secret: Secret<StoredLogin>
        init(_ secret: consuming Secret<StoredLogin>) { self.secret = secret }
    }

    private final class Failing: Sendable {
        let make: @Sendable () -> any Error
        init(_ make: @escaping @Sendable () -> any Error) { self.make = make }
    }

    private let items = Mutex<[CredentialKey: Item]>([:])
    private let failing = Mutex<Failing?>(nil)
    private let refusal = Mutex<(error: StoreError, taken: Int)?>(nil)

    var kinds: [String] { items.withLock { $0.keys.map(\.kind.name).sorted() } }

    func fail(with make: (@Sendable () -> any Error)?) { failing.withLock { $0 = make.map(Failing.init) } }
    func refuseSaving(_ error: StoreError, after taken: Int = 0) { refusal.withLock { $0 = (error, taken) } }

    private func check() throws {
        if let failing = failing.withLock({ $0 }) { throw failing.make() }
    }

    var storage: OAuthAuthenticator.Storage {
        .closures(
            named: "shelf",
            load: { [self] key in
                try check()
                return items.withLock { $0[key] }?.secret.duplicate()
            },
            save: { [self] secret, key in
                try check()
                let error: StoreError? = refusal.withLock { refusal in
                    guard let (error, taken) = refusal else { return nil }
                    refusal = (error, taken - 1)
                    return taken > 0 ? nil : error
                }
                if let error { throw error }
                let item = Item(secret.duplicate())
                items.withLock { $0[key] = item }
            },
            delete: { [self] key in
                try check()
                items.withLock { $0[key] = nil }
            })
    }
}
