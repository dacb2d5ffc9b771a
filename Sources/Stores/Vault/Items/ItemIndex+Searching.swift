internal import LatchkeyCredentials

/// A walk along one list.
private struct IndexWalk {
    let list: IndexList
    private var last: IndexLink?
    private var count: UInt64 = 0

    init(_ list: IndexList) {
        self.list = list
    }

    /// The next item, or `nil` at the end. Throws `corrupted` where the rows don't belong together.
    mutating func next(
        in view: any RowView, _ manifest: Manifest, _ keys: VaultKeys
    ) throws(StoreError) -> ItemHandle? {
        let token: IndexToken
        if let last {
            if last.next == .zero { return nil }
            token = list.token(of: last.next)
        } else {
            token = list.first
        }
        guard let sealed = try view.link(token.bytes) else {
            if last == nil { return nil }
            throw .indexDiffers
        }
        count += 1
        // A list can't be longer than there are items, nor go round in a circle.
        guard count <= manifest.itemCount, let link = IndexLink.open(sealed, at: token, keys),
            link.previous == last?.item ?? .zero, last == nil || link.item == last?.next
        else { throw .indexDiffers }
        last = link
        return link.item
    }
}

extension RowView {
    /// The items of the shortest of these lists, which are walked in step: what another one of them lacks is to be
    /// sorted out by their attributes.
    ///
    /// It takes as many rows as the shortest list has, for each of them.
    func items(
        of lists: [IndexList], _ manifest: Manifest, _ keys: VaultKeys
    ) throws(StoreError) -> [ItemHandle] {
        var walks = lists.map { (walk: IndexWalk($0), items: [ItemHandle]()) }
        while true {
            for index in walks.indices {
                guard let item = try walks[index].walk.next(in: self, manifest, keys) else { return walks[index].items }
                walks[index].items.append(item)
            }
        }
    }

    /// Throws `corrupted` unless the rows of the index are those of the manifest, each where a lookup finds it.
    func compareLinks(_ manifest: Manifest, _ keys: VaultKeys) throws(StoreError) {
        var found = SetHash()
        var count: UInt64 = 0
        var last: [UInt8]?
        while true {
            let rows = try links(after: last, limit: 250)
            if rows.isEmpty { break }
            for row in rows {
                count += 1
                guard count <= manifest.linkCount else { throw .indexDiffers }
                found.add(Manifest.digest(link: row.link, at: Octets16(row.token), keys))
            }
            last = rows.last?.token
        }
        guard count == manifest.linkCount, found == manifest.links else { throw .indexDiffers }
    }
}
