import LatchkeyCredentials
import LatchkeySecrets
import Testing

@Suite struct InMemoryStoreTests {
    static func save(_ text: String, _ account: String, in store: InMemoryStore) async throws {
        let bytes = Array(text.utf8)
        try await store.save(
            Secret<Password>(copying: bytes.span), for: try CredentialKey(service: "s", account: account))
    }

    @Test func `each store has an identity of its own, and nothing of another's`() async throws {
        let first = try InMemoryStore()
        let second = try InMemoryStore()
        #expect(first.identity != second.identity && first.identity.backend == "in-memory")
        try await Self.save("x", "ada", in: first)
        #expect(try await second.list().all().isEmpty)
    }

    @Test func `another store's version never matches`() async throws {
        let first = try InMemoryStore()
        let second = try InMemoryStore()
        let key = try CredentialKey(service: "s", account: "ada")
        let bytes: [UInt8] = [1]
        let secret = Secret<Password>(copying: bytes.span)
        let version = try await first.save(secret, for: key)
        try await second.save(secret, for: key)
        let error = await #expect(throws: StoreError.self) {
            try await second.delete(key, condition: .matches(version), deadline: .standard)
        }
        #expect(error?.code == .conflict)
    }

    @Test func `the limit is the caller's`() async throws {
        let store = try InMemoryStore(maximumSecretByteCount: 3)
        try await Self.save("123", "ada", in: store)
        let error = await #expect(throws: StoreError.self) { try await Self.save("1234", "ada", in: store) }
        #expect(error?.code == .tooLarge && store.capabilities.maximumSecretByteCount == 3)
    }

    @Test func `a listing of many thousands is in order, page by page`() async throws {
        let store = try InMemoryStore()
        var names: [String] = []
        for number in 0..<1050 {
            let name = "account \(number &* 7919 % 10_007)"
            names.append(name)
            try await Self.save("x", name, in: store)
        }
        let listed = try await store.list(service: "s").all().map(\.key.account)
        #expect(listed == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        let first = try await store.page(service: nil, after: nil, deadline: .standard)
        #expect(first.entries.count == 100 && first.next != nil)
    }

    @Test func `a listener that falls behind is told to look at everything`() async throws {
        let store = try InMemoryStore()
        let changes = try await store.changes(deadline: .standard)
        for number in 0..<1000 { try await Self.save("\(number)", "ada", in: store) }
        var last: CredentialChange?
        var count = 0
        for await change in changes {
            last = change
            count += 1
            if change.kind == .unknown && count > 200 { break }
        }
        #expect(last == CredentialChange(kind: .unknown, key: nil))
    }

    @Test func `the changes end when the store does`() async throws {
        var store: InMemoryStore? = try InMemoryStore()
        let changes = try await #require(store).changes(deadline: .standard)
        try await Self.save("x", "ada", in: #require(store))
        store = nil
        var kinds: [CredentialChange.Kind] = []
        for await change in changes { kinds.append(change.kind) }
        #expect(kinds == [.saved])
    }
}
