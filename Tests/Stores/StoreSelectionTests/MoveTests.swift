import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyStoreSelection
import Testing

/// What an adopter moves credentials with.
@Suite struct MoveTests {
    private let key: CredentialKey
    private let (old, new): (InMemoryStore, InMemoryStore)

    init() throws {
        key = try CredentialKey(service: "example.org", account: "ada")
        (old, new) = (try InMemoryStore(), try InMemoryStore())
    }

    private func secret(_ text: String) -> Secret<Password> { Secret(copying: Array(text.utf8).span) }

    @Test func `a credential is in the other store afterwards, and in that one alone`() async throws {
        #expect(try await !old.move(key, to: new))
        try await old.save(secret("s3cret"), for: key)
        #expect(try await old.move(key, to: new))
        let isGone = try await old.read(key, as: Password.self) == nil
        let moved = try await new.read(key, as: Password.self)?.secret.matches(Array("s3cret".utf8).span)
        #expect(isGone && moved == true)
    }

    @Test func `another secret in the other store is a conflict, and the same one is moved`() async throws {
        try await old.save(secret("one"), for: key)
        try await new.save(secret("two"), for: key)
        let error = await #expect(throws: StoreError.self) { _ = try await old.move(key, to: new) }
        #expect(error?.code == .conflict)
        #expect(try await old.read(key, as: Password.self)?.secret.matches(Array("one".utf8).span) == true)
        #expect(try await new.read(key, as: Password.self)?.secret.matches(Array("two".utf8).span) == true)
        try await new.save(secret("one"), for: key)
        #expect(try await old.move(key, to: new))
        #expect(try await old.read(key, as: Password.self)?.metadata == nil)
    }
}
