internal import LatchkeyCredentials
internal import LatchkeyItems
internal import Testing

extension ItemStoreCheck {
    static let items = [
        ItemStoreCheck("a new store has one collection, which is the default one, and no items") { store in
            let collections = try await store.collections(deadline: .standard)
            #expect(collections.map(\.name) == ["login"])
            #expect(collections[0].aliases.contains("default"))
            #expect(try await store.items(in: "login", deadline: .standard) == [])
            #expect(try await store.search(ItemAttributes()) == [])
            #expect(try await store.found(["any": "thing"]) == [])
        },
        ItemStoreCheck("an item comes back as it was created") { store in
            let all = attributes(["xdg:schema": "org.example", "user": "ada", "empty": "", "naïve": "ñ\u{1F511}"])
            let bytes: [UInt8] = [0, 1, 0xFF, 0xFE, 0]
            let made = try await store.create(
                itemSecret(bytes, contentType: "application/x-odd"), attributes: all, label: "Ada’s",
                in: "login", replacing: false, deadline: .standard)
            #expect(made.isNew)
            let item = try #require(try await store.item(made.item.id, deadline: .standard))
            #expect(item == made.item)
            #expect(item.attributes == all && item.label == "Ada’s" && item.collection == "login")
            #expect(item.contentType == "application/x-odd")
            #expect(item.created == item.modified)
            let secret = try #require(try await store.exposed(item.id))
            #expect(secret.bytes == bytes && secret.contentType == "application/x-odd")
            #expect(try await store.items(in: "login", deadline: .standard) == [item.id])
        },
        ItemStoreCheck("an item may have no attributes, no label, no content type and an empty secret") { store in
            let made = try await store.create(
                itemSecret([], contentType: ""), attributes: ItemAttributes(), label: "", in: "login",
                replacing: false, deadline: .standard)
            let secret = try #require(try await store.exposed(made.item.id))
            #expect(secret.bytes == [] && secret.contentType == "")
            #expect(try await store.search(ItemAttributes()).map(\.id) == [made.item.id])
            #expect(try await store.found(["any": "thing"]) == [])
        },
        ItemStoreCheck("what isn't there is nil") { store in
            let made = try await store.create("gone", attributes(["a": "1"]))
            #expect(try await store.delete(made.item.id, deadline: .standard) == made.item)
            for id in [made.item.id, ItemID("absent")!, ItemID(String(repeating: "0", count: 32))!] {
                #expect(try await store.item(id, deadline: .standard) == nil)
                #expect(try await store.text(id) == nil)
                #expect(try await store.delete(id, deadline: .standard) == nil)
                #expect(try await store.update(id, label: "x", attributes: nil, deadline: .standard) == nil)
                #expect(try await store.setSecret(itemSecret("x"), of: id, deadline: .standard) == nil)
            }
            #expect(try await store.found(["a": "1"]) == [])
        },
        ItemStoreCheck("a search finds the items that have all the attributes, and perhaps others") { store in
            let one = try await store.create("1", attributes(["a": "1", "b": "1"])).item.id
            let two = try await store.create("2", attributes(["a": "1", "b": "2"])).item.id
            let three = try await store.create("3", attributes(["a": "1", "b": "2", "c": "3"])).item.id
            let four = try await store.create("4", attributes(["a": "2"])).item.id
            #expect(try await store.found(["a": "1"]) == [one, two, three])
            #expect(try await store.found(["b": "2"]) == [two, three])
            #expect(try await store.found(["a": "1", "b": "2"]) == [two, three])
            #expect(try await store.found(["c": "3", "a": "1"]) == [three])
            #expect(try await store.found(["a": "2"]) == [four])
            #expect(try await store.found([:]) == [one, two, three, four])
            for wrong in [["a": "3"], ["A": "1"], ["a": ""], ["b": "1", "a": "2"], ["c": "3", "d": "4"]] {
                let given = ItemAttributes(wrong.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) })!
                #expect(try await store.search(given) == [], "\(wrong)")
            }
        },
        ItemStoreCheck("names and values are told apart by their bytes, and never run into each other") { store in
            let composed = try await store.create("1", attributes(["ab": "c"])).item.id
            let other = try await store.create("2", attributes(["a": "bc"])).item.id
            let normal = try await store.create("3", attributes(["n": "\u{E9}"])).item.id
            let decomposed = try await store.create("4", attributes(["n": "e\u{301}"])).item.id
            #expect(try await store.found(["ab": "c"]) == [composed])
            #expect(try await store.found(["a": "bc"]) == [other])
            #expect(try await store.found(["n": "\u{E9}"]) == [normal])
            #expect(try await store.found(["n": "e\u{301}"]) == [decomposed])
        },
        ItemStoreCheck("the item that was changed last comes first") { store in
            var ids: [ItemID] = []
            for number in 0..<3 { ids.append(try await store.create("\(number)", attributes(["all": "1"])).item.id) }
            try await Task.sleep(for: .milliseconds(1100))
            _ = try await store.setSecret(itemSecret("new"), of: ids[1], deadline: .standard)
            #expect(try await store.search(attributes(["all": "1"])).first?.id == ids[1])
            #expect(try await store.search(ItemAttributes()).first?.id == ids[1])
        },
    ]
}
