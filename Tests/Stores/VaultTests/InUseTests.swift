import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeySystem
import Synchronization
import Testing
import TestServices

@testable import LatchkeyVault

/// Someone writes to the vault without its key while it is used: it is noticed before anything is read or changed.
///
/// The writer is a program in Python that knows the format's document and nothing of this code.
@Suite struct InUseTests {
    static let script = TestData.folder().appendingPathComponent("attack_vault.py").path

    private func attack(_ folder: VaultFolder, _ arguments: String...) async throws {
        // Debian's own Python is the one that has python3-nacl.
        try await Program("/usr/bin/python3").run([Self.script, folder.vault] + arguments).successful("attack")
    }

    /// For attacks that must spare the other items.
    private func place(of name: String, in store: VaultStore) throws -> String {
        let found = try store.file.read { (view) throws(StoreError) in
            try view.heading(store.keys.lookup(of: key(name)))?.place
        }
        return "\(try #require(found))"
    }

    private func filled(_ folder: VaultFolder, _ count: Int) async throws -> VaultStore {
        let store = try await folder.store()
        for index in 0..<count { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        return store
    }

    private func never(_ folder: VaultFolder) async throws(StoreError) -> VaultStore {
        try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .never)
    }

    enum Attack: String, CaseIterable, Sendable {
        case replay, delete, reinsert, double, move, misdirect, damage
    }

    /// A vault of `count` items that was attacked while a store had it open.
    private func attacked(_ kind: Attack, _ count: Int = 40) async throws -> (VaultFolder, VaultStore) {
        let folder = try VaultFolder()
        let store = try await filled(folder, count)
        let old = folder.path + "/old"
        try folder.replace(old, with: try folder.contents())
        switch kind {
        case .replay:
            try await store.save(secret("newer"), for: key("7"))
            try await attack(folder, "replay", old)
        case .reinsert:
            try await store.delete(key("7"))
            try await attack(folder, "reinsert", old)
        default: try await attack(folder, kind.rawValue)
        }
        return (folder, store)
    }

    @Test(arguments: Attack.allCases)
    func `an attack on a row is noticed by opening, reading, listing, saving, rekeying and exporting`(
        _ kind: Attack
    ) async throws {
        let (folder, store) = try await attacked(kind)
        let before = try folder.contents()
        func expectRefusal(_ what: String, _ body: () async throws(StoreError) -> Void) async {
            let error = await refusal(of: body)
            #expect(error?.code == .corrupted, "\(what): \(error.map { "\($0)" } ?? "unnoticed")")
        }
        // A secret that doesn't open is no matter of the set: the read that meets it notices.
        if kind != .damage {
            await expectRefusal("open") { () async throws(StoreError) in _ = try await folder.store() }
            for name in ["0", "7", "39", "missing"] {
                await expectRefusal("read \(name)") { () async throws(StoreError) in
                    _ = try await store.text(key(name))
                }
            }
            await expectRefusal("list") { () async throws(StoreError) in _ = try await store.list().all() }
            await expectRefusal("save") { () async throws(StoreError) in
                try await store.save(secret("x"), for: key("new"))
            }
            await expectRefusal("delete") { () async throws(StoreError) in try await store.delete(key("3")) }
            await expectRefusal("slots") { () async throws(StoreError) in
                try await store.addSlot(passphrase("p"), name: .passphrase, cost: .cheap)
            }
        }
        await expectRefusal("rekey") { () async throws(StoreError) in try await store.rekey() }
        let unchecked = try await never(folder)
        await expectRefusal("rekey of an unchecked one") { () async throws(StoreError) in try await unchecked.rekey() }
        await expectRefusal("export") { () async throws(StoreError) in
            _ = try await unchecked.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        }
        let there = try VaultFolder()
        let target = try await there.store()
        await expectRefusal("import") { () async throws(StoreError) in
            _ = try await target.importAll(from: unchecked, onConflict: .replace)
        }
        #expect(try folder.contents() == before)
        #expect(!folder.names.contains("export"))
        #expect(try await target.list().all().isEmpty)
        #expect(try await unchecked.verify().isSound == false)
    }

    // MARK: - Going on

    @Test func `verify names an item that is doubled, moved, damaged or extra, and the kind of other problems`()
        async throws
    {
        func problems(_ kind: Attack) async throws -> [VaultProblem] {
            let (folder, _) = try await attacked(kind)
            return try await never(folder).verify().problems
        }
        #expect(try await problems(.replay) == [.replayedItems])
        #expect(try await problems(.reinsert) == [.extraItem("\(key("7"))")])
        #expect(try await problems(.delete) == [.itemCount(expected: 40, found: 39)])
        #expect(try await problems(.misdirect).contains(.brokenStructure))
        for (kind, name) in [(Attack.double, "duplicateItem"), (.move, "movedItem"), (.damage, "damagedItem")] {
            let found = try await problems(kind)
            #expect(found.count == 1 && "\(found)".contains(name) && "\(found)".contains("example.org"), "\(found)")
        }
    }

