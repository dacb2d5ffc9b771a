import Credentials
import Synchronization

@testable import Vault

/// A row table in memory: shows that the sealed rows need nothing of SQLite.
final class MemoryRowTable: RowTable {
    struct Content: Sendable {
        var items: [[UInt8]: (metadata: [UInt8], secret: [UInt8])] = [:]
        var records: [String: [UInt8]] = [:]
        var mark: UInt32 = 0
    }

    private let content: Mutex<Content>

    init(_ records: [NamedRecord]) {
        var content = Content()
        for record in records { content.records[record.name] = record.content }
        self.content = Mutex(content)
    }

    func read<Result: ~Copyable & Sendable>(
        _ body: (MemoryView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try body(MemoryView(content.withLock { $0 }))
    }

    func write<Result: Sendable>(
        _ patience: Patience, _ body: (MemoryView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try patience.check()
        return try content.withLock { (content) throws(StoreError) in
            let view = MemoryView(content)
            let result = try body(view)
            content = view.content
            content.mark &+= 1
            return result
        }
    }

    func separate() throws(StoreError) -> Self { self }

    func damage(_ patience: Patience) throws(StoreError) -> [TableDamage] { [] }
}

final class MemoryView: RowTransaction, @unchecked Sendable {
    // Sendable: lent to one thread at a time.
    var content: MemoryRowTable.Content

    init(_ content: MemoryRowTable.Content) {
        self.content = content
    }

    func withItem<Result: ~Copyable>(
        _ lookup: [UInt8], _ body: (Span<UInt8>, Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        guard let item = content.items[lookup] else { return nil }
        return try body(item.metadata.span, item.secret.span)
    }

    func items(after lookup: [UInt8]?, limit: Int) throws(StoreError) -> [ItemHeading] {
        content.items.keys.filter { lookup?.lexicographicallyPrecedes($0) ?? true }
            .sorted { $0.lexicographicallyPrecedes($1) }.prefix(limit)
            .map { ItemHeading(lookup: $0, metadata: content.items[$0]!.metadata) }
    }

    func record(_ name: String) throws(StoreError) -> [UInt8]? { content.records[name] }

    func records() throws(StoreError) -> [NamedRecord] {
        content.records.filter { $0.key != Manifest.recordName }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { NamedRecord(name: $0.key, content: $0.value) }
    }

    func changeMark() throws(StoreError) -> UInt32 { content.mark }

    func put(_ lookup: [UInt8], metadata: [UInt8], secret: [UInt8]) throws(StoreError) {
        content.items[lookup] = (metadata, secret)
    }

    func remove(_ lookup: [UInt8]) throws(StoreError) { content.items[lookup] = nil }

    func put(record name: String, _ bytes: [UInt8]) throws(StoreError) { content.records[name] = bytes }

    func remove(record name: String) throws(StoreError) { content.records[name] = nil }
}
