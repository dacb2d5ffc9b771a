import Foundation
import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeySecrets

@testable import LatchkeyVault

/// Writes the golden vaults; see GoldenTests.
enum GoldenRecorder {
    private static func date(_ seconds: Int64) -> @Sendable () -> UnixTime { { UnixTime(seconds: seconds) } }

    static func record() async throws {
        let target = GoldenTests.folder
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let store = try await VaultStore.create(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), now: date(1_700_000_000))
        try await store.addSlot(passphrase("Grüße, vault"), name: KeySlotName("spoken")!, cost: .cheap)
        try await store.save(secret("first version"), for: key("ada"))
        try await store.save(secret("hunter2"), for: key("ada"), options: SaveOptions(contentType: .text))
        let all = (0...255).map { UInt8($0) }
        try await store.save(
            Secret<PrivateKey>(copying: all.span), for: key("bob", service: "naïve.example", kind: .privateKey),
            options: SaveOptions(label: "Bob’s key"))
        try await store.save(secret(""), for: key("empty", kind: .current))
        let long = [UInt8](repeating: 0x5A, count: 6_000)
        try await store.save(Secret<StoredLogin>(copying: long.span), for: key("long", kind: .session))
        try await store.save(secret("gone"), for: key("gone"))
        try await store.delete(key("gone"))
        try await addItems(to: store)

        var cases: [GoldenTests.Case] = []
        let reader = GoldenTests()
        var items: [GoldenTests.Case.Item] = []
        for entry in try await store.list().all() { items.append(try await reader.item(entry.key, store)) }
        var others = try await reader.others(store)
        let collections = try await reader.collections(store)
        var searches: [GoldenTests.Case.Search] = []
        func search() async throws {
            searches = []
            for attributes in Self.searches { searches.append(try await reader.search(attributes, store)) }
        }
        try await search()
        var generation = try await store.verify().generation
        func write(_ name: String, _ bytes: [UInt8], _ outcome: String, _ sources: [String]) throws {
            try Data(bytes).write(to: target.appendingPathComponent(name))
            for source in sources {
                let opens = outcome == "opens"
                cases.append(
                    GoldenTests.Case(
                        name: name, source: source, outcome: outcome, generation: opens ? generation : nil,
                        items: opens ? items : nil, others: opens ? others : nil,
                        collections: opens ? collections : nil, searches: opens ? searches : nil))
            }
        }
        let both = ["key-file", "passphrase-file"]
        try Data(try folder.contents(folder.keyFile)).write(to: target.appendingPathComponent("golden.key-file"))
        try Data("Grüße, vault".utf8).write(to: target.appendingPathComponent("golden.passphrase-file"))
        let sound = try folder.contents()
        try write("sound.vault", sound, "opens", both)
        try await store.rekey()
        generation += 1
        others = try await reader.others(store)
        try await search()
        try write("rekeyed.vault", try folder.contents(), "opens", both)
        try write("cut.vault", Array(sound.dropLast(4096)), "store.corrupted", both)
        var flipped = sound
        flipped[4096 + 2000] ^= 0x10
        try write("flipped.vault", flipped, "store.corrupted", both)

