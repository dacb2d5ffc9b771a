internal import LatchkeyCredentials
internal import LatchkeySecrets

extension ContractCase {
    /// The statements for each store of items, even if its collections belong to other programs, as in the desktop's
    /// keyring.
    package static let items: [ContractCase] = [
        ContractCase(items: "an item is found by its attributes, and read with its secret") { store in
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
        ContractCase(items: "saving an existing item changes that item, under its condition") { store in
            let all = attributes(["a": "1"])
            let made = try await store.create("one", all)
            let version = try required(await store.version(made.item.id))
            var draft = ItemDraft(.item(made.item.id), contentType: "text/plain")
            draft.condition = .matches(version)
            let saved = try await store.save(itemSecret("two"), draft, deadline: .standard)
            try expect(saved?.item.id == made.item.id && saved?.isNew == false)
            try expect(saved?.item.label == "label" && saved?.item.attributes.isSame(as: all) == true)
            let late = draft
            try expect(
                await code { () async throws(StoreError) in
                    _ = try await store.save(itemSecret("three"), late, deadline: .standard)
                } == .conflict)
            try expect(await store.text(made.item.id) == "two")
            let gone = ItemDraft(.item(ItemID("absent")!), contentType: "text/plain")
            try expect(await store.save(itemSecret("x"), gone, deadline: .standard) == nil)
        },
        ContractCase(items: "replacing takes the item with exactly these attributes") { store in
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
        ContractCase(items: "a deletion deletes one item, and none if the version differs") { store in
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
        ContractCase(items: "a password is an item; an item with a program's own name reads as a password") { store in
            let key = try CredentialKey(service: "example.org", account: "ada")
            _ = try await store.save(itemSecret("set"), for: key, options: SaveOptions(), deadline: .standard)
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
        ContractCase(items: "credentials of other kinds aren't items") { store in
            for kind in [CredentialKind.session, .privateKey, .clientSecret, .current, .ended] {
                let key = try CredentialKey(service: "latchkey:work", account: "ada", kind: kind)
                _ = try await store.save(
                    itemSecret("hidden"), for: key, options: SaveOptions(), deadline: .standard)
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

    /// For a store that can be served and reports changes of its own credentials.
    package static let hiddenKinds = ContractCase(
        collections: "neither collections nor changes show a credential of another kind"
    ) { store in
        let changes = try await store.itemChanges(deadline: .standard)
        var hidden: [CredentialKey] = []
        for kind in [CredentialKind.session, .privateKey, .clientSecret, .current, .ended] {
            hidden.append(try CredentialKey(service: "latchkey:work", account: "ada", kind: kind))
        }
        for key in hidden {
            _ = try await store.save(itemSecret("hidden"), for: key, options: SaveOptions(), deadline: .standard)
        }
        for collection in try await store.collections(deadline: .standard) {
            try expect(await store.items(in: collection.name, deadline: .standard) == [])
        }
        try expect(await store.unnamedItems(deadline: .standard) == [])
        for key in hidden { try expect(await store.delete(key, condition: .none, deadline: .standard)) }
        // The first report is that of the last change, so the hidden ones weren't reported.
        let shown = try CredentialKey(service: "latchkey:work", account: "ada")
        _ = try await store.save(itemSecret("shown"), for: shown, options: SaveOptions(), deadline: .standard)
        var told = changes.makeAsyncIterator()
        guard case .created(let item) = await told.next() else {
            throw ContractViolation("the store reported another change")
        }
        try expect(item.key == shown)
    }

    /// The statements on stores with their own collections.
    package static let servedItems: [ContractCase] = [
        ContractCase(collections: "a new store has one collection, the default one, without items") { store in
            let collections = try await store.collections(deadline: .standard)
            try expect(collections.map(\.name) == ["login"])
            try expect(collections[0].aliases.contains("default"))
            try expect(await store.items(in: "login", deadline: .standard) == [])
            try expect(await store.search(ItemAttributes()) == [])
            try expect(await store.found(["any": "thing"]) == [])
        },
        ContractCase(collections: "a created item reads back unchanged") { store in
            let all = attributes(["xdg:schema": "org.example", "user": "ada", "empty": "", "naïve": "ñ\u{1F511}"])
            let bytes: [UInt8] = [0, 1, 0xFF, 0xFE, 0]
            let made = try await store.create(
                bytes, contentType: "application/x-odd", attributes: all, label: "Ada’s",
                in: "login", replacing: false, deadline: .standard)
            try expect(made.isNew)
            let item = try required(await store.item(made.item.id, deadline: .standard))
            try expect(item == made.item)
            try expect(item.attributes == all && item.label == "Ada’s" && item.collection == "login")
            try expect(item.contentType == "application/x-odd")
            try expect(item.created == item.modified)
            let secret = try required(await store.exposed(item.id))
            try expect(secret.bytes == bytes && secret.contentType == "application/x-odd")
            try expect(await store.items(in: "login", deadline: .standard) == [item.id])
        },
        ContractCase(collections: "an item may lack attributes, label and content type, and its secret may be empty") {
            store in
            let made = try await store.create(
                [], contentType: "", attributes: ItemAttributes(), label: "", in: "login",
                replacing: false, deadline: .standard)
            let secret = try required(await store.exposed(made.item.id))
            try expect(secret.bytes == [] && secret.contentType == "")
            try expect(await store.search(ItemAttributes()).map(\.id) == [made.item.id])
            try expect(await store.found(["any": "thing"]) == [])
        },
        ContractCase(collections: "a missing item reads as nil") { store in
            let made = try await store.create("gone", attributes(["a": "1"]))
            try expect(await store.delete(made.item.id, deadline: .standard) == made.item)
            for id in [made.item.id, ItemID("absent")!, ItemID(String(repeating: "0", count: 32))!] {
                try expect(await store.item(id, deadline: .standard) == nil)
                try expect(await store.text(id) == nil)
                try expect(await store.delete(id, deadline: .standard) == nil)
                try expect(await store.update(id, label: "x", attributes: nil, deadline: .standard) == nil)
                try expect(await store.setSecret("x", of: id, deadline: .standard) == nil)
            }
            try expect(await store.found(["a": "1"]) == [])
        },
        ContractCase(collections: "a search finds the items that have all the attributes, and perhaps others") {
            store in
            let one = try await store.create("1", attributes(["a": "1", "b": "1"])).item.id
            let two = try await store.create("2", attributes(["a": "1", "b": "2"])).item.id
            let three = try await store.create("3", attributes(["a": "1", "b": "2", "c": "3"])).item.id
            let four = try await store.create("4", attributes(["a": "2"])).item.id
            try expect(await store.found(["a": "1"]) == [one, two, three])
            try expect(await store.found(["b": "2"]) == [two, three])
            try expect(await store.found(["a": "1", "b": "2"]) == [two, three])
            try expect(await store.found(["c": "3", "a": "1"]) == [three])
            try expect(await store.found(["a": "2"]) == [four])
            try expect(await store.found([:]) == [one, two, three, four])
            for wrong in [["a": "3"], ["A": "1"], ["a": ""], ["b": "1", "a": "2"], ["c": "3", "d": "4"]] {
                let given = ItemAttributes(wrong.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) })!
                try expect(await store.search(given) == [], "\(wrong)")
            }
        },
        ContractCase(collections: "names and values are compared by bytes and never run together") {
            store in
            let composed = try await store.create("1", attributes(["ab": "c"])).item.id
            let other = try await store.create("2", attributes(["a": "bc"])).item.id
            let normal = try await store.create("3", attributes(["n": "\u{E9}"])).item.id
            let decomposed = try await store.create("4", attributes(["n": "e\u{301}"])).item.id
            try expect(await store.found(["ab": "c"]) == [composed])
            try expect(await store.found(["a": "bc"]) == [other])
            try expect(await store.found(["n": "\u{E9}"]) == [normal])
            try expect(await store.found(["n": "e\u{301}"]) == [decomposed])
        },
        ContractCase(collections: "the most recently changed item comes first") { store in
            var ids: [ItemID] = []
            for number in 0..<3 { ids.append(try await store.create("\(number)", attributes(["all": "1"])).item.id) }
            try await Task.sleep(for: .milliseconds(1100))
            _ = try await store.setSecret("new", of: ids[1], deadline: .standard)
            try expect(await store.search(attributes(["all": "1"])).first?.id == ids[1])
            try expect(await store.search(ItemAttributes()).first?.id == ids[1])
        },
        ContractCase(collections: "replacing means equal attributes, and keeps the item") { store in
            let small = try await store.create("small", attributes(["a": "1"]))
            let large = try await store.create("large", attributes(["a": "1", "b": "2"]))
            let again = try await store.create("new", attributes(["a": "1"]), label: "new label", replacing: true)
            try expect(!again.isNew && again.item.id == small.item.id)
            try expect(again.item.label == "new label" && again.item.version != small.item.version)
            try expect(again.item.created == small.item.created)
            try expect(await store.text(small.item.id) == "new")
            try expect(await store.text(large.item.id) == "large")
            let third = try await store.create("third", attributes(["b": "2"]), replacing: true)
            try expect(third.isNew)
            let fourth = try await store.create("fourth", attributes(["b": "2", "a": "1"]), replacing: true)
            try expect(!fourth.isNew && fourth.item.id == large.item.id)
            try expect(await store.items(in: "login", deadline: .standard).count == 3)
        },
        ContractCase(collections: "replacing an item without attributes replaces the one without") { store in
            let other = try await store.create("other", attributes(["a": "1"]))
            let none = try await store.create("none", ItemAttributes(), replacing: true)
            try expect(none.isNew)
            let again = try await store.create("again", ItemAttributes(), replacing: true)
            try expect(!again.isNew && again.item.id == none.item.id)
            try expect(await store.text(other.item.id) == "other")
        },
        ContractCase(collections: "without replacing there are two items with equal attributes") { store in
            let one = try await store.create("1", attributes(["a": "1"]))
            let two = try await store.create("2", attributes(["a": "1"]))
            try expect(two.isNew && one.item.id != two.item.id)
            try expect(await store.found(["a": "1"]) == [one.item.id, two.item.id])
            try expect(await store.delete(one.item.id, deadline: .standard)?.id == one.item.id)
            try expect(await store.found(["a": "1"]) == [two.item.id])
            try expect(await store.text(two.item.id) == "2")
        },
        ContractCase(collections: "the same applies to items that are credentials") { store in
            let key = attributes(["service": "example.org", "username": "ada"])
            let one = try await store.create("1", key, label: "one")
            let two = try await store.create("2", key)
            try expect(one.isNew && two.isNew && one.item.id != two.item.id)
            let again = try await store.create("new", key, replacing: true)
            try expect(!again.isNew && [one.item.id, two.item.id].contains(again.item.id))
            try expect(await store.found(["service": "example.org", "username": "ada"]).count == 2)
            try expect(await store.found(["username": "ada"]).count == 2)
            try expect(await store.found(["service": "example.org"]).count == 2)
            try expect(await store.delete(one.item.id, deadline: .standard) != nil)
            try expect(await store.found(["service": "example.org"]) == [two.item.id])
        },
        ContractCase(collections: "a secret can be replaced together with its content type") { store in
            let made = try await store.create("old", attributes(["a": "1"]))
            let changed = try required(
                try await store.setSecret(
                    [1, 2], contentType: "application/octet-stream", of: made.item.id,
                    deadline: .standard))
            try expect(changed.id == made.item.id && changed.version != made.item.version)
            try expect(changed.label == "label" && changed.attributes == made.item.attributes)
            try expect(changed.contentType == "application/octet-stream")
            try expect(await store.item(made.item.id, deadline: .standard) == changed)
            try expect(try required(await store.exposed(made.item.id)).bytes == [1, 2])
        },
        ContractCase(collections: "a label can be changed alone, attributes alone, and both") { store in
            let made = try await store.create("secret", attributes(["a": "1", "b": "1"]))
            let labelled = try required(
                try await store.update(made.item.id, label: "other", attributes: nil, deadline: .standard))
            try expect(labelled.label == "other" && labelled.attributes == made.item.attributes)
            try expect(labelled.version != made.item.version && labelled.id == made.item.id)
            let moved = try required(
                try await store.update(
                    made.item.id, label: nil, attributes: attributes(["a": "1", "c": "1"]), deadline: .standard))
            try expect(moved.label == "other" && moved.id == made.item.id)
            try expect(await store.found(["b": "1"]) == [])
            try expect(await store.found(["c": "1"]) == [made.item.id])
            try expect(await store.found(["a": "1"]) == [made.item.id])
            let bare = try required(
                try await store.update(made.item.id, label: "", attributes: ItemAttributes(), deadline: .standard))
            try expect(bare.label == "" && bare.attributes == ItemAttributes())
            try expect(await store.found(["a": "1"]) == [])
            try expect(await store.text(made.item.id) == "secret")
        },
        ContractCase(collections: "an item that becomes a credential, or ceases to be one, keeps everything else") {
            store in
            let key = attributes(["service": "example.org", "username": "ada"])
            let made = try await store.create("secret", attributes(["a": "1"]), label: "kept")
            let credential = try required(
                try await store.update(made.item.id, label: nil, attributes: key, deadline: .standard))
            try expect(credential.attributes == key && credential.label == "kept")
            try expect(credential.created == made.item.created)
            try expect(await store.text(credential.id) == "secret")
            try expect(await store.found(["a": "1"]) == [])
            try expect(await store.found(["service": "example.org"]) == [credential.id])
            let more = attributes(["service": "example.org", "username": "ada", "xdg:schema": "x"])
            let item = try required(
                try await store.update(credential.id, label: nil, attributes: more, deadline: .standard))
            try expect(item.attributes == more && item.label == "kept")
            try expect(await store.text(item.id) == "secret")
            try expect(await store.found(["username": "ada"]) == [item.id])
            try expect(await store.items(in: "login", deadline: .standard) == [item.id])
        },
    ]
}

extension ItemStore {
    fileprivate func version(_ id: ItemID) async throws(StoreError) -> CredentialVersion? {
        try await read(id, as: ItemContent.self, deadline: .standard)?.version
    }
}
