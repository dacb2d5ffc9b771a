package import LatchkeyCredentials
internal import LatchkeyLog

/// The items of a store that a service serves: all of them, or only those of a scope.
///
/// Calls by a credential's name don't exist, so a client can only request the kind `password`. With a scope,
/// collections are visible, because programs look for them by name, but they can't be changed. The ID of an item
/// outside the scope is unknown.
package final class ServedItems: Sendable {
    private let store: any CollectionStore
    private let scope: ItemScope?

    package init(_ store: any CollectionStore, scope: ItemScope? = nil) {
        self.store = store
        self.scope = scope
    }

    private func isServed(_ attributes: ItemAttributes) -> Bool { scope?.contains(attributes) ?? true }

    /// Throws where nothing may be changed, or not to this.
    private func checkWriting(_ attributes: ItemAttributes? = nil) throws(StoreError) {
        guard let scope else { return }
        guard scope.isWritable else { throw .outOfScope }
        guard attributes.map(scope.contains) ?? true else {
            throw StoreError(
                .permissionDenied, "this program may only change its own items",
                hint: "start the keyring with this item's service, too")
        }
    }

    private func checkIsWhole() throws(StoreError) {
        if scope != nil { throw .outOfScope }
    }

    // MARK: - Collections

    /// The collections of a scope: those with items of the scope, and the one for new items.
    func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        let all = try await store.collections(deadline: deadline)
        guard let scope else { return all }
        var used: Set<String> = []
        for service in scope.services {
            let found = try await store.search(service, in: nil, deadline: deadline)
            used.formUnion(found.lazy.filter { scope.contains($0.attributes) }.map(\.collection))
        }
        return all.filter { collection in
            used.contains(collection.name) || ["default", "login"].contains(where: collection.aliases.contains)
        }
    }

    func createCollection(
        label: String, alias: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        try checkIsWhole()
        return try await store.createCollection(label: label, alias: alias, deadline: deadline)
    }

    func setLabel(_ label: String, ofCollection name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try checkIsWhole()
        return try await store.setLabel(label, ofCollection: name, deadline: deadline)
    }

    func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try checkIsWhole()
        return try await store.deleteCollection(name, deadline: deadline)
    }

    func setAlias(_ alias: String, to collection: String?, deadline: Deadline) async throws(StoreError) -> Bool {
        try checkIsWhole()
        return try await store.setAlias(alias, to: collection, deadline: deadline)
    }

    // MARK: - Reading

    func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID] {
        if scope == nil { return try await store.items(in: collection, deadline: deadline) }
        return try await search(ItemAttributes(), in: collection, deadline: deadline).map(\.id)
    }

    /// The schema that gnome-keyring shows on items without one finds them here too.
    func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [Item] {
        let bare = attributes.without(\.isInvented)
        let found = try await store.search(bare, in: collection, deadline: deadline)
        return found.filter {
            isServed($0.attributes)
                && (bare == attributes || $0.attributes[ItemAttributes.schema] == nil
                    || $0.attributes.contains(attributes))
        }
    }

    func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> Item? {
        guard let item = try await store.item(id, deadline: deadline), isServed(item.attributes) else { return nil }
        return item
    }

    func read(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> ItemRecord<ItemContent>? {
        let record = try await store.read(id, as: ItemContent.self, deadline: deadline)
        switch consume record {
        case .some(let record) where isServed(record.item.attributes): return record
        default: return nil
        }
    }

    // MARK: - Changing

    func create(
        _ secret: borrowing Secret<ItemContent>, contentType: String, _ attributes: ItemAttributes, label: String?,
        in collection: String, replacing: Bool, deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool) {
        try checkWriting(attributes)
        let draft = ItemDraft(
            .attributes(attributes, in: collection, replacing: replacing), label: label, contentType: contentType)
        guard let saved = try await store.save(secret, draft, deadline: deadline) else {
            throw StoreError(.unavailable, "the store did not create an item")
        }
        return saved
    }

    func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        guard try await mayChange(id, deadline) else { return nil }
        try checkWriting(attributes)
        return try await store.update(id, label: label, attributes: attributes, deadline: deadline)
    }

    func setSecret(
        _ secret: borrowing Secret<ItemContent>, contentType: String, of id: ItemID, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        guard try await mayChange(id, deadline) else { return nil }
        return try await store.save(secret, ItemDraft(.item(id), contentType: contentType), deadline: deadline)?.item
    }

    func delete(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> Item? {
        guard try await mayChange(id, deadline) else { return nil }
        return try await store.delete(id, condition: .none, deadline: deadline)
    }

    /// Whether there is such an item. Throws where nothing may be changed.
    private func mayChange(_ id: ItemID, _ deadline: Deadline) async throws(StoreError) -> Bool {
        if scope == nil { return true }
        try checkWriting()
        return try await item(id, deadline: deadline) != nil
    }

    // MARK: - Changes by others

    func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        let changes = try await store.itemChanges(deadline: deadline)
        guard let scope else { return changes }
        return AsyncStream { continuation in
            let task = Task {
                for await change in changes {
                    switch change {
                    case .created(let item), .changed(let item):
                        if scope.contains(item.attributes) { continuation.yield(change) }
                    // Clients don't know the ID.
                    case .deleted: continuation.yield(.unknown)
                    case .unknown: continuation.yield(.unknown)
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension StoreError {
    fileprivate static var outOfScope: StoreError {
        StoreError(
            .permissionDenied, "this program may only read its own items",
            hint: "start the keyring with permission to change these items")
    }
}

/// Which items a program may find: `--only SERVICE[/ACCOUNT]`.
package struct ItemScope: Sendable {
    private let names: [String]
    private let keys: [CredentialKey]
    let isWritable: Bool

    /// - Parameters:
    ///   - names: services, which may have slashes themselves.
    ///   - keys: what the names are where they are a service and an account.
    package init(_ names: [String], keys: [CredentialKey], isWritable: Bool) {
        self.names = names
        self.keys = keys
        self.isWritable = isWritable
    }

    /// The services of the scope. Each of its items has one of them.
    var services: [ItemAttributes] {
        Set(names + keys.map(\.service)).compactMap {
            ItemAttributes([ItemAttributes.Attribute(name: ItemAttributes.service, value: $0)])
        }
    }

    /// Whether one of the names is the item's service, or its service and account.
    func contains(_ attributes: ItemAttributes) -> Bool {
        guard let service = attributes[ItemAttributes.service] else { return false }
        if names.contains(where: { $0.utf8.elementsEqual(service.utf8) }) { return true }
        guard let account = attributes[ItemAttributes.account] else { return false }
        return keys.contains { key in
            key.service.utf8.elementsEqual(service.utf8) && key.account.utf8.elementsEqual(account.utf8)
        }
    }
}
