internal import LatchkeyCredentials

extension ItemStoreCheck {
    package static let items = [
        ItemStoreCheck("a new store has one collection, which is the default one, and no items") { store in
            let collections = try await store.collections(deadline: .standard)
            try expect(collections.map(\.name) == ["login"])
            try expect(collections[0].aliases.contains("default"))
            try expect(await store.items(in: "login", deadline: .standard) == [])
            try expect(await store.search(ItemAttributes()) == [])
            try expect(await store.found(["any": "thing"]) == [])
        },
        ItemStoreCheck("an item comes back as it was created") { store in
            let all = attributes(["xdg:schema": "org.example", "user": "ada", "empty": "", "naïve": "ñ\u{1F511}"])
            let bytes: [UInt8] = [0, 1, 0xFF, 0xFE, 0]
            let made = try await store.create(
                itemSecret(bytes, contentType: "application/x-odd"), attributes: all, label: "Ada’s",
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
        ItemStoreCheck("an item may have no attributes, no label, no content type and an empty secret") { store in
            let made = try await store.create(
                itemSecret([], contentType: ""), attributes: ItemAttributes(), label: "", in: "login",
                replacing: false, deadline: .standard)
            let secret = try required(await store.exposed(made.item.id))
            try expect(secret.bytes == [] && secret.contentType == "")
            try expect(await store.search(ItemAttributes()).map(\.id) == [made.item.id])
            try expect(await store.found(["any": "thing"]) == [])
        },
        ItemStoreCheck("what isn't there is nil") { store in
            let made = try await store.create("gone", attributes(["a": "1"]))
            try expect(await store.delete(made.item.id, deadline: .standard) == made.item)
            for id in [made.item.id, ItemID("absent")!, ItemID(String(repeating: "0", count: 32))!] {
                try expect(await store.item(id, deadline: .standard) == nil)
                try expect(await store.text(id) == nil)
                try expect(await store.delete(id, deadline: .standard) == nil)
                try expect(await store.update(id, label: "x", attributes: nil, deadline: .standard) == nil)
                try expect(await store.setSecret(itemSecret("x"), of: id, deadline: .standard) == nil)
            }
            try expect(await store.found(["a": "1"]) == [])
        },
        ItemStoreCheck("a search finds the items that have all the attributes, and perhaps others") { store in
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
        ItemStoreCheck("names and values are told apart by their bytes, and never run into each other") { store in
            let composed = try await store.create("1", attributes(["ab": "c"])).item.id
            let other = try await store.create("2", attributes(["a": "bc"])).item.id
            let normal = try await store.create("3", attributes(["n": "\u{E9}"])).item.id
            let decomposed = try await store.create("4", attributes(["n": "e\u{301}"])).item.id
            try expect(await store.found(["ab": "c"]) == [composed])
            try expect(await store.found(["a": "bc"]) == [other])
            try expect(await store.found(["n": "\u{E9}"]) == [normal])
            try expect(await store.found(["n": "e\u{301}"]) == [decomposed])
        },
        ItemStoreCheck("the item that was changed last comes first") { store in
            var ids: [ItemID] = []
            for number in 0..<3 { ids.append(try await store.create("\(number)", attributes(["all": "1"])).item.id) }
            try await Task.sleep(for: .milliseconds(1100))
            _ = try await store.setSecret(itemSecret("new"), of: ids[1], deadline: .standard)
            try expect(await store.search(attributes(["all": "1"])).first?.id == ids[1])
            try expect(await store.search(ItemAttributes()).first?.id == ids[1])
        },
    ]
}
