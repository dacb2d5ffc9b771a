package import LatchkeyCredentials

// The record of collections, and its changes.

extension VaultStore {
    /// In the order of their names.
    package func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        try await waiting(until: deadline) { (view, state) throws(StoreError) in
            try Self.collections(in: view, state.keys).all
        }
    }

    package func createCollection(
        label: String, alias: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        let now = now()
        return try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            let added = try collections.add(label: label, alias: alias, now: now)
            try Self.put(collections, in: transaction, &change)
            return added
        }
    }

    package func setLabel(
        _ label: String, ofCollection name: String, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        let now = now()
        return try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            guard try collections.setLabel(label, of: name, now: now) else { return false }
            try Self.put(collections, in: transaction, &change)
            return true
        }
    }

    package func setAlias(_ alias: String, to name: String?, deadline: Deadline) async throws(StoreError) -> Bool {
        try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            if let name, !collections.contains(name) { return false }
            try collections.setAlias(alias, to: name)
            try Self.put(collections, in: transaction, &change)
            return true
        }
    }

    package func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try await changeItems(until: deadline) { (transaction, change) throws(StoreError) in
            var collections = try Self.collections(in: transaction, change.keys)
            guard try collections.remove(name) else { return false }
            let list = IndexList(collection: name, change.keys)
            for handle in try transaction.items(of: [list], change.manifest, change.keys) {
                guard let found = try Self.row(handle, in: transaction, change.keys), found.row.collection == name
                else { throw .indexDiffers }
                try Self.remove(found, in: transaction, &change)
            }
            try Self.put(collections, in: transaction, &change)
            return true
        }
    }

    // MARK: - The record

    static func collections(in view: any RowView, _ keys: VaultKeys) throws(StoreError) -> CollectionsRecord {
        try CollectionsRecord.open(view.record(CollectionsRecord.recordName), keys)
    }

    static func put(
        _ collections: CollectionsRecord, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        let former = try transaction.record(CollectionsRecord.recordName) ?? []
        let record = try collections.seal(change.keys)
        try transaction.put(record: record.name, record.content)
        change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
        change.own.collections = OwnChanges.Collections(former: former, present: record.content)
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
