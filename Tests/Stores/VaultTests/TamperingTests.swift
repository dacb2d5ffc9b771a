import LatchkeyCredentials
import LatchkeyLog
import Testing

@testable import LatchkeyVault

/// Someone who can write the file, with checksums and all, but doesn't have the key.
@Suite struct TamperingTests {
    /// A vault with `count` items and a hand on its rows that leaves the manifest alone. The store doesn't compare its
    /// items with the manifest by itself, so that each row is looked at for what it is; see `InUseTests`.
    private func vault(_ count: Int = 5) async throws -> (VaultFolder, VaultStore, SQLiteRowTable) {
        let folder = try VaultFolder()
        try await folder.store()
        let store = try await VaultStore.open(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .never)
        for number in 0..<count { try await store.save(secret("secret \(number)"), for: key("account \(number)")) }
        return (folder, store, try SQLiteRowTable(path: folder.vault))
    }

    private struct Row {
        let lookup, metadata, secret: [UInt8]
    }

    private func row(_ number: Int, _ store: VaultStore, _ table: SQLiteRowTable) throws -> Row {
        let keys = store.keys
        let lookup = keys.lookup(of: key("account \(number)"))
        let found = try table.read { (view) throws(StoreError) in
            try view.withItem(lookup) { (metadata, secret) throws(StoreError) in
                ([UInt8](copying: metadata), [UInt8](copying: secret))
            }
        }
        let (metadata, secret) = try #require(found)
        return Row(lookup: lookup, metadata: metadata, secret: secret)
    }

    private func tamper(
        _ table: SQLiteRowTable, _ body: @escaping (any RowTransaction) throws(StoreError) -> Void
    ) throws {
        try table.write(Cancellation(.standard)) { (transaction) throws(StoreError) in try body(transaction) }
    }

    private func code(reading number: Int, _ store: VaultStore) async -> StoreError.Code? {
        await refusal { () async throws(StoreError) in try await store.text(key("account \(number)")) }?.code
    }

    @Test func `an untouched vault is sound`() async throws {
        let (folder, store, _) = try await vault()
        defer { withExtendedLifetime(folder) {} }
        let report = try await store.verify()
        #expect(report.problems == [])
        #expect(report.itemCount == 5)
        #expect(report.generation == 6)
    }

    @Test(arguments: [
        "CREATE TABLE other(x)", "CREATE INDEX other ON items(secret)", "CREATE VIEW other AS SELECT 1",
        "CREATE TRIGGER other DELETE ON items BEGIN SELECT 1; END", "DROP TABLE records", "DROP TABLE links",
        "DROP TABLE items; CREATE TABLE items(place INTEGER PRIMARY KEY, lookup, metadata, secret)",
    ])
    func `a file with another schema is refused`(_ change: String) async throws {
        let (folder, _, _) = try await vault(1)
        try SQLiteConnection(path: folder.vault, role: .writer).execute(change)
        let error = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(error?.code == .corrupted)
    }

    @Test func `a row in another's place is noticed by the read`() async throws {
        let (folder, store, table) = try await vault()
        defer { withExtendedLifetime(folder) {} }
        let (first, second) = (try row(0, store, table), try row(1, store, table))
        try tamper(table) { (rows) throws(StoreError) in
            try rows.put(first.lookup, metadata: second.metadata, secret: second.secret)
        }
        #expect(await code(reading: 0, store) == .corrupted)
        #expect(try await store.text(key("account 1")) == "secret 1")
        let report = try await store.verify()
        #expect(report.problems.contains { if case .damagedItem = $0 { true } else { false } })
    }

