package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeySecrets
internal import Synchronization

/// The items of a vault: its credentials of the kind `password`, and items with other attributes.
extension VaultStore: CollectionStore {
    // MARK: - Finding

    package func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [Item] {
        guard attributes.areWithinLimits else { return [] }
        let isElsewhere = collection != nil && collection != ItemCollection.first
        var found: [Item] = []
        if attributes.all.isEmpty && !isElsewhere {
            found = try await all(deadline: deadline) { (heading, keys) throws(StoreError) -> Item? in
                let item = try Self.row(heading, keys).item
                return collection == nil || item?.collection == collection ? item : nil
            }
        } else {
            found = try await waiting(until: deadline) { (view, state) throws(StoreError) in
                try self.compareIndex(in: view, state)
                var lists = attributes.all.map { IndexList($0, state.keys) }
                if let collection, isElsewhere { lists.append(IndexList(collection: collection, state.keys)) }
                var found: [Item] = []
                for handle in try view.items(of: lists, state.manifest, state.keys) {
                    guard let item = try Self.row(handle, in: view, state.keys)?.item else { throw .indexDiffers }
                    guard item.attributes.contains(attributes), collection == nil || item.collection == collection
                    else { continue }
                    found.append(item)
                }
                return found
            }
        }
        return found.enumerated().sorted { left, right in
            left.element.modified == right.element.modified
                ? left.offset < right.offset : left.element.modified > right.element.modified
        }.map(\.element)
    }

