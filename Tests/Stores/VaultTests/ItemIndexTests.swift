import Foundation
import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyVault

/// What the index shows without the key, and what is noticed when someone without the key changes it.
@Suite struct ItemIndexTests {
    private func links(_ folder: VaultFolder) throws -> [LinkRow] {
        try SQLiteRowTable(path: folder.vault).read { (view) throws(StoreError) in
            try view.links(after: nil, limit: 100_000)
        }
    }

    // MARK: - What it shows

    @Test func `a thousand items with an equal attribute show no equal bytes, and nothing of the list`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.fill((0..<1000).map { key("\($0)") }, with: secret("s"))
        let rows = try links(folder)
        // Two attributes each, one of them equal in all.
        #expect(rows.count == 2000)
        #expect(Set(rows.map { $0.token.count + $0.link.count }) == [16 + 48 + 40])
        let columns = rows.map { $0.token + $0.link }
        for start in 0..<columns[0].count - 6 {
            #expect(Set(columns.map { $0[start..<start + 6] }).count == rows.count, "from byte \(start) on")
        }
        let contents = Data(try folder.contents())
        for text in ["example.org", "service", "username"] { #expect(contents.range(of: Data(text.utf8)) == nil) }
    }

    @Test func `the file shows neither how many items have a value nor how many values exist`() async throws {
        var shapes: Set<[Int]> = []
        for kind in 0..<3 {
            let folder = try VaultFolder()
            let items = try await folder.store()
            for number in 0..<12 {
                let value = [0, number, number % 3][kind]
                try await items.create("s", attributes(["a": "same", "b": "\(value)"]))
            }
            shapes.insert(try links(folder).map { $0.token.count * 1000 + $0.link.count })
        }
        #expect(shapes.count == 1)
        #expect(shapes.first?.count == 24)
    }

    @Test func `the same items in two vaults with one key file, or after a rekeying, share no token`() async throws {
        let folder = try VaultFolder()
        let other = try VaultFolder()
        let store = try await folder.store()
        try other.replace(other.keyFile, with: try folder.contents(folder.keyFile))
        for store in [store, try await other.store()] { try await store.save(secret("s"), for: key("ada")) }
        let before = try links(folder)
        try await store.rekey()
        let all = [before, try links(other), try links(folder)].flatMap { $0.map(\.token) }
        #expect(all.count == 6 && Set(all).count == 6)
    }

    @Test func `a removed attribute leaves nothing in the file`() async throws {
        let folder = try VaultFolder()
        let items = try await folder.store()
        var gone: Set<[UInt8]> = []
        for number in 0..<40 { try await items.create("s", attributes(["a": "same", "b": "\(number)"])) }
        for item in try await items.search(ItemAttributes()).shuffled() {
            for row in try links(folder) {
                gone.insert(row.token)
                gone.insert(Array(row.link.prefix(24)))
            }
            if Bool.random() {
                _ = try await items.update(item.id, label: nil, attributes: attributes(["c": "1"]), deadline: .standard)
            } else {
                _ = try await items.delete(item.id, deadline: .standard)
            }
        }
        for row in try links(folder) {
            gone.remove(row.token)
            gone.remove(Array(row.link.prefix(24)))
        }
        let contents = Data(try folder.contents())
        #expect(gone.count > 100)
        #expect(gone.count { contents.range(of: Data($0)) != nil } == 0)
    }

    // MARK: - What it costs

