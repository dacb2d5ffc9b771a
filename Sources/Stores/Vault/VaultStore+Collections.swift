internal import LatchkeyCredentials

// The record of collections, and its changes.

extension VaultStore {
    static func collections(in view: any RowView, _ keys: VaultKeys) throws(StoreError) -> CollectionsRecord {
        try CollectionsRecord.open(view.record(CollectionsRecord.recordName), keys)
    }

    /// Returns the record as it was and as it is, sealed.
    @discardableResult
    static func put(
        _ collections: CollectionsRecord, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) -> OwnChanges.Collections {
        let former = try transaction.record(CollectionsRecord.recordName) ?? []
        let record = try collections.seal(change.keys)
        try transaction.put(record: record.name, record.content)
        change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
        return OwnChanges.Collections(former: former, present: record.content)
    }

    /// Adds what another vault has.
    static func merge(
        _ others: CollectionsRecord, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        var collections = try collections(in: transaction, change.keys)
        if try collections.merge(others) { try put(collections, in: transaction, &change) }
    }

    /// The same as a transaction of its own, where there is something to add.
    func merge(_ others: CollectionsRecord, _ cancellation: Cancellation) throws(StoreError) {
        let isNeeded = try cancellation.retry { () throws(StoreError) in
            try current(cancellation) { (view, state) throws(StoreError) in
                var collections = try Self.collections(in: view, state.keys)
                return try collections.merge(others)
            }
        }
        guard isNeeded else { return }
        try commit(cancellation) { (transaction, change) throws(StoreError) in
            try Self.merge(others, in: transaction, &change)
        }
    }
}
