package import LatchkeyCredentials
internal import LatchkeyLog

// Values for statements of items, and the comparisons in them.

package func attributes(_ all: KeyValuePairs<String, String>) -> ItemAttributes {
    ItemAttributes(all.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) })!
}

func itemSecret(_ text: String) -> Secret<ItemContent> {
    Secret(copying: Array(text.utf8).span)
}

extension ItemStore {
    /// Creates an item with a text.
    @discardableResult
    package func create(
        _ text: String, _ attributes: ItemAttributes, label: String = "label", in collection: String = "login",
        replacing: Bool = false
    ) async throws(StoreError) -> (item: Item, isNew: Bool) {
        try await create(
            Array(text.utf8), contentType: "text/plain", attributes: attributes, label: label, in: collection,
            replacing: replacing,
            deadline: .standard)
    }

    @discardableResult
    package func create(
        _ bytes: [UInt8], contentType: String, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool) {
        let draft = ItemDraft(
            .attributes(attributes, in: collection, replacing: replacing), label: label,
            contentType: contentType)
        let secret = Secret<ItemContent>(copying: bytes.span)
        guard let saved = try await save(secret, draft, deadline: deadline) else {
            throw StoreError(.corrupted, "nothing was created")
        }
        return saved
    }

    package func setSecret(
        _ bytes: [UInt8], contentType: String, of id: ItemID, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        let secret = Secret<ItemContent>(copying: bytes.span)
        return try await save(secret, ItemDraft(.item(id), contentType: contentType), deadline: deadline)?.item
    }

    package func setSecret(_ text: String, of id: ItemID, deadline: Deadline) async throws(StoreError) -> Item? {
        try await setSecret(Array(text.utf8), contentType: "text/plain", of: id, deadline: deadline)
    }

    package func delete(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> Item? {
        try await delete(id, condition: .none, deadline: deadline)
    }

    /// Returns an item's content type, and the bytes of its secret in plain text.
    package func exposed(_ id: ItemID) async throws(StoreError) -> (bytes: [UInt8], contentType: String)? {
        guard let found = try await read(id, as: ItemContent.self, deadline: .standard) else { return nil }
        let bytes = found.secret.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
        return (bytes, found.item.contentType)
    }

    package func text(_ id: ItemID) async throws(StoreError) -> String? {
        try await exposed(id).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    package func search(
        _ attributes: ItemAttributes, in collection: String? = nil
    ) async throws(StoreError) -> [Item] {
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
    await failure(StoreError.self, awaiting: try await body())?.code
}

func expect(
    _ holds: Bool, _ detail: String = "", file: StaticString = #fileID, line: UInt = #line
) throws(ContractViolation) {
    if !holds { throw ContractViolation("it doesn't hold \(detail)", file: file, line: line) }
}

func required<Value>(
    _ value: Value?, file: StaticString = #fileID, line: UInt = #line
) throws(ContractViolation) -> Value {
    guard let value else { throw ContractViolation("nothing is there", file: file, line: line) }
    return value
}
