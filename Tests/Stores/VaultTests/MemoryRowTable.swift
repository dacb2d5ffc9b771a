import LatchkeyCredentials
import Synchronization

@testable import LatchkeyVault

/// How many rows were looked up.
final class LookupCounter: Sendable {
    private let number = Mutex(0)
    var value: Int { number.withLock { $0 } }

    func count() { number.withLock { $0 += 1 } }
    func begin() { number.withLock { $0 = 0 } }
}

/// A row table in memory: shows that the sealed rows need nothing of SQLite.
final class MemoryRowTable: RowTable {
    struct Content: Sendable {
        var items: [[UInt8]: (place: Int64, metadata: [UInt8], secret: [UInt8])] = [:]
        var records: [String: [UInt8]] = [:]
        var links: [[UInt8]: [UInt8]] = [:]
        /// The lookup values in their places.
        var places: [Int64: [UInt8]] = [:]
        var mark: UInt32 = 0
    }

    private let content: Mutex<Content>
    let counter = LookupCounter()
    /// What others do once a copy was made.
    let afterCopying = Mutex<(@Sendable () throws(StoreError) -> Void)?>(nil)

    init(_ records: [NamedRecord]) {
        var content = Content()
        for record in records { content.records[record.name] = record.content }
        self.content = Mutex(content)
    }

    func read<Result: ~Copyable & Sendable>(
        _ cancellation: Cancellation?, _ body: (any RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try body(MemoryView(content.withLock { $0 }, counter))
    }

    func write<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (any RowTransaction) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try cancellation.check()
        return try content.withLock { (content) throws(StoreError) in
            let view = MemoryView(content, counter)
            let result = try body(view)
            if view.isChanged { view.content.mark &+= 1 }
            content = view.content
            return result
        }
    }

    private init(_ content: Content) {
        self.content = Mutex(content)
    }

    func separate(_ cancellation: Cancellation, copyingFrom byteCount: Int) throws(StoreError) -> any RowTable {
        let copy = MemoryRowTable(content.withLock { $0 })
        try afterCopying.withLock { $0 }?()
        return copy
    }

    func damage(_ cancellation: Cancellation) throws(StoreError) -> [VaultProblem] { [] }
}

final class MemoryView: RowTransaction, @unchecked Sendable {
    // Sendable: lent to one thread at a time.
    var content: MemoryRowTable.Content { didSet { isChanged = true } }
    private(set) var isChanged = false

    private let counter: LookupCounter

    init(_ content: MemoryRowTable.Content, _ counter: LookupCounter) {
        self.content = content
        self.counter = counter
    }

    func withItem<Result: ~Copyable>(
        _ lookup: [UInt8], _ body: (Span<UInt8>, Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        counter.count()
        guard let item = content.items[lookup] else { return nil }
        return try body(item.metadata.span, item.secret.span)
    }

    func withItem<Result: ~Copyable>(
        place: Int64, _ body: (ItemHeading, Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        counter.count()
        guard let lookup = content.places[place], let item = content.items[lookup] else { return nil }
        return try body(
            ItemHeading(place: place, lookup: lookup, metadata: item.metadata), item.secret.span)
    }

    func heading(_ lookup: [UInt8]) throws(StoreError) -> ItemHeading? {
        counter.count()
        return content.items[lookup].map { ItemHeading(place: $0.place, lookup: lookup, metadata: $0.metadata) }
    }

    func items(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        content.items.filter { $0.value.place > place ?? 0 }.sorted { $0.value.place < $1.value.place }.prefix(limit)
            .map { ItemHeading(place: $0.value.place, lookup: $0.key, metadata: $0.value.metadata) }
    }

    func record(_ name: String) throws(StoreError) -> [UInt8]? { content.records[name] }

    func records() throws(StoreError) -> [NamedRecord] {
        content.records.filter { $0.key != Manifest.recordName }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { NamedRecord(name: $0.key, content: $0.value) }
    }

    func changeMark() throws(StoreError) -> UInt32 { content.mark }

    func changeMarkOfCommit() throws(StoreError) -> UInt32 { content.mark &+ 1 }

    func foundItems(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try items(after: place, limit: limit)
    }

    func heading(beginning: [UInt8]) throws(StoreError) -> ItemHeading? {
        for place in places(of: beginning) {
            if let lookup = content.places[place], lookup.starts(with: beginning) { return try heading(lookup) }
        }
        return nil
    }

    func link(_ token: [UInt8]) throws(StoreError) -> [UInt8]? {
        counter.count()
        return content.links[token]
    }

    func links(after token: [UInt8]?, limit: Int) throws(StoreError) -> [LinkRow] {
        content.links.filter { (token ?? []).lexicographicallyPrecedes($0.key) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }.prefix(limit)
            .map { LinkRow(token: $0.key, link: $0.value) }
    }

    func put(link token: [UInt8], _ bytes: [UInt8], isNew: Bool) throws(StoreError) {
        guard isNew == (content.links[token] == nil) else { throw .indexDiffers }
        content.links[token] = bytes
    }

    func remove(link token: [UInt8]) throws(StoreError) { content.links[token] = nil }

    func removeAllLinks() throws(StoreError) { content.links = [:] }

    func put(_ lookup: [UInt8], metadata: [UInt8], secret: [UInt8]) throws(StoreError) {
        let taken = Set(places(of: lookup).filter { content.places[$0] != nil })
        guard let place = content.items[lookup]?.place ?? ItemPlaces(of: lookup).free(besides: taken) else {
            throw .noFreePlace
        }
        content.places[place] = lookup
        content.items[lookup] = (place, metadata, secret)
    }

    private func places(of lookup: [UInt8]) -> ClosedRange<Int64> {
        let places = ItemPlaces(of: lookup)
        return places.first...places.last
    }

    func remove(_ lookup: [UInt8]) throws(StoreError) {
        if let item = content.items.removeValue(forKey: lookup) { content.places[item.place] = nil }
    }

    func remove(place: Int64) throws(StoreError) {
        if let lookup = content.places.removeValue(forKey: place) { content.items[lookup] = nil }
    }

    func put(record name: String, _ bytes: [UInt8]) throws(StoreError) { content.records[name] = bytes }

    func remove(record name: String) throws(StoreError) { content.records[name] = nil }
}

extension MemoryRowTable {
    /// That of a new vault.
    static func vault(_ keys: VaultKeys) throws(StoreError) -> MemoryRowTable {
        let records = try VaultStore.newRecords(
            keys, collections: CollectionsRecord(created: UnixTime(seconds: 1)))
        let manifest = Manifest(recordsDigest: Manifest.digest(records, keys))
        return MemoryRowTable(records + [NamedRecord(name: Manifest.recordName, content: try manifest.seal(keys))])
    }
}
