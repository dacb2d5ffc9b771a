internal import LatchkeyCredentials
internal import LatchkeyDBus

/// org.freedesktop.Secret.Collection and org.freedesktop.Secret.Item.
extension Keyring {
    func performOnCollection(
        _ method: String, _ name: String, _ arguments: BusValue
    ) async throws(BusFault) -> BusValue {
        switch method {
        case "SearchItems":
            let attributes = try attributes(arguments[0])
            let found = try await use(try await store(of: name)) { (store, deadline) async throws(StoreError) in
                try await store.search(attributes, in: name, deadline: deadline)
            }
            return .tuple([.paths(found.map { KeyringPath.item($0) })])
        case "CreateItem": return try await createItem(in: name, arguments)
        case "Delete":
            if isInMemory(name) { throw BusFault(.notSupported, "this collection can't be deleted") }
            if configuration.isConfirmed(.deleteCollection(name)) {
                return .tuple([.path(try addPrompt(.deleteCollection(name)))])
            }
            try await deleteCollection(name)
            return .tuple([.path("/")])
        default: throw .unknownMethod
        }
    }

    func deleteCollection(_ name: String) async throws(BusFault) {
        let isDeleted = try await use(try await openStore(of: name)) { (store, deadline) async throws(StoreError) in
            try await store.deleteCollection(name, deadline: deadline)
        }
        guard isDeleted else { throw .unknownObject }
        try await look()
        itemCounts[name] = nil
        emit("CollectionDeleted", KeyringPath.collection(.name(name)).text)
        announceCollections()
    }

    private func createItem(in name: String, _ arguments: BusValue) async throws(BusFault) -> BusValue {
        let (properties, value, replacing) = (arguments[0], arguments[1], arguments[2].boolean)
        let session = try session(value[0])
        let label = try label(properties.property("org.freedesktop.Secret.Item.Label", "s"))
        let attributes =
            try properties.property("org.freedesktop.Secret.Item.Attributes", "a{ss}").map { (value) throws(BusFault) in
                try self.attributes(value)
            } ?? ItemAttributes()
        let store = try await openStore(of: name)
        let secret = try opened(value, in: session)
        let creation = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.create(
                secret, attributes: attributes, label: label, in: name, replacing: replacing, deadline: deadline)
        }
        if creation.isNew {
            await announceCreation(creation.item)
        } else {
            announceChange(creation.item)
        }
        return .tuple([.path(KeyringPath.item(creation.item)), .path("/")])
    }

    private func opened(_ value: BusValue, in session: KeyringSession) throws(BusFault) -> ItemSecret {
        if session.isPlain {
            let (bus, byteCount) = (bus, value.byteCount + 4096)
            afterReply.append { bus.overwriteReadBuffer(byteCount) }
        }
        return try session.opened(value)
    }

    // MARK: - One item

    /// `nil` when the collection has no such item.
    func item(_ id: ItemID, in name: String, _ store: any ItemStore) async throws(BusFault) -> StoredItem? {
        let item = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.item(id, deadline: deadline)
        }
        return item?.collection == name ? item : nil
    }

    /// The secret of an item, of which the observer hears. `nil` when the collection has no such item.
    func secret(of id: ItemID, in name: String, _ store: any ItemStore) async throws(BusFault) -> ItemSecret? {
        let secret = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.secret(of: id, deadline: deadline)
        }
        guard let secret else { return nil }
        var item = secret.item
        if item == nil { item = try await self.item(id, in: name, store) }
        guard let item, item.collection == name else { return nil }
        if let observer = configuration.observer { observer.didRead(item, by: await reader()) }
        return secret
    }

    func performOnItem(
        _ method: String, _ id: ItemID, in name: String, _ arguments: BusValue
    ) async throws(BusFault) -> BusValue {
        switch method {
        case "GetSecret":
            let session = try session(arguments[0])
            let store = try await openStore(of: name)
            guard let secret = try await secret(of: id, in: name, store) else { throw .unknownObject }
            return .tuple([try session.sealed(secret)])
        case "SetSecret":
            let session = try session(arguments[0][0])
            let store = try await openStore(of: name)
            guard try await item(id, in: name, store) != nil else { throw .unknownObject }
            let secret = try opened(arguments[0], in: session)
            let changed = try await use(store) { (store, deadline) async throws(StoreError) in
                try await store.setSecret(secret, of: id, deadline: deadline)
            }
            guard let changed else { throw .unknownObject }
            announceChange(changed)
            return .none
        case "Delete":
            let store = try await openStore(of: name)
            guard try await item(id, in: name, store) != nil else { throw .unknownObject }
            if configuration.isConfirmed(.deleteItem(id)) {
                return .tuple([.path(try addPrompt(.deleteItem(id, collection: name)))])
            }
            try await deleteItem(id, in: name)
            return .tuple([.path("/")])
        default: throw .unknownMethod
        }
    }

    func deleteItem(_ id: ItemID, in name: String) async throws(BusFault) {
        let deleted = try await use(try await openStore(of: name)) { (store, deadline) async throws(StoreError) in
            try await store.delete(id, deadline: deadline)
        }
        guard let deleted else { throw .unknownObject }
        await announceDeletion(deleted.id, in: deleted.collection)
    }

    // MARK: - Who reads

    private func reader() async -> KeyringClient { await client(sender) }

    func client(_ sender: String) async -> KeyringClient {
        if let known = readers[sender] { return known }
        let processID = await bus.processID(of: sender)
        let client = KeyringClient(
            uniqueName: sender, processID: processID, unit: processID.flatMap(ProcessFacts.unit),
            executable: processID.flatMap(ProcessFacts.executable))
        readers[sender] = client
        return client
    }
}
