import Adapters
import Foundation
import Latchkey
import OAuthKit
import OAuthenticator
import Testing

@Suite struct StorageTests {
    private let store: InMemoryStore
    private let key: CredentialKey

    init() throws {
        store = try InMemoryStore()
        key = try CredentialKey(service: "api.example.org", account: "ada")
    }

    @Test func `OAuthenticator's login is kept as a credential`() async throws {
        let storage = LoginStorage.credential(key, in: store)
        #expect(try await storage.retrieveLogin() == nil)
        let login = Login(
            accessToken: Token(value: "a", expiry: Date(timeIntervalSince1970: 1_800_000_000)),
            refreshToken: Token(value: "r"))
        try await storage.storeLogin(login)
        #expect(try await LoginStorage.credential(key, in: store).retrieveLogin() == login)
        let label = try await store.list().all().map(\.label)
        #expect(label == ["Login of ada at api.example.org"])
        try await storage.clearLogin()
        #expect(try await storage.retrieveLogin() == nil)
    }

    @Test func `what another program has saved under the key is an error, and stays`() async throws {
        try await store.save(Secret<Password>(copying: [1, 2, 3].span), for: key)
        let storage = LoginStorage.credential(key, in: store)
        await #expect(throws: DecodingError.self) { try await storage.retrieveLogin() }
        #expect(try await store.read(key, as: Password.self) != nil)
    }

    @Test func `OAuthKit's tokens are kept as credentials of the application`() throws {
        let storage = OAuthKitStorage(account: "org.example.app", store: store)
        #expect(try storage.get(key: "GitHub") == nil)
        #expect(try storage.set(Data("token".utf8), for: "GitHub"))
        #expect(try storage.set(Data("other".utf8), for: "Google"))
        #expect(try storage.get(key: "GitHub") == Data("token".utf8))
        #expect(storage.keys == ["org.example.app.GitHub.oauth-token", "org.example.app.Google.oauth-token"])
        #expect(storage.delete(key: storage.accountKey("GitHub")) && !storage.delete(key: storage.accountKey("GitHub")))
        #expect(storage.clear() && storage.keys.isEmpty)
        #expect(throws: StoreError.self) { try OAuthKitStorage(account: "a").set(Data(), for: "b") }
    }

    /// As OAuthKit calls it, from tasks: more of them than there are threads.
    @Test func `sixty-four waiting calls at once all end`() async throws {
        let storage = OAuthKitStorage(account: "org.example.app", store: store)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 { group.addTask { (try? storage.set(Data(), for: "\(number)")) ?? false } }
            for await isSet in group { #expect(isSet) }
        }
        #expect(storage.keys.count == 64)
    }
}