        // What someone makes who keeps the checksums right but has no key.
        func tampered(
            _ name: String, _ outcome: String,
            _ body: @escaping @Sendable (any RowTransaction) throws(StoreError) -> Void
        ) throws {
            try folder.replace(with: sound)
            let table = try SQLiteRowTable(path: folder.vault)
            try table.write(Cancellation(.standard)) { (rows) throws(StoreError) in try body(rows) }
            try write(name, try folder.contents(), outcome, both)
        }
        for (name, format) in [("newer.vault", UInt8(4)), ("older.vault", 1)] {
            try tampered(name, "store.unsupported") { (rows) throws(StoreError) in
                try rows.put(record: "vault", [format] + [UInt8](repeating: 0, count: 16))
            }
        }
        try tampered("swapped.vault", "store.corrupted") { (rows) throws(StoreError) in
            let items = try rows.items(after: nil, limit: 2)
            try rows.put(items[0].lookup, metadata: items[1].metadata, secret: [0])
        }
        try tampered("hidden.vault", "store.corrupted") { (rows) throws(StoreError) in
            try rows.connection.execute("DELETE FROM links WHERE token = (SELECT min(token) FROM links)")
        }
        // An item that no look-up finds any more.
        try tampered("moved.vault", "store.corrupted") { (rows) throws(StoreError) in
            try rows.connection.execute(
                "UPDATE items SET place = place + 8 WHERE place = (SELECT min(place) FROM items)")
        }
        try tampered("stranger.vault", "store.corrupted") { (rows) throws(StoreError) in
            try rows.put(record: "slot/" + String(repeating: "0", count: 32), [9, 9])
        }
        for (name, passes) in [("hostile.vault", UInt8(17)), ("free.vault", 0)] {
            try tampered(name, "store.corrupted") { (rows) throws(StoreError) in
                for record in try rows.records() where record.name.hasPrefix("slot/") && record.content[1] == 1 {
                    var content = record.content
                    content[18] = passes
                    try rows.put(record: record.name, content)
                }
            }
        }
        try Self.write(cases, to: target)
    }

    private static let searches = [
        ["xdg:schema": "org.example.Login"], ["xdg:schema": "org.example.Login", "user": "bob"],
        ["service": "example.org"], ["user": "nobody"], ["naïve": "ñ"],
    ]

    /// Lists of one, two and three items, from one of which an item was taken out again, and a collection.
    private static func addItems(to store: some CollectionStore) async throws {
        let work = try await store.createCollection(label: "Work keys", alias: "work", deadline: .standard)
        var ids: [ItemID] = []
        for user in ["ada", "bob", "eve", "zoe"] {
            let made = try await store.create(
                "secret of \(user)", attributes(["xdg:schema": "org.example.Login", "user": user, "naïve": "ñ"]),
                label: "\(user) at Example")
            ids.append(made.item.id)
        }
        _ = try await store.delete(ids[2], deadline: .standard)
        _ = try await store.create(
            [0, 1, 255], contentType: "application/x-odd", attributes: ItemAttributes(), label: "",
            in: work.name, replacing: false, deadline: .standard)
        // One that has what a credential has, and more.
        try await store.create(
            "hunter3", attributes(["service": "example.org", "username": "ada", "xdg:schema": "org.example.Other"]))
    }

    /// Adds `slots.vault`, with a slot for a systemd credential and one whose key is kept elsewhere.
    static func recordSlots() async throws {
        let folder = try VaultFolder()
        let unit = try UnitCredentials(in: folder)
        let credential = try Sealing.randomOctets(32)
        try unit.write("latchkey.vault", credential)
        let store = try await VaultStore.create(
            at: folder.vault, unlockedBy: .systemCredential(unit.key("latchkey.vault")), now: date(1_800_000_000))
        let kept = try Sealing.randomOctets(32)
        try await store.addSlot(
            .keptKey(Secret(copying: kept.span), of: try store.newSlotReference()), name: .secretService)
        try await store.save(secret("hunter2"), for: key("ada"), options: SaveOptions(contentType: .text))
        let reader = GoldenTests()
        let items = [try await reader.item(key("ada"), store)]
        let collections = try await reader.collections(store)
        let generation = try await store.verify().generation

        let target = GoldenTests.folder
        try Data(credential).write(to: target.appendingPathComponent("golden.systemd-credential"))
        try Data(kept).write(to: target.appendingPathComponent("golden.kept-key"))
        try Data(try folder.contents()).write(to: target.appendingPathComponent("slots.vault"))
        var cases = GoldenTests.cases.filter { $0.name != "slots.vault" }
        for source in ["systemd-credential", "kept-key", "key-file"] {
            let opens = source != "key-file"
            cases.append(
                GoldenTests.Case(
                    name: "slots.vault", source: source, outcome: opens ? "opens" : "store.wrong-key",
                    generation: opens ? generation : nil, items: opens ? items : nil, others: opens ? [] : nil,
                    collections: opens ? collections : nil, searches: opens ? [] : nil))
        }
        try write(cases, to: target)
    }

    /// Adds `saves.vault`, with the last saves of two hosts.
    static func recordSaves() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        try folder.replace(
            folder.keyFile,
            with: [UInt8](try Data(contentsOf: GoldenTests.folder.appendingPathComponent("golden.key-file"))))
        try await folder.store()
        for host in ["a", "b", "a"] {
            let store = try await VaultStore.open(
                at: folder.vault, unlockedBy: .keyFile(folder.keyFile),
                memory: RollbackMemory(directory: folder.path + "/" + host), now: date(1_800_000_000))
            try await store.save(secret("of \(host)"), for: key(host), options: SaveOptions(contentType: .text))
        }
        let store = try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile))
        let reader = GoldenTests()
        let items = [try await reader.item(key("a"), store), try await reader.item(key("b"), store)]
        let collections = try await reader.collections(store)
        let generation = try await store.verify().generation
        try Data(try folder.contents()).write(to: GoldenTests.folder.appendingPathComponent("saves.vault"))
        let made = GoldenTests.Case(
            name: "saves.vault", source: "key-file", outcome: "opens", generation: generation, items: items, others: [],
            collections: collections, searches: [])
        try write(GoldenTests.cases.filter { $0.name != made.name } + [made], to: GoldenTests.folder)
    }

    private static func write(_ cases: [GoldenTests.Case], to target: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(cases).write(to: target.appendingPathComponent("cases.json"))
    }
}