    @Test(arguments: Attack.allCases)
    func `the remaining items can be accepted, and then verify, rekey, export and import work again`(
        _ kind: Attack
    ) async throws {
        let (folder, store) = try await attacked(kind)
        let unchecked = try await never(folder)
        if kind == .misdirect {
            // SQLite's own tree is broken: nothing can be changed in it.
            let before = try folder.contents()
            let error = await refusal { () async throws(StoreError) in try await unchecked.acceptItems() }
            #expect(error?.code == .corrupted)
            #expect(try folder.contents() == before)
            return
        }
        let done = try await unchecked.acceptItems()
        #expect(done.dropped.count == ([.double, .reinsert, .damage].contains(kind) ? 1 : 0))
        #expect(done.restored.count == (kind == .move ? 1 : 0))
        // Nothing is lost where the one that is too many or in the wrong place could be told.
        switch kind {
        case .replay: #expect(done.lost == .replayedItems)
        case .delete, .damage: #expect(done.lost == .itemCount(expected: 40, found: 39))
        default: #expect(done.lost == nil)
        }
        for store in [store, try await folder.store()] {
            #expect(try await store.verify().problems == [])
            #expect(try await store.list().all().count == done.itemCount)
            let text = try await store.text(key("7"))
            switch kind {
            case .replay: #expect(text == "secret 7")
            case .reinsert: #expect(text == nil)
            case .double, .move: #expect(text == "secret 7")
            default: break
            }
        }
        #expect(try await store.rekey() == done.itemCount)
        let export = folder.path + "/export"
        #expect(try await store.export(to: export, unlockedBy: .keyFile(folder.keyFile)).itemCount == done.itemCount)
        let again = try await folder.store().acceptItems()
        #expect(again == VaultAcceptance(itemCount: done.itemCount, dropped: [], restored: [], lost: nil))
    }

    @Test func `of two rows of one item the one that was saved last stays`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 3)
        let old = try store.file.read { (view) throws(StoreError) in
            try view.items(after: nil, limit: 9).map(\.place).map { place throws(StoreError) in
                try view.withItem(place: place) { (heading, secret) throws(StoreError) in
                    (heading, [UInt8](copying: secret))
                }!
            }
        }
        for index in 0..<3 { try await store.save(secret("newer \(index)"), for: key("\(index)")) }
        // Each beside its newer one: the older ones could as well be what was saved last, by their times.
        for (heading, secret) in old {
            try store.file.write(Cancellation(.standard)) { (rows) throws(StoreError) in
                let new = try rows.withItem(place: heading.place) { (found, bytes) throws(StoreError) in
                    (found, [UInt8](copying: bytes))
                }!
                try rows.remove(place: heading.place)
                try rows.put(heading.lookup, metadata: heading.metadata, secret: secret)
                try rows.connection.execute("UPDATE items SET place = place + 2 WHERE place = \(heading.place)")
                try rows.connection.execute(
                    "INSERT INTO items VALUES(\(heading.place), x'\(Hexadecimal.encode(new.0.lookup))', "
                        + "x'\(Hexadecimal.encode(new.0.metadata))', x'\(Hexadecimal.encode(new.1))')")
            }
        }
        let unchecked = try await never(folder)
        #expect(try await unchecked.acceptItems().dropped.count == 3)
        for index in 0..<3 { #expect(try await folder.store().text(key("\(index)")) != nil) }
        #expect(try await folder.store().verify().problems == [])
    }

    /// An open store looks at the file's change counter, as SQLite does. Docs/Explanation/threats.md says so.
    @Test func `an attack that keeps the change counter is noticed by the next opening, and by all after any save`()
        async throws
    {
        let folder = try VaultFolder()
        let store = try await filled(folder, 40)
        let before = try folder.contents()
        try await attack(folder, "delete", try place(of: "7", in: store))
        // Bytes 24 to 27 of the header, and the checksum of its page.
        var page = Array(try folder.contents().prefix(4096))
        page.replaceSubrange(24..<28, with: before[24..<28])
        var span = page.mutableSpan
        PageSealedFiles.seal(page: 1, &span)
        try folder.replace(with: page + folder.contents().dropFirst(4096))
        #expect(try await store.text(key("39")) == "secret 39")
        let opened = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(opened?.code == .corrupted)
        try await never(folder).save(secret("new"), for: key("new"))
        let read = await refusal { () async throws(StoreError) in try await store.text(key("7")) }
        #expect(read?.code == .corrupted)
    }

    // MARK: - How much is compared

    @Test func `saves, own and others', don't count as attacks, and own ones cost no walk`() async throws {
        let folder = try VaultFolder()
        let (one, two) = (try await filled(folder, 20), try await folder.store())
        for round in 0..<20 {
            try await one.save(secret("\(round)"), for: key("\(round)"))
            // Its own commit is the last: the state is known without another look.
            #expect(one.known.withLock { $0 }.mark != nil)
            #expect(try await one.text(key("\(round)")) == "\(round)")
            try await two.save(secret("two"), for: key("two \(round)"))
            #expect(try await one.text(key("two \(round)")) == "two")
        }
        #expect(try await one.verify().problems == [])
    }

    @Test func `above ten thousand items a read doesn't notice an attack, and a walk through all does`() async throws {
        let folder = try VaultFolder()
        try await folder.fill(0..<ItemCheck.limit + 1)
        try await attack(folder, "delete", try place(of: "7", in: try await folder.store()))
        let store = try await folder.store()
        _ = try await store.text(key("1"))
        let before = try folder.contents()
        let opened = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .always)
        }
        let rekeyed = await refusal { () async throws(StoreError) in try await store.rekey() }
        let exported = await refusal { () async throws(StoreError) in
            try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        }
        for error in [opened, rekeyed, exported] { #expect(error?.code == .corrupted) }
        #expect(try folder.contents() == before)
        #expect(
            try await store.verify().problems
                == [.itemCount(expected: UInt64(ItemCheck.limit) + 1, found: ItemCheck.limit)])
        // One more, and it is a small vault.
        try await attack(folder, "delete")
        #expect(try await store.verify().isSound == false)
    }
}
