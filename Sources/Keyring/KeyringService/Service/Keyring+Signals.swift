internal import LatchkeyCredentials
internal import LatchkeyDBus

/// What clients are told of changes, their own and others'.
///
/// Signals come from a collection's own path, never from an alias. The list of all items goes along while it is short:
/// libsecret reads it, and a long one with each new item would cost more than the item. It is never said to be invalid,
/// which crashes libsecret 0.20 at the next signal.
extension Keyring {
    private static let longestAnnouncedList = 256

    /// A signal of the service or a collection about one object.
    func emit(_ name: StaticString, _ path: String) {
        bus.emit(name, of: BusInterface.service.name, from: KeyringPath.root, [.path(path)])
    }

    private func emit(_ name: StaticString, _ id: ItemID, in collection: String) {
        let collection = KeyringPath.CollectionName.name(collection)
        bus.emit(
            name, of: BusInterface.collection.name, from: KeyringPath.collection(collection).text,
            [.path(KeyringPath.item(collection, id).text)])
    }

    func announceProperties(_ values: [(String, BusValue)], of interface: BusInterface, _ path: String) {
        bus.emit(
            "PropertiesChanged", of: BusInterface.properties.name, from: path,
            [.string(interface.name.description), .properties(values), .strings([])])
    }

    func announceCollections() {
        announceProperties([("Collections", collectionPaths())], of: .service, KeyringPath.root)
    }

    func announceLock(_ name: String) {
        let path = KeyringPath.collection(.name(name)).text
        announceProperties([("Locked", .boolean(isLocked(name)))], of: .collection, path)
        emit("CollectionChanged", path)
    }

    // MARK: - Items

    func announceCreation(_ item: Item) async {
        emit("ItemCreated", item.id, in: item.collection)
        await announceItems(of: item.collection, adding: 1)
    }

    func announceDeletion(_ id: ItemID, in collection: String) async {
        emit("ItemDeleted", id, in: collection)
        await announceItems(of: collection, adding: -1)
    }

    func announceChange(_ item: Item) {
        announceProperties(
            [
                ("Label", .string(item.label)), ("Attributes", .dictionary(item.attributes)),
                ("Modified", Self.moment(item.modified)),
            ], of: .item, KeyringPath.item(item))
        emit("ItemChanged", item.id, in: item.collection)
    }

    func announceItems(of name: String, adding count: Int = 0) async {
        if let known = itemCounts[name], known > Self.longestAnnouncedList {
            itemCounts[name] = known + count
            return
        }
        guard let store = try? await store(of: name) else { return }
        let items = try? await use(store) { (store, deadline) async throws(StoreError) in
            try await store.items(in: name, deadline: deadline)
        }
        guard let items else { return }
        itemCounts[name] = items.count
        guard items.count <= Self.longestAnnouncedList else { return }
        announceProperties(
            [("Items", itemPaths(items, in: name))], of: .collection, KeyringPath.collection(.name(name)).text)
    }

    // MARK: - Changes by others

    func announce(_ change: ItemChange) async {
        switch change {
        case .created(let item): await announceCreation(item)
        case .changed(let item): announceChange(item)
        case .deleted(let id, let collection): await announceDeletion(id, in: collection)
        case .unknown:
            itemCounts = [:]
            let before = collectionNames()
            guard (try? await look()) != nil else { return }
            let after = collectionNames()
            for name in before where !after.contains(name) {
                emit("CollectionDeleted", KeyringPath.collection(.name(name)).text)
            }
            for name in after where !before.contains(name) {
                emit("CollectionCreated", KeyringPath.collection(.name(name)).text)
            }
            if before != after { announceCollections() }
            for name in after where before.contains(name) && !isInMemory(name) {
                emit("CollectionChanged", KeyringPath.collection(.name(name)).text)
                await announceItems(of: name)
            }
        }
    }
}
