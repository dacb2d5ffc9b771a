package import LatchkeyCredentials
package import LatchkeyInMemory
package import LatchkeyLog
internal import LatchkeySecrets

/// What another program kept, read into memory: `CredentialTransfer` takes it from there to a store.
package struct CredentialImport: Sendable {
    /// What was read.
    package let store: InMemoryStore
    /// How many entries can't be kept here: without an account, without a secret, with names that no store takes, or
    /// under the name of one that came before and has another secret.
    package private(set) var skippedCount = 0
    /// Which these are, as far as their formats name them, and why; no more than a person reads.
    package private(set) var skippedNames: [LogMessage] = []
    /// The files from which the secrets can be taken out.
    package var files: [PlainSecretFile] = []

    package init() throws(StoreError) {
        store = try InMemoryStore()
    }

    /// Adds one entry. Of two under the same key the earlier one stays.
    ///
    /// - Parameter name: what the file calls it.
    mutating func add(
        service: String, account: String, label: String?, secret: consuming Secret<Password>, name: LogMessage? = nil
    ) async throws(StoreError) {
        guard let key = try? CredentialKey(service: service, account: account), !secret.isEmpty else {
            return skip(name)
        }
        if let present = try await store.read(key, as: Password.self) {
            if !present.secret.matches(secret) { skip(name.map { "\($0), which is there with another secret before" }) }
            return
        }
        let isText = secret.withExposedBytes { (try? UTF8Span(validating: $0)) != nil }
        try await store.save(
            secret, for: key, options: SaveOptions(label: label, contentType: isText ? .text : .binary))
    }

    package mutating func skip(_ name: LogMessage? = nil) {
        skippedCount += 1
        if let name, skippedNames.count < 10 { skippedNames.append(name) }
    }
}

extension LogMessage {
    /// What a file calls one of its entries.
    static func entry(_ name: String) -> LogMessage {
        "\(LoggableText(reviewed: "names of entries are what a listing shows", unredacted: name))"
    }
}
