internal import LatchkeyCredentials

extension ContractCase {
    /// The statements for stores that can create collections of the Secret Service's size.
    package static let collections: [ContractCase] = [
        ContractCase(collections: "a new collection has its own name and items") { store in
            let made = try await store.createCollection(label: "My keys!", alias: nil, deadline: .standard)
            try expect(made.label == "My keys!" && made.aliases == [] && ItemID(made.name) != nil)
            let same = try await store.createCollection(label: "My keys!", alias: nil, deadline: .standard)
            let session = try await store.createCollection(label: "session", alias: nil, deadline: .standard)
            let nameless = try await store.createCollection(label: "", alias: nil, deadline: .standard)
            let names = [made.name, same.name, session.name, nameless.name, "login", "session"]
            try expect(Set(names).count == names.count)
            let all = try await store.collections(deadline: .standard)
            try expect(all.count == 5 && all.map(\.name) == all.map(\.name).sorted())
            try expect(all.contains(made))

            let here = try await store.create("here", attributes(["a": "1"]), in: made.name).item
            let there = try await store.create("there", attributes(["a": "1"])).item
            try expect(here.collection == made.name)
            try expect(await store.items(in: made.name, deadline: .standard) == [here.id])
            try expect(await store.items(in: "login", deadline: .standard) == [there.id])
            try expect(await store.found(["a": "1"]) == [here.id, there.id])
            try expect(await store.found(["a": "1"], in: made.name) == [here.id])
            try expect(await store.found(["a": "1"], in: "login") == [there.id])
            try expect(await store.found([:], in: made.name) == [here.id])
            try expect(await store.found([:], in: "absent") == [])
            let again = try await store.create("new", attributes(["a": "1"]), in: made.name, replacing: true)
            try expect(again.item.id == here.id)
            try expect(await store.text(there.id) == "there")
        },
        ContractCase(collections: "the schema that gnome-keyring invents makes no other item of a replaced one") {
            store in
            let bare = attributes(["a": "1"])
            let whole = attributes(["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"])
            let first = try await store.create("one", whole)
            for (given, text) in [(bare, "two"), (whole, "three")] {
                let again = try await store.create(text, given, replacing: true)
                try expect(!again.isNew && again.item.id == first.item.id && again.item.attributes == whole)
                try expect(await store.text(first.item.id) == text)
            }
            let second = try await store.create("four", bare)
            let equal = try await store.create("five", bare, replacing: true)
            try expect(second.isNew && equal.item.id == second.item.id)
            try expect(await store.text(first.item.id) == "three")
            // A credential stays one.
            let key = attributes(["service": "example.org", "username": "ada"])
            let credential = try await store.create("six", key)
            let named = attributes([
                "service": "example.org", "username": "ada", "xdg:schema": "org.freedesktop.Secret.Generic",
            ])
            let same = try await store.create("seven", named, replacing: true)
            try expect(same.item.id == credential.item.id && same.item.attributes == key)
            // One with another schema is another item.
            let other = try await store.create(
                "seven", attributes(["a": "1", "xdg:schema": "org.other"]), replacing: true)
            try expect(other.isNew)
        },
        ContractCase(collections: "service and username in another collection aren't a credential") { store in
            let made = try await store.createCollection(label: "other", alias: nil, deadline: .standard)
            let key = attributes(["service": "example.org", "username": "ada"])
            let there = try await store.create("there", key, in: made.name)
            let here = try await store.create("here", key, replacing: true)
            try expect(here.isNew && here.item.id != there.item.id)
            try expect(await store.text(there.item.id) == "there")
            try expect(await store.found(["username": "ada"], in: "login") == [here.item.id])
        },
        ContractCase(collections: "a missing collection takes no new item") {
            (store: any CollectionStore) async throws in
            let refused = await code { () async throws(StoreError) in
                try await store.create("x", attributes(["a": "1"]), in: "absent")
            }
            try expect(refused == .unavailable)
            try expect(await store.search(ItemAttributes()) == [])
            try expect(await store.items(in: "absent", deadline: .standard) == [])
        },
        ContractCase(collections: "deleting a collection deletes only its items; the first collection stays") { store in
            let made = try await store.createCollection(label: "other", alias: nil, deadline: .standard)
            for number in 0..<5 {
                try await store.create("\(number)", attributes(["a": "\(number % 2)"]), in: made.name)
            }
            let kept = try await store.create("kept", attributes(["a": "1"])).item.id
            try expect(await store.deleteCollection(made.name, deadline: .standard))
            try expect(await store.deleteCollection(made.name, deadline: .standard) == false)
            try expect(await store.found([:]) == [kept])
            try expect(await store.found(["a": "1"]) == [kept])
            try expect(await store.found(["a": "0"]) == [])
            let refused = await code { () async throws(StoreError) in
                try await store.deleteCollection("login", deadline: .standard)
            }
            try expect(refused == .unsupported)
            try expect(await store.text(kept) == "kept")
        },
        ContractCase(collections: "an alias names one collection at most") { store in
            func aliases(_ name: String) async throws -> [String] {
                try await store.collections(deadline: .standard).first { $0.name == name }?.aliases ?? []
            }
            let one = try await store.createCollection(label: "one", alias: "mine", deadline: .standard)
            try expect(one.aliases == ["mine"])
            let two = try await store.createCollection(label: "two", alias: "mine", deadline: .standard)
            try expect(await aliases(one.name) == [])
            try expect(await aliases(two.name) == ["mine"])
            try expect(await store.setAlias("mine", to: one.name, deadline: .standard))
            try expect(await aliases(one.name) == ["mine"])
            try expect(await store.setAlias("mine", to: "absent", deadline: .standard) == false)
            try expect(await aliases(one.name) == ["mine"])
            try expect(await store.setAlias("mine", to: nil, deadline: .standard))
            try expect(await aliases(one.name) == [])
            try expect(await store.setAlias("default", to: two.name, deadline: .standard))
            try expect(await aliases("login").contains("default") == false)
            try expect(await store.deleteCollection(two.name, deadline: .standard))
            try expect(await aliases("login").contains("default"))
        },
        ContractCase(collections: "a collection's label can be changed") { store in
            let made = try await store.createCollection(label: "old", alias: nil, deadline: .standard)
            try expect(await store.setLabel("new", ofCollection: made.name, deadline: .standard))
            try expect(await store.setLabel("Mine", ofCollection: "login", deadline: .standard))
            try expect(await store.setLabel("x", ofCollection: "absent", deadline: .standard) == false)
            let labels = try await store.collections(deadline: .standard).map(\.label)
            try expect(Set(labels) == ["new", "Mine"])
        },
        ContractCase(
            collections: "attributes, label and content type work up to their limits; larger ones are refused"
        ) {
            store in
            let many = ItemAttributes(
                (0..<64).map { ItemAttributes.Attribute(name: "name \($0)", value: String(repeating: "v", count: 500)) }
            )!
            let one = attributes(["n": String(repeating: "v", count: 32767)])
            let type = String(repeating: "t", count: 255)
            let label = String(repeating: "l", count: 4096)
            for all in [many, one] {
                let made = try await store.create(
                    [1], contentType: type, attributes: all, label: label, in: "login", replacing: false,
                    deadline: .standard)
                try expect(await store.item(made.item.id, deadline: .standard) == made.item)
                try expect(made.item.attributes == all && made.item.label == label && made.item.contentType == type)
            }
            try expect(await store.found(["name 63": String(repeating: "v", count: 500)]).count == 1)
            let longLabel = await code { () async throws(StoreError) in
                try await store.create("x", attributes(["a": "1"]), label: label + "l")
            }
            try expect(longLabel == .tooLarge)
            let longType = await code { () async throws(StoreError) in
                try await store.create(
                    [1], contentType: type + "t", attributes: attributes(["a": "1"]), label: "",
                    in: "login", replacing: false, deadline: .standard)
            }
            try expect(longType == .tooLarge)
            try expect(await store.found(["a": "1"]) == [])
        },
        ContractCase(collections: "attributes past the limits find nothing, and none are saved with them") { store in
            let long = String(repeating: "n", count: 70_000)
            let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("name \($0)", "") })
            for past in [[long: ""], ["n": long], many].map(ItemAttributes.init(ofOthers:)) {
                for collection in ["login", nil] {
                    try expect(await store.search(past, in: collection) == [])
                }
                let made = try await store.create("kept", attributes(["a": "1"])).item
                for replacing in [false, true] {
                    let saved = await code { () async throws(StoreError) in
                        try await store.create("x", past, replacing: replacing)
                    }
                    try expect(saved == .tooLarge)
                }
                let updated = await code { () async throws(StoreError) in
                    try await store.update(made.id, label: nil, attributes: past, deadline: .standard)
                }
                try expect(updated == .tooLarge)
                try expect(await store.delete(made.id, deadline: .standard) == made)
            }
            try expect(await store.search(ItemAttributes()) == [])
        },
        ContractCase(collections: "a secret of eight megabytes can be stored") { store in
            let bytes = [UInt8](repeating: 0x5A, count: 8 << 20)
            let made = try await store.create(
                bytes, contentType: "application/octet-stream", attributes: attributes(["a": "1"]),
                label: "", in: "login", replacing: false, deadline: .standard)
            try expect(try required(await store.exposed(made.item.id)).bytes == bytes)
        },
    ]
}
