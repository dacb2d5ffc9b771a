import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyStoreContract
import Synchronization
import TestServices
import Testing

@testable import LatchkeyVault

/// Items and their index beside a model of them that is a dictionary, step by step at random.
@Suite struct ItemModelTests {
    /// What an item should be.
    private struct Expected {
        var attributes: [String: String]
        var text: String
        var collection: String
    }

    /// Few names and values, so that lists are long and meet.
    private static func randomAttributes(_ generator: inout SystemRandomNumberGenerator) -> [String: String] {
        if Int.random(in: 0..<4, using: &generator) == 0 {
            return ["service": "s\(Int.random(in: 0..<2, using: &generator))", "username": "u"]
        }
        var attributes: [String: String] = [:]
        for name in ["a", "b", "c", "service", "username"] where Bool.random(using: &generator) {
            attributes[name] = name == "a" ? "same" : "\(Int.random(in: 0..<3, using: &generator))"
        }
        return attributes
    }

    private static func make(_ named: [String: String]) -> ItemAttributes {
        ItemAttributes(named.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) })!
    }

    private func check(_ store: some CollectionStore, steps: Int) async throws {
        var generator = SystemRandomNumberGenerator()
        var model: [ItemID: Expected] = [:]
        let other = try await store.createCollection(label: "other", alias: nil, deadline: .standard).name
        for step in 0..<steps {
            let attributes = Self.randomAttributes(&generator)
            let collection = Int.random(in: 0..<4, using: &generator) == 0 ? other : "login"
            switch Int.random(in: 0..<7, using: &generator) {
            case 0, 1, 2:
                let replacing = Bool.random(using: &generator)
                let same = model.filter { $0.value.attributes == attributes && $0.value.collection == collection }
                let made = try await store.create(
                    "\(step)", Self.make(attributes), in: collection, replacing: replacing)
                #expect(made.isNew == (!replacing || same.isEmpty))
                #expect(made.isNew ? model[made.item.id] == nil : same[made.item.id] != nil)
                model[made.item.id] = Expected(attributes: attributes, text: "\(step)", collection: collection)
            case 3:
                guard let id = model.keys.randomElement(using: &generator), let old = model.removeValue(forKey: id)
                else { continue }
                let item = try #require(
                    try await store.update(id, label: nil, attributes: Self.make(attributes), deadline: .standard))
                #expect(model[item.id] == nil && item.collection == old.collection)
                model[item.id] = Expected(attributes: attributes, text: old.text, collection: old.collection)
            case 4:
                guard let id = model.keys.randomElement(using: &generator) else { continue }
                #expect(try await store.setSecret("\(step)", of: id, deadline: .standard)?.id == id)
                model[id]?.text = "\(step)"
            default:
                guard let id = model.keys.randomElement(using: &generator) else { continue }
                #expect(try await store.delete(id, deadline: .standard)?.id == id)
                model[id] = nil
            }
            let wanted = Self.randomAttributes(&generator)
            let place = [nil, "login", other][Int.random(in: 0..<3, using: &generator)]
            let expected = model.filter { entry in
                (place == nil || entry.value.collection == place)
                    && wanted.allSatisfy { entry.value.attributes[$0.key] == $0.value }
            }
            let found = try await store.search(Self.make(wanted), in: place, deadline: .standard)
            #expect(Set(found.map(\.id)) == Set(expected.keys) && found.count == expected.count, "step \(step)")
        }
        for (id, expected) in model { #expect(try await store.text(id) == expected.text) }
        #expect(
            Set(try await store.items(in: other, deadline: .standard))
                == Set(model.filter { $0.value.collection == other }.keys))
        // Each is taken out of all of its lists: nothing is left in the end.
        for id in model.keys { _ = try await store.delete(id, deadline: .standard) }
        #expect(try await store.search(ItemAttributes()) == [])
    }

    @Test func `a vault's items equal a model's after any operations`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await check(store, steps: runsLong ? 5000 : 400)
        #expect(try await store.verify().problems == [])
        #expect(store.known.withLock { $0 }.manifest.linkCount == 0)
        #expect(try store.table.read { (view) throws(StoreError) in try view.links(after: nil, limit: 1) } == [])
    }

    @Test func `the items of a table in memory equal a model's after any operations`() async throws {
        let keys = try VaultKeys.random(.random())
        let store = try VaultStore(table: MemoryRowTable.vault(keys), keys: keys, now: { .now() })
        try await check(store, steps: runsLong ? 5000 : 400)
        #expect(try await store.verify(deadline: .standard).problems == [])
    }

    // MARK: - Together with credentials

    @Test func `an item of exactly service and username is the credential, in both directions`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let items = store
        try await store.save(
            secret("set"), for: key("ada"), options: SaveOptions(label: "Ada", contentType: .text))
        let found = try #require(
            try await items.search(attributes(["service": "example.org", "username": "ada"])).first)
        #expect(found.label == "Ada" && found.contentType == "text/plain" && found.collection == "login")
        #expect(try await items.text(found.id) == "set")

        let made = try await items.create(
            "created", attributes(["username": "bob", "service": "example.org"]), label: "Bob’s")
        #expect(made.isNew)
        guard let record = try await store.read(key("bob"), as: Password.self) else { throw StoreError.timedOut }
        #expect(record.metadata.label == "Bob’s")
        #expect(record.contentType == .text)
        #expect(record.version == made.item.version)
        #expect(try await store.text(key("bob")) == "created")

        try await store.save(secret("set again"), for: key("bob"))
        #expect(try await items.text(made.item.id) == "set again")
        #expect(try await items.item(made.item.id, deadline: .standard)?.contentType == "application/octet-stream")
        _ = try await items.setSecret("exchanged", of: made.item.id, deadline: .standard)
        #expect(try await store.text(key("bob")) == "exchanged")
        try await store.delete(key("bob"))
        #expect(try await items.item(made.item.id, deadline: .standard) == nil)
        #expect(try await items.found(["username": "bob"]) == [])
        _ = try await items.delete(found.id, deadline: .standard)
        #expect(try await store.text(key("ada")) == nil)
        #expect(try await store.verify().problems == [])
    }

    @Test func `sessions, keys and client secrets are never items`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let items = store
        for kind in [CredentialKind.session, .privateKey, .clientSecret, .current, .ended] {
            try await store.save(secret("s"), for: key("ada", kind: kind))
            let id = ItemID.vault(ItemHandle(of: store.keys.lookup(of: key("ada", kind: kind))))
            #expect(try await items.item(id, deadline: .standard) == nil)
            #expect(try await items.text(id) == nil)
            #expect(try await items.setSecret("x", of: id, deadline: .standard) == nil)
            #expect(try await items.update(id, label: "x", attributes: nil, deadline: .standard) == nil)
            #expect(try await items.delete(id, deadline: .standard) == nil)
            #expect(try await store.text(key("ada", kind: kind)) == "s")
        }
        #expect(try await items.search(ItemAttributes()) == [])
        #expect(try await items.found(["service": "example.org"]) == [])
        #expect(try await items.items(in: "login", deadline: .standard) == [])
        #expect(store.known.withLock { $0 }.manifest.linkCount == 0)
    }

    @Test func `an item that isn't a credential is in no listing of credentials`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let items = store
        try await items.create("1", attributes(["service": "example.org", "username": "ada", "more": "x"]))
        for number in 0..<150 { try await items.create("\(number)", attributes(["service": "example.org"])) }
        try await store.save(secret("s"), for: key("ada"))
        #expect(try await store.list().all().map(\.key) == [key("ada")])
        #expect(try await store.list(service: "example.org").all().map(\.key) == [key("ada")])
        #expect(store.extent.itemCount == 152)
    }

    @Test func `text that isn't UTF-8 stays bytes when it becomes a credential`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let made = try await store.create(
            [0xFF, 0xFE], contentType: "text/plain",
            attributes: attributes(["service": "example.org", "username": "ada"]), label: "", in: "login",
            replacing: false, deadline: .standard)
        #expect(made.item.contentType == "application/octet-stream")
        let type = try await store.read(key("ada"), as: Password.self)?.contentType
        #expect(type == .binary)
    }
}

/// A vault on a server, opened with what systemd passes to the unit, by the names that a unit file has.
@Suite struct NamedCredentialTests {
    @Test func `a vault opens with the credential of a name, and an invalid name is refused`() async throws {
        let directory = try TestDirectory()
        let credentials = directory / "credentials"
        try FileManager.default.createDirectory(
            atPath: credentials, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o500])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: credentials)
        let file = credentials + "/bank"
        try Data((0..<32).map { UInt8($0) }).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file)
        let path = directory / "vault/vault"
        _ = try await VaultStore.create(
            at: path, unlockedBy: .systemCredential(named: "bank", in: credentials), cost: .least)
        let opened = try await VaultStore.open(
            at: path, unlockedBy: .systemCredential(named: "bank", in: credentials))
        #expect(try await opened.slots().map(\.kind) == [.systemCredential])
        for name in ["", "a/b", "..", "a:b"] {
            let code: StoreError.Code?
            do throws(StoreError) {
                _ = try VaultKeySource.systemCredential(named: name, in: credentials)
                code = nil
            } catch {
                code = error.code
            }
            #expect(code == .unsupported, "\(name)")
        }
    }
}
