import Credentials
import Foundation
import Synchronization
import Testing

@testable import Vault

/// Where items stand in the file.
@Suite struct PlaceTests {
    private func places(_ store: VaultStore) throws -> [Int64] {
        try store.rows.table.read { (view) throws(StoreError) in try view.items(after: nil, limit: 10_000) }
            .map(\.place)
    }

    private func place(_ account: String, _ store: VaultStore) throws -> Int64? {
        try store.rows.current { (view, state) throws(StoreError) in
            try view.heading(state.keys[0].lookup(of: key(account)))?.place
        }
    }

    @Test func `places show no order, stay at an overwrite, and are drawn anew otherwise`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        defer { withExtendedLifetime(folder) {} }
        var saved: [Int64] = []
        for index in 0..<64 {
            try await store.save(secret("s"), for: key("\(index)"))
            saved.append(try #require(try place("\(index)", store)))
        }
        // By chance in order, or all in one half: once in 2^63.
        #expect(saved != saved.sorted() && saved != saved.sorted(by: >))
        #expect(Set(saved.map { $0 >> 62 }) == [0, 1])
        try await store.save(secret("other"), for: key("7"))
        #expect(try place("7", store) == saved[7])
        try await store.delete(key("7"))
        try await store.save(secret("s"), for: key("7"))
        #expect(try place("7", store) != saved[7])
        _ = try await store.rotateDataKey()
        #expect(Set(try places(store)).isDisjoint(with: saved))
    }

    @Test func `a place that is taken is drawn again, and its item stays`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let draws = Mutex<[Int64]>([5, 5, 5, 9, 5])
        let table = try SQLiteRowTable(path: folder.vault) { draws.withLock { $0.removeFirst() } }
        let items = (0..<3).map { [UInt8](repeating: $0, count: 32) }
        try table.write(Patience(.standard)) { (rows) throws(StoreError) in
            for item in items.prefix(2) { try rows.put(item, metadata: item, secret: item) }
            // There already: the drawn place doesn't matter, whether it is free or not.
            try rows.put(items[1], metadata: [7], secret: [8])
        }
        #expect(draws.withLock { $0 } == [])
        let found = try table.read { (view) throws(StoreError) in try view.items(after: nil, limit: 9) }
        #expect(found.map(\.place) == [5, 9])
        #expect(found.map(\.lookup) == Array(items.prefix(2)))
        #expect(found.map(\.metadata) == [items[0], [7]])
        #expect(try places(store) == [5, 9])
        draws.withLock { $0 = Array(repeating: 9, count: 8) }
        #expect(throws: StoreError.self) {
            try table.write(Patience(.standard)) { (rows) throws(StoreError) in
                try rows.put(items[2], metadata: [], secret: [])
            }
        }
        #expect(try places(store) == [5, 9])
    }
}
