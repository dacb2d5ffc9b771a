internal import LatchkeyCredentials
internal import LatchkeyLog

/// The index of attributes while a transaction changes it.
///
/// The index encrypts and writes changed rows at the end, once each and in the order of the table. It looks up new
/// items in that order too, so that work on many items visits each page of the table once.
struct ItemIndex: Sendable {
    private let keys: VaultKeys
    private var additions: [(list: IndexList, item: ItemHandle)] = []
    private var rows: [IndexToken: LinkState] = [:]

    private struct LinkState: Sendable {
        /// As it is in the table, sealed and opened; `nil` when there is none.
        let before: (sealed: [UInt8], link: IndexLink)?
        var link: IndexLink?
    }

    /// How many additions are held in memory at most, more or less.
    private static let capacity = 8_000

    init(_ keys: VaultKeys) {
        self.keys = keys
    }

    // MARK: - Items

    /// Puts an item into the lists of its attributes.
    mutating func add(_ row: Row, at lookup: [UInt8]) {
        for list in row.lists(keys) { additions.append((list, ItemHandle(of: lookup))) }
    }

    /// Takes an item out of the lists of its attributes. Throws `corrupted` where it isn't in them.
    mutating func remove(_ old: OpenedRow, in view: any RowView) throws(StoreError) {
        try settle(in: view)
        for list in old.row.lists(keys) { try remove(ItemHandle(of: old.lookup), from: list, in: view) }
    }

    /// Makes links of what was added.
    private mutating func settle(in view: any RowView) throws(StoreError) {
        let order = additions.indices.sorted { left, right in
            let (one, other) = (additions[left].list.first, additions[right].list.first)
            return one == other ? left < right : one < other
        }
        for index in order { try add(additions[index].item, to: additions[index].list, in: view) }
        additions.removeAll(keepingCapacity: true)
    }

    // MARK: - Lists

    /// Adds at the beginning, so that only the former first link moves and all others stay.
    private mutating func add(
        _ item: ItemHandle, to list: IndexList, in view: any RowView
    ) throws(StoreError) {
        let first = list.first
        var link = IndexLink(item: item, next: .zero, previous: .zero)
        if var moved = try self.link(first, in: view) {
            let token = list.token(of: moved.item)
            // An existing row in the table would conflict with this one.
            guard moved.item != item, moved.previous == .zero, rows[token]?.link == nil else { throw .indexDiffers }
            link.next = moved.item
            moved.previous = item
            rows[token, default: LinkState(before: nil, link: nil)].link = moved
        }
        rows[first]?.link = link
    }

    private mutating func remove(
        _ item: ItemHandle, from list: IndexList, in view: any RowView
    ) throws(StoreError) {
        let first = list.first
        guard let head = try link(first, in: view) else { throw .indexDiffers }
        let isFirst = head.item == item
        let token = isFirst ? first : list.token(of: item)
        guard let link = try link(token, in: view), link.item == item else { throw .indexDiffers }
        rows[token]?.link = nil
        if link.next != .zero {
            let nextToken = list.token(of: link.next)
            guard var next = try self.link(nextToken, in: view), next.item == link.next, next.previous == item else {
                throw .indexDiffers
            }
            next.previous = link.previous
            if isFirst {
                rows[nextToken]?.link = nil
                rows[first]?.link = next
            } else {
                rows[nextToken]?.link = next
            }
        }
        if isFirst { return }
        let previousToken = link.previous == head.item ? first : list.token(of: link.previous)
        guard var previous = try self.link(previousToken, in: view), previous.item == link.previous,
            previous.next == item
        else { throw .indexDiffers }
        previous.next = link.next
        rows[previousToken]?.link = previous
    }

    /// The current link in a row. The row stays in memory from then on.
    private mutating func link(_ token: IndexToken, in view: any RowView) throws(StoreError) -> IndexLink? {
        if let row = rows[token] { return row.link }
        var row = LinkState(before: nil, link: nil)
        if let sealed = try view.link(token.bytes) {
            guard let link = IndexLink.open(sealed, at: token, keys) else { throw .indexDiffers }
            row = LinkState(before: (sealed, link), link: link)
        }
        rows[token] = row
        return row.link
    }

    // MARK: - Writing

    /// Writes what was changed where it is much; call it between items of a long transaction.
    mutating func flushIfLarge(in transaction: any RowTransaction, _ manifest: inout Manifest) throws(StoreError) {
        if additions.count > Self.capacity { try flush(in: transaction, &manifest) }
    }

    /// Writes what was changed, and takes it into the manifest.
    mutating func flush(in transaction: any RowTransaction, _ manifest: inout Manifest) throws(StoreError) {
        try settle(in: transaction)
        for (token, row) in rows.sorted(by: { $0.key < $1.key }) where row.before?.link != row.link {
            if let before = row.before {
                try manifest.remove(link: before.sealed, at: token, keys)
            }
            if let link = row.link {
                let sealed = try link.seal(at: token, keys)
                try transaction.put(link: token.bytes, sealed, isNew: row.before == nil)
                manifest.add(link: sealed, at: token, keys)
            } else {
                try transaction.remove(link: token.bytes)
            }
        }
        rows.removeAll(keepingCapacity: true)
    }
}

extension Row {
    /// The lists of an item; empty for other rows.
    func lists(_ keys: VaultKeys) -> [IndexList] {
        guard let attributes else { return [] }
        var lists = attributes.all.map { IndexList($0, keys) }
        if lists.isEmpty { lists.append(IndexList(collection: nil, keys)) }
        if let collection, collection != ItemCollection.first {
            lists.append(IndexList(collection: collection, keys))
        }
        return lists
    }
}

extension Manifest {
    static func digest(link: [UInt8], at token: IndexToken, _ keys: VaultKeys) -> [UInt8] {
        let message = token.bytes + link
        return keys.linkHash.withExposedBytes { KeyedHash.digest(message.span, key: $0) }
    }

    mutating func add(link: [UInt8], at token: IndexToken, _ keys: VaultKeys) {
        links.add(Self.digest(link: link, at: token, keys))
        linkCount += 1
    }

    /// Takes a link out; throws `corrupted` when there are none left.
    mutating func remove(link: [UInt8], at token: IndexToken, _ keys: VaultKeys) throws(StoreError) {
        guard linkCount > 0 else { throw .indexDiffers }
        links.subtract(Self.digest(link: link, at: token, keys))
        linkCount -= 1
    }
}

extension StoreError {
    /// The error for an index that may hide items, although the visible ones are valid.
    static var indexDiffers: StoreError {
        StoreError(
            .corrupted, "the vault's index of attributes was damaged, or changed by someone without its key",
            hint: "\(Recovery.verifyVault) to see how to continue")
    }
}

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
    /// The items of the shortest of these lists, which are followed in step. The caller filters them by their
    /// attributes.
    ///
    /// Reads as many rows of each list as the shortest one has.
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
