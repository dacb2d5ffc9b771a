package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import Synchronization

/// Keeps items in the guarded memory of this process, and nowhere else: the collection `session`, and tests.
package final class MemoryItems: ItemStore {
    /// What all of it may take: whoever may write here shares the memory of this process.
    package static let maximumItemCount = 10_000
    package static let maximumByteCount = 64 << 20
    private static let maximumCollectionCount = 256

    private final class KeptSecret: Sendable {
        let secret: Secret<ItemContent>
        init(_ secret: consuming Secret<ItemContent>) { self.secret = secret }
    }
    private struct Entry {
        var item: StoredItem
        var secret: KeptSecret
        /// Counts up with each change.
        var sequence: UInt64
    }
    private struct State {
        var collections: [ItemCollection]
        var entries: [ItemID: Entry] = [:]
        var sequence: UInt64 = 0
        var byteCount = 0

        mutating func next() -> UInt64 {
            sequence += 1
            return sequence
        }
    }
    private let state: Mutex<State>

    private let keepsFirst: Bool

    /// - Parameters:
    ///   - collections: what there is at first.
    ///   - keepsFirst: whether the first one can't be deleted, as in a vault.
    package init(_ collections: [ItemCollection], keepsFirst: Bool = true) {
        self.keepsFirst = keepsFirst
        state = Mutex(State(collections: collections))
    }

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
        _ name: String, in state: inout State, _ body: (ItemCollection) -> ItemCollection
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
            state.collections.remove(at: index)
            for (id, entry) in state.entries where entry.item.collection == name { Self.remove(id, in: &state) }
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

    private static func setAlias(_ alias: String, to name: String?, in state: inout State) {
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
            state.entries.values.filter { $0.item.collection == collection }.sorted { $0.sequence < $1.sequence }
                .map(\.item.id)
        }
    }

    package func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [StoredItem] {
        state.withLock { state in
            state.entries.values
                .filter { collection == nil || $0.item.collection == collection }
                .filter { $0.item.attributes.contains(attributes) }
                .sorted { $0.sequence > $1.sequence }.map(\.item)
        }
    }

    package func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        state.withLock { $0.entries[id]?.item }
    }

    package func secret(of id: ItemID, deadline: Deadline) async throws(StoreError) -> ItemSecret? {
        guard let entry = state.withLock({ $0.entries[id] }) else { return nil }
        return ItemSecret(entry.secret.secret.duplicate(), contentType: entry.item.contentType, item: entry.item)
    }

    // MARK: - Changing

    package func create(
        _ secret: borrowing ItemSecret, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, deadline: Deadline
    ) async throws(StoreError) -> ItemCreation {
        try add(secret, attributes: attributes, label: label, in: collection, replacing: replacing)
    }

    /// - Parameter id: of a new item; `nil` for one that is made here.
    package func add(
        _ secret: borrowing ItemSecret, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, id: ItemID? = nil
    ) throws(StoreError) -> ItemCreation {
        let copy = KeptSecret(secret.secret.duplicate())
        let contentType = secret.contentType
        return try state.withLock { (state) throws(StoreError) in
            guard state.collections.contains(where: { $0.name == collection }) else {
                throw StoreError(.unavailable, "there is no such collection")
            }
            let old = replacing ? Self.last(with: attributes, in: collection, of: state) : nil
            try Self.makeRoom(for: copy.secret.byteCount, instead: old, in: &state)
            let sequence = state.next()
            let now = UnixTime.now()
            let item = StoredItem(
                id: old?.item.id ?? id ?? ItemID("i\(sequence)")!, collection: collection, attributes: attributes,
                label: label, contentType: contentType, created: old?.item.created ?? now, modified: now,
                version: Self.version(sequence))
            state.entries[item.id] = Entry(item: item, secret: copy, sequence: sequence)
            return ItemCreation(item: item, isNew: old == nil)
        }
    }

    private static func last(with attributes: ItemAttributes, in collection: String, of state: State) -> Entry? {
        state.entries.values.filter { $0.item.collection == collection && $0.item.attributes == attributes }
            .max { $0.sequence < $1.sequence }
    }

    private static func makeRoom(for byteCount: Int, instead old: Entry?, in state: inout State) throws(StoreError) {
        let after = state.byteCount - (old?.secret.secret.byteCount ?? 0) + byteCount
        guard after <= maximumByteCount, old != nil || state.entries.count < maximumItemCount else {
            throw StoreError(.tooLarge, "there is no room for it in memory")
        }
        state.byteCount = after
    }

    private static func version(_ sequence: UInt64) -> CredentialVersion {
        CredentialVersion(bytes: (0..<16).map { $0 < 8 ? 0 : UInt8(truncatingIfNeeded: sequence >> (120 - $0 * 8)) })
    }

    package func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        change(id, label: label, attributes: attributes)
    }

    /// The same for tests, which change it behind the service's back.
    package func change(_ id: ItemID, label: String?, attributes: ItemAttributes?) -> StoredItem? {
        state.withLock { state in
            Self.change(id, in: &state) { $0 = $0.with(label: label, attributes: attributes) }
        }
    }

    private static func change(
        _ id: ItemID, in state: inout State, secret: KeptSecret? = nil, _ body: (inout StoredItem) -> Void
    ) -> StoredItem? {
        guard var entry = state.entries[id] else { return nil }
        entry.sequence = state.next()
        body(&entry.item)
        entry.item = entry.item.changed(version(entry.sequence))
        if let secret { entry.secret = secret }
        state.entries[id] = entry
        return entry.item
    }

    package func setSecret(
        _ secret: borrowing ItemSecret, of id: ItemID, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        let copy = KeptSecret(secret.secret.duplicate())
        let contentType = secret.contentType
        return try state.withLock { (state) throws(StoreError) in
            guard let old = state.entries[id] else { return nil }
            try Self.makeRoom(for: copy.secret.byteCount, instead: old, in: &state)
            return Self.change(id, in: &state, secret: copy) { $0 = $0.with(contentType: contentType) }
        }
    }

    package func delete(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        remove(id)
    }

    /// The same for tests.
    package func remove(_ id: ItemID) -> StoredItem? { state.withLock { Self.remove(id, in: &$0) } }

    @discardableResult
    private static func remove(_ id: ItemID, in state: inout State) -> StoredItem? {
        guard let entry = state.entries.removeValue(forKey: id) else { return nil }
        state.byteCount -= entry.secret.secret.byteCount
        return entry.item
    }

    /// Nobody else can change them.
    package func changesByOthers(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        AsyncStream { $0.finish() }
    }
}

extension StoredItem {
    fileprivate func with(
        label: String? = nil, attributes: ItemAttributes? = nil, contentType: String? = nil
    ) -> StoredItem {
        StoredItem(
            id: id, collection: collection, attributes: attributes ?? self.attributes, label: label ?? self.label,
            contentType: contentType ?? self.contentType, created: created, modified: modified, version: version)
    }

    fileprivate func changed(_ version: CredentialVersion) -> StoredItem {
        StoredItem(
            id: id, collection: collection, attributes: attributes, label: label, contentType: contentType,
            created: created, modified: .now(), version: version)
    }
}
