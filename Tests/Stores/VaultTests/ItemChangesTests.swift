import Foundation
import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeySystem
import Testing
import TestServices

@testable import LatchkeyVault

/// What listeners are told of others' changes, and that they aren't told of their own.
@Suite struct ItemChangesTests {
    /// Takes changes out of a stream, and waits for them.
    private final class Listener {
        private var iterator: AsyncStream<ItemChange>.Iterator

        init(_ stream: AsyncStream<ItemChange>) { iterator = stream.makeAsyncIterator() }

        func next() async throws -> ItemChange {
            guard let change = await iterator.next(isolation: #isolation) else { throw StoreError.timedOut }
            return change
        }
    }

    private func listen(_ store: some CollectionStore) async throws -> Listener {
        Listener(try await store.itemChanges(deadline: .standard))
    }

    @Test func `other stores' created, changed and deleted items are reported item by item`() async throws {
        let folder = try VaultFolder()
        let (mine, theirs) = (try await folder.store(), try await folder.store())
        let there = try await mine.create("there", attributes(["a": "0"])).item
        let listener = try await listen(mine)
        let made = try await theirs.create("1", attributes(["a": "1"])).item
        #expect(try await listener.next() == .created(made))
        let changed = try #require(
            try await theirs.setSecret("2", of: there.id, deadline: .standard))
        #expect(try await listener.next() == .changed(changed))
        let labelled = try #require(
            try await theirs.update(made.id, label: "new", attributes: nil, deadline: .standard))
        #expect(try await listener.next() == .changed(labelled))
        _ = try await theirs.delete(made.id, deadline: .standard)
        #expect(try await listener.next() == .deleted(made.id, collection: "login"))
    }

    @Test func `a change of a credential is reported as an item's, and a change of a session isn't`() async throws {
        let folder = try VaultFolder()
        let mine = try await folder.store()
        let listener = try await listen(mine)
        let other = try await folder.store()
        try await other.save(secret("s"), for: key("ada", kind: .session))
        try await other.save(secret("s"), for: key("ada"))
        guard case .created(let item) = try await listener.next() else { throw StoreError.timedOut }
        #expect(item.attributes == ItemAttributes(key("ada")))
        #expect(try await mine.text(item.id) == "s")
        try await other.delete(key("ada", kind: .session))
        try await other.delete(key("ada"))
        #expect(try await listener.next() == .deleted(item.id, collection: "login"))
    }

    @Test func `own changes are never reported, even between other stores' changes`() async throws {
        let folder = try VaultFolder()
        let (mine, theirs) = (try await folder.store(), try await folder.store())
        let listener = try await listen(mine)
        for number in 0..<10 {
            let own = try await mine.create("own", attributes(["a": "\(number)"])).item
            let other = try await theirs.create("other", attributes(["b": "\(number)"])).item
            _ = try await mine.setSecret("own again", of: own.id, deadline: .standard)
            let taken = try await mine.createCollection(label: "c\(number)", alias: nil, deadline: .standard)
            #expect(try await listener.next() == .created(other), "round \(number)")
            _ = try await mine.delete(own.id, deadline: .standard)
            _ = try await mine.deleteCollection(taken.name, deadline: .standard)
        }
    }

    @Test func `another store's change is reported although one that changes nothing follows it here`() async throws {
        let folder = try VaultFolder()
        let (mine, theirs) = (try await folder.store(), try await folder.store())
        let listener = try await listen(mine)
        let value = Box<Secret<Password>>(secret("s"))
        try mine.watch.own(mine) { (_) throws(StoreError) in
            _ = try theirs.commit(Cancellation(.standard)) { (transaction, change) throws(StoreError) in
                try theirs.write(
                    value.value, .key(key("ada")), label: "", contentType: "text/plain", replacing: nil,
                    in: transaction,
                    &change
                ).version
            }
            // As it is known after a transaction that changed nothing.
            _ = try mine.generation()
        }
        guard case .created(let item) = try await listener.next() else { throw StoreError.timedOut }
        #expect(item.attributes == ItemAttributes(key("ada")))
    }

    @Test func `changes that can't be reported item by item are reported as unknown`() async throws {
        let folder = try VaultFolder()
        let mine = try await folder.store()
        let other = try await folder.store()
        let item = try await mine.create("s", attributes(["a": "1"])).item
        let listener = try await listen(mine)
        _ = try await other.setLabel("new", ofCollection: "login", deadline: .standard)
        #expect(try await listener.next() == .unknown)
        try await other.rekey()
        #expect(try await listener.next() == .unknown)
        // And then it goes on.
        let made = try await other.create("t", attributes(["a": "2"])).item
        #expect(try await listener.next() == .created(made))
        #expect(try await mine.item(item.id, deadline: .standard) == nil)
        #expect(try await mine.search(attributes(["a": "1"])).count == 1)
        try await other.fill((0..<1001).map { key("\($0)") }, with: secret("s"))
        #expect(try await listener.next() == .unknown)
    }

    @Test func `another process's change is reported too`() async throws {
        let folder = try VaultFolder()
        let mine = try await folder.store()
        let listener = try await listen(mine)
        let run = try await BuiltProducts.program("vault-writer").run(
            ["save", folder.vault, folder.keyFile, "p", "1"], environment: [:], folder: folder.path)
        #expect(run.status == 0)
        guard case .created(let item) = try await listener.next() else { throw StoreError.timedOut }
        #expect(item.attributes == attributes(["service": "writer", "username": "p/0"]))
    }

    @Test func `a vault without a file can't report changes`() async throws {
        let keys = try VaultKeys.random(.random())
        let store = try VaultStore(table: MemoryRowTable.vault(keys), keys: keys, now: { .now() })
        let refused = await refusal { () async throws(StoreError) in
            _ = try await store.itemChanges(deadline: .standard)
        }
        #expect(refused?.code == .unavailable)
    }
}
