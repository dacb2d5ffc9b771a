import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyStoreContract
import Testing

@Suite struct InMemoryStoreTests {
    static func save(_ text: String, _ account: String, in store: InMemoryStore) async throws {
        let bytes = Array(text.utf8)
        try await store.save(
            Secret<Password>(copying: bytes.span), for: try CredentialKey(service: "s", account: account))
    }

    @Test func `each store has a separate identity and separate contents`() async throws {
        let first = try InMemoryStore()
        let second = try InMemoryStore()
        #expect(first.identity != second.identity && first.identity.backend == "in-memory")
        try await Self.save("x", "ada", in: first)
        #expect(try await second.list().all().isEmpty)
    }

    @Test func `another store's version never matches`() async throws {
        let first = try InMemoryStore()
        let second = try InMemoryStore()
        let key = try CredentialKey(service: "s", account: "ada")
        let bytes: [UInt8] = [1]
        let secret = Secret<Password>(copying: bytes.span)
        let version = try await first.save(secret, for: key)
        try await second.save(secret, for: key)
        let error = await #expect(throws: StoreError.self) {
            try await second.delete(key, condition: .matches(version), deadline: .standard)
        }
        #expect(error?.code == .conflict)
    }

    @Test func `the caller sets the limit`() async throws {
        let store = try InMemoryStore(maximumSecretByteCount: 3)
        try await Self.save("123", "ada", in: store)
        let error = await #expect(throws: StoreError.self) { try await Self.save("1234", "ada", in: store) }
        #expect(error?.code == .tooLarge && store.capabilities.maximumSecretByteCount == 3)
    }

    @Test func `a listing of many thousands is in order, page by page`() async throws {
        let store = try InMemoryStore()
        var names: [String] = []
        for number in 0..<1050 {
            let name = "account \(number &* 7919 % 10_007)"
            names.append(name)
            try await Self.save("x", name, in: store)
        }
        let listed = try await store.list(service: "s").all().map(\.key.account)
        #expect(listed == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        let first = try await store.page(service: nil, after: nil, deadline: .standard)
        #expect(first.entries.count == 100 && first.next != nil)
    }

    @Test func `a listener that falls behind has to look at everything`() async throws {
        let store = try InMemoryStore()
        let changes = try await store.changes(deadline: .standard)
        for number in 0..<1000 { try await Self.save("\(number)", "ada", in: store) }
        var last: CredentialChange?
        var count = 0
        for await change in changes {
            last = change
            count += 1
            if change.kind == .unknown && count > 200 { break }
        }
        #expect(last == CredentialChange(kind: .unknown, key: nil))
    }

    @Test func `the changes end with the store`() async throws {
        var store: InMemoryStore? = try InMemoryStore()
        let changes = try await #require(store).changes(deadline: .standard)
        try await Self.save("x", "ada", in: #require(store))
        store = nil
        var kinds: [CredentialChange.Kind] = []
        for await change in changes { kinds.append(change.kind) }
        #expect(kinds == [.saved])
    }
}

/// The store in memory keeps items as a vault does.
@Suite struct InMemoryItemsTests {
    /// Nobody adds collections to it, and the service checks the sizes.
    @Test(arguments: ContractCase.items + [.hiddenKinds] + ContractCase.servedItems)
    func `items are kept as in a vault`(_ statement: ContractCase) async throws {
        try await statement.check(on: InMemoryStore())
    }

    private static func attributes(_ pairs: [(String, String)]) throws -> ItemAttributes {
        try #require(ItemAttributes(pairs.map { ItemAttributes.Attribute(name: $0, value: $1) }))
    }

    @Test func `an item that another program saved is read, listed, replaced and deleted by its name`() async throws {
        let store = try InMemoryStore()
        let key = try CredentialKey(service: "example.org", account: "ada")
        let attributes = try Self.attributes([
            ("service", "example.org"), ("username", "ada"), ("application", "Python keyring library"),
        ])
        for text in ["older", "newer"] {
            try await store.create(text, attributes, label: text)
        }
        #expect(try await store.list().all().map(\.label) == ["newer"])
        guard let read = try await store.read(key, as: Password.self) else {
            Issue.record("it isn't read")
            return
        }
        let (type, isNewer) = (read.contentType, read.secret.matches("newer".utf8.span))
        #expect(type == .text && isNewer)

        try await store.save(Secret<Password>(copying: "changed".utf8.span), for: key)
        let items = try await store.search(attributes, in: nil, deadline: .standard)
        #expect(items.map(\.label) == ["newer", "older"])
        let isChanged = try await store.read(key, as: Password.self)?.secret.matches("changed".utf8.span)
        #expect(isChanged == true)

        // What has exactly the name goes before.
        try await store.create("exact", ItemAttributes(key), label: "exact")
        #expect(try await store.read(key, as: Password.self)?.metadata.label == "exact")
        for label in ["exact", "newer", "older"] {
            #expect(try await store.read(key, as: Password.self)?.metadata.label == label)
            #expect(try await store.delete(key))
        }
        #expect(try await store.list().all().isEmpty)
        #expect(try await !store.delete(key))
    }

    @Test func `a credential of another kind isn't an item, for any call`() async throws {
        let store = try InMemoryStore()
        let changes = try await store.itemChanges(deadline: .standard)
        for kind in [CredentialKind.session, .privateKey, .clientSecret, .current, .ended] {
            let key = try CredentialKey(service: "latchkey:work", account: "ada", kind: kind)
            try await store.save(Secret<Password>(copying: "hidden".utf8.span), for: key)
        }
        let shown = try CredentialKey(service: "latchkey:work", account: "ada")
        try await store.save(Secret<Password>(copying: "shown".utf8.span), for: shown)

        let found = try await store.search(ItemAttributes(), in: nil, deadline: .standard)
        #expect(found.count == 1)
        #expect(try await store.search(ItemAttributes(shown), in: "login", deadline: .standard) == found)
        #expect(try await store.items(in: "login", deadline: .standard) == found.map(\.id))
        // Every id that the store has given.
        for number in 1...10 {
            let id = try #require(ItemID("i\(number)"))
            guard id != found[0].id else { continue }
            #expect(try await store.item(id, deadline: .standard) == nil)
            #expect(try await store.exposed(id) == nil)
            #expect(try await store.update(id, label: "x", attributes: nil, deadline: .standard) == nil)
            #expect(try await store.setSecret("x", of: id, deadline: .standard) == nil)
            #expect(try await store.delete(id, deadline: .standard) == nil)
        }
        var told = changes.makeAsyncIterator()
        #expect(await told.next() == .created(found[0]))
        #expect(try await store.list().all().count == 6)
    }
}

@Suite struct CollectionNameTests {
    @Test(arguments: [
        ("Work", "Work"), ("my-app", "my_2dapp"), ("a.b", "a_2eb"), ("a/b", "a_2fb"), ("a_b", "a_5fb"), ("ü", "_c3_bc"),
        ("", "collection"), (String(repeating: "a", count: 47) + "-b", String(repeating: "a", count: 47)),
    ])
    func `a collection's name decodes to its label, as gnome-keyring's does`(_ label: String, _ name: String) {
        #expect(ItemCollection.name(for: label, besides: []) == name)
        #expect(ItemCollection.name(for: label, besides: [name, "\(name)_2"]) == "\(name)_3")
    }
}

@Suite struct InMemoryContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let leases = try LeaseFolder()
        defer { leases.remove() }
        try await statement.check(leases: leases.directory) { try InMemoryStore() }
    }
}