    package func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID] {
        if collection == ItemCollection.first {
            // Most of a vault: going through it costs less than the list's rows would.
            return try await all(deadline: deadline) { (heading, keys) throws(StoreError) -> ItemID? in
                let found = try Self.collection(of: heading, keys)
                return found == collection ? .vault(ItemHandle(of: heading.lookup)) : nil
            }
        }
        return try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try self.compareIndex(in: view, state)
            let list = IndexList(collection: collection, state.keys)
            return try view.items(of: [list], state.manifest, state.keys).map(ItemID.vault)
        }
    }

    package var rowCount: Int { Int(known.withLock { $0 }.manifest.itemCount) }

    package func unnamedItems(deadline: Deadline) async throws(StoreError) -> [Item] {
        try await all(deadline: deadline) { (heading, keys) throws(StoreError) -> Item? in
            let found = try Self.row(heading, keys)
            return found.row.key == nil ? found.item : nil
        }
    }

    /// Page by page, so that no process waits for it: an item that changes during the walk appears in its old or new
    /// state.
    private func all<Found: Sendable>(
        deadline: Deadline, _ found: @escaping @Sendable (ItemHeading, VaultKeys) throws(StoreError) -> Found?
    ) async throws(StoreError) -> [Found] {
        var all: [Found] = []
        var cursor: (keys: [UInt8], place: Int64)?
        while true {
            let last = cursor
            let page = try await waiting(until: deadline) { (view, state) throws(StoreError) in
                // After a rekeying the places are others: from the start.
                let isSame = last?.keys == state.keys.id
                let headings = try view.items(after: isSame ? last?.place : nil, limit: Self.pageEffort)
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

    package func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> Item? {
        guard let handle = ItemHandle(id) else { return nil }
        return try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try Self.row(handle, in: view, state.keys)?.item
        }
    }

    package func read<Purpose: SecretPurpose>(
        _ id: ItemID, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> ItemRecord<Purpose>? {
        guard let handle = ItemHandle(id), let found = try await find(handle, deadline: deadline) else { return nil }
        let row = found.row
        guard let item = row.item(at: handle.bytes) else { return nil }
        return ItemRecord(item, version: row.version, secret: found.take(as: purpose))
    }

    private func find(_ handle: ItemHandle, deadline: Deadline) async throws(StoreError) -> FoundRow? {
        try await waiting(until: deadline) { (view, state) throws(StoreError) -> FoundRow? in
            try Self.foundRow(try Self.row(handle, in: view, state.keys), in: view, state.keys)
        }
    }

    /// Compares the index with the manifest, so that an index that hides an item is noticed. The comparison takes place
    /// when `ItemCheck` would compare the items, and only once until another process changes the file.
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

    // MARK: - Changing

    package func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool)? {
        try Self.check(secretByteCount: secret.byteCount, label: draft.label)
        if case .attributes(let attributes, _, _) = draft.place { try Self.check(attributes) }
        guard draft.contentType.utf8.count <= Row.maximumContentTypeByteCount else {
            throw StoreError(.tooLarge, "the content type is longer than \(Row.maximumContentTypeByteCount) bytes")
        }
        let kept = Box(secret.duplicate())
        return try await changeItems(until: deadline) {
            (transaction, change) throws(StoreError) -> (item: Item, isNew: Bool)? in
            let old: OpenedRow?
            let name: Row.Name
            switch draft.place {
            case .item(let id):
                guard let handle = ItemHandle(id), let present = try Self.row(handle, in: transaction, change.keys)
                else { return nil }
                (old, name) = (present, present.row.name)
            case .attributes(let attributes, let collection, let replacing):
                guard try Self.collections(in: transaction, change.keys).contains(collection) else {
                    throw StoreError(
                        .unavailable, "the vault doesn't contain that collection", hint: "choose an existing collection"
                    )
                }
                old = replacing ? try Self.row(with: attributes, in: collection, of: transaction, change) : nil
                if let old {
                    // Its attributes stay, and so does its ID.
                    name = old.row.name
                } else {
                    name = try Self.name(attributes, in: collection, replacing: nil, in: transaction, change)
                }
            }
            try draft.condition.check(against: old?.row.version)
            let row = try self.write(
                kept.value, name, label: draft.label ?? old?.row.label ?? "",
                contentType: name.contentType(draft.contentType, of: kept.value), times: draft.times, replacing: old,
                in: transaction, &change)
            guard let item = row.item(at: change.keys.lookup(of: row.name)) else { throw .damagedItem }
            return (item, old == nil)
        }
    }

    package func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        try Self.check(secretByteCount: 0, label: label)
        if let attributes { try Self.check(attributes) }
        guard let handle = ItemHandle(id) else { return nil }
        return try await changeItems(until: deadline) { (transaction, change) throws(StoreError) -> Item? in
            guard let old = try Self.row(handle, in: transaction, change.keys), let item = old.item else { return nil }
            let (label, attributes) = (label ?? item.label, attributes ?? item.attributes)
            if label.hasSameOctets(as: item.label) && attributes == item.attributes { return item }
            // A secret is bound to its version.
            let secret = try Self.secret(of: old, in: transaction, change.keys)
            let name =
                attributes == item.attributes
                ? old.row.name
                : try Self.name(attributes, in: item.collection, replacing: old, in: transaction, change)
            let contentType =
                name == old.row.name ? item.contentType : name.contentType(item.contentType, of: secret)
            let row = try self.write(
                secret, name, label: label, contentType: contentType, replacing: old, in: transaction, &change)
            return row.item(at: change.keys.lookup(of: row.name))
        }
    }

    package func delete(
        _ id: ItemID, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        guard let handle = ItemHandle(id) else { return nil }
        return try await changeItems(until: deadline) { (transaction, change) throws(StoreError) -> Item? in
            let old = try Self.row(handle, in: transaction, change.keys)
            try condition.check(against: old?.row.version)
            guard let old else { return nil }
            try Self.remove(old, in: transaction, &change)
            return old.item
        }
    }

    static func check(secretByteCount: Int, label: String?) throws(StoreError) {
        guard secretByteCount <= SealedSize.maximumSecretByteCount else {
            throw StoreError(
                .tooLarge,
                "the secret has \(secretByteCount) bytes; a vault takes at most \(SealedSize.maximumSecretByteCount)")
        }
        guard (label?.utf8.count ?? 0) <= SealedSize.maximumLabelByteCount else {
            throw StoreError(.tooLarge, "the label is longer than \(SealedSize.maximumLabelByteCount) bytes")
        }
    }

    private static func check(_ attributes: ItemAttributes) throws(StoreError) {
        guard attributes.areWithinLimits else {
            throw StoreError(.tooLarge, "the item has too many attributes for a vault")
        }
    }

    // MARK: - Names

    /// The item in a collection that has these attributes and no others; if there is none, the one that differs only in
    /// the schema that gnome-keyring invents.
    private static func row(
        with attributes: ItemAttributes, in collection: String, of view: any RowTransaction, _ change: borrowing Change
    ) throws(StoreError) -> OpenedRow? {
        let keys = change.keys
        if collection == ItemCollection.first, let key = attributes.exactKey,
            let credential = try row(.key(key), in: view, keys)
        {
            return credential
        }
        var lists = attributes.without(\.isInvented).all.map { IndexList($0, keys) }
        if lists.isEmpty { lists.append(IndexList(collection: nil, keys)) }
        if collection != ItemCollection.first { lists.append(IndexList(collection: collection, keys)) }
        var similar: OpenedRow?
        for handle in try view.items(of: lists, change.manifest, keys) {
            guard let found = try row(handle, in: view, keys) else { throw .indexDiffers }
            guard found.row.collection == collection, let present = found.row.attributes, present.isSame(as: attributes)
            else { continue }
            if present == attributes { return found }
            if similar == nil { similar = found }
        }
        return similar
    }

    /// Of an item that gets these attributes: the credential of a key where that isn't there yet, else what it was or a
    /// new one.
    private static func name(
        _ attributes: ItemAttributes, in collection: String, replacing old: OpenedRow?, in view: any RowTransaction,
        _ change: borrowing Change
    ) throws(StoreError) -> Row.Name {
        if collection == ItemCollection.first, let key = attributes.exactKey,
            try view.heading(change.keys.lookup(of: key)) == nil
        {
            return .key(key)
        }
        if case .attributes(_, _, let id) = old?.row.name { return .attributes(attributes, in: collection, id: id) }
        let id = Octets16(try Sealing.randomOctets(Octets16.byteCount))
        return .attributes(attributes, in: collection, id: id)
    }

    // MARK: - Changes

    package func itemChanges(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        try await watch.itemChanges(of: self, deadline: deadline)
    }

    /// Runs a change of items on the store's thread; listeners of `itemChanges` aren't told of it.
    func changeItems<Result: Sendable>(
        until deadline: Deadline,
        _ body: @escaping @Sendable (any RowTransaction, inout Change) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        try await worker.run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in
                try self.watch.own(self) { (own: inout OwnChanges) throws(StoreError) in
                    try self.commit(cancellation) { (transaction, change) throws(StoreError) in
                        let result = try body(transaction, &change)
                        own = change.own
                        return result
                    }
                }
            }
        }
    }
}

