internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

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
        _ cancellation: Cancellation, _ body: ([OpenedRow]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var found = SetHash()
        var last: Int64?
        var batch: [OpenedRow] = []
        var byteCount = 0
        while true {
            try cancellation.check()
            let items = try view.items(after: last, limit: 100)
            if items.isEmpty { break }
            for item in items {
                let opened = try VaultStore.row(item, state.keys)
                found.add(Manifest.digest(lookup: item.lookup, metadata: item.metadata, state.keys))
                batch.append(opened)
                byteCount += opened.row.secretByteCount
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

    /// How far a walk is, from 0 to 1: places are spread evenly.
    static func fraction(after batch: [OpenedRow]) -> Double {
        Double(batch.last?.heading.place ?? 0) / 0x1p63
    }
}
