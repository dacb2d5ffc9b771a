package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeySecrets

/// An item of a vault with its secret, on its way to another store.
package final class TransferredItem: Sendable {
    package let item: StoredItem
    package let secret: Secret<ItemContent>
    fileprivate let metadata: ItemMetadata
    /// All of its vault, among them the one that it is in.
    fileprivate let collections: CollectionsRecord

    fileprivate init(
        _ item: StoredItem, _ metadata: ItemMetadata, _ secret: consuming Secret<ItemContent>,
        _ collections: CollectionsRecord
    ) {
        self.item = item
        self.metadata = metadata
        self.secret = secret
        self.collections = collections
    }
}

// One item after the other, as `CredentialTransfer` does it with credentials. An import of everything is another matter:
// `importAll`.

extension VaultStore {
    /// Returns `nil` when there is no such item.
    package func itemToTransfer(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> TransferredItem? {
        guard let handle = ItemHandle(id) else { return nil }
        return try await waiting(until: deadline) { (view, state) throws(StoreError) -> TransferredItem? in
            guard let present = try VaultItemStore.present(handle, in: view, state.keys) else {
                return nil
            }
            let secret = try VaultItemStore.secret(of: present, in: view, state.keys)
            return TransferredItem(
                present.item, present.row.metadata, secret.repurposed(as: ItemContent.self),
                try VaultStore.collections(in: view, state.keys))
        }
    }

    /// The item here that is the same one: by its origin, or else by collection and attributes.
    ///
    /// - Parameter others: that came from the same vault, and so are none of those.
    package func counterpart(
        of item: TransferredItem, besides others: Set<ItemID>, deadline: Deadline
    ) async throws(StoreError) -> TransferredItem? {
        let handle = ItemHandle(of: keys.lookup(of: item.metadata.subject))
        if let same = try await itemToTransfer(.vault(handle), deadline: deadline) { return same }
        let (attributes, collection) = (item.item.attributes, item.item.collection)
        let found = try await itemStore().search(attributes, in: collection, deadline: deadline)
        for equal in found where equal.attributes == attributes && !others.contains(equal.id) {
            if let same = try await itemToTransfer(equal.id, deadline: deadline) { return same }
        }
        return nil
    }

    /// Writes another vault's item as it is, times and all, reads it back and compares. Its collection is made where it is
    /// missing.
    ///
    /// - Parameter old: what it takes the place of.
    package func put(
        _ item: TransferredItem, replacing old: TransferredItem?, deadline: Deadline
    ) async throws(StoreError) -> ItemID {
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            if let old {
                guard let present = try VaultItemStore.present(old, in: transaction, change.keys) else {
                    throw .itemChanged
                }
                try VaultStore.remove(present, in: transaction, &change)
            } else if try VaultStore.present(item.metadata.subject, in: transaction, change.keys) != nil {
                throw .itemChanged
            }
            var collections = try VaultStore.collections(in: transaction, change.keys)
            if try collections.merge(item.collections.only(item.item.collection)) {
                try VaultStore.put(collections, in: transaction, &change)
            }
            let secret = item.secret.duplicate(as: StoredSecret.self)
            try VaultStore.put(item.metadata, secret, in: transaction, &change)
            return .vault(ItemHandle(of: change.keys.lookup(of: item.metadata.subject)))
        }
    }

    /// Deletes an item unless it was changed since it was read.
    package func remove(_ item: TransferredItem, deadline: Deadline) async throws(StoreError) {
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            guard let present = try VaultItemStore.present(item, in: transaction, change.keys) else {
                throw .itemChanged
            }
            try VaultStore.remove(present, in: transaction, &change)
        }
    }
}

extension VaultItemStore {
    /// The row of an item that is as it was read.
    fileprivate static func present(
        _ item: TransferredItem, in transaction: any RowTransaction, _ keys: VaultKeys
    ) throws(StoreError) -> VaultStore.PresentItem? {
        guard let present = try VaultStore.present(item.metadata.subject, in: transaction, keys),
            present.metadata.version == item.metadata.version
        else { return nil }
        return present
    }
}

extension CollectionsRecord {
    /// The record of a vault that had this one alone besides the first.
    fileprivate func only(_ name: String) -> CollectionsRecord {
        var record = self
        record.keepOnly(where: { $0.name == name || $0.name == Self.first })
        return record
    }
}

extension StoreError {
    fileprivate static var itemChanged: StoreError {
        StoreError(.conflict, "the item was changed meanwhile", hint: "run it again")
    }
}
