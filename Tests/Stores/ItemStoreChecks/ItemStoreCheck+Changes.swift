internal import LatchkeyCredentials

extension ItemStoreCheck {
    package static let changes = [
        ItemStoreCheck("replacing means equal attributes, and keeps the item") { store in
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
        ItemStoreCheck("replacing an item without attributes takes the one without") { store in
            let other = try await store.create("other", attributes(["a": "1"]))
            let none = try await store.create("none", ItemAttributes(), replacing: true)
            try expect(none.isNew)
            let again = try await store.create("again", ItemAttributes(), replacing: true)
            try expect(!again.isNew && again.item.id == none.item.id)
            try expect(await store.text(other.item.id) == "other")
        },
        ItemStoreCheck("without replacing there are two items with equal attributes") { store in
            let one = try await store.create("1", attributes(["a": "1"]))
            let two = try await store.create("2", attributes(["a": "1"]))
            try expect(two.isNew && one.item.id != two.item.id)
            try expect(await store.found(["a": "1"]) == [one.item.id, two.item.id])
            try expect(await store.delete(one.item.id, deadline: .standard)?.id == one.item.id)
            try expect(await store.found(["a": "1"]) == [two.item.id])
            try expect(await store.text(two.item.id) == "2")
        },
        ItemStoreCheck("the same holds of what a credential is") { store in
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
        ItemStoreCheck("a secret can be exchanged, and its content type with it") { store in
            let made = try await store.create("old", attributes(["a": "1"]))
            let changed = try required(
                try await store.setSecret(
                    itemSecret([1, 2], contentType: "application/octet-stream"), of: made.item.id,
                    deadline: .standard))
            try expect(changed.id == made.item.id && changed.version != made.item.version)
            try expect(changed.label == "label" && changed.attributes == made.item.attributes)
            try expect(changed.contentType == "application/octet-stream")
            try expect(await store.item(made.item.id, deadline: .standard) == changed)
            try expect(try required(await store.exposed(made.item.id)).bytes == [1, 2])
        },
        ItemStoreCheck("a label can be changed alone, attributes alone, and both") { store in
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
        ItemStoreCheck("an item that becomes a credential, or ceases to be one, keeps everything else") { store in
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
