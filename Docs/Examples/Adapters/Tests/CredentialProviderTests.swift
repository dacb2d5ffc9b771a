import Adapters
import Configuration
import Foundation
import Latchkey
import Testing

@Suite struct CredentialProviderTests {
    private let store: InMemoryStore
    private let provider: CredentialProvider

    init() async throws {
        store = try InMemoryStore()
        provider = CredentialProvider(service: "my-server", store: store)
        for (account, value) in [("database.password", "s3cret"), ("retries", "3"), ("ratio", "0.5"), ("on", "true")] {
            try await store.save(
                Secret<Password>(copying: Array(value.utf8).span),
                for: CredentialKey(service: "my-server", account: account))
        }
        try await store.save(
            Secret<Password>(copying: [0xFF, 0].span), for: CredentialKey(service: "my-server", account: "raw"))
    }

    @Test(arguments: [
        (["database", "password"], ConfigType.string, ConfigContent.string("s3cret")), (["retries"], .int, .int(3)),
        (["ratio"], .double, .double(0.5)), (["on"], .bool, .bool(true)), (["raw"], .bytes, .bytes([0xFF, 0])),
    ])
    func `a credential is a secret value of each type that its text has`(
        key: [String], type: ConfigType, content: ConfigContent
    ) async throws {
        let key = AbsoluteConfigKey(key)
        let expected = LookupResult(
            encodedKey: key.components.joined(separator: "."), value: ConfigValue(content, isSecret: true))
        #expect(try await provider.fetchValue(forKey: key, type: type) == expected)
        #expect(try provider.value(forKey: key, type: type) == expected)
        #expect(try provider.snapshot().value(forKey: key, type: type) == expected)
        let watched = try await provider.watchValue(forKey: key, type: type) { updates in
            try await updates.first { _ in true }?.get()
        }
        #expect(watched == expected)
        let seen = try await provider.watchSnapshot { updates in
            try await updates.first { _ in true }?.value(forKey: key, type: type)
        }
        #expect(seen == expected)
    }

    @Test func `nothing there is no value, and another type is an error without the secret`() async throws {
        let none = try await provider.fetchValue(forKey: AbsoluteConfigKey(["none"]), type: .string)
        #expect(none == LookupResult(encodedKey: "none", value: nil))
        for (key, type) in [("database.password", ConfigType.int), ("raw", .string), ("retries", .stringArray)] {
            let error = await #expect(throws: CredentialProvider.Unreadable.self) {
                try await provider.fetchValue(forKey: AbsoluteConfigKey([key]), type: type)
            }
            #expect(error.map { !"\($0)".contains("s3cret") } == true)
        }
        await #expect(throws: InvalidValue.self) {
            try await provider.fetchValue(forKey: AbsoluteConfigKey(["a\nb"]), type: .string)
        }
    }
}
