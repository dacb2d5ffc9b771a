internal import LatchkeyLog
package import LatchkeySecrets
internal import Synchronization

extension InMemoryStore: CollectionStore {
    private static let maximumCollectionCount = 256

    // MARK: - Collections

    package func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        state.withLock { $0.collections.sorted { $0.name < $1.name } }
    }

    package func createCollection(
        label: String, alias: String?, named name: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        try state.withLock { (state) throws(StoreError) in
            guard state.collections.count < Self.maximumCollectionCount else {
                throw StoreError(.tooLarge, "the store has too many collections")
            }
            let taken = state.collections.map(\.name)
            let name = ItemCollection.name(name, for: label.lowercased(), besides: taken)
            let now = UnixTime.now()
            state.collections.append(
                ItemCollection(name: name, label: label, aliases: [], created: now, modified: now))
            if let alias { Self.setAlias(alias, to: name, in: &state) }
            return state.collections.first { $0.name == name }!
        }
    }

    package func setLabel(
        _ label: String, ofCollection name: String, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        state.withLock { state in
            guard let index = state.collections.firstIndex(where: { $0.name == name }) else { return false }
            (state.collections[index].label, state.collections[index].modified) = (label, .now())
            return true
        }
    }

    package func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try state.withLock { (state) throws(StoreError) in
            guard let index = state.collections.firstIndex(where: { $0.name == name }) else { return false }
            guard !keepsFirst || index > 0 else {
                throw StoreError(.unsupported, "the first collection can't be deleted")
            }
            for (id, entry) in state.entries where entry.item.collection == name { state.remove(id) }
            state.collections.remove(at: index)
            return true
        }
    }

    package func setAlias(
        _ alias: String, to collection: String?, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        state.withLock { state in
            if let collection, !state.collections.contains(where: { $0.name == collection }) { return false }
            Self.setAlias(alias, to: collection, in: &state)
            return true
        }
    }

    private static func setAlias(_ alias: String, to name: String?, in state: inout InMemoryState) {
        for index in state.collections.indices {
            state.collections[index].aliases.removeAll { $0 == alias }
            if state.collections[index].name == name { state.collections[index].aliases.append(alias) }
        }
    }

    // MARK: - Finding

    package func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID] {
        state.withLock { state in
            state.items.filter { $0.item.collection == collection }.sorted { $0.revision < $1.revision }.map(\.item.id)
        }
    }

    package func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [Item] {
        state.withLock { state in
            state.items
                .filter { collection == nil || $0.item.collection == collection }
                .filter { $0.item.attributes.contains(attributes) }
                .sorted { $0.revision > $1.revision }.map(\.item)
        }
    }

    package var rowCount: Int { state.withLock { $0.entries.count } }

    package func unnamedItems(deadline: Deadline) async throws(StoreError) -> [Item] {
        state.withLock { $0.items.map(\.item).filter { !$0.isNamed } }
    }

    package func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> Item? {
        state.withLock { $0.item(id)?.item }
    }

    package func read<Purpose: SecretPurpose>(
        _ id: ItemID, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> ItemRecord<Purpose>? {
        guard let entry = state.withLock({ $0.item(id) }) else { return nil }
        return ItemRecord(entry.item, version: entry.version, secret: entry.secret.value.duplicate(as: purpose))
    }

    // MARK: - Changing

    package func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool)? {
        try save(secret, draft, id: nil)
    }

    /// - Parameter id: of a new item; `nil` makes one.
    @discardableResult
    package func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, id: ItemID?
    ) throws(StoreError) -> (item: Item, isNew: Bool)? {
        try check(secret)
        let kept = Box(secret.duplicate(as: ItemContent.self))
        return try state.withLock { (state) throws(StoreError) -> (item: Item, isNew: Bool)? in
            let old: Entry?
            let (attributes, collection): (ItemAttributes, String)
            switch draft.place {
            case .item(let id):
                guard let present = state.item(id) else { return nil }
                (old, attributes, collection) = (present, present.item.attributes, present.item.collection)
            case .attributes(let given, let name, let replacing):
                let same = { (entry: Entry) in
                    replacing && entry.item.collection == name && entry.item.attributes.isSame(as: given)
                }
                let present = state.items.filter(same)
                let equal = present.filter { $0.item.attributes == given }
                old = (equal.isEmpty ? present : equal).max { $0.revision < $1.revision }
                (attributes, collection) = (old?.item.attributes ?? given, name)
            }
            try draft.condition.check(against: old?.version)
            let entry = try entry(
                kept, attributes, label: draft.label ?? old?.item.label ?? "", contentType: draft.contentType,
                in: collection, replacing: old, id: id, times: draft.times, &state)
            state.report(.saved, entry)
            return (entry.item, old == nil)
        }
    }

    package func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        try state.withLock { (state) throws(StoreError) -> Item? in
            guard let old = state.item(id) else { return nil }
            if let attributes, attributes != old.item.attributes { state.report(.deleted, old) }
            let entry = try entry(
                old.secret, attributes ?? old.item.attributes, label: label ?? old.item.label,
                contentType: old.item.contentType, in: old.item.collection, replacing: old, &state)
            state.report(.saved, entry)
            return entry.item
        }
    }

    package func delete(
        _ id: ItemID, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        try state.withLock { (state) throws(StoreError) -> Item? in
            let old = state.item(id)
            try condition.check(against: old?.version)
            guard let old else { return nil }
            state.remove(id)
            state.report(.deleted, old)
            return old.item
        }
    }

    /// Changes by key. No other process can change the items.
    package func itemChanges(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        state.withLock { state in
            state.itemListeners.listen { [weak self] number in
                self?.state.withLock { $0.itemListeners.remove(number) }
            }
        }
    }
}
