internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

/// The contents of a store, behind its lock.
struct InMemoryState {
    var collections: [ItemCollection]
    /// The name of the collection with the credentials: the first one, or empty if there was none.
    let home: String
    private(set) var entries: [ItemID: Entry] = [:]
    /// Of all secrets together.
    private(set) var byteCount = 0
    /// Ascending: the names that something is read under.
    private(set) var names: [EntryName] = []
    private var readings: [EntryName: Reading] = [:]
    var listeners = Listeners<CredentialChange>(lost: CredentialChange(kind: .unknown, key: nil))
    var itemListeners = Listeners<ItemChange>(lost: .unknown)
    /// Counts the changes, so that no two states of an item have the same version.
    private var revision: UInt64 = 0

    init(collections: [ItemCollection]) {
        self.collections = collections
        home = collections.first?.name ?? ""
    }

    mutating func nextRevision() -> UInt64 {
        revision += 1
        return revision
    }

    // MARK: - Entries

    /// The entry that a read of a key returns: the one with exactly this name, otherwise the most recently changed item
    /// that reads as it.
    func entry(_ key: CredentialKey) -> Entry? { entry(EntryName(key)) }

    func entry(_ name: EntryName) -> Entry? {
        guard let reading = readings[name] else { return nil }
        if let exact = reading.exact { return entries[exact] }
        return reading.implied.compactMap { entries[$0] }.max { $0.revision < $1.revision }
    }

    /// The item with an ID. Credentials of kinds other than `password` aren't items.
    func item(_ id: ItemID) -> Entry? { entries[id].flatMap { $0.isItem ? $0 : nil } }

    var items: some Sequence<Entry> { entries.values.lazy.filter(\.isItem) }

    /// Adds an entry, or replaces the one with its id.
    mutating func put(_ entry: Entry) {
        if let old = entries[entry.item.id], old.item.attributes == entry.item.attributes {
            // The new entry has the same name.
            byteCount += entry.byteCount - old.byteCount
            entries[entry.item.id] = entry
            return
        }
        remove(entry.item.id)
        entries[entry.item.id] = entry
        byteCount += entry.byteCount
        guard let key = entry.item.key else { return }
        let name = EntryName(key)
        var reading = readings[name] ?? Reading()
        if entry.item.isNamed {
            reading.exact = entry.item.id
        } else {
            reading.implied.insert(entry.item.id)
        }
        if readings.updateValue(reading, forKey: name) == nil {
            names.insert(name, at: names.firstIndex(belongs: { !($0 < name) }))
        }
    }

    @discardableResult
    mutating func remove(_ id: ItemID) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        byteCount -= entry.byteCount
        guard let key = entry.item.key else { return entry }
        let name = EntryName(key)
        guard var reading = readings[name] else { return entry }
        if reading.exact == id { reading.exact = nil } else { reading.implied.remove(id) }
        if reading.exact == nil && reading.implied.isEmpty {
            readings[name] = nil
            names.remove(at: names.firstIndex(belongs: { !($0 < name) }))
        } else {
            readings[name] = reading
        }
        return entry
    }

    /// The key of an item with these attributes, and whether the item is stored under that key: only if no other item
    /// is. Only the first collection contains credentials.
    func key(
        _ attributes: ItemAttributes, in collection: String, replacing old: Entry?
    ) -> (key: CredentialKey?, isNamed: Bool) {
        if let old, old.item.attributes == attributes { return (old.item.key, old.item.isNamed) }
        guard collection == home, let key = attributes.key() else { return (nil, false) }
        return (key, attributes.exactKey != nil && readings[EntryName(key)]?.exact == nil)
    }

    // MARK: - Telling

    func report(_ kind: CredentialChange.Kind, _ entry: Entry) {
        if let key = entry.item.key { listeners.report(CredentialChange(kind: kind, key: key)) }
    }

    /// Reports a change of a credential that was made by its key, not as an item.
    func reportItem(_ change: ItemChange, _ entry: Entry) {
        if entry.isItem { itemListeners.report(change) }
    }
}

/// Which entries are read under a name.
private struct Reading {
    var exact: ItemID?
    var implied: Set<ItemID> = []
}

/// One item.
struct Entry: Sendable {
    var item: Item
    /// A box, because a dictionary can't hold a noncopyable value.
    var secret: Box<Secret<ItemContent>>
    /// Higher after each change.
    var revision: UInt64

    /// Whether the entry is an item: credentials of kinds other than `password` aren't.
    var isItem: Bool { item.key.map { $0.kind == .password } ?? true }
    /// The size of the secret, the label and the attributes.
    var byteCount: Int {
        item.attributes.all.reduce(secret.value.byteCount + item.label.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }
    /// Of an item in memory it is always known.
    var version: CredentialVersion { item.version! }
}

/// A key as bytes that sort by service, then account, then kind: no part can contain the NUL between them.
struct EntryName: Sendable, Hashable, Comparable {
    let bytes: [UInt8]

    init(_ key: CredentialKey) {
        bytes = Array(key.service.utf8) + [0] + Array(key.account.utf8) + [0] + Array(key.kind.name.utf8)
    }

    static func < (left: EntryName, right: EntryName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension [EntryName] {
    /// The first index whose element satisfies `belongs`, or the end; all after it must satisfy it too.
    func firstIndex(belongs: (EntryName) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Numbers the stores of all processes, so that each has an identity of its own.
enum StoreNumber {
    private static let last = Atomic(0)

    static func next() -> String {
        "\(getpid())-\(last.add(1, ordering: .relaxed).newValue)"
    }
}
