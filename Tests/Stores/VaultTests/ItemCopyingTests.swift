import Foundation
import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeySecrets
import Testing

@testable import LatchkeyVault

/// Items and collections from one vault to another, and under another key.
@Suite struct ItemCopyingTests {
    /// A vault with items of two collections, and a credential.
    private func sample() async throws -> (VaultFolder, VaultStore) {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let items = store
        let work = try await items.createCollection(label: "Work keys", alias: "work", deadline: .standard)
        _ = try await items.createCollection(label: "Empty", alias: nil, deadline: .standard)
        for number in 0..<5 {
            _ = try await items.create(
                [UInt8(number), 0xFF], contentType: "application/x-odd",
                attributes: attributes(["all": "same", "own": "\(number)"]), label: "item \(number)",
                in: number == 0 ? work.name : "login", replacing: false, deadline: .standard)
        }
        try await store.save(secret("s"), for: key("ada"))
        return (folder, store)
    }

    /// What is there but ids, in an order that is the same everywhere.
    private func content(_ store: VaultStore) async throws -> [String] {
        let items = store
        var content = try await items.collections(deadline: .standard).map { "\($0)" }
        for item in try await items.search(ItemAttributes()) {
            let secret = try #require(try await items.exposed(item.id))
            content.append(
                "\(item.collection) \(item.attributes) \(item.label) \(item.contentType) \(item.created) "
                    + "\(item.modified) \(item.version!) \(secret.bytes)")
        }
        for number in 0..<5 {
            let found = try await items.search(attributes(["own": "\(number)"])).map(\.label)
            content.append("\(number): \(found)")
        }
        return content.sorted()
    }

