internal import LatchkeyCredentials
internal import LatchkeyLog

/// A part of a store's items, as if there were no others.
///
/// Collections are seen, as programs look for them by name, and can't be changed. What can't be found can't be named
/// either: an id of another item is none.
final class ScopedItems: ItemStore {
    private let all: any ItemStore
    private let scope: ItemScope

    init(_ all: any ItemStore, _ scope: ItemScope) {
        self.all = all
        self.scope = scope
    }

    // MARK: - Collections

    /// Those that have items of the scope, and the one that programs store in.
    func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        var used: Set<String> = []
        for service in scope.services {
            let found = try await all.search(service, in: nil, deadline: deadline)
            used.formUnion(found.lazy.filter { self.scope.contains($0.attributes) }.map(\.collection))
        }
        return try await all.collections(deadline: deadline).filter { collection in
            used.contains(collection.name) || ["default", "login"].contains(where: collection.aliases.contains)
        }
    }

    func createCollection(
        label: String, alias: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection { throw .outOfScope }

    func setLabel(_ label: String, ofCollection name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        throw .outOfScope
    }

    func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool { throw .outOfScope }

    func setAlias(_ alias: String, to collection: String?, deadline: Deadline) async throws(StoreError) -> Bool {
        throw .outOfScope
    }

    // MARK: - Reading

    func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID] {
        try await search(ItemAttributes(), in: collection, deadline: deadline).map(\.id)
    }

    func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [StoredItem] {
        try await all.search(attributes, in: collection, deadline: deadline).filter { scope.contains($0.attributes) }
    }

    func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        guard let item = try await all.item(id, deadline: deadline), scope.contains(item.attributes) else { return nil }
        return item
    }

    func secret(of id: ItemID, deadline: Deadline) async throws(StoreError) -> ItemSecret? {
        guard try await item(id, deadline: deadline) != nil else { return nil }
        return try await all.secret(of: id, deadline: deadline)
    }

    // MARK: - Changing

    func create(
        _ secret: borrowing ItemSecret, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, deadline: Deadline
    ) async throws(StoreError) -> ItemCreation {
        guard scope.isWritable, scope.contains(attributes) else { throw .outOfScope }
        return try await all.create(
            secret, attributes: attributes, label: label, in: collection, replacing: replacing, deadline: deadline)
    }

    func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        guard try await mayChange(id, deadline) else { return nil }
        if let attributes, !scope.contains(attributes) { throw .outOfScope }
        return try await all.update(id, label: label, attributes: attributes, deadline: deadline)
    }

    func setSecret(
        _ secret: borrowing ItemSecret, of id: ItemID, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        guard try await mayChange(id, deadline) else { return nil }
        return try await all.setSecret(secret, of: id, deadline: deadline)
    }

    func delete(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        guard try await mayChange(id, deadline) else { return nil }
        return try await all.delete(id, deadline: deadline)
    }

    /// Whether there is such an item. Throws where nothing may be changed.
    private func mayChange(_ id: ItemID, _ deadline: Deadline) async throws(StoreError) -> Bool {
        guard scope.isWritable else { throw .outOfScope }
        return try await item(id, deadline: deadline) != nil
    }

    func changesByOthers(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        let changes = try await all.changesByOthers(deadline: deadline)
        let scope = scope
        return AsyncStream { continuation in
            let task = Task {
                for await change in changes {
                    switch change {
                    case .created(let item), .changed(let item):
                        if scope.contains(item.attributes) { continuation.yield(change) }
                    // Of an id that nobody was told.
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
            .permissionDenied, "this program may read its own items, and no others",
            hint: "whoever started it can let it write what it was given")
    }
}
