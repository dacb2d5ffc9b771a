package import LatchkeyCredentials
internal import LatchkeyLog

/// A vault's collections of items: the first one, which holds the credentials, and others.
///
/// Record `collections`, encrypted under the root key. The plain text: layout (1), number of collections (1), and of
/// each its name (1 + n), label (2 + n), created (8), modified (8), number of aliases (1) and aliases (1 + n each), in
/// the order of their names; zeros up to a bucket's size.
struct CollectionsRecord: Sendable, Equatable {
    /// In the order of their names' bytes.
    private(set) var all: [ItemCollection]

    static let recordName = "collections"
    static let defaultAlias = "default"
    static let maximumCount = 64
    static let maximumLabelByteCount = 255
    private static let maximumAliasCount = 64
    /// One that a service has in memory.
    private static let reserved = "session"
}

extension CollectionsRecord {
    /// Those of a new vault. The aliases are the names that programs look for.
    init(created: UnixTime) {
        all = [
            ItemCollection(
                name: ItemCollection.first, label: "Latchkey", aliases: [Self.defaultAlias, ItemCollection.first],
                created: created,
                modified: created)
        ]
    }

    func contains(_ name: String) -> Bool { all.contains { $0.name == name } }

    // MARK: - Changing

    /// Adds a collection and returns it. Throws `conflict` where there are too many, `tooLarge` and `unsupported` for a
    /// label or alias that can't be one.
    mutating func add(
        label: String, alias: String?, named name: String?, now: UnixTime
    ) throws(StoreError) -> ItemCollection {
        try Self.check(label: label)
        guard all.count < Self.maximumCount else {
            throw StoreError(.conflict, "the vault already has the maximum of \(all.count) collections")
        }
        let added = ItemCollection(
            name: ItemCollection.name(name, for: label, besides: all.map(\.name) + [Self.reserved]), label: label,
            aliases: [], created: now, modified: now)
        all.append(added)
        all.sort { $0.name < $1.name }
        if let alias { try setAlias(alias, to: added.name) }
        return all.first { $0.name == added.name } ?? added
    }

    /// Returns whether the collection is there.
    mutating func setLabel(_ label: String, of name: String, now: UnixTime) throws(StoreError) -> Bool {
        try Self.check(label: label)
        guard let index = all.firstIndex(where: { $0.name == name }) else { return false }
        (all[index].label, all[index].modified) = (label, max(all[index].created, now))
        return true
    }

    /// Returns whether there was one; where it was the default one, the first is again.
    mutating func remove(_ name: String) throws(StoreError) -> Bool {
        guard let index = all.firstIndex(where: { $0.name == name }) else { return false }
        guard name != ItemCollection.first else {
            throw StoreError(.unsupported, "the collection that holds the credentials can't be deleted")
        }
        let removed = all.remove(at: index)
        if removed.aliases.contains(Self.defaultAlias) { try setAlias(Self.defaultAlias, to: ItemCollection.first) }
        return true
    }

    /// Takes an alias from the collection that has it, and gives it to another, or none.
    mutating func setAlias(_ alias: String, to name: String?) throws(StoreError) {
        guard ObjectPathElement.isValid(alias) else {
            throw StoreError(.unsupported, "an alias has 1 to 64 letters, digits and underscores")
        }
        guard name == nil || all.reduce(0, { $0 + $1.aliases.count }) < Self.maximumAliasCount else {
            throw StoreError(
                .conflict, "the vault's collections already have the maximum of \(Self.maximumAliasCount) aliases")
        }
        for index in all.indices {
            all[index].aliases.removeAll { $0 == alias }
            if all[index].name == name { all[index].aliases.append(alias) }
            all[index].aliases.sort()
        }
    }

    /// Adds the collections of another vault whose names aren't here, with those of their aliases that are free.
    /// Returns whether there were any.
    mutating func merge(_ others: CollectionsRecord) throws(StoreError) -> Bool {
        let taken = Set(all.flatMap(\.aliases))
        let new = others.all.filter { !contains($0.name) }
        guard all.count + new.count <= Self.maximumCount else {
            throw StoreError(.conflict, "the vault would have more than \(Self.maximumCount) collections")
        }
        var room = Self.maximumAliasCount - taken.count
        for var other in new {
            other.aliases = Array(other.aliases.filter { !taken.contains($0) }.prefix(room))
            room -= other.aliases.count
            all.append(other)
        }
        all.sort { $0.name < $1.name }
        return !new.isEmpty
    }

    private static func check(label: String) throws(StoreError) {
        guard label.utf8.count <= maximumLabelByteCount, !label.utf8.contains(0) else {
            throw StoreError(
                .tooLarge, "a collection's label is longer than \(maximumLabelByteCount) bytes or contains NUL")
        }
    }

    // MARK: - The record

    func seal(_ keys: VaultKeys) throws(StoreError) -> NamedRecord {
        let plaintext = encode()
        let sealed = try Sealing.seal(
            plaintext.span, associatedData: Self.associatedData(keys.vault), key: keys.collections)
        return NamedRecord(name: Self.recordName, content: sealed)
    }

    static func open(_ record: [UInt8]?, _ keys: VaultKeys) throws(StoreError) -> CollectionsRecord {
        guard let record, record.count <= maximumByteCount,
            let bytes = Sealing.openPublic(
                record.span, associatedData: associatedData(keys.vault), key: keys.collections),
            let decoded = decode(bytes)
        else { throw .vaultCorrupted("its collections can't be read") }
        return decoded
    }

