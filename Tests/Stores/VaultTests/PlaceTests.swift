import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeySystem
import Testing

@testable import LatchkeyVault

/// Where items stand in the table.
@Suite struct PlaceTests {
    private func rows(_ store: VaultStore) throws -> [ItemHeading] {
        try store.file.read { (view) throws(StoreError) in try view.items(after: nil, limit: 10_000) }
    }

    private func place(_ account: String, _ store: VaultStore) throws -> Int64? {
        try store.current { (view, state) throws(StoreError) in
            try view.heading(state.keys.lookup(of: key(account)))?.place
        }
    }

    private func tamper(_ store: VaultStore, _ sql: String) throws {
        try store.file.write(Cancellation(.standard)) { (rows) throws(StoreError) in
            try rows.connection.execute(sql)
        }
    }

    private func filled(_ folder: VaultFolder, _ count: Int) async throws -> VaultStore {
        let store = try await folder.store()
        for index in 0..<count { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        return store
    }

    @Test func `places follow from lookup values, and show no order`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 64)
        let saved = try (0..<64).map { try #require(try place("\($0)", store)) }
        #expect(try rows(store).allSatisfy { $0.place == ItemPlaces(of: $0.lookup).first })
        // By chance in order, or all in one half: once in 2^63.
        #expect(saved != saved.sorted() && saved != saved.sorted(by: >))
        #expect(Set(saved.map { $0 >> 62 }) == [0, 1])
        try await store.save(secret("other"), for: key("7"))
        #expect(try place("7", store) == saved[7])
        _ = try await store.rekey()
        #expect(Set(try rows(store).map(\.place)).isDisjoint(with: saved))
        // The same names in another vault.
        let other = try VaultFolder()
        let second = try await filled(other, 64)
        #expect(Set(try rows(second).map(\.place)).isDisjoint(with: saved))
    }

    @Test func `the first place comes from the lookup value, and all eight fit into a table`() {
        func places(_ head: [UInt8]) -> ItemPlaces { ItemPlaces(of: head + [UInt8](repeating: 0xAB, count: 24)) }
        #expect(places([6, 0, 0, 0, 0, 0, 0, 0]).first == 3)
        #expect(places([7, 0, 0, 0, 0, 0, 0, 0x80]).first == 0x4000_0000_0000_0003)
        #expect(places([1, 0, 0, 0, 0, 0, 0, 0]).first == 1)
        #expect(places([UInt8](repeating: 0, count: 8)).first == 1)
        #expect(places([UInt8](repeating: 0xFF, count: 8)).last == .max)
        #expect(places([UInt8](repeating: 0xFF, count: 8)).first == .max - 7)
        #expect(places([2, 0, 0, 0, 0, 0, 0, 0]).contains(8) && !places([2, 0, 0, 0, 0, 0, 0, 0]).contains(9))
        // What a forged row may have.
        #expect(ItemPlaces(of: []).first == 1)
    }

    // MARK: - Neighbours

    /// Look-up values that begin alike.
    private func alike(_ head: [UInt8], _ number: UInt8) -> [UInt8] { head + [UInt8](repeating: number, count: 24) }

    private func holdNeighbours(_ table: some RowTable, _ head: [UInt8]) throws {
        let first = ItemPlaces(of: head).first
        func write(_ body: @escaping (any RowTransaction) throws(StoreError) -> Void) throws(StoreError) {
            try table.write(Cancellation(.standard)) { (rows) throws(StoreError) in try body(rows) }
        }
        func items() throws -> [ItemHeading] {
            try table.read { (view) throws(StoreError) in
                // Page by page, as a listing goes.
                var found: [ItemHeading] = []
                while true {
                    let page = try view.items(after: found.last?.place, limit: 3)
                    if page.isEmpty { return found }
                    found += page
                }
            }
        }
        func secret(_ number: UInt8) throws -> [UInt8]? {
            try table.read { (view) throws(StoreError) in
                try view.withItem(alike(head, number)) { (_, secret) throws(StoreError) in [UInt8](copying: secret) }
            }
        }
        for number in 0..<8 as Range<UInt8> {
            #expect(try secret(number) == nil)
            try write { (rows) throws(StoreError) in
                try rows.put(alike(head, number), metadata: [number], secret: [number, number])
            }
        }
        #expect(try items().map(\.place) == (0..<8).map { first + $0 })
        #expect(try items().map(\.lookup) == (0..<8).map { alike(head, $0) })
        for number in 0..<8 as Range<UInt8> { #expect(try secret(number) == [number, number]) }

        // All eight are taken: a ninth is refused, and an overwrite is not.
        let refused = #expect(throws: StoreError.self) {
            try write { (rows) throws(StoreError) in try rows.put(alike(head, 9), metadata: [9], secret: [9]) }
        }
        #expect(refused?.code == .corrupted)
        try write { (rows) throws(StoreError) in try rows.put(alike(head, 5), metadata: [5], secret: [55]) }
        #expect(try secret(5) == [55] && secret(9) == nil)

        // What one leaves behind another takes; the rest stay where they are.
        try write { (rows) throws(StoreError) in
            try rows.remove(alike(head, 2))
            try rows.remove(alike(head, 6))
            try rows.put(alike(head, 5), metadata: [5], secret: [56])
            try rows.put(alike(head, 9), metadata: [9], secret: [9])
        }
        #expect(try items().map(\.lookup) == [0, 1, 9, 3, 4, 5, 7].map { alike(head, $0) })
        #expect(try items().map(\.place) == [0, 1, 2, 3, 4, 5, 7].map { first + $0 })
        #expect(try secret(2) == nil && secret(9) == [9] && secret(5) == [56] && secret(7) == [7, 7])
    }

