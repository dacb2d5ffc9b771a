internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import Synchronization

// Copying everything from one vault into another: opened here, sealed anew there, never in clear on the way but in
// guarded memory.

extension SealedStore {
    /// Opens each item of one consistent view. Writers wait where the table is small, or can't be copied.
    ///
    /// Throws `corrupted` at the first item that can't be opened, and when what is there isn't what the manifest says.
    func forEachItem(
        _ cancellation: Cancellation, _ takeCollections: (CollectionsRecord) throws(StoreError) -> Void = { _ in },
        _ body: (ItemMetadata, borrowing Secret<StoredSecret>) throws(StoreError) -> Void
    ) throws(StoreError) {
        try withWalk(cancellation) { (walk) throws(StoreError) in
            try takeCollections(Self.collections(in: walk.view, walk.state.keys))
            try walk.forEachBatch(cancellation) { (batch) throws(StoreError) in
                for item in batch { try walk.open(item, body) }
            }
        }
    }

    /// Lends one consistent view of everything, through a copy of the table when it has at least `byteCount` bytes and
    /// an opening of its own otherwise, which writers wait for.
    func withWalk(
        _ cancellation: Cancellation, copyingFrom byteCount: Int = SQLiteRowTable.copiedByteCount,
        _ body: (SealedWalk<Table>) throws(StoreError) -> Void
    ) throws(StoreError) {
        let last = known.withLock { $0 }
        let table = try cancellation.retry { () throws(StoreError) in
            try self.table.separate(cancellation, copyingFrom: byteCount)
        }
        // The first record takes the lock that the rest is read under: only until then can the table be busy, and be
        // tried again without the body having run. What the body throws is passed on, busy or not.
        var failure: StoreError?
        try cancellation.retry { () throws(StoreError) in
            try table.read(cancellation) { (view) throws(StoreError) in
                _ = try view.record(Manifest.recordName)
                do throws(StoreError) {
                    // The walk itself compares all items with the manifest.
                    try body(SealedWalk(view: view, state: try self.state(of: view, after: last, comparing: false)))
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    /// Puts an item into a table, in the place of one with the same subject where there is one, reads it back and
    /// compares.
    static func put(
        _ metadata: ItemMetadata, _ secret: borrowing Secret<StoredSecret>, replacing old: PresentItem? = nil,
        in transaction: Table.Transaction, _ change: inout Change
    ) throws(StoreError) {
        try write(metadata, secret, replacing: old, in: transaction, &change)
        try change.writeIndexIfLarge(in: transaction)
        let keys = change.keys
        let lookup = keys.lookup(of: metadata.subject)
        let written = try transaction.withItem(lookup) { (head, body) throws(StoreError) in
            guard let bytes = keys.openMetadata(head, at: lookup),
                let written = ItemMetadata.decode(bytes, expected: metadata.key), written.version == metadata.version,
                written.subject == metadata.subject
            else { throw .damagedItem }
            return try keys.openSecret(body, of: written, at: lookup)
        }
        guard let written, written.matches(secret) else { throw .damagedItem }
    }
}
