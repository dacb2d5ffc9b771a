internal import LatchkeyCredentials
package import LatchkeyInMemory
internal import LatchkeySecrets

/// What another program kept, read into memory: `CredentialTransfer` takes it from there to a store.
package struct CredentialImport: Sendable {
    /// What was read.
    package let store: InMemoryStore
    /// How many entries can't be kept here: without an account, without a secret, or with names that no store takes.
    package private(set) var skippedCount = 0

    init() throws(StoreError) {
        store = try InMemoryStore()
    }

    /// Adds one entry; a later one under the same key takes the place of an earlier one.
    mutating func add(
        service: String, account: String, label: String?, secret: consuming Secret<Password>
    ) async throws(StoreError) {
        guard let key = try? CredentialKey(service: service, account: account), !secret.isEmpty else {
            skippedCount += 1
            return
        }
        let isText = secret.withExposedBytes { (try? UTF8Span(validating: $0)) != nil }
        try await store.save(
            secret, for: key, options: SaveOptions(label: label, contentType: isText ? .text : .binary))
    }

    mutating func skip() { skippedCount += 1 }
}
