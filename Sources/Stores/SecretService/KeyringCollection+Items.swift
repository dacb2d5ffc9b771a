package import LatchkeyCredentials
internal import LatchkeyDBus
package import LatchkeySecrets
internal import LatchkeySystem

/// An item of a keyring with its secret, as its program made it.
package final class KeyringItemContent: Sendable {
    /// What programs may search for.
    package let attributes: [String: String]
    package let label: String
    /// As the service says.
    package let contentType: String
    /// The credential that it is here, where it is one.
    package let key: CredentialKey?
    package let secret: Secret<Password>

    init(_ item: KeyringItem, contentType: String, secret: consuming Secret<Password>) {
        attributes = item.attributes
        label = item.label
        key = item.key
        self.contentType = contentType
        self.secret = secret
    }
}

extension SecretServiceStore {
    /// Returns what `body` makes of each item of the collection, whosever it is. The collection stays as it is.
    package func mapItems<Value: Sendable>(
        deadline: Deadline, _ body: @Sendable (KeyringItemContent) async throws(StoreError) -> Value
    ) async throws(StoreError) -> [Value] {
        try await KeyringCollection(self).mapItems(deadline, body)
    }
}

extension KeyringCollection {
    fileprivate func mapItems<Value: Sendable>(
        _ deadline: Deadline, _ body: @Sendable (KeyringItemContent) async throws(StoreError) -> Value
    ) async throws(StoreError) -> [Value] {
        let interruption = try Interruption(deadline)
        var values: [Value] = []
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            values = []
            for item in try await allItems(nil, session, interruption) {
                let pending = startSecret(at: item.path, session, interruption)
                // One that was deleted meanwhile is none.
                guard
                    let decoded = try await secret(pending, of: item, as: Password.self, session, interruption)
                else { continue }
                let type = decoded.contentType
                let content = KeyringItemContent(item, contentType: type, secret: decoded.takeSecret())
                values.append(try await mapError(KeyringFailure.store, awaiting: await body(content)))
            }
        }
        return values
    }
}
