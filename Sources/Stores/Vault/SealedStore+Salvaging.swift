internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

// What can still be read of a vault that a disk damaged.

extension SealedStore {
    /// Opens each item that can be opened, and returns how many there were when the vault was saved last.
    ///
    /// An item on a page that is damaged, or led to by one, is left out; so is what the pages between two damaged ones
    /// hold, if they are close. Throws `corrupted` when not even the records can be read.
    func forEachReadableItem(
        _ cancellation: Cancellation, _ takeCollections: (CollectionsRecord) throws(StoreError) -> Void,
        _ body: (ItemMetadata, borrowing Secret<StoredSecret>) throws(StoreError) -> Void
    ) throws(StoreError) -> UInt64 {
        let last = known.withLock { $0 }
        let table = try cancellation.retry { () throws(StoreError) in
            try self.table.separate(cancellation, copyingFrom: .max)
        }
        return try table.read(cancellation) { (view) throws(StoreError) in
            let state = try self.state(of: view, after: last, comparing: false)
            try takeCollections(Self.collections(in: view, state.keys))
            var place: Int64?
            while let heading = try view.nextReadable(after: place, cancellation) {
                place = heading.place
                guard let metadata = state.keys.openMetadata(of: heading) else { continue }
                let secret = try readable { () throws(StoreError) in
                    try view.withItem(place: heading.place) { (_, sealed) throws(StoreError) in
                        try state.keys.openSecret(sealed, of: metadata, at: heading.lookup)
                    }
                }
                guard let secret else { continue }
                try body(metadata, secret)
            }
            return state.manifest.itemCount
        }
    }
}

extension RowView {
    /// The next item that can be read after a place: what is hidden is passed in steps that double, and its end is then
    /// searched by halving.
    fileprivate func nextReadable(after last: Int64?, _ cancellation: Cancellation) throws(StoreError) -> ItemHeading? {
        func item(after place: Int64?) throws(StoreError) -> [ItemHeading]? {
            try cancellation.check()
            return try readable { () throws(StoreError) in try items(after: place, limit: 1) }
        }
        if let items = try item(after: last) { return items.first }
        var hidden = last ?? 0
        var step: Int64 = 1
        var found: (place: Int64, items: [ItemHeading])?
        while found == nil, hidden < .max {
            let place = step > .max - hidden ? .max : hidden + step
            if let items = try item(after: place) {
                found = (place, items)
            } else {
                (hidden, step) = (place, step > .max / 2 ? .max : step * 2)
            }
        }
        while let near = found, near.place - hidden > 1 {
            let middle = hidden + (near.place - hidden) / 2
            if let items = try item(after: middle) { found = (middle, items) } else { hidden = middle }
        }
        return found?.items.first
    }
}

/// `nil` for what is damaged.
func readable<Value: ~Copyable>(_ read: () throws(StoreError) -> Value?) throws(StoreError) -> Value? {
    try nilIf({ (error: StoreError) in error.code == .corrupted || error.code == .tooLarge }, of: read()) ?? nil
}