extension Row.Name {
    /// A credential is text or bytes; any other item has what its program says.
    fileprivate func contentType<Purpose: SecretPurpose>(_ given: String, of secret: borrowing Secret<Purpose>)
        -> String
    {
        switch self {
        case .key: SecretContentType(of: secret, named: given).rawValue
        case .attributes: given
        }
    }
}

// MARK: - Implied credentials

// An item that a program saves with its own name beside service and username, as Python keyring does, is the credential
// of the latter two, unless an item has exactly these attributes.

extension VaultStore {
    /// Those of a key, the one that is read first.
    static func impliedRows(
        of key: CredentialKey, in view: any RowView, _ manifest: Manifest, _ keys: VaultKeys
    ) throws(StoreError) -> [OpenedRow] {
        guard key.kind == .password else { return [] }
        var found: [(row: OpenedRow, item: Item)] = []
        for handle in try view.items(of: ItemAttributes(key).all.map { IndexList($0, keys) }, manifest, keys) {
            guard let row = try row(handle, in: view, keys), let item = row.item else { throw .indexDiffers }
            if row.row.impliedKey == key { found.append((row, item)) }
        }
        return found.sorted { $0.item.precedes($1.item) }.map(\.row)
    }

    /// The item that is read, replaced or deleted under a key.
    static func presentOrImplied(
        _ key: CredentialKey, in transaction: any RowTransaction, _ change: borrowing Change
    ) throws(StoreError) -> OpenedRow? {
        if let exact = try row(.key(key), in: transaction, change.keys) { return exact }
        return try impliedRows(of: key, in: transaction, change.manifest, change.keys).first
    }

    func impliedRow(of key: CredentialKey, in view: any RowView, _ state: KnownState) throws(StoreError) -> FoundRow? {
        guard key.kind == .password else { return nil }
        try compareIndex(in: view, state)
        let first = try Self.impliedRows(of: key, in: view, state.manifest, state.keys).first
        return try Self.foundRow(first, in: view, state.keys)
    }

    /// As a listing shows an item that is what its key is read as; `nil` for any other.
    ///
    /// - Parameter firsts: which item each key was found to be read as, because a key may have many.
    static func impliedMetadata(
        of opened: OpenedRow, in view: any RowView, _ state: KnownState, _ firsts: inout [CredentialKey: [UInt8]]
    ) throws(StoreError) -> CredentialMetadata? {
        guard let key = opened.row.impliedKey, try view.heading(state.keys.lookup(of: key)) == nil else { return nil }
        if firsts[key] == nil {
            firsts[key] = try impliedRows(of: key, in: view, state.manifest, state.keys).first?.lookup
        }
        return firsts[key] == opened.lookup ? opened.row.metadata(for: key) : nil
    }
}
