internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import Testing

@Suite struct StoreViewTests {
    private let chosen: InMemoryStore
    private let other: InMemoryStore
    private let key: CredentialKey
    private let refusal = StoreRefusal(name: "third", error: StoreError(.unavailable, "it is gone", hint: "start it"))

    init() throws {
        chosen = try InMemoryStore()
        other = try InMemoryStore()
        key = try CredentialKey(service: "example.org", account: "ada")
    }

    private func secret(_ text: String) -> Secret<Password> { Secret(copying: Array(text.utf8).span) }

    private func code(_ view: StoreView) async -> StoreError.Code? {
        do throws(StoreError) {
            _ = try await view.store(for: key, deadline: .standard)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a credential is used in its own store, and a new one goes to the chosen store`() async throws {
        let view = StoreView([chosen, other])
        #expect(try await view.store(for: key, deadline: .standard).identity == chosen.identity)
        try await other.save(secret("one"), for: key)
        #expect(try await view.store(for: key, deadline: .standard).identity == other.identity)
        #expect(
            try await view.store(forService: "example.org", deadline: .standard).identity == other.identity)
        #expect(try await view.store(forService: "example.com", deadline: .standard).identity == chosen.identity)
    }

    @Test func `a credential with two secrets is never used unnoticed`() async throws {
        let view = StoreView([chosen, other])
        try await chosen.save(secret("one"), for: key)
        try await other.save(secret("one"), for: key)
        #expect(try await view.store(for: key, deadline: .standard).identity == chosen.identity)
        #expect(try await view.places(of: key, deadline: .standard).found.count == 2)
        try await other.save(secret("two"), for: key)
        #expect(await code(view) == .ambiguous)
        await #expect(throws: StoreError.self) { try await view.store(forService: "example.org", deadline: .standard) }
    }

    /// A session that was compared was watched for as a password, and messages with its account's name withheld.
    @Test func `what is only compared counts as no secret of the process`() async throws {
        let live = LiveSecrets.ofThisProcess
        // Eight bytes that another test's secret has too would count as held, and there are tests with many digits.
        let text = String((0..<32).compactMap { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() })
        for store in [chosen, other] {
            try await store.save(Secret<ItemContent>(copying: text.utf8.span), for: key)
        }
        #expect(try await StoreView([chosen, other]).store(for: key, deadline: .standard).identity == chosen.identity)
        #expect(!live.isHeld(by: text))
        let record = try await chosen.read(key, as: Password.self)
        #expect(live.isHeld(by: text))
        _ = consume record
    }

    @Test func `absence is claimed only after every store was searched`() async throws {
        let view = StoreView([chosen, other], refusals: [refusal])
        #expect(await code(view) == .unavailable)
        try await other.save(secret("one"), for: key)
        #expect(try await view.store(for: key, deadline: .standard).identity == other.identity)
        // A deadline that has passed is a refusal too.
        let late = StoreView([chosen, other])
        await #expect(throws: StoreError.self) { try await late.store(for: key, deadline: .after(.zero)) }
    }
}
