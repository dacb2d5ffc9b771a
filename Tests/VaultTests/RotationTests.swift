import Credentials
import Foundation
import TestServices
import Testing

@testable import Vault

/// Resealing under a new data key: alone, cut off, and beside others.
@Suite struct RotationTests {
    private func filled(_ folder: VaultFolder, _ count: Int) async throws -> VaultStore {
        let store = try await folder.store()
        for index in 0..<count { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        return store
    }

    private func expectAll(_ count: Int, in store: VaultStore) async throws {
        for index in 0..<count {
            let text = try await store.text(key("\(index)"))
            #expect(text == "secret \(index)")
        }
    }

    private func keyNumbers(_ store: VaultStore) throws -> [UInt32] {
        try store.rows.current { (view, state) throws(StoreError) in
            // A view begins with the first look into it.
            _ = try view.record(Manifest.recordName)
            return state.keys.map(\.number)
        }
    }

    private func rows(_ store: VaultStore) throws -> [ItemHeading] {
        try store.rows.table.read { (view) throws(StoreError) in try view.items(after: nil, limit: 10_000) }
    }

    @Test func `everything is sealed anew, the old key is gone, and versions stay`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 600)
        let before = try await store.list().all()
        let sealed = try rows(store)
        let rotation = try await store.rotateDataKey()
        #expect(rotation == VaultRotation(resealedCount: 600, wasResumed: false))
        #expect(try keyNumbers(store) == [2])
        try await expectAll(600, in: store)
        let after = try await store.list().all()
        #expect(Set(after) == Set(before))
        #expect(try await store.verify().problems == [])
        try await expectAll(600, in: try await folder.store())
        // Nothing of the old rows is left in the file or beside it.
        for name in ["vault", "vault-journal"] {
            let bytes = Data(try folder.contents(folder.path + "/" + name))
            for row in sealed {
                #expect(bytes.range(of: Data(row.lookup)) == nil)
                #expect(bytes.range(of: Data(row.metadata.prefix(48))) == nil)
            }
        }
    }

    @Test func `an empty vault and one large secret are rotated too`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        #expect(try await store.rotateDataKey().resealedCount == 0)
        let large = String(repeating: "x", count: 5 << 20)
        for name in ["a", "b", "c"] { try await store.save(secret(large + name), for: key(name)) }
        #expect(try await store.rotateDataKey().resealedCount == 3)
        #expect(try keyNumbers(store) == [3])
        for name in ["a", "b", "c"] {
            let isWhole = try await store.text(key(name)) == large + name
            #expect(isWhole)
        }
    }

    @Test func `a vault between two keys is read, changed and verified as always, and the next call goes on`()
        async throws
    {
        let folder = try VaultFolder()
        let store = try await filled(folder, 600)
        let begun = try await store.rows.beginRotation(deadline: .standard)
        let cut = try await store.rows.resealBatch(of: begun, deadline: .standard)
        #expect(!cut.isFinished && cut.resealedCount > 0 && cut.resealedCount < 600)
        #expect(cut.fraction > 0.2 && cut.fraction < 0.7)
        for store in [store, try await folder.store()] {
            #expect(try keyNumbers(store) == [2, 1])
            try await expectAll(600, in: store)
            #expect(try await store.list().all().count == 600)
            #expect(try await store.list(service: "example.org").all().count == 600)
            #expect(try await store.verify().problems == [])
        }
        for index in 0..<40 { try await store.save(secret("new \(index)"), for: key("\(index)")) }
        for index in 40..<60 {
            let wasThere = try await store.delete(key("\(index)"))
            #expect(wasThere)
        }
        #expect(try await store.verify().problems == [])
        let rotation = try await store.rotateDataKey()
        #expect(rotation.wasResumed && rotation.resealedCount < 600 - cut.resealedCount)
        #expect(try keyNumbers(store) == [2])
        #expect(try await store.text(key("7")) == "new 7")
        #expect(try await store.text(key("50")) == nil)
        #expect(try await store.text(key("599")) == "secret 599")
        #expect(try await store.verify().itemCount == 580)
    }

    @Test func `a rotation that another process finished, and began anew, harms nothing`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 600)
        let begun = try await store.rows.beginRotation(deadline: .standard)
        let stale = try await store.rows.resealBatch(of: begun, deadline: .standard)
        _ = try await store.rotateDataKey()
        _ = try await store.rows.beginRotation(deadline: .standard)
        let over = try await store.rows.resealBatch(of: stale, deadline: .standard)
        #expect(over.isFinished && over.resealedCount == stale.resealedCount)
        #expect(try keyNumbers(store) == [3, 2])
        try await expectAll(600, in: store)
    }

    @Test func `a listing misses nothing while items move`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 600)
        var cursor: ListingCursor?
        var seen: Set<CredentialKey> = []
        var pages = 0
        repeat {
            let page = try await store.page(service: nil, after: cursor, deadline: .standard)
            seen.formUnion(page.entries.map(\.key))
            cursor = page.next
            pages += 1
            // In the middle of it everything moves, more than once.
            if pages == 2 || pages == 4 { _ = try await store.rotateDataKey() }
            if pages == 6 {
                let begun = try await store.rows.beginRotation(deadline: .standard)
                _ = try await store.rows.resealBatch(of: begun, deadline: .standard)
            }
        } while cursor != nil
        #expect(seen.count == 600)
    }

    @Test func `a cursor of another making is refused`() async throws {
        let store = try await VaultFolder().store()
        for bytes: [UInt8] in [[], [1], [1, 0, 0, 0, 5], [9, 0, 0, 0], Array(repeating: 1, count: 37)] {
            let error = await refusal { () async throws(StoreError) in
                try await store.page(service: nil, after: ListingCursor(bytes: bytes), deadline: .standard)
            }
            #expect(error?.code == .unsupported)
        }
    }

    @Test func `an item that can't be opened stops it, and both keys stay`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 20)
        let row = try #require(try rows(store).last)
        try store.rows.table.write(Patience(.standard)) { (transaction) throws(StoreError) in
            try transaction.put(row.lookup, metadata: row.metadata, secret: Array(repeating: 7, count: 296))
        }
        let error = await refusal { () async throws(StoreError) in try await store.rotateDataKey() }
        #expect(error?.code == .corrupted)
        #expect(try keyNumbers(store) == [2, 1])
        #expect(try await store.list().all().count == 20)
    }

    @Test func `an older state that was put back doesn't take the newer one's place`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 3)
        let (row, old) = try store.rows.table.read { (view) throws(StoreError) in
            let row = try view.items(after: nil, limit: 1)[0]
            return (row, try view.withItem(row.lookup) { (_, secret) throws(StoreError) in [UInt8](copying: secret) })
        }
        _ = try await store.rows.beginRotation(deadline: .standard)
        for index in 0..<3 { try await store.save(secret("new"), for: key("\(index)")) }
        let replayed = try #require(old)
        try store.rows.table.write(Patience(.standard)) { (transaction) throws(StoreError) in
            try transaction.put(row.lookup, metadata: row.metadata, secret: replayed)
        }
        let error = await refusal { () async throws(StoreError) in try await store.rotateDataKey() }
        #expect(error?.code == .corrupted)
        for index in 0..<3 { #expect(try await store.text(key("\(index)")) == "new") }
    }
}
