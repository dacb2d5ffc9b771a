internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets

/// org.freedesktop.Secret.Collection and org.freedesktop.Secret.Item.
extension Keyring {
    func searchItems(in name: String, _ call: BusCall) async throws(BusFault) -> BusValue {
        let attributes = try attributes(call[0])
        let found = try await use(try await store(of: name)) { (store, deadline) async throws(StoreError) in
            try await store.search(attributes, in: name, deadline: deadline)
        }
        return .tuple([.paths(found.map { KeyringPath.item($0) })])
    }

    func delete(collection name: String, _: BusCall) async throws(BusFault) -> BusValue {
        if isInMemory(name) { throw BusFault(.notSupported, "this collection can't be deleted") }
        if configuration.isConfirmed(.deleteCollection(name)) {
            return .tuple([.path(try addPrompt(.deleteCollection(name)))])
        }
        try await deleteCollection(name)
        return .tuple([.path("/")])
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

    func createItem(in name: String, _ call: BusCall) async throws(BusFault) -> BusValue {
        let (properties, value, replacing) = (call[0], call[1], call[2].boolean)
        let session = try session(value[0])
        let label = try label(properties.property("org.freedesktop.Secret.Item.Label", "s"))
        let attributes =
            try properties.property("org.freedesktop.Secret.Item.Attributes", "a{ss}").map { (value) throws(BusFault) in
                try self.attributes(value)
            } ?? ItemAttributes()
        let store = try await openStore(of: name)
        let secret = try opened(value, in: session)
        let contentType = try ClientSession.contentType(of: value)
        let creation = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.create(
                secret, contentType: contentType, attributes, label: label, in: name, replacing: replacing,
                deadline: deadline)
        }
        if creation.isNew {
            await announceCreation(creation.item)
        } else {
            announceChange(creation.item)
        }
        return .tuple([.path(KeyringPath.item(creation.item)), .path("/")])
    }

    private func opened(_ value: BusValue, in session: ClientSession) throws(BusFault) -> Secret<ItemContent> {
        if session.isPlain {
            let (bus, byteCount) = (bus, value.byteCount + 4096)
            afterReply.append { bus.overwriteReadBuffer(byteCount) }
        }
        return try session.opened(value)
    }

    // MARK: - One item

    /// `nil` when the collection has no such item.
    func item(_ id: ItemID, in name: String, _ store: ServedItems) async throws(BusFault) -> Item? {
        let item = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.item(id, deadline: deadline)
        }
        return item?.collection == name ? item : nil
    }

    /// The secret of an item, of which the observer hears. `nil` when the collection has no such item.
    func secret(of id: ItemID, in name: String, _ store: ServedItems) async throws(BusFault) -> ItemRecord<ItemContent>?
    {
        let record = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.read(id, deadline: deadline)
        }
        guard let record, record.item.collection == name else { return nil }
        if let observer = configuration.observer { observer.didRead(record.item, by: await reader()) }
        return record
    }

    func getSecret(
        of item: (collection: String, id: ItemID), _ call: BusCall
    ) async throws(BusFault) -> BusValue {
        let session = try session(call[0])
        let store = try await openStore(of: item.collection)
        guard let secret = try await secret(of: item.id, in: item.collection, store) else { throw .unknownObject }
        return .tuple([try session.sealed(secret)])
    }

    func setSecret(
        of item: (collection: String, id: ItemID), _ call: BusCall
    ) async throws(BusFault) -> BusValue {
        let session = try session(call[0][0])
        let store = try await openStore(of: item.collection)
        guard try await self.item(item.id, in: item.collection, store) != nil else { throw .unknownObject }
        let secret = try opened(call[0], in: session)
        let contentType = try ClientSession.contentType(of: call[0])
        let changed = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.setSecret(secret, contentType: contentType, of: item.id, deadline: deadline)
        }
        guard let changed else { throw .unknownObject }
        announceChange(changed)
        return .none
    }

    func delete(item: (collection: String, id: ItemID), _: BusCall) async throws(BusFault) -> BusValue {
        let store = try await openStore(of: item.collection)
        guard try await self.item(item.id, in: item.collection, store) != nil else { throw .unknownObject }
        if configuration.isConfirmed(.deleteItem(item.id)) {
            return .tuple([.path(try addPrompt(.deleteItem(item.id, collection: item.collection)))])
        }
        try await deleteItem(item.id, in: item.collection)
        return .tuple([.path("/")])
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