    @Test func `a search opens only its results, however common the other attributes are`() async throws {
        let keys = try VaultKeys.random(.random())
        let table = try MemoryRowTable.vault(keys)
        let store = try VaultStore(
            table: table, keys: keys, itemCheck: .never, now: { .now() })
        let items = store
        try await store.change(until: .after(.seconds(600))) { (transaction, change) throws(StoreError) in
            for number in 0..<10_000 {
                let row = Row(
                    name: .attributes(
                        attributes(["schema": "common", "rare": "\(number / 3)"]), in: "login",
                        id: Octets16([1] + String(number).utf8)),
                    label: "", contentType: "", created: UnixTime(seconds: 1), modified: UnixTime(seconds: 1),
                    version: CredentialVersion(bytes: [UInt8](repeating: 1, count: 16)), secretByteCount: 1)
                try VaultStore.write(row, secret("s"), replacing: nil, in: transaction, &change)
            }
        }
        table.counter.begin()
        let found = try await items.search(attributes(["schema": "common", "rare": "17"]))
        #expect(found.count == 3)
        // Three items, and four links of each of the two lists.
        #expect(table.counter.value <= 3 + 2 * 4 + 1)
        table.counter.begin()
        #expect(try await items.search(attributes(["schema": "common", "rare": "none"])) == [])
        #expect(table.counter.value <= 3)
        // Without replacing it takes no search; with it, that of the rarest attribute.
        table.counter.begin()
        let again = try await items.create("new", attributes(["schema": "common", "rare": "17"]), replacing: true)
        #expect(!again.isNew)
        #expect(table.counter.value < 30)
    }

    // MARK: - What is noticed

    private static let script = TestData.folder().appendingPathComponent("attack_vault.py").path

    private func attack(_ folder: VaultFolder, _ arguments: String...) async throws {
        // Debian's own Python is the one that has python3-nacl.
        try await Program("/usr/bin/python3").run([Self.script, folder.vault] + arguments).successful("attack")
    }

    enum Attack: String, CaseIterable, Sendable {
        case unlink, relink, swaplinks, doublelink, emptyindex
    }

    /// A vault that was attacked while a store had it open.
    private func attacked(_ kind: Attack) async throws -> (VaultFolder, VaultStore, items: any CollectionStore) {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let items = store
        for number in 0..<30 {
            try await items.create(
                "\(number)", attributes(["all": "same", "own": "\(number)"]), label: "item \(number)")
        }
        try await store.save(secret("s"), for: key("ada"))
        #expect(try await items.search(attributes(["all": "same"])).count == 30)
        let old = folder.path + "/old"
        try folder.replace(old, with: try folder.contents())
        if kind == .relink {
            let gone = try #require(try await items.search(attributes(["own": "7"])).first)
            _ = try await items.delete(gone.id, deadline: .standard)
        }
        try await attack(folder, kind.rawValue, old)
        return (folder, store, items)
    }

    @Test(arguments: Attack.allCases)
    func `an attack on the index is noticed by searching, rekeying, exporting and importing`(
        _ kind: Attack
    ) async throws {
        let (folder, store, items) = try await attacked(kind)
        let before = try folder.contents()
        func expectRefusal(_ what: String, _ body: () async throws(StoreError) -> Void) async {
            let error = await refusal(of: body)
            #expect(error?.code == .corrupted, "\(what): \(error.map { "\($0)" } ?? "unnoticed")")
        }
        for items in [items, try await folder.store()] {
            await expectRefusal("search") { () async throws(StoreError) in
                _ = try await items.search(attributes(["all": "same"]))
            }
            await expectRefusal("search of what isn't there") { () async throws(StoreError) in
                _ = try await items.search(attributes(["all": "other"]))
            }
            await expectRefusal("list") { () async throws(StoreError) in
                _ = try await items.items(in: "other", deadline: .standard)
            }
        }
        await expectRefusal("rekey") { () async throws(StoreError) in try await store.rekey() }
        await expectRefusal("export") { () async throws(StoreError) in
            _ = try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        }
        let there = try VaultFolder()
        let target = try await there.store()
        await expectRefusal("import") { () async throws(StoreError) in
            _ = try await target.importAll(from: store, onConflict: .replace)
        }
        #expect(try folder.contents() == before)
        #expect(try await target.search(ItemAttributes()) == [])
        #expect(try await store.verify().problems == [.changedIndex])
        // What is no search goes on.
        #expect(try await store.text(key("ada")) == "s")
        #expect(try await store.list().all().count == 1)
        #expect(try await items.search(ItemAttributes()).count == (kind == .relink ? 30 : 31))
    }