    private static let heads: [[UInt8]] = [
        [UInt8](repeating: 0, count: 8), [UInt8](repeating: 0xFF, count: 8), [1, 2, 3, 4, 5, 6, 7, 8],
    ]

    @Test(arguments: heads)
    func `up to eight lookup values that begin alike are side by side`(_ head: [UInt8]) async throws {
        let folder = try VaultFolder()
        _ = try await folder.store()
        try holdNeighbours(try SQLiteRowTable(path: folder.vault), head)
        try holdNeighbours(MemoryRowTable([]), head)
    }

    // MARK: - Moved rows

    @Test func `an item that a stranger moved within its eight places is found as before`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 5)
        let row = try rows(store)[2]
        let name = try #require(
            try await store.list().all().map(\.key).first { try place($0.account, store) == row.place })
        func move(by step: Int) throws {
            let lookup = Hexadecimal.encode(row.lookup)
            try tamper(store, "UPDATE items SET place = place + \(step) WHERE lookup = x'\(lookup)'")
        }
        for step in [7, -4, -3] {
            try move(by: step)
            for index in 0..<5 {
                let text = try await store.text(key("\(index)"))
                #expect(text == "secret \(index)")
            }
            #expect(try await store.list().all().count == 5)
            #expect(try await store.verify().problems == [])
        }
        try move(by: 6)
        // It stays there when it is saved again, and goes when the vault is rekeyed.
        try await store.save(secret("new"), for: name)
        #expect(try rows(store)[2].place == row.place + 6)
        _ = try await store.rekey()
        #expect(try rows(store).allSatisfy { $0.place == ItemPlaces(of: $0.lookup).first })
        #expect(try await store.text(name) == "new")
        #expect(try await store.verify().problems == [])
    }

    @Test(arguments: ["place + 8", "place - 1", "1", "9223372036854775807", "-5"])
    func `an item that was moved away is reported by its name, and nothing is read until then`(
        _ there: String
    ) async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 5)
        let row = try rows(store)[2]
        let name = try #require(
            try await store.list().all().map(\.key).first { try place($0.account, store) == row.place })
        try tamper(store, "UPDATE items SET place = \(there) WHERE place = \(row.place)")
        #expect(try await store.verify().problems == [.movedItem("\(name)")])
        for name in [name, key("0"), key("missing")] {
            let read = await refusal { () async throws(StoreError) in try await store.text(name) }
            #expect(read?.code == .corrupted)
        }
        let listing = await refusal { () async throws(StoreError) in try await store.list().all() }
        #expect(listing?.code == .corrupted)
        let export = await refusal { () async throws(StoreError) in
            try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(export?.code == .corrupted)
        let rekeying = await refusal { () async throws(StoreError) in try await store.rekey() }
        #expect(rekeying?.code == .corrupted)
        #expect(!folder.names.contains("export"))
    }

    @Test func `a doubled item is noticed by verify, and neither changed nor deleted`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 5)
        let row = try rows(store)[2]
        let name = try #require(
            try await store.list().all().map(\.key).first { try place($0.account, store) == row.place })
        try tamper(
            store,
            "INSERT INTO items SELECT place + 3, lookup, metadata, secret FROM items WHERE place = \(row.place)")
        #expect(try await store.verify().problems == [.duplicateItem("\(name)")])
        let before = try folder.contents()
        let save = await refusal { () async throws(StoreError) in try await store.save(secret("new"), for: name) }
        #expect(save?.code == .corrupted)
        let deletion = await refusal { () async throws(StoreError) in try await store.delete(name) }
        #expect(deletion?.code == .corrupted)
        #expect(try folder.contents() == before)
    }

    // MARK: - Listing

    @Test func `a listing has each item once, whatever other stores save, replace and delete`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 450)
        var cursor: ListingCursor?
        var seen: [CredentialKey: Int] = [:]
        var round = 0
        repeat {
            let page = try await store.page(service: nil, after: cursor, deadline: .standard)
            for entry in page.entries { seen[entry.key, default: 0] += 1 }
            cursor = page.next
            for index in 0..<20 {
                try await store.save(secret("new"), for: key("new \(round) \(index)"))
                try await store.save(secret("replaced"), for: key("\(index * 20 + round)"))
                // Its look-up value leads it back to its place: it may not come before and after the cursor.
                let again = key("\(index * 20 + 10 + round)")
                try await store.delete(again)
                try await store.save(secret("again"), for: again)
            }
            round += 1
        } while cursor != nil
        #expect(seen.values.allSatisfy { $0 == 1 })
        #expect((0..<450).allSatisfy { seen[key("\($0)")] == 1 })
        #expect(round > 4)
    }
}
