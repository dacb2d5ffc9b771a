internal import Glibc
internal import LatchkeySecrets
internal import Synchronization

/// What a store holds, behind its lock.
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

    /// What is read under a key: exactly this name, or else the item that was changed last among those that are read
    /// as it.
    func entry(_ key: CredentialKey) -> Entry? { entry(EntryName(key)) }

    func entry(_ name: EntryName) -> Entry? {
        guard let reading = readings[name] else { return nil }
        if let exact = reading.exact { return entries[exact] }
        return reading.implied.compactMap { entries[$0] }.max { $0.revision < $1.revision }
    }

    /// The item of an id. Credentials of other kinds than `password` are no items.
    func item(_ id: ItemID) -> Entry? { entries[id].flatMap { $0.kind == .password ? $0 : nil } }

    var items: some Sequence<Entry> { entries.values.lazy.filter { $0.kind == .password } }

    /// Adds an entry, or replaces the one with its id.
    mutating func put(_ entry: Entry) {
        if let old = entries[entry.item.id], old.item.attributes == entry.item.attributes {
            // It is read under the same name.
            byteCount += entry.secret.secret.byteCount - old.secret.secret.byteCount
            entries[entry.item.id] = entry
            return
        }
        remove(entry.item.id)
        entries[entry.item.id] = entry
        byteCount += entry.secret.secret.byteCount
        guard let key = key(of: entry) else { return }
        let name = EntryName(key)
        var reading = readings[name] ?? Reading()
        if reading.exact == nil, entry.item.attributes == ItemAttributes(key) {
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
        byteCount -= entry.secret.secret.byteCount
        guard let key = key(of: entry) else { return entry }
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

    /// The key under which an entry is read unless another entry goes before it; `nil` for an item that isn't a
    /// credential. Credentials are in their own collection alone.
    func key(of entry: Entry) -> CredentialKey? {
        guard entry.item.collection == home, let key = entry.item.attributes.impliedKey else { return nil }
        if entry.kind == .password { return key }
        return try? CredentialKey(service: key.service, account: key.account, kind: entry.kind)
    }

    // MARK: - Telling

    func report(_ kind: CredentialChange.Kind, _ entry: Entry) {
        if let key = key(of: entry) { listeners.report(CredentialChange(kind: kind, key: key)) }
    }

    /// Of what is changed by its key, and not as an item.
    func reportItem(_ change: ItemChange, _ entry: Entry) {
        if entry.kind == .password { itemListeners.report(change) }
    }
}

/// Which entries are read under a name.
private struct Reading {
    var exact: ItemID?
    var implied: Set<ItemID> = []
}

/// One item.
struct Entry: Sendable {
    var item: StoredItem
    /// Other kinds than `password` are credentials, and no items.
    let kind: CredentialKind
    var secret: KeptSecret
    /// Higher after each change.
    var revision: UInt64

    func metadata(for key: CredentialKey) -> CredentialMetadata {
        CredentialMetadata(
            key: key, label: item.label, created: item.created, modified: item.modified, version: item.version)
    }
}

/// Lets an entry be in a dictionary, which a noncopyable secret can't.
final class KeptSecret: Sendable {
    let secret: Secret<ItemContent>

    init(_ secret: consuming Secret<ItemContent>) {
        self.secret = secret
    }
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

/// Who listens to a store's changes.
struct Listeners<Change: Sendable>: Sendable {
    private static var bufferSize: Int { 256 }

    /// The last word to a listener that fell behind: it must look at everything.
    let lost: Change
    private var continuations: [Int: AsyncStream<Change>.Continuation] = [:]
    private var added = 0

    init(lost: Change) { self.lost = lost }

    /// - Parameter ended: called with the listener's number when nobody listens any longer.
    mutating func listen(ended: @escaping @Sendable (Int) -> Void) -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Change.self, bufferingPolicy: .bufferingNewest(Self.bufferSize))
        added += 1
        let number = added
        continuations[number] = continuation
        continuation.onTermination = { _ in ended(number) }
        return stream
    }

    mutating func remove(_ number: Int) {
        continuations[number] = nil
    }

    func report(_ change: Change) {
        for continuation in continuations.values {
            if case .dropped = continuation.yield(change) { continuation.yield(lost) }
        }
    }

    func finish() {
        for continuation in continuations.values { continuation.finish() }
    }
}

/// Numbers the stores of all processes, so that each has an identity of its own.
enum StoreNumber {
    private static let last = Atomic(0)

    static func next() -> String {
        "\(getpid())-\(last.add(1, ordering: .relaxed).newValue)"
    }
}
