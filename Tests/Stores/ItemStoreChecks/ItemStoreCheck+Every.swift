internal import LatchkeyCredentials
internal import LatchkeySecrets

extension ItemStoreCheck {
    /// What holds of each store of items, also where its collections belong to others, as in the desktop's keyring.
    package static let every = [
        ItemStoreCheck(every: "an item is found by its attributes, and read with its secret") { store in
            let all = attributes(["server": "example.org", "user": "ada", "port": "8443"])
            let made = try await store.create("secret", all, label: "Ada’s")
            try expect(made.isNew && made.item.attributes.isSame(as: all) && made.item.key == nil)
            for given in [all, attributes(["server": "example.org"]), ItemAttributes()] {
                try expect(await store.search(given).map(\.id) == [made.item.id])
            }
            try expect(await store.search(attributes(["server": "example.com"])) == [])
            try expect(await store.search(all, in: made.item.collection).map(\.id) == [made.item.id])
            try expect(await store.search(all, in: "absent") == [])
            try expect(await store.text(made.item.id) == "secret")
            let read = try await store.read(made.item.id, as: ItemContent.self, deadline: .standard)?.item
            try expect(read?.label == "Ada’s" && read?.contentType == "text/plain")
        },
        ItemStoreCheck(every: "a save of an item that is there changes that one, under its condition") { store in
            let all = attributes(["a": "1"])
            let made = try await store.create("one", all)
            let version = try required(await store.version(made.item.id))
            var draft = ItemDraft(.item(made.item.id), contentType: "text/plain")
            draft.condition = .matches(version)
            let saved = try await store.save(itemSecret("two").secret, draft, deadline: .standard)
            try expect(saved?.item.id == made.item.id && saved?.isNew == false)
            try expect(saved?.item.label == "label" && saved?.item.attributes.isSame(as: all) == true)
            let late = draft
            try expect(
                await code { () async throws(StoreError) in
                    _ = try await store.save(itemSecret("three").secret, late, deadline: .standard)
                } == .conflict)
            try expect(await store.text(made.item.id) == "two")
            let gone = ItemDraft(.item(ItemID("absent")!), contentType: "text/plain")
            try expect(await store.save(itemSecret("x").secret, gone, deadline: .standard) == nil)
        },
        ItemStoreCheck(every: "replacing takes the item with exactly these attributes") { store in
            let wide = try await store.create("wide", attributes(["a": "1", "b": "2"]))
            let first = try await store.create("first", attributes(["a": "1"]), replacing: true)
            try expect(first.isNew && first.item.id != wide.item.id)
            let again = try await store.create("again", attributes(["a": "1"]), label: "new", replacing: true)
            try expect(!again.isNew && again.item.id == first.item.id && again.item.label == "new")
            let beside = try await store.create("beside", attributes(["a": "1"]))
            try expect(beside.isNew && beside.item.id != first.item.id)
            try expect(await store.text(wide.item.id) == "wide")
            try expect(await store.found(["a": "1"]) == [wide.item.id, first.item.id, beside.item.id])
        },
        ItemStoreCheck(every: "a deletion takes one item, and of another version none") { store in
            let made = try await store.create("one", attributes(["a": "1"]))
            let other = try await store.create("two", attributes(["a": "1"]))
            let version = try required(await store.version(other.item.id))
            try expect(
                await code { () async throws(StoreError) in
                    _ = try await store.delete(made.item.id, condition: .matches(version), deadline: .standard)
                } == .conflict)
            try expect(await store.delete(made.item.id, deadline: .standard)?.id == made.item.id)
            try expect(await store.delete(made.item.id, deadline: .standard) == nil)
            try expect(await store.text(made.item.id) == nil)
            try expect(await store.found(["a": "1"]) == [other.item.id])
        },
        ItemStoreCheck(every: "a password is an item, and an item with a program's own name is read as one") { store in
            let key = try CredentialKey(service: "example.org", account: "ada")
            _ = try await store.save(itemSecret("set").secret, for: key, options: SaveOptions(), deadline: .standard)
            let named = try required(await store.search(ItemAttributes(key)).first)
            try expect(named.key == key)
            try expect(await store.text(named.id) == "set")
            try expect(await store.delete(key, condition: .none, deadline: .standard))
            try expect(await store.search(ItemAttributes()) == [])
            let theirs = try await store.create(
                "theirs", attributes(["service": "example.org", "username": "ada", "application": "Python"]))
            try expect(theirs.item.key == key)
            try expect(await store.read(key, as: ItemContent.self)?.secret.matches("theirs".utf8.span) == true)
            try expect(
                await store.readLatest(service: "example.org", deadline: .standard)?.secret.matches("theirs".utf8.span)
                    == true)
            try expect(await store.readLatest(service: "example.com", deadline: .standard)?.metadata == nil)
        },
        ItemStoreCheck(every: "credentials of other kinds are no items") { store in
            for kind in [CredentialKind.session, .privateKey, .clientSecret, .current, .ended] {
                let key = try CredentialKey(service: "latchkey:work", account: "ada", kind: kind)
                _ = try await store.save(
                    itemSecret("hidden").secret, for: key, options: SaveOptions(), deadline: .standard)
            }
            let shown = try await store.create("shown", attributes(["service": "latchkey:work", "username": "ada"]))
                .item
            for given in [
                ItemAttributes(), attributes(["service": "latchkey:work"]), attributes(["username": "ada"]),
                attributes(["service": "latchkey:work", "username": "ada"]),
            ] {
                try expect(await store.search(given).map(\.id) == [shown.id])
            }
            try expect(await store.search(attributes(["latchkey:kind": "session"])) == [])
            try expect(await store.list().all().count == 6)
        },
    ]

    /// For what can be served, and tells of its own credentials.
    package static let kinds = ItemStoreCheck("no collection and no change leads to a credential of another kind") {
        store in
        let changes = try await store.itemChanges(deadline: .standard)
        var hidden: [CredentialKey] = []
        for kind in [CredentialKind.session, .privateKey, .clientSecret, .current, .ended] {
            hidden.append(try CredentialKey(service: "latchkey:work", account: "ada", kind: kind))
        }
        for key in hidden {
            _ = try await store.save(itemSecret("hidden").secret, for: key, options: SaveOptions(), deadline: .standard)
        }
        for collection in try await store.collections(deadline: .standard) {
            try expect(await store.items(in: collection.name, deadline: .standard) == [])
        }
        try expect(await store.unnamedItems(deadline: .standard) == [])
        for key in hidden { try expect(await store.delete(key, condition: .none, deadline: .standard)) }
        // What is told first is what came last.
        let shown = try CredentialKey(service: "latchkey:work", account: "ada")
        _ = try await store.save(itemSecret("shown").secret, for: shown, options: SaveOptions(), deadline: .standard)
        var told = changes.makeAsyncIterator()
        guard case .created(let item) = await told.next() else { throw Unmet(description: "another change was told") }
        try expect(item.key == shown)
    }
}

extension ItemStore {
    fileprivate func version(_ id: ItemID) async throws(StoreError) -> CredentialVersion? {
        try await read(id, as: ItemContent.self, deadline: .standard)?.version
    }
}
