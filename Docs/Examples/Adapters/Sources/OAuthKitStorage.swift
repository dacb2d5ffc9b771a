public import Foundation
public import Latchkey
public import OAuthKit

/// OAuthKit's storage over any store. Its calls wait, so they run the store's on threads of their own: a thread that
/// waits in Swift's pool for work that needs the pool might wait without end.
public struct OAuthKitStorage: KeychainStorage, Sendable {
    public let account: String
    private let store: (any CredentialStore)?

    public init(account: String, store: any CredentialStore) { (self.account, self.store) = (account, store) }

    /// OAuthKit itself calls this initializer. It has no store, so it stores nothing.
    public init(account: String) { (self.account, store) = (account, nil) }

    public var keys: [String] {
        let listed = waiting { store in try await store.list(service: account).all().map(\.key.account) }
        return ((try? listed.get()) ?? []).sorted()
    }

    public func set(_ data: Data, for key: String) throws -> Bool {
        let key = try CredentialKey(service: account, account: accountKey(key))
        try waiting { store in _ = try await store.save(Secret<StoredLogin>(copying: data.span), for: key) }.get()
        return true
    }

    public func get(key: String) throws -> Data? {
        let key = try CredentialKey(service: account, account: accountKey(key))
        return try waiting { store in
            guard let record = try await store.read(key, as: StoredLogin.self) else { return nil }
            return ForeignMemory.data(of: record.secret)
        }.get()
    }

    public func delete(key: String) -> Bool {
        guard let key = try? CredentialKey(service: account, account: key) else { return false }
        return (try? waiting { store in try await store.delete(key) }.get()) ?? false
    }

    public func clear() -> Bool { keys.map(delete(key:)).allSatisfy(\.self) }

    public func accountKey(_ key: String) -> String { account + "." + key + ".oauth-token" }

    private func waiting<Value: Sendable>(
        _ work: @escaping @Sendable (any CredentialStore) async throws -> Value
    ) -> Result<Value, any Error> {
        guard let store else { return .failure(StoreError(.unavailable, "no store was given")) }
        return OwnThreads.wait { try await work(store) }
    }
}
