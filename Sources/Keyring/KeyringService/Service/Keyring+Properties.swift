internal import LatchkeyCredentials
internal import LatchkeyDBus

/// org.freedesktop.DBus.Properties.
extension Keyring {
    func getProperty(of object: Object, _ call: BusCall) async throws(BusFault) -> BusValue {
        let name = try property(of: object, call).name.description
        if name == "Items", case .collection(let collection) = object { _ = try await store(of: collection) }
        guard let value = try await values(of: object).first(where: { $0.0 == name }) else { throw .unknownProperty }
        return .tuple([.boxed(value.1)])
    }

    func getProperties(of object: Object, _ call: BusCall) async throws(BusFault) -> BusValue {
        let hasProperties = try own(call[0].text, of: object) != nil
        return .tuple([.properties(hasProperties ? try await values(of: object) : [])])
    }

    func setProperty(of object: Object, _ call: BusCall) async throws(BusFault) -> BusValue {
        let property = try property(of: object, call)
        let value = call[2].unboxed
        guard property.isWritable else { throw BusFault(.propertyReadOnly, "the property can't be set") }
        guard value.is(property.type) else { throw .invalid("the property has another type") }
        try await set(property.name.description, to: value, of: object)
        return .none
    }

    /// The property that a call is about.
    private func property(of object: Object, _ call: BusCall) throws(BusFault) -> BusInterface.Property {
        guard let property = try own(call[0].text, of: object)?.property(call[1].text) else { throw .unknownProperty }
        return property
    }

    /// The interface with properties of an object, where that is the one that is asked for, or one that has none.
    private func own(_ name: String, of object: Object) throws(BusFault) -> BusInterface? {
        guard name.isEmpty || object.interfaces.contains(where: { $0.name.description == name }) else {
            throw BusFault(.unknownInterface, "the object has no such interface")
        }
        return object.interfaces.first { !$0.properties.isEmpty && (name.isEmpty || $0.name.description == name) }
    }

    private func values(of object: Object) async throws(BusFault) -> [(String, BusValue)] {
        switch object {
        case .portal: return [("version", .unsigned32(1))]
        case .service:
            _ = try? await openVault()
            return [("Collections", collectionPaths())]
        case .collection(let name):
            var items: [ItemID] = []
            if let store = try? await store(of: name) {
                items = try await use(store) { (store, deadline) async throws(StoreError) in
                    try await store.items(in: name, deadline: deadline)
                }
                itemCounts[name] = items.count
            }
            let collection = try await known(name)
            return [
                ("Items", itemPaths(items, in: name)), ("Label", .string(collection.label)),
                ("Locked", .boolean(isLocked(name))), ("Created", Self.moment(collection.created)),
                ("Modified", Self.moment(collection.modified)),
            ]
        case .item(let name, let id):
            guard let item = try await item(id, in: name, try await store(of: name)) else { throw .unknownObject }
            return [
                ("Locked", .boolean(isLocked(name))), ("Attributes", .dictionary(item.attributes)),
                ("Label", .string(item.label)), ("Created", Self.moment(item.created)),
                ("Modified", Self.moment(item.modified)),
            ]
        default: return []
        }
    }

    private func known(_ name: String) async throws(BusFault) -> ItemCollection {
        if isInMemory(name) {
            let deadline = deadline
            let own = try await mapFault { () async throws(StoreError) in
                try await sessionItems.collections(deadline: deadline)
            }
            if let collection = own.first { return collection }
        } else {
            try await look()
            if let collection = vaultCollections.first(where: { $0.name == name }) { return collection }
        }
        throw .unknownObject
    }

    private func set(_ name: String, to value: BusValue, of object: Object) async throws(BusFault) {
        switch (object, name) {
        case (.collection(let collection), "Label"):
            let label = try label(value)
            let store = try await openStore(of: collection)
            let isDone = try await use(store) { (store, deadline) async throws(StoreError) in
                try await store.setLabel(label, ofCollection: collection, deadline: deadline)
            }
            guard isDone else { throw .unknownObject }
            // A client that waits for the signal may be gone before its call is answered: that comes first.
            let path = KeyringPath.collection(.name(collection)).text
            afterReply.append {
                self.announceProperties([("Label", value)], of: .collection, path)
                self.emit("CollectionChanged", path)
            }
        case (.item(let collection, let id), "Label"):
            let label = try label(value)
            try await update(id, in: collection, label: label, attributes: nil)
        case (.item(let collection, let id), "Attributes"):
            let attributes = try attributes(value)
            try await update(id, in: collection, label: nil, attributes: attributes)
        default: throw .unknownProperty
        }
    }

    private func update(
        _ id: ItemID, in name: String, label: String?, attributes: ItemAttributes?
    ) async throws(BusFault) {
        let store = try await openStore(of: name)
        guard try await item(id, in: name, store) != nil else { throw .unknownObject }
        let changed = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.update(id, label: label, attributes: attributes, deadline: deadline)
        }
        guard let changed else { throw .unknownObject }
        guard changed.id == id else {
            // It became a credential, or is none any more: another item, as far as a client can see.
            await announceDeletion(id, in: name)
            await announceCreation(changed)
            return
        }
        afterReply.append { self.announceChange(changed) }
    }

    static func moment(_ time: UnixTime) -> BusValue { .unsigned(UInt64(max(0, time.seconds))) }

    func collectionPaths() -> BusValue {
        .paths(collectionNames().map { KeyringPath.collection(.name($0)).text })
    }

    func itemPaths(_ items: [ItemID], in name: String) -> BusValue {
        .paths(items.map { KeyringPath.item(.name(name), $0).text })
    }
}