    @Test func `rows that are exchanged are noticed, whole or half, and the others stay readable`() async throws {
        let (folder, store, table) = try await vault()
        defer { withExtendedLifetime(folder) {} }
        let rows = try (0..<5).map { try row($0, store, table) }
        for (here, there) in (0..<25).map({ ($0 / 5, $0 % 5) }) where here != there {
            let (own, other) = (rows[here], rows[there])
            let halves = [
                (other.metadata, other.secret), (own.metadata, other.secret), (other.metadata, own.secret),
                (own.secret, own.metadata),
            ]
            for (metadata, secret) in halves {
                try tamper(table) { (rows) throws(StoreError) in
                    try rows.put(own.lookup, metadata: metadata, secret: secret)
                }
                #expect(await code(reading: here, store) == .corrupted)
                for number in 0..<5 where number != here {
                    #expect(try await store.text(key("account \(number)")) == "secret \(number)")
                }
                #expect(try await store.verify().isSound == false)
            }
            try tamper(table) { (rows) throws(StoreError) in
                try rows.put(own.lookup, metadata: own.metadata, secret: own.secret)
            }
        }
        // Two rows that changed places, as opposed to one that is there twice.
        try tamper(table) { (tampered) throws(StoreError) in
            try tampered.put(rows[0].lookup, metadata: rows[1].metadata, secret: rows[1].secret)
            try tampered.put(rows[1].lookup, metadata: rows[0].metadata, secret: rows[0].secret)
        }
        for number in [0, 1] { #expect(await code(reading: number, store) == .corrupted) }
        #expect(
            try await store.verify().problems.count { if case .damagedItem = $0 { true } else { false } } == 2)
    }

    @Test func `records that are exchanged prevent the vault from opening`() async throws {
        let (folder, store, table) = try await vault(1)
        try await store.addSlot(passphrase("p"), name: .passphrase, cost: .cheap)
        let sound = try folder.contents()
        let records = try table.read { (view) throws(StoreError) in
            try view.records() + [NamedRecord(name: "manifest", content: view.record("manifest") ?? [])]
        }
        #expect(records.count == 6)
        for here in records {
            for there in records where there != here {
                try tamper(table) { (rows) throws(StoreError) in
                    try rows.put(record: here.name, there.content)
                    try rows.put(record: there.name, here.content)
                }
                let error = await refusal { () async throws(StoreError) in try await folder.store() }
                #expect([.corrupted, .unsupported, .wrongKey].contains(error?.code), "\(here.name), \(there.name)")
                try tamper(table) { (rows) throws(StoreError) in
                    try rows.put(record: here.name, here.content)
                    try rows.put(record: there.name, there.content)
                }
            }
        }
        #expect(sound.count == (try folder.contents().count))
        #expect(try await folder.store().text(key("account 0")) == "secret 0")
    }

    @Test func `a secret replaced with another item's, or with an older one, is noticed`() async throws {
        let (folder, store, table) = try await vault()
        defer { withExtendedLifetime(folder) {} }
        let old = try row(0, store, table)
        try await store.save(secret("new"), for: key("account 0"))
        let (new, other) = (try row(0, store, table), try row(1, store, table))
        for wrong in [old.secret, other.secret] {
            try tamper(table) { (rows) throws(StoreError) in
                try rows.put(new.lookup, metadata: new.metadata, secret: wrong)
            }
            #expect(await code(reading: 0, store) == .corrupted)
            #expect(try await store.verify().isSound == false)
        }
    }

    @Test func `a row restored to its older state is noticed by verify`() async throws {
        let (folder, store, table) = try await vault()
        defer { withExtendedLifetime(folder) {} }
        let old = try row(2, store, table)
        try await store.save(secret("new"), for: key("account 2"))
        try tamper(table) { (rows) throws(StoreError) in
            try rows.put(old.lookup, metadata: old.metadata, secret: old.secret)
        }
        #expect(try await store.verify().problems == [.replayedItems])
    }

    @Test func `a deleted row is noticed by verify`() async throws {
        let (folder, store, table) = try await vault()
        defer { withExtendedLifetime(folder) {} }
        let gone = try row(3, store, table)
        try tamper(table) { (rows) throws(StoreError) in try rows.remove(gone.lookup) }
        #expect(try await store.verify().problems == [.itemCount(expected: 5, found: 4)])
    }

