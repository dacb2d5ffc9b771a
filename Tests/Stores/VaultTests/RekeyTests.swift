import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import Synchronization
import Testing
import TestServices

@testable import LatchkeyVault

/// A new root key for a vault: what opened it before opens it no longer.
@Suite struct RekeyTests {
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

    private func rows(_ store: VaultStore) throws -> [ItemHeading] {
        try store.table.read { (view) throws(StoreError) in try view.items(after: nil, limit: 10_000) }
    }

    private func open(_ folder: VaultFolder, _ word: String) async throws(StoreError) -> VaultStore {
        try await VaultStore.open(at: folder.vault, unlockedBy: passphrase(word))
    }

    @Test func `a rekeying seals everything anew, ends the old keys, and keeps versions and slots`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 600)
        try await store.addSlot(passphrase("p"), name: .passphrase, cost: .cheap)
        let before = (try await store.list().all(), try await store.slots())
        let sealed = try rows(store)
        let old = store.keys
        #expect(try await store.rekey() == 600)
        #expect(store.keys.id != old.id && store.keys.vault == old.vault)
        try await expectAll(600, in: store)
        let after = (try await store.list().all(), try await store.slots())
        #expect(Set(after.0) == Set(before.0))
        #expect(after.1 == before.1)
        #expect(try await store.verify().problems == [])
        for opened in [try await folder.store(), try await open(folder, "p")] { try await expectAll(600, in: opened) }
        // Nothing of the old rows is left in the file or beside it.
        for name in ["vault", "vault-journal"] {
            let bytes = Data(try folder.contents(folder.path + "/" + name))
            for row in sealed {
                #expect(bytes.range(of: Data(row.lookup)) == nil)
                #expect(bytes.range(of: Data(row.metadata.prefix(48))) == nil)
            }
        }
    }

    @Test func `an empty vault and large secrets are rekeyed too, twenty times`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        #expect(try await store.rekey() == 0)
        let large = String(repeating: "x", count: 5 << 20)
        let secrets = ["a": large + "a", "b": "small", "c": large + "c"]
        for (name, text) in secrets { try await store.save(secret(text), for: key(name)) }
        for _ in 0..<20 { #expect(try await store.rekey() == 3) }
        for (name, text) in secrets {
            let isWhole = try await folder.store().text(key(name)) == text
            #expect(isWhole)
        }
    }

    // MARK: - Who is locked out

    /// The review's attack: `remove-slot` and a new data key left the root key as it was, which an old copy still held.
    @Test func `an old copy with a removed slot's passphrase doesn't open data saved after a rekeying`()
        async throws
    {
        let folder = try VaultFolder()
        let store = try await filled(folder, 3)
        try await store.addSlot(passphrase("stolen"), name: .passphrase, cost: .cheap)
        let copy = folder.path + "/copy"
        try folder.replace(copy, with: try folder.contents())
        #expect(try await store.removeSlot(.passphrase))
        let thief = try await VaultStore.open(at: copy, unlockedBy: passphrase("stolen"))
        let table = try SQLiteRowTable(path: folder.vault)
        func thiefsKeysFit() -> Bool {
            let record = try? table.read { (view) throws(StoreError) in try view.record(Manifest.recordName) }
            return (try? Manifest.open(record ?? [], thief.keys)) != nil
        }
        // This is what rekeying is for.
        #expect(thiefsKeysFit())
        try await store.rekey()
        try await store.save(secret("new"), for: key("new"))
        #expect(!thiefsKeysFit())
        // Nor does any record or row open under any of the keys that the thief has.
        let keys = thief.keys
        for row in try rows(store) { #expect(keys.open(row) == nil) }
        let records = try table.read { (view) throws(StoreError) in try view.records() }
        #expect((try? FormerKeys.open(records.first { $0.name == FormerKeys.recordName }?.content, keys)) == nil)
        for slot in try KeySlot.all(in: records) { #expect((try? slot.describe(keys)) == nil) }
        let refused = await refusal { () async throws(StoreError) in try await open(folder, "stolen") }
        #expect(refused?.code == .wrongKey)
        // The slot's record, put back from the copy, doesn't help.
        let slot = try #require(
            try thief.table.read { (view) throws(StoreError) in try view.records() }.first { record in
                record.name.hasPrefix("slot/") && record.content[1] == 1
            })
        try table.write(Cancellation(.standard)) { (rows) throws(StoreError) in
            try rows.put(record: slot.name, slot.content)
        }
        let again = await refusal { () async throws(StoreError) in try await open(folder, "stolen") }
        #expect(again?.code == .corrupted || again?.code == .wrongKey)
    }

    @Test func `a replaced passphrase opens nothing after a rekeying`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.addSlot(passphrase("old"), name: .passphrase, cost: .cheap)
        let thief = try await open(folder, "old")
        try await store.addSlot(passphrase("new"), name: .passphrase, replacing: .passphrase, cost: .cheap)
        try await store.rekey()
        try await store.save(secret("s"), for: key("ada"))
        let refused = await refusal { () async throws(StoreError) in try await thief.text(key("ada")) }
        #expect(refused?.code == .wrongKey)
        #expect(try await open(folder, "new").text(key("ada")) == "s")
    }

    // MARK: - Who goes on

    @Test(arguments: ["verify", "export", "export what is readable", "import from it"])
    func `a store that does nothing else follows the vault through any number of rekeyings`(_ work: String) async throws
    {
        let folder = try VaultFolder()
        try await folder.fill(0..<3)
        let (store, other) = (try await folder.store(), try await folder.store())
        let target = try VaultFolder()
        let copy = try await target.store()
        for round in 0...FormerKeys.capacity + 1 {
            try await other.rekey()
            switch work {
            case "verify": #expect(try await store.verify().problems == [])
            case "import from it": _ = try await copy.importAll(from: store, onConflict: .refuse)
            default:
                let export = try await store.export(
                    to: target.path + "/\(round)", unlockedBy: .keyFile(folder.keyFile),
                    leavingOutDamaged: work != "export")
                #expect(export.itemCount == 3)
            }
        }
    }

    @Test func `an open store continues through its slot: reading, listing, writing and adding slots`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 150)
        let others = [try await folder.store(), try await folder.store(), try await folder.store()]
        let page = try await others[1].page(service: nil, after: nil, deadline: .standard)
        for round in 1...3 {
            try await store.rekey()
            try await expectAll(150, in: others[0])
            // A listing misses nothing: it begins anew.
            var cursor = page.next
            var seen = Set(page.entries.map(\.key))
            repeat {
                let next = try await others[1].page(service: nil, after: cursor, deadline: .standard)
                seen.formUnion(next.entries.map(\.key))
                cursor = next.next
            } while cursor != nil
            #expect(seen.count == 150)
            let name = KeySlotName("round \(round)")!
            try await others[2].addSlot(passphrase("\(round)"), name: name, cost: .cheap)
            try await open(folder, "\(round)").save(secret("\(round)"), for: key("by \(round)"))
            #expect(try await others[2].text(key("by \(round)")) == "\(round)")
            #expect(try await others[0].delete(key("by \(round)")))
        }
        for store in others { #expect(try await store.verify().problems == []) }
    }

    @Test func `a slot made during another process's rekeying is sealed to the new key`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 2)
        let slot = try NewKeySlot(
            passphrase("p"), name: .passphrase, cost: .cheap, created: UnixTime(seconds: 1),
            vault: store.keys.vault)
        try await folder.store().rekey()
        try await store.addSlot(slot, replacing: nil, deadline: .standard)
        try await expectAll(2, in: try await open(folder, "p"))
    }

    @Test func `a vault that is rekeyed while it is being opened opens anyway`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 5)
        let (keys, slot) = (store.keys, store.slot)
        try await folder.store().rekey()
        // As it goes on that has read the slots before and the manifest after.
        let opened = try VaultStore(
            table: SQLiteRowTable(path: folder.vault), keys: keys, slot: slot, now: { .now() })
        #expect(try await opened.text(key("3")) == "secret 3")
    }

    @Test func `a cursor of another form is refused`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        for bytes: [UInt8] in [
            [], [1], [1, 0, 0, 0, 5], Array(repeating: 1, count: 23), Array(repeating: 1, count: 37),
        ] {
            let error = await refusal { () async throws(StoreError) in
                try await store.page(service: nil, after: ListingCursor(bytes: bytes), deadline: .standard)
            }
            #expect(error?.code == .unsupported)
        }
        withExtendedLifetime(folder) {}
    }

    // MARK: - What stops it

    @Test func `a kill at any moment leaves the old vault or the new one`() async throws {
        let folder = try VaultFolder()
        _ = try await filled(folder, 20)
        let memory = RollbackMemory(directory: folder.path + "/memory")
        var ids: Set<[UInt8]> = []
        var (rounds, done) = (0, 0)
        // Until some were done, too: a machine that is busy kills all of them in the middle.
        while rounds < (runsLong ? 1000 : 8) || ids.count < 3 {
            let victim = try BuiltProducts.program("vault-writer").start(
                ["rekey", folder.vault, folder.keyFile, "-", "100000"],
                environment: ["VAULT_MEMORY": memory.directory], folder: folder.path)
            try await victim.wait(for: "open") { victim.outputSoFar.contains("open") }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...30_000 * (1 + rounds / 8))))
            victim.kill()
            let run = try await victim.finish()
            #expect(run.status == 137, "\(run.outputText.suffix(300))")
            done += run.outputText.split(separator: "\n").count { $0.hasPrefix("rekeyed") }
            let store = try await VaultStore.open(
                at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory)
            try await expectAll(20, in: store)
            #expect(try await store.verify().problems == [])
            ids.insert(store.keys.id)
            rounds += 1
        }
        print("rekeying, \(rounds) kills: \(done) said to be done between them, \(ids.count) keys seen")
    }

    @Test func `an item that can't be opened stops a rekeying, and nothing is changed`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 20)
        let row = try #require(try rows(store).last)
        try store.table.write(Cancellation(.standard)) { (transaction) throws(StoreError) in
            try transaction.put(row.lookup, metadata: row.metadata, secret: Array(repeating: 7, count: 296))
        }
        let before = try folder.contents()
        let error = await refusal { () async throws(StoreError) in try await store.rekey() }
        #expect(error?.code == .corrupted)
        #expect(try folder.contents() == before)
    }

    @Test func `a slot or record of a newer kind stops a rekeying, and nothing is changed`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 2)
        for name in ["slot/" + String(repeating: "0", count: 32), "future"] {
            try store.commit(Cancellation(.standard)) {
                (transaction, change) throws(StoreError) in
                try transaction.put(record: name, [9, 9])
                change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
            }
            let before = try folder.contents()
            let error = await refusal { () async throws(StoreError) in try await store.rekey() }
            #expect(error?.code == .unsupported)
            #expect(try folder.contents() == before)
            try store.commit(Cancellation(.standard)) {
                (transaction, change) throws(StoreError) in
                try transaction.remove(record: name)
                change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
            }
        }
        #expect(try await store.rekey() == 2)
    }

    @Test func `a rekeying that is cancelled in the middle leaves the old vault`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 300)
        let before = (try folder.contents(), store.keys.id)
        let running = Mutex<Task<StoreError?, Never>?>(nil)
        let task = Task {
            await refusal { () async throws(StoreError) in
                try await store.rekey { fraction in
                    if fraction < 0.2 { return }
                    while running.withLock({ $0 == nil }) { sched_yield() }
                    running.withLock { $0?.cancel() }
                }
            }
        }
        running.withLock { $0 = task }
        #expect(await task.value?.code == .cancelled)
        #expect(try folder.contents() == before.0)
        #expect(store.keys.id == before.1)
        try await expectAll(300, in: store)
        #expect(try await store.rekey() == 300)
    }
}
