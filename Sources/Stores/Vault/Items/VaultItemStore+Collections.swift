internal import LatchkeyCredentials
internal import LatchkeyLog

extension VaultItemStore {
    func createCollection(
        label: String, alias: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        let now = vault.now()
        return try await change(until: deadline) { (transaction, change, own) throws(StoreError) in
            var collections = try VaultStore.collections(in: transaction, change.keys)
            let added = try collections.add(label: label, alias: alias, now: now)
            own.collections = try VaultStore.put(collections, in: transaction, &change)
            return added
        }
    }

    func setLabel(
        _ label: String, ofCollection name: String, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        let now = vault.now()
        return try await change(until: deadline) { (transaction, change, own) throws(StoreError) in
            var collections = try VaultStore.collections(in: transaction, change.keys)
            guard try collections.setLabel(label, of: name, now: now) else { return false }
            own.collections = try VaultStore.put(collections, in: transaction, &change)
            return true
        }
    }

    func setAlias(_ alias: String, to name: String?, deadline: Deadline) async throws(StoreError) -> Bool {
        try await change(until: deadline) { (transaction, change, own) throws(StoreError) in
            var collections = try VaultStore.collections(in: transaction, change.keys)
            if let name, !collections.contains(name) { return false }
            try collections.setAlias(alias, to: name)
            own.collections = try VaultStore.put(collections, in: transaction, &change)
            return true
        }
    }

    func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try await change(until: deadline) { (transaction, change, own) throws(StoreError) in
            var collections = try VaultStore.collections(in: transaction, change.keys)
            guard try collections.remove(name) else { return false }
            let list = IndexList(collection: name, change.keys)
            for handle in try transaction.items(of: [list], change.manifest, change.keys) {
                guard let present = try Self.present(handle, in: transaction, change.keys),
                    present.item.collection == name
                else { throw .indexDiffers }
                try Self.remove(present, in: transaction, &change, &own)
            }
            own.collections = try VaultStore.put(collections, in: transaction, &change)
            return true
        }
    }
}
