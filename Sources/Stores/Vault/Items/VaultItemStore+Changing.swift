internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

extension VaultItemStore {
    // MARK: - Items

    func create(
        _ secret: borrowing ItemSecret, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, deadline: Deadline
    ) async throws(StoreError) -> ItemCreation {
        try Self.check(secret, label: label)
        let kept = KeptItemSecret(secret)
        let now = vault.now()
        return try await change(until: deadline) { (transaction, change, own) throws(StoreError) in
            guard try VaultStore.collections(in: transaction, change.keys).contains(collection) else {
                throw StoreError(.unavailable, "the vault has no such collection", hint: "choose one that it has")
            }
            let same = replacing ? try Self.item(with: attributes, in: collection, of: transaction, change) : nil
            let subject =
                if let same {
                    same.row.metadata.subject.with(kept)
                } else {
                    try Self.newSubject(attributes, in: collection, kept, of: transaction, change)
                }
            let created = same?.item.created ?? now
            let metadata = ItemMetadata(
                subject: subject, label: label, created: created, modified: max(created, now),
                version: try ItemMetadata.newVersion(), secretByteCount: kept.secret.byteCount)
            let item = try Self.write(metadata, kept.secret, replacing: same, in: transaction, &change, &own)
            return ItemCreation(item: item, isNew: same == nil)
        }
    }

