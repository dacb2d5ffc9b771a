package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

// Values for checks, and what they compare.

package func attributes(_ all: KeyValuePairs<String, String>) -> ItemAttributes {
    ItemAttributes(all.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) })!
}

package func itemSecret(_ text: String, contentType: String = "text/plain") -> ItemSecret {
    itemSecret(Array(text.utf8), contentType: contentType)
}

package func itemSecret(_ bytes: [UInt8], contentType: String) -> ItemSecret {
    ItemSecret(Secret(copying: bytes.span), contentType: contentType)
}

extension ItemStore {
    /// Creates an item with a text.
    @discardableResult
    package func create(
        _ text: String, _ attributes: ItemAttributes, label: String = "label", in collection: String = "login",
        replacing: Bool = false
    ) async throws(StoreError) -> ItemCreation {
        try await create(
            itemSecret(text), attributes: attributes, label: label, in: collection, replacing: replacing,
            deadline: .standard)
    }

    /// The bytes of an item's secret, in the open, and its content type.
    package func exposed(_ id: ItemID) async throws(StoreError) -> (bytes: [UInt8], contentType: String)? {
        guard let found = try await secret(of: id, deadline: .standard) else { return nil }
        let bytes = found.secret.withExposedBytes { span in
            var copy: [UInt8] = []
            for index in span.indices { copy.append(span[index]) }
            return copy
        }
        return (bytes, found.contentType)
    }

    package func text(_ id: ItemID) async throws(StoreError) -> String? {
        try await exposed(id).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    package func search(
        _ attributes: ItemAttributes, in collection: String? = nil
    ) async throws(StoreError) -> [StoredItem] {
        try await search(attributes, in: collection, deadline: .standard)
    }

    /// The ids that a search finds.
    package func found(_ all: KeyValuePairs<String, String>, in collection: String? = nil) async throws -> Set<ItemID> {
        let found = try await search(attributes(all), in: collection).map(\.id)
        let distinct = Set(found)
        guard distinct.count == found.count else { throw StoreError(.corrupted, "an item is found twice") }
        return distinct
    }
}

/// The code of what `body` throws.
package func code<Result: ~Copyable>(
    of body: () async throws(StoreError) -> Result
) async -> StoreError.Code? {
    do throws(StoreError) {
        _ = try await body()
        return nil
    } catch {
        return error.code
    }
}