    func encode() -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.append(UInt8(1))
        writer.append(UInt8(all.count))
        for collection in all {
            writer.append(collection.name, length: UInt8.self)
            writer.append(collection.label, length: UInt16.self)
            writer.append(collection.created.seconds)
            writer.append(collection.modified.seconds)
            writer.append(UInt8(collection.aliases.count))
            for alias in collection.aliases { writer.append(alias, length: UInt8.self) }
        }
        writer.pad(to: SealedSize.bucket(writer.bytes.count))
        return writer.bytes
    }

    /// Returns `nil` for anything that `encode` doesn't write.
    static func decode(_ bytes: [UInt8]) -> CollectionsRecord? {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt8.self) == 1, let count: UInt8 = reader.integer(), count <= maximumCount else {
            return nil
        }
        var all: [ItemCollection] = []
        var aliases: Set<String> = []
        for _ in 0..<count {
            guard let collection = collection(from: &reader), all.last.map({ $0.name < collection.name }) ?? true
            else { return nil }
            // One alias names one collection.
            for alias in collection.aliases where !aliases.insert(alias).inserted { return nil }
            all.append(collection)
        }
        guard aliases.count <= maximumAliasCount, all.contains(where: { $0.name == ItemCollection.first }),
            reader.onlyPaddingIsLeft(), SealedSize.bucket(bytes.count - reader.remainingByteCount) == bytes.count
        else { return nil }
        return CollectionsRecord(all: all)
    }

    private static func collection(from reader: inout ByteReader) -> ItemCollection? {
        guard let name = reader.text(length: UInt8.self, atMost: 64), ObjectPathElement.isValid(name),
            let label = reader.text(length: UInt16.self, atMost: maximumLabelByteCount), !label.utf8.contains(0),
            let created: Int64 = reader.integer(), let modified: Int64 = reader.integer(),
            let count: UInt8 = reader.integer(), count <= maximumAliasCount
        else { return nil }
        var aliases: [String] = []
        for _ in 0..<count {
            guard let alias = reader.text(length: UInt8.self, atMost: 64), ObjectPathElement.isValid(alias),
                aliases.last.map({ $0 < alias }) ?? true
            else { return nil }
            aliases.append(alias)
        }
        return ItemCollection(
            name: name, label: label, aliases: aliases, created: UnixTime(seconds: created),
            modified: UnixTime(seconds: modified))
    }

    static func associatedData(_ vault: VaultID) -> [UInt8] { Array(recordName.utf8) + vault.bytes }

    /// All names, labels and aliases of the greatest length.
    private static let maximumByteCount = 65536
}

// MARK: - Collections

// The record of collections, with its changes.

extension VaultStore {
    /// In the order of their names.
    package func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try Self.collections(in: view, state.keys).all
        }
    }

    package func createCollection(
        label: String, alias: String?, named name: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        let now = now()
        return try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            let added = try collections.add(label: label, alias: alias, named: name, now: now)
            try Self.put(collections, in: transaction, &change)
            return added
        }
    }

    package func setLabel(
        _ label: String, ofCollection name: String, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        let now = now()
        return try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            guard try collections.setLabel(label, of: name, now: now) else { return false }
            try Self.put(collections, in: transaction, &change)
            return true
        }
    }

    package func setAlias(_ alias: String, to name: String?, deadline: Deadline) async throws(StoreError) -> Bool {
        try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            if let name, !collections.contains(name) { return false }
            try collections.setAlias(alias, to: name)
            try Self.put(collections, in: transaction, &change)
            return true
        }
    }

    package func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            guard try collections.remove(name) else { return false }
            let list = IndexList(collection: name, change.keys)
            for handle in try transaction.items(of: [list], change.manifest, change.keys) {
                guard let found = try Self.row(handle, in: transaction, change.keys), found.row.collection == name
                else { throw .indexDiffers }
                try Self.remove(found, in: transaction, &change)
            }
            try Self.put(collections, in: transaction, &change)
            return true
        }
    }

    // MARK: - The record

    static func collections(in view: any RowView, _ keys: VaultKeys) throws(StoreError) -> CollectionsRecord {
        try CollectionsRecord.open(view.record(CollectionsRecord.recordName), keys)
    }

    static func put(
        _ collections: CollectionsRecord, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        let former = try transaction.record(CollectionsRecord.recordName) ?? []
        let record = try collections.seal(change.keys)
        try transaction.put(record: record.name, record.content)
        change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
        change.own.collections = OwnChanges.Collections(former: former, present: record.content)
    }

    /// Adds what another vault has.
    static func merge(
        _ others: CollectionsRecord, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        var collections = try collections(in: transaction, change.keys)
        if try collections.merge(others) { try put(collections, in: transaction, &change) }
    }

    /// The same as a transaction of its own, where there is something to add.
    func merge(_ others: CollectionsRecord, _ cancellation: Cancellation) throws(StoreError) {
        let isNeeded = try cancellation.retry { () throws(StoreError) in
            try current(cancellation) { (view, state) throws(StoreError) in
                var collections = try Self.collections(in: view, state.keys)
                return try collections.merge(others)
            }
        }
        guard isNeeded else { return }
        try commit(cancellation) { (transaction, change) throws(StoreError) in
            try Self.merge(others, in: transaction, &change)
        }
    }
}
