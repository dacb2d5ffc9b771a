internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

/// An item of a walk: its name is opened, its secret not yet.
struct WalkedItem {
    let heading: ItemHeading
    let metadata: ItemMetadata
}

/// One consistent view of everything in a table.
struct VaultWalk {
    let view: any RowView
    let state: VaultStore.KnownState

    /// What one transaction of an import holds: few enough that other processes get their turn within a second or so,
    /// and that no page has to leave memory before the commit (`cache_spill`).
    private static var batchCount: Int { 1000 }
    private static var batchByteCount: Int { 8 << 20 }

    /// Lends all items in the order of their places, up to 1,000 or some 8 MiB of secrets at a time.
    ///
    /// Throws `corrupted` at the first that can't be opened, and at the end when what was there isn't what the manifest
    /// says.
    func forEachBatch(
        _ cancellation: Cancellation, _ body: ([WalkedItem]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var found = SetHash()
        var last: Int64?
        var batch: [WalkedItem] = []
        var byteCount = 0
        while true {
            try cancellation.check()
            let items = try view.items(after: last, limit: 100)
            if items.isEmpty { break }
            for item in items {
                let metadata = try VaultStore.openMetadata(item, state.keys)
                found.add(Manifest.digest(lookup: item.lookup, metadata: item.metadata, state.keys))
                batch.append(WalkedItem(heading: item, metadata: metadata))
                byteCount += metadata.secretByteCount
                guard batch.count == Self.batchCount || byteCount >= Self.batchByteCount else { continue }
                try body(batch)
                batch.removeAll(keepingCapacity: true)
                byteCount = 0
                try cancellation.check()
            }
            last = items.last?.place
        }
        if !batch.isEmpty { try body(batch) }
        guard found == state.manifest.items else { throw .itemsDiffer }
        try view.compareLinks(state.manifest, state.keys)
    }

    /// Opens an item's secret.
    func open(
        _ item: WalkedItem, _ body: (ItemMetadata, borrowing Secret<StoredSecret>) throws(StoreError) -> Void
    ) throws(StoreError) {
        let lookup = item.heading.lookup
        let secret = try view.withItem(lookup) { (_, sealed) throws(StoreError) in
            try state.keys.openSecret(sealed, of: item.metadata, at: lookup)
        }
        guard let secret else { throw .damagedItem }
        try body(item.metadata, secret)
    }

    /// How far a walk is, from 0 to 1: places are spread evenly.
    static func fraction(after batch: [WalkedItem]) -> Double {
        Double(batch.last?.heading.place ?? 0) / 0x1p63
    }
}