    @Test func `a rekeyed vault and an export have the same items and collections, under other ids`() async throws {
        let (folder, store) = try await sample()
        let before = try await content(store)
        let ids = Set(try await store.search(ItemAttributes()).map(\.id))
        let exported = try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        #expect(exported.itemCount == 6)
        let export = try await VaultStore.open(at: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        #expect(try await store.rekey() == 6)
        for store in [store, export] {
            #expect(try await content(store) == before)
            #expect(ids.isDisjoint(with: try await store.search(ItemAttributes()).map(\.id)))
            #expect(try await store.verify().problems == [])
        }
    }

    @Test func `an import adds items and collections, once`() async throws {
        let (here, source) = try await sample()
        defer { withExtendedLifetime(here) {} }
        let there = try VaultFolder()
        let target = try await there.store()
        let items = target
        let other = try await items.createCollection(label: "mine", alias: "work", deadline: .standard)
        let first = try await target.importAll(from: source, onConflict: .refuse)
        #expect(first.addedCount == 6)
        let again = try await target.importAll(from: source, onConflict: .refuse)
        #expect(again.keptCount == 6 && again.addedCount == 0)
        let collections = try await items.collections(deadline: .standard)
        #expect(collections.map(\.label).sorted() == ["Empty", "Latchkey", "Work keys", "mine"])
        // An alias that is taken stays where it is.
        #expect(collections.filter { $0.aliases.contains("work") }.map(\.name) == [other.name])
        #expect(try await items.found(["all": "same"]).count == 5)
        #expect(try await items.items(in: "Work_20keys", deadline: .standard).count == 1)
        #expect(try await target.verify().problems == [])
    }

    /// The imported one was read instead, whatever the choice was.
    @Test func `what is read as a credential here is in conflict with an imported one`() async throws {
        let (here, there) = (try VaultFolder(), try VaultFolder())
        let (source, target) = (try await here.store(), try await there.store())
        let python = attributes(["service": "example.org", "username": "ada", "application": "Python"])
        _ = try await target.create("old", python)
        try await source.save(secret("new"), for: key("ada"))
        let refused = await refusal { () async throws(StoreError) in
            _ = try await target.importAll(from: source, onConflict: .refuse)
        }
        #expect(refused?.code == .conflict)
        #expect(try await target.importAll(from: source, onConflict: .keep).keptCount == 1)
        #expect(try await target.text(key("ada")) == "old")
        #expect(try await target.importAll(from: source, onConflict: .replace).replacedCount == 1)
        #expect(try await target.text(key("ada")) == "new")
        #expect(try await target.search(ItemAttributes()).map(\.attributes) == [python])
        #expect(try await target.importAll(from: source, onConflict: .refuse).keptCount == 1)
        #expect(try await target.verify().problems == [])
        // So is an item that the same program made there.
        let elsewhere = try VaultFolder()
        let third = try await elsewhere.store()
        _ = try await third.create("third", python)
        let again = await refusal { () async throws(StoreError) in
            _ = try await target.importAll(from: third, onConflict: .refuse)
        }
        #expect(again?.code == .conflict)
        #expect(try await target.importAll(from: third, onConflict: .keep).keptCount == 1)
        #expect(try await target.text(key("ada")) == "new")
        #expect(try await target.importAll(from: third, onConflict: .replace).replacedCount == 1)
        #expect(try await target.text(key("ada")) == "third")
        #expect(try await target.search(ItemAttributes()).count == 1)
        // A vault that has both is imported with both.
        _ = try await source.create("shadowed", python)
        let both = try VaultFolder()
        let copy = try await both.store()
        #expect(try await copy.importAll(from: source, onConflict: .refuse).addedCount == 2)
        #expect(try await copy.importAll(from: source, onConflict: .refuse).keptCount == 2)
        #expect(try await copy.text(key("ada")) == "new")
    }

    @Test func `a vault with only collections is imported too`() async throws {
        let (here, there) = (try VaultFolder(), try VaultFolder())
        let (source, target) = (try await here.store(), try await there.store())
        _ = try await source.createCollection(label: "Empty", alias: "e", deadline: .standard)
        _ = try await target.importAll(from: source, onConflict: .refuse)
        let found = try await target.collections(deadline: .standard)
        #expect(found.map(\.label) == ["Empty", "Latchkey"])
        #expect(found[0].aliases == ["e"])
    }

    @Test func `an item that was changed on both sides is refused by its label, kept or replaced`() async throws {
        let (folder, source) = try await sample()
        _ = try await source.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        let target = try await VaultStore.open(at: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        let (ours, theirs) = (target, source)
        for (items, value) in [(ours as any CollectionStore, "ours"), (theirs, "theirs")] {
            let item = try #require(try await items.search(attributes(["own": "3"])).first)
            _ = try await items.update(
                item.id, label: value, attributes: attributes(["all": "same", "of": value]), deadline: .standard)
        }
        let refused = await refusal { () async throws(StoreError) in
            _ = try await target.importAll(from: source, onConflict: .refuse)
        }
        #expect(
            refused?.code == .conflict && "\(refused!.cause)".contains("already contains another secret for theirs"))
        #expect(try await target.importAll(from: source, onConflict: .keep).keptCount == 6)
        #expect(try await ours.found(["of": "ours"]).count == 1)
        #expect(try await target.importAll(from: source, onConflict: .replace).replacedCount == 1)
        #expect(try await ours.found(["of": "ours"]) == [])
        #expect(try await ours.search(attributes(["of": "theirs"])).map(\.label) == ["theirs"])
        #expect(try await ours.found(["all": "same"]).count == 5)
        #expect(try await target.verify().problems == [])
    }

    @Test func `too many collections are refused before an import begins`() async throws {
        let (here, there) = (try VaultFolder(), try VaultFolder())
        let (source, target) = (try await here.store(), try await there.store())
        for (store, name) in [(source, "a"), (target, "b")] {
            for number in 0..<40 {
                _ = try await store.createCollection(
                    label: "\(name)\(number)", alias: nil, deadline: .standard)
            }
        }
        try await source.create("s", attributes(["a": "1"]))
        let refused = await refusal { () async throws(StoreError) in
            _ = try await target.importAll(from: source, onConflict: .refuse)
        }
        #expect(refused?.code == .conflict)
        #expect(try await target.search(ItemAttributes()) == [])
        #expect(try await target.collections(deadline: .standard).count == 41)
        for number in 40..<63 {
            _ = try await target.createCollection(label: "b\(number)", alias: nil, deadline: .standard)
        }
        let full = await refusal { () async throws(StoreError) in
            _ = try await target.createCollection(label: "more", alias: nil, deadline: .standard)
        }
        #expect(full?.code == .conflict)
    }

    @Test func `readable items of a damaged vault come with their attributes`() async throws {
        let (folder, store) = try await sample()
        let before = try await content(store)
        // A page of the index is damaged: all items can still be read, and none can be found.
        let table = try SQLiteRowTable(path: folder.vault)
        let root = try table.read { (view) throws(StoreError) in
            let statement = try view.connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'links'")
            _ = try statement.step()
            defer { statement.reset() }
            return Int(statement.integer(0))
        }
        var bytes = try folder.contents()
        bytes[(root - 1) * 4096 + 2000] ^= 1
        try folder.replace(with: bytes)
        let damaged = try await VaultStore.open(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .never)
        #expect(try await damaged.verify().problems.contains(.damagedPage(root)))
        let refused = await refusal { () async throws(StoreError) in
            _ = try await damaged.export(to: folder.path + "/no", unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(refused?.code == .corrupted)
        let exported = try await damaged.export(
            to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile), leavingOutDamaged: true)
        #expect(exported.itemCount == 6 && exported.missingCount == 0)
        let export = try await VaultStore.open(at: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        #expect(try await content(export) == before)
    }
}