    @Test(arguments: Attack.allCases)
    func `accepting the items makes the index anew`(_ kind: Attack) async throws {
        let (folder, store, items) = try await attacked(kind)
        let done = try await store.acceptItems()
        #expect(done.lost == nil && done.dropped == [] && done.restored == [] && done.hasNewIndex)
        #expect(try await store.verify().problems == [])
        for items in [items, try await folder.store()] {
            #expect(try await items.search(attributes(["all": "same"])).count == (kind == .relink ? 29 : 30))
            for number in 0..<30 where number != 7 || kind != .relink {
                #expect(try await items.search(attributes(["own": "\(number)"])).first?.label == "item \(number)")
            }
        }
        #expect(try await store.rekey() == done.itemCount)
    }

    /// As in a large vault, where nothing is compared before a search.
    @Test(arguments: Attack.allCases)
    func `a forged index can hide an item and never invent one`(_ kind: Attack) async throws {
        let (folder, _, _) = try await attacked(kind)
        let store = try await VaultStore.open(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .never)
        let items = store
        for wanted in [["all": "same"], ["own": "7"], ["own": "8"], ["all": "same", "own": "9"], ["all": "other"]] {
            let given = ItemAttributes(wanted.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) })!
            do throws(StoreError) {
                for item in try await items.search(given) {
                    #expect(item.attributes.contains(given))
                    #expect(kind != .relink || item.label != "item 7")
                }
            } catch {
                #expect(error.code == .corrupted)
            }
        }
        #expect(try await store.text(key("ada")) == "s")
    }

    @Test func `an inner page of the index that leads elsewhere is noticed`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.fill((0..<200).map { key("\($0)") }, with: secret("s"))
        #expect(try await store.search(attributes(["username": "7"])).count == 1)
        try await attack(folder, "misdirectindex")
        var refused = 0
        for number in 0..<200 {
            let error = await refusal { () async throws(StoreError) in
                try await store.search(attributes(["username": "\(number)"]))
            }
            if error?.code == .corrupted { refused += 1 }
        }
        #expect(refused == 200)
        #expect(try await store.verify().isSound == false)
    }

    /// As in a large vault, where nothing is compared before.
    @Test(arguments: ["swaprows", "swapsecrets"])
    func `a session and an item with exchanged rows are both unavailable`(_ kind: String) async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let session = key("ada", kind: .session)
        try await store.save(secret("session"), for: session)
        let item = try await store.create("item", attributes(["a": "1"])).item
        try await attack(folder, kind)
        let unchecked = try await VaultStore.open(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .never)
        let hidden = ItemID.vault(ItemHandle(of: store.keys.lookup(of: session)))
        #expect((try? await unchecked.text(hidden)) == nil)
        let refusals = [
            await refusal { () async throws(StoreError) in _ = try await unchecked.text(item.id) },
            await refusal { () async throws(StoreError) in _ = try await unchecked.text(session) },
        ]
        #expect(refusals.map(\.?.code) == [.corrupted, .corrupted])
        let listed = try? await unchecked.search(ItemAttributes()).map(\.id)
        #expect(listed == (kind == "swapsecrets" ? [item.id] : nil))
        #expect(try await unchecked.verify().problems.count == 2)
    }

    @Test func `a damaged item is named by its label`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.create("s", attributes(["a": "1"]), label: "Ada’s key")
        try await attack(folder, "damage")
        let problems = try await store.verify().problems.map { "\($0.logMessage)" }
        #expect(problems == ["item 1, Ada’s key, is damaged or forged"])
    }

    @Test func `other stores never see the old index while a store changes it`() async throws {
        let folder = try VaultFolder()
        let (one, two) = (try await folder.store(), try await folder.store())
        let (first, second) = (one, two)
        for number in 0..<20 {
            try await first.create("1", attributes(["all": "same"]))
            #expect(try await second.search(attributes(["all": "same"])).count == 2 * number + 1)
            try await second.create("2", attributes(["all": "same"]))
            #expect(try await first.search(attributes(["all": "same"])).count == 2 * number + 2)
        }
        #expect(try await one.verify().problems == [])
    }
}
