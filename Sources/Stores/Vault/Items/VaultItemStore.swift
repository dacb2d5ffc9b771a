package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// The items of a vault: its credentials of the kind `password`, and items with other attributes.
///
/// Listeners of `changesByOthers` aren't told of what is changed through the same `VaultItemStore`.
final class VaultItemStore: ItemStore {
    let vault: VaultStore
    let observer: ItemObserver

    init(_ vault: VaultStore) {
        self.vault = vault
        observer = ItemObserver(vault)
    }

    // MARK: - Collections

    func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        try await vault.waiting(until: deadline) { (view, state) throws(StoreError) in
            try VaultStore.collections(in: view, state.keys).all
        }
    }

    func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID] {
        if collection == CollectionsRecord.first {
            // Most of a vault: going through it costs less than the list's rows would.
            return try await all(deadline: deadline) { (heading, keys) throws(StoreError) -> ItemID? in
                let found = try VaultStore.collection(of: heading, keys)
                return found == collection ? .vault(ItemHandle(of: heading.lookup)) : nil
            }
        }
        return try await vault.waiting(until: deadline) { [vault] (view, state) throws(StoreError) in
            try vault.compareIndex(in: view, state)
            let list = IndexList(collection: collection, state.keys)
            return try view.items(of: [list], state.manifest, state.keys).map(ItemID.vault)
        }
    }

    // MARK: - Items

    func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [StoredItem] {
        let isElsewhere = collection != nil && collection != CollectionsRecord.first
        if attributes.all.isEmpty && !isElsewhere {
            return Self.lastChangedFirst(try await all(in: collection, deadline: deadline))
        }
        let found = try await vault.waiting(until: deadline) { [vault] (view, state) throws(StoreError) in
            try vault.compareIndex(in: view, state)
            var lists = attributes.all.map { IndexList($0, state.keys) }
            if let collection, isElsewhere { lists.append(IndexList(collection: collection, state.keys)) }
            var found: [StoredItem] = []
            for handle in try view.items(of: lists, state.manifest, state.keys) {
                guard let item = try Self.present(handle, in: view, state.keys)?.item else { throw .indexDiffers }
                guard item.attributes.contains(attributes), collection == nil || item.collection == collection else {
                    continue
                }
                found.append(item)
            }
            return found
        }
        return Self.lastChangedFirst(found)
    }

    func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        guard let handle = ItemHandle(id) else { return nil }
        return try await vault.waiting(until: deadline) { (view, state) throws(StoreError) in
            try Self.present(handle, in: view, state.keys)?.item
        }
    }

    func secret(of id: ItemID, deadline: Deadline) async throws(StoreError) -> ItemSecret? {
        guard let handle = ItemHandle(id) else { return nil }
        return try await vault.waiting(until: deadline) { (view, state) throws(StoreError) -> ItemSecret? in
            guard let present = try Self.present(handle, in: view, state.keys) else { return nil }
            let secret = try Self.secret(of: present, in: view, state.keys)
            return ItemSecret(
                secret.repurposed(as: ItemContent.self), contentType: present.item.contentType, item: present.item)
        }
    }

    func changesByOthers(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        try await observer.listen(deadline: deadline)
    }

    // MARK: - Going through all

    private static var pageSize: Int { 500 }

    /// Page by page, so that nobody waits for it: what is changed meanwhile is there as it was before or after.
    private func all(in collection: String?, deadline: Deadline) async throws(StoreError) -> [StoredItem] {
        try await items(deadline: deadline) { collection == nil || $0.collection == collection }
    }

    fileprivate func items(
        deadline: Deadline, where isWanted: @escaping @Sendable (ItemMetadata) -> Bool
    ) async throws(StoreError) -> [StoredItem] {
        try await all(deadline: deadline) { (heading, keys) throws(StoreError) -> StoredItem? in
            let metadata = try VaultStore.openMetadata(heading, keys)
            return isWanted(metadata) ? metadata.storedItem(at: heading.lookup) : nil
        }
    }

    private func all<Found: Sendable>(
        deadline: Deadline, _ found: @escaping @Sendable (ItemHeading, VaultKeys) throws(StoreError) -> Found?
    ) async throws(StoreError) -> [Found] {
        var all: [Found] = []
        var cursor: (keys: [UInt8], place: Int64)?
        while true {
            let last = cursor
            let page = try await vault.waiting(until: deadline) { (view, state) throws(StoreError) in
                // After a rekeying the places are others: from the start.
                let isSame = last?.keys == state.keys.id
                let headings = try view.items(after: isSame ? last?.place : nil, limit: Self.pageSize)
                var page: [Found] = []
                for heading in headings {
                    if let found = try found(heading, state.keys) { page.append(found) }
                }
                return (found: page, isSame: isSame, keys: state.keys.id, last: headings.last?.place)
            }
            if page.isSame { all += page.found } else { all = page.found }
            guard let place = page.last else { return all }
            cursor = (page.keys, place)
        }
    }

    private static func lastChangedFirst(_ items: [StoredItem]) -> [StoredItem] {
        items.enumerated().sorted { left, right in
            left.element.modified == right.element.modified
                ? left.offset < right.offset : left.element.modified > right.element.modified
        }.map(\.element)
    }

    // MARK: - Rows

    /// An item in the table.
    struct Present {
        let row: VaultStore.PresentItem
        let item: StoredItem
    }

    /// `nil` for what isn't there, or is no item.
    static func present(
        _ handle: ItemHandle, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> Present? {
        guard let heading = try view.heading(beginning: handle.bytes) else { return nil }
        let metadata = try VaultStore.openMetadata(heading, keys)
        guard let item = metadata.storedItem(at: heading.lookup) else { return nil }
        return Present(row: .init(lookup: heading.lookup, sealed: heading.metadata, metadata: metadata), item: item)
    }

    static func secret(
        of present: Present, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> Secret<StoredSecret> {
        let secret = try view.withItem(present.row.lookup) { (_, sealed) throws(StoreError) in
            try keys.openSecret(sealed, of: present.row.metadata, at: present.row.lookup)
        }
        guard let secret else { throw .damagedItem }
        return secret
    }
}

extension ItemID {
    /// The digits of a handle, which are always an element of a path.
    static func vault(_ handle: ItemHandle) -> ItemID {
        guard let id = ItemID(Hexadecimal.encode(handle.bytes)) else {
            preconditionFailure("hexadecimal digits are no element of a path")
        }
        return id
    }
}

extension VaultStore {
    /// The vault's items. Keep it: what one of them changes isn't among its `changesByOthers`.
    package func itemStore() -> some ItemStore { VaultItemStore(self) }

    /// The items that aren't credentials, which no listing of credentials shows.
    package func itemsBesidesCredentials(deadline: Deadline) async throws(StoreError) -> [StoredItem] {
        try await VaultItemStore(self).items(deadline: deadline) { $0.key == nil }
    }

    /// Compares the index with the manifest, where `ItemCheck` would compare the items and it hasn't been done since
    /// others changed the file: what hides an item is noticed.
    func compareIndex(in view: any RowView, _ state: KnownState) throws(StoreError) {
        if state.isIndexCompared || itemCheck == .never { return }
        let manifest = state.manifest
        if itemCheck == .whenSmall
            // Four attributes for each item.
            && (manifest.itemCount > UInt64(table.comparedCount)
                || manifest.linkCount > UInt64(4 * table.comparedCount))
        {
            return
        }
        try view.compareLinks(state.manifest, state.keys)
        state.indexIsCompared()
    }
}
