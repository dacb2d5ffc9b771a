internal import LatchkeyLog
internal import LatchkeySecrets
internal import Synchronization

extension InMemoryStore: ItemStore {
    private static let maximumCollectionCount = 256

    // MARK: - Collections

    package func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        state.withLock { $0.collections.sorted { $0.name < $1.name } }
    }

    package func createCollection(
        label: String, alias: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        try state.withLock { (state) throws(StoreError) in
            guard state.collections.count < Self.maximumCollectionCount else {
                throw StoreError(.tooLarge, "there are too many collections")
            }
            let stem = Self.name(from: label)
            var name = stem
            var number = 1
            while state.collections.contains(where: { $0.name == name }) {
                number += 1
                name = "\(stem)_\(number)"
            }
            let now = UnixTime.now()
            state.collections.append(
                ItemCollection(name: name, label: label, aliases: [], created: now, modified: now))
            if let alias { Self.setAlias(alias, to: name, in: &state) }
            return state.collections.first { $0.name == name }!
        }
    }

    private static func name(from label: String) -> String {
        let letters = label.lowercased().unicodeScalars.prefix(40).map { scalar -> Character in
            ObjectPathElement.isValid(String(scalar)) ? Character(scalar) : "_"
        }
        return letters.isEmpty ? "collection" : String(letters)
    }

    package func setLabel(
        _ label: String, ofCollection name: String, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        state.withLock { state in
            Self.change(name, in: &state) { old in
                ItemCollection(
                    name: name, label: label, aliases: old.aliases, created: old.created, modified: .now())
            }
        }
    }

    private static func change(
        _ name: String, in state: inout InMemoryState, _ body: (ItemCollection) -> ItemCollection
    ) -> Bool {
        guard let index = state.collections.firstIndex(where: { $0.name == name }) else { return false }
        state.collections[index] = body(state.collections[index])
        return true
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
        state.collections = state.collections.map { old in
            var aliases = old.aliases.filter { $0 != alias }
            if old.name == name { aliases.append(alias) }
            return ItemCollection(
                name: old.name, label: old.label, aliases: aliases, created: old.created, modified: old.modified)
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
    ) async throws(StoreError) -> [StoredItem] {
        state.withLock { state in
            state.items
                .filter { collection == nil || $0.item.collection == collection }
                .filter { $0.item.attributes.contains(attributes) }
                .sorted { $0.revision > $1.revision }.map(\.item)
        }
    }

    package func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        state.withLock { $0.item(id)?.item }
    }

    package func secret(of id: ItemID, deadline: Deadline) async throws(StoreError) -> ItemSecret? {
        guard let entry = state.withLock({ $0.item(id) }) else { return nil }
        return ItemSecret(entry.secret.secret.duplicate(), contentType: entry.item.contentType, item: entry.item)
    }

    // MARK: - Changing

    package func create(
        _ secret: borrowing ItemSecret, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, deadline: Deadline
    ) async throws(StoreError) -> ItemCreation {
        try create(secret, attributes: attributes, label: label, in: collection, replacing: replacing)
    }

    /// - Parameter id: of a new item; `nil` for one that is made here.
    @discardableResult
    package func create(
        _ secret: borrowing ItemSecret, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, id: ItemID? = nil
    ) throws(StoreError) -> ItemCreation {
        try check(secret.secret)
        let kept = KeptSecret(secret.secret.duplicate())
        let contentType = secret.contentType
        return try state.withLock { (state) throws(StoreError) in
            let same = { (entry: Entry) in
                entry.item.collection == collection && entry.item.attributes == attributes
            }
            let old = replacing ? state.items.filter(same).max { $0.revision < $1.revision } : nil
            let entry = try entry(
                kept, attributes, label: label, contentType: contentType, in: collection, replacing: old, id: id,
                &state)
            state.report(.saved, entry)
            return ItemCreation(item: entry.item, isNew: old == nil)
        }
    }

    package func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        try change(id, label: label, attributes: attributes)
    }

    package func setSecret(
        _ secret: borrowing ItemSecret, of id: ItemID, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        try check(secret.secret)
        return try change(id, secret: KeptSecret(secret.secret.duplicate()), contentType: secret.contentType)
    }

    private func change(
        _ id: ItemID, label: String? = nil, attributes: ItemAttributes? = nil, secret: KeptSecret? = nil,
        contentType: String? = nil
    ) throws(StoreError) -> StoredItem? {
        try state.withLock { (state) throws(StoreError) -> StoredItem? in
            guard let old = state.item(id) else { return nil }
            if let attributes, attributes != old.item.attributes { state.report(.deleted, old) }
            let entry = try entry(
                secret ?? old.secret, attributes ?? old.item.attributes, label: label ?? old.item.label,
                contentType: contentType ?? old.item.contentType, in: old.item.collection, replacing: old, &state)
            state.report(.saved, entry)
            return entry.item
        }
    }

    package func delete(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        state.withLock { state -> StoredItem? in
            guard let old = state.item(id) else { return nil }
            state.remove(id)
            state.report(.deleted, old)
            return old.item
        }
    }

    /// What is saved and deleted by its key. No other process can change the items.
    package func changesByOthers(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        state.withLock { state in
            state.itemListeners.listen { [weak self] number in
                self?.state.withLock { $0.itemListeners.remove(number) }
            }
        }
    }
}