    @Test func `a row that a stranger deleted and restored is noticed by verify`() async throws {
        let (folder, store, table) = try await vault()
        defer { withExtendedLifetime(folder) {} }
        let gone = try row(3, store, table)
        try await store.delete(key("account 3"))
        try tamper(table) { (rows) throws(StoreError) in
            try rows.put(gone.lookup, metadata: gone.metadata, secret: gone.secret)
        }
        #expect(try await store.verify().problems == [.extraItem("\(key("account 3"))")])
    }

    @Test func `an older manifest is noticed by an open store and by verify`() async throws {
        let (folder, store, table) = try await vault()
        let old = try table.read { (view) throws(StoreError) in try view.record("manifest") }
        try await store.save(secret("one more"), for: key("extra"))
        try tamper(table) { (rows) throws(StoreError) in try rows.put(record: "manifest", old ?? []) }
        #expect(await code(reading: 0, store) == .rolledBack)
        let error = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(error?.code == .corrupted)
        #expect(try await store.verify().isSound == false)
    }

    @Test func `a restored key slot, and a stranger's record, prevent the vault from opening`() async throws {
        let (folder, store, table) = try await vault()
        let before = try table.read { (view) throws(StoreError) in try view.records() }
        try await store.addSlot(passphrase("second"), name: .passphrase, cost: .cheap)
        let added = try table.read { (view) throws(StoreError) in try view.records() }
            .filter { !before.contains($0) }
        #expect(added.count == 1)
        try await store.removeSlot(.passphrase)
        try tamper(table) { (rows) throws(StoreError) in
            for record in added { try rows.put(record: record.name, record.content) }
        }
        let error = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(error?.code == .corrupted)
        let report = try await store.verify()
        #expect(report.problems.contains(.changedRecords))
    }

    private struct Cost: Sendable {
        let passes: UInt32
        let memory: UInt64
    }

    private static let hostileCosts = [
        Cost(passes: 17, memory: 8 << 20), Cost(passes: 3, memory: 1 << 40), Cost(passes: 0, memory: 8 << 20),
        Cost(passes: 1, memory: 0), Cost(passes: .max, memory: .max), Cost(passes: 1, memory: (1 << 30) + 1024),
    ]

    @Test(arguments: hostileCosts)
    private func `a slot that asks for too much work is refused without doing it`(_ cost: Cost) async throws {
        let folder = try VaultFolder()
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: passphrase("p"), cost: .cheap)
        let table = try SQLiteRowTable(path: folder.vault)
        let records = try table.read { (view) throws(StoreError) in try view.records() }
        let slot = try #require(records.first { $0.name.hasPrefix("slot/") })
        var writer = ByteWriter()
        writer.append(cost.passes)
        writer.append(cost.memory)
        var content = slot.content
        content.replaceSubrange(18..<30, with: writer.bytes)
        let hostile = content
        try tamper(table) { (rows) throws(StoreError) in try rows.put(record: slot.name, hostile) }
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("p"))
        }
        #expect(error?.code == .corrupted)
    }

    @Test func `a slot with cheaper costs doesn't open either`() async throws {
        let folder = try VaultFolder()
        let cost = try PassphraseCost(memoryByteCount: 16 << 20, passes: 2)
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: passphrase("p"), cost: cost)
        let table = try SQLiteRowTable(path: folder.vault)
        let records = try table.read { (view) throws(StoreError) in try view.records() }
        let slot = try #require(records.first { $0.name.hasPrefix("slot/") })
        var content = slot.content
        content[18] = 1
        let changed = content
        try tamper(table) { (rows) throws(StoreError) in try rows.put(record: slot.name, changed) }
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("p"))
        }
        #expect(error?.code == .wrongKey)
    }
}
