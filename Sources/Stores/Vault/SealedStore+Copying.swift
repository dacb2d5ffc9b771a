internal import Credentials
internal import RedactedLog
internal import Secrets

// Copying everything from one vault into another: opened here, sealed anew there, never in clear on the way but in
// guarded memory.

extension SealedStore {
    /// Opens each item of one consistent view, through an opening of the table of its own. Writers wait meanwhile.
    ///
    /// Throws `corrupted` at the first item that can't be opened, and when what is there isn't what the manifest says.
    func forEachItem(
        _ patience: Patience, _ body: (ItemMetadata, borrowing Secret<StoredSecret>) throws(StoreError) -> Void
    ) throws(StoreError) {
        let table = try patience.retry { () throws(StoreError) in try self.table.separate() }
        // The first record takes the lock that the rest is read under: only until then can the table be busy, and be
        // tried again without the body having run. What the body throws is passed on, busy or not.
        var failure: StoreError?
        try patience.retry { () throws(StoreError) in
            try table.read { (view) throws(StoreError) in
                let record = try view.record(Manifest.recordName)
                do throws(StoreError) {
                    try self.walk(view, manifest: Manifest.open(record, root: self.root), patience, body)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    private func walk(
        _ view: some RowView, manifest: Manifest, _ patience: Patience,
        _ body: (ItemMetadata, borrowing Secret<StoredSecret>) throws(StoreError) -> Void
    ) throws(StoreError) {
        let state = KnownState(keys: try Self.checkedKeys(view, manifest, root), manifest: manifest)
        var found = SetHash()
        var last: Int64?
        while true {
            try patience.check()
            let items = try view.items(after: last, limit: 100)
            if items.isEmpty { break }
            for item in items {
                let (metadata, keys) = try Self.openMetadata(item, state)
                let secret = try view.withItem(item.lookup) { (_, sealed) throws(StoreError) in
                    try keys.openSecret(sealed, of: metadata, at: item.lookup)
                }
                guard let secret else { throw .damagedItem }
                found.add(Manifest.digest(lookup: item.lookup, metadata: item.metadata, root: root))
                try body(metadata, secret)
            }
            last = items.last?.place
        }
        guard found == manifest.items else {
            throw .vaultCorrupted("items were taken away or put back behind its back")
        }
    }

    /// Puts an item into a table under a key, reads it back and compares.
    static func put(
        _ metadata: ItemMetadata, _ secret: borrowing Secret<StoredSecret>, under keys: DataKeys, root: RootKeys,
        in transaction: some RowTransaction, _ manifest: inout Manifest
    ) throws(StoreError) {
        let lookup = keys.lookup(of: metadata.key)
        let sealed = try keys.seal(metadata, at: lookup)
        try transaction.put(
            lookup, metadata: sealed, secret: try keys.seal(secret, version: metadata.version, at: lookup))
        manifest.add(lookup: lookup, metadata: sealed, root: root)
        let written = try transaction.withItem(lookup) { (head, body) throws(StoreError) in
            guard let bytes = keys.openMetadata(head, at: lookup),
                let written = ItemMetadata.decode(bytes, expected: metadata.key), written.version == metadata.version
            else { throw .damagedItem }
            return try keys.openSecret(body, of: written, at: lookup)
        }
        guard let written, written.matches(secret) else { throw .damagedItem }
    }

    /// Takes over all items of another vault, all of them or none.
    func takeOver(
        _ other: SealedStore, onConflict choice: VaultImportChoice, deadline: Deadline
    ) async throws(StoreError) -> VaultImport {
        try await change(until: deadline) { (transaction, state, manifest) throws(StoreError) in
            var result = VaultImport()
            var changed = manifest
            try other.forEachItem(Patience(deadline)) { (metadata, secret) throws(StoreError) in
                if let present = try Self.present(metadata.key, in: transaction, state) {
                    if present.metadata.version == metadata.version || choice == .keep {
                        result.keptCount += 1
                        return
                    }
                    guard choice == .replace else {
                        throw StoreError(
                            .conflict, "\(self.identity) has another secret for \(metadata.key) already",
                            hint: "choose whether to keep or to replace what is there")
                    }
                    try changed.remove(lookup: present.lookup, metadata: present.sealed, root: self.root)
                    try transaction.remove(present.lookup)
                    result.replacedCount += 1
                } else {
                    result.addedCount += 1
                }
                try Self.put(metadata, secret, under: state.keys[0], root: self.root, in: transaction, &changed)
            }
            manifest = changed
            return result
        }
    }
}
