internal import LatchkeyCredentials
internal import LatchkeyLog

/// A vault's collections of items: the first one, which holds the credentials, and others.
///
/// Record `collections`, sealed under the root key. In clear: layout (1), number of collections (1), and of each its name
/// (1 + n), label (2 + n), created (8), modified (8), number of aliases (1) and aliases (1 + n each), in the order of
/// their names; zeros up to a bucket's size.
struct CollectionsRecord: Sendable, Equatable {
    /// In the order of their names' bytes.
    private(set) var all: [ItemCollection]

    static let recordName = "collections"
    /// The name of the collection that is always there.
    static let first = "login"
    static let defaultAlias = "default"
    static let maximumCount = 64
    static let maximumLabelByteCount = 255
    private static let maximumAliasCount = 64
    /// One that a service has in memory.
    private static let reserved = "session"

    /// Those of a new vault. The aliases are the names that programs look for.
    init(created: UnixTime) {
        all = [
            ItemCollection(
                name: Self.first, label: "Latchkey", aliases: [Self.defaultAlias, Self.first], created: created,
                modified: created)
        ]
    }

    private init(all: [ItemCollection]) {
        self.all = all
    }

    func contains(_ name: String) -> Bool { all.contains { $0.name == name } }

    // MARK: - Changing

    /// Adds a collection and returns it. Throws `conflict` where there are too many, `tooLarge` and `unsupported` for a
    /// label or alias that can't be one.
    mutating func add(label: String, alias: String?, now: UnixTime) throws(StoreError) -> ItemCollection {
        try Self.check(label: label)
        guard all.count < Self.maximumCount else {
            throw StoreError(.conflict, "the vault has \(all.count) collections, and takes no more")
        }
        let added = ItemCollection(
            name: ItemCollection.name(for: label, besides: all.map(\.name) + [Self.reserved]), label: label,
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
        let old = all[index]
        all[index] = ItemCollection(
            name: name, label: label, aliases: old.aliases, created: old.created, modified: max(old.created, now))
        return true
    }

    /// Returns whether there was one; where it was the default one, the first is again.
    mutating func remove(_ name: String) throws(StoreError) -> Bool {
        guard let index = all.firstIndex(where: { $0.name == name }) else { return false }
        guard name != Self.first else {
            throw StoreError(.unsupported, "the collection that holds the credentials can't be deleted")
        }
        let removed = all.remove(at: index)
        if removed.aliases.contains(Self.defaultAlias) { try setAlias(Self.defaultAlias, to: Self.first) }
        return true
    }

    /// Takes an alias from the collection that has it, and gives it to another, or none.
    mutating func setAlias(_ alias: String, to name: String?) throws(StoreError) {
        guard ObjectPathElement.isValid(alias) else {
            throw StoreError(.unsupported, "an alias has 1 to 64 letters, digits and underscores")
        }
        guard name == nil || all.reduce(0, { $0 + $1.aliases.count }) < Self.maximumAliasCount else {
            throw StoreError(
                .conflict, "the vault's collections have \(Self.maximumAliasCount) aliases, and take no more")
        }
        for (index, collection) in all.enumerated() {
            var aliases = collection.aliases.filter { $0 != alias }
            if collection.name == name { aliases.append(alias) }
            aliases.sort()
            guard aliases != collection.aliases else { continue }
            all[index] = ItemCollection(
                name: collection.name, label: collection.label, aliases: aliases, created: collection.created,
                modified: collection.modified)
        }
    }

    /// Adds the collections of another vault whose names aren't here, with those of their aliases that are free. Returns
    /// whether there were any.
    mutating func merge(_ others: CollectionsRecord) throws(StoreError) -> Bool {
        let taken = Set(all.flatMap(\.aliases))
        let new = others.all.filter { !contains($0.name) }
        guard all.count + new.count <= Self.maximumCount else {
            throw StoreError(.conflict, "the vault would have more than \(Self.maximumCount) collections")
        }
        var room = Self.maximumAliasCount - taken.count
        for other in new {
            let aliases = Array(other.aliases.filter { !taken.contains($0) }.prefix(room))
            room -= aliases.count
            all.append(
                ItemCollection(
                    name: other.name, label: other.label, aliases: aliases, created: other.created,
                    modified: other.modified))
        }
        all.sort { $0.name < $1.name }
        return !new.isEmpty
    }

    mutating func keepOnly(where isKept: (ItemCollection) -> Bool) { all.removeAll { !isKept($0) } }

    private static func check(label: String) throws(StoreError) {
        guard label.utf8.count <= maximumLabelByteCount, !label.utf8.contains(0) else {
            throw StoreError(.tooLarge, "a collection's label has up to \(maximumLabelByteCount) bytes, and no NUL")
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
        guard aliases.count <= maximumAliasCount, all.contains(where: { $0.name == first }),
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