    func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        if let label { try Self.check(label: label) }
        guard let handle = ItemHandle(id) else { return nil }
        let now = vault.now()
        return try await change(until: deadline) { (transaction, change, own) throws(StoreError) -> StoredItem? in
            guard let old = try Self.present(handle, in: transaction, change.keys) else { return nil }
            let (label, attributes) = (label ?? old.item.label, attributes ?? old.item.attributes)
            if label.utf8.elementsEqual(old.item.label.utf8) && attributes == old.item.attributes { return old.item }
            // A secret is bound to its version.
            let secret = try Self.secret(of: old, in: transaction, change.keys)
            let kept = KeptItemSecret(
                ItemSecret(secret.repurposed(as: ItemContent.self), contentType: old.item.contentType))
            let subject = try Self.subject(attributes, of: old, kept, in: transaction, change)
            let metadata = ItemMetadata(
                subject: subject, label: label, created: old.item.created, modified: max(old.item.created, now),
                version: try ItemMetadata.newVersion(), secretByteCount: kept.secret.byteCount)
            return try Self.write(metadata, kept.secret, replacing: old, in: transaction, &change, &own)
        }
    }

    func setSecret(
        _ secret: borrowing ItemSecret, of id: ItemID, deadline: Deadline
    ) async throws(StoreError) -> StoredItem? {
        try Self.check(secret, label: "")
        guard let handle = ItemHandle(id) else { return nil }
        let kept = KeptItemSecret(secret)
        let now = vault.now()
        return try await change(until: deadline) { (transaction, change, own) throws(StoreError) -> StoredItem? in
            guard let old = try Self.present(handle, in: transaction, change.keys) else { return nil }
            let metadata = ItemMetadata(
                subject: old.row.metadata.subject.with(kept), label: old.item.label, created: old.item.created,
                modified: max(old.item.created, now), version: try ItemMetadata.newVersion(),
                secretByteCount: kept.secret.byteCount)
            return try Self.write(metadata, kept.secret, replacing: old, in: transaction, &change, &own)
        }
    }

    func delete(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem? {
        guard let handle = ItemHandle(id) else { return nil }
        return try await change(until: deadline) { (transaction, change, own) throws(StoreError) -> StoredItem? in
            guard let old = try Self.present(handle, in: transaction, change.keys) else { return nil }
            try Self.remove(old, in: transaction, &change, &own)
            return old.item
        }
    }

    // MARK: - Subjects

    /// The item in a collection that has these attributes and no others.
    private static func item(
        with attributes: ItemAttributes, in collection: String, of view: any RowTransaction, _ change: borrowing Change
    ) throws(StoreError) -> Present? {
        let keys = change.keys
        if collection == CollectionsRecord.first, let key = attributes.credentialKey,
            let credential = try present(ItemHandle(of: keys.lookup(of: key)), in: view, keys)
        {
            return credential
        }
        var lists = attributes.all.map { IndexList($0, keys) }
        if lists.isEmpty { lists.append(IndexList(collection: nil, keys)) }
        if collection != CollectionsRecord.first { lists.append(IndexList(collection: collection, keys)) }
        for handle in try view.items(of: lists, change.manifest, keys) {
            guard let found = try present(handle, in: view, keys) else { throw .indexDiffers }
            if found.item.attributes == attributes && found.item.collection == collection { return found }
        }
        return nil
    }

    /// A new item, or the credential of a key where it isn't there yet.
    private static func newSubject(
        _ attributes: ItemAttributes, in collection: String, _ secret: KeptItemSecret, of view: any RowTransaction,
        _ change: borrowing Change
    ) throws(StoreError) -> ItemSubject {
        if collection == CollectionsRecord.first, let key = attributes.credentialKey,
            try view.heading(change.keys.lookup(of: key)) == nil
        {
            return .credential(key, secret.credentialType)
        }
        return .item(
            ItemDescription(
                id: Octets16(try Sealing.randomOctets(Octets16.byteCount)), collection: collection,
                attributes: attributes, contentType: secret.contentType))
    }

    /// What an item is with other attributes: itself, unless a credential comes or goes.
    private static func subject(
        _ attributes: ItemAttributes, of old: Present, _ secret: KeptItemSecret, in view: any RowTransaction,
        _ change: borrowing Change
    ) throws(StoreError) -> ItemSubject {
        if attributes == old.item.attributes { return old.row.metadata.subject }
        let new = try newSubject(attributes, in: old.item.collection, secret, of: view, change)
        guard case .item(let item) = new, case .item(let before) = old.row.metadata.subject else { return new }
        return .item(
            ItemDescription(
                id: before.id, collection: item.collection, attributes: attributes, contentType: item.contentType))
    }

    // MARK: - Rows

    private static func write(
        _ metadata: ItemMetadata, _ secret: borrowing Secret<ItemContent>, replacing old: Present?,
        in transaction: any RowTransaction, _ change: inout Change, _ own: inout OwnChanges
    ) throws(StoreError) -> StoredItem {
        let lookup = change.keys.lookup(of: metadata.subject)
        guard let item = metadata.storedItem(at: lookup) else { throw .damagedItem }
        var replaced = old
        if let old, old.row.lookup != lookup {
            try remove(old, in: transaction, &change, &own)
            replaced = nil
        }
        let sealed = try VaultStore.write(
            metadata, secret, replacing: replaced?.row, in: transaction, &change)
        own.items[ItemHandle(of: lookup)] = ItemSighting(sealed: sealed, collection: item.collection)
        return item
    }

    static func remove(
        _ present: Present, in transaction: any RowTransaction, _ change: inout Change, _ own: inout OwnChanges
    ) throws(StoreError) {
        try VaultStore.remove(present.row, in: transaction, &change)
        own.items.updateValue(nil, forKey: ItemHandle(of: present.row.lookup))
    }

    // MARK: - Limits

    private static func check(_ secret: borrowing ItemSecret, label: String) throws(StoreError) {
        guard secret.secret.byteCount <= SealedSize.maximumSecretByteCount else {
            throw StoreError(
                .tooLarge,
                "the secret has \(secret.secret.byteCount) bytes, and a vault takes \(SealedSize.maximumSecretByteCount)"
            )
        }
        guard secret.contentType.utf8.count <= ItemDescription.maximumContentTypeByteCount else {
            throw StoreError(
                .tooLarge, "the content type is longer than \(ItemDescription.maximumContentTypeByteCount) bytes")
        }
        try check(label: label)
    }

    private static func check(label: String) throws(StoreError) {
        guard label.utf8.count <= SealedSize.maximumLabelByteCount else {
            throw StoreError(.tooLarge, "the label is longer than \(SealedSize.maximumLabelByteCount) bytes")
        }
    }

    // MARK: - Transactions

    /// Runs a change on the store's thread; listeners aren't told of it.
    func change<Result: Sendable>(
        until deadline: Deadline,
        _ body:
            @escaping @Sendable (any RowTransaction, inout Change, inout OwnChanges) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        try await vault.worker.run(until: deadline) { [vault, observer] (cancellation) throws(StoreError) in
            try observer.own { (own: inout OwnChanges) throws(StoreError) in
                try vault.commit(cancellation) { (transaction, change) throws(StoreError) in
                    try body(transaction, &change, &own)
                }
            }
        }
    }
}
