internal import LatchkeyCredentials

/// The problems with the items of a vault: each item is opened, secret included, and all items are compared with the
/// manifest.
struct ItemSurvey {
    /// An item that must be moved or removed.
    struct Problem {
        let place: Int64
        let problem: VaultProblem
    }

    /// In the order of their places.
    private(set) var items: [Problem] = []
    private(set) var soundCount = 0
    /// How the items differ from those that were saved last, when it isn't known by which.
    private(set) var difference: VaultProblem?
    /// The problem with the index of attributes.
    private(set) var index: VaultProblem?

    /// Throws what keeps the table from being read.
    init(
        of view: any RowView, _ manifest: Manifest, _ keys: VaultKeys, _ cancellation: Cancellation,
        _ progress: (Double) -> Void = { _ in }
    ) throws(StoreError) {
        var found = SetHash()
        var position = 0
        var window: [OpenedRow] = []
        var duplicates: [Int64] = []
        var linkCount: UInt64 = 0
        try view.forEachItem(cancellation, progress) { (heading) throws(StoreError) in
            position += 1
            found.add(Manifest.digest(lookup: heading.lookup, metadata: heading.metadata, keys))
            guard let opened = keys.open(heading) else {
                items.append(Problem(place: heading.place, problem: .damagedItem(position, nil)))
                return
            }
            let name = opened.row.shownName
            guard try Self.opens(opened, in: view, keys) else {
                items.append(Problem(place: heading.place, problem: .damagedItem(position, name)))
                return
            }
            soundCount += 1
            linkCount += try Self.linkCount(of: opened, in: view, keys)
            guard heading.isInPlace else {
                items.append(Problem(place: heading.place, problem: .movedItem(name)))
                return
            }
            // Items with one lookup value are within eight places.
            window.removeAll { $0.heading.place <= heading.place - Int64(ItemPlaces.count) }
            for other in window where other.lookup == opened.lookup {
                let older = other.row.modified.seconds <= opened.row.modified.seconds ? other : opened
                items.append(Problem(place: older.heading.place, problem: .duplicateItem(name)))
                duplicates.append(older.heading.place)
            }
            window.append(opened)
        }
        // Items that are missing from the table are still in the index.
        let isWhole = items.isEmpty && UInt64(position) == manifest.itemCount && found == manifest.items
        let isIndexSound = try readable { () throws(StoreError) in
            try view.compareLinks(manifest, keys)
            return linkCount == manifest.linkCount || !isWhole
        }
        if isIndexSound != true { index = .changedIndex }
        let isDamaged = items.contains { if case .damagedItem = $0.problem { true } else { false } }
        guard UInt64(position) != manifest.itemCount || found != manifest.items && !isDamaged else { return }
        // One that is too many is found by what it adds to the sum.
        if UInt64(position) == manifest.itemCount + 1 {
            let surplus = found.subtracting(manifest.items)
            var extra: Problem?
            try view.forEachItem(cancellation) { (heading) throws(StoreError) in
                var digest = SetHash()
                digest.add(Manifest.digest(lookup: heading.lookup, metadata: heading.metadata, keys))
                guard digest == surplus, extra == nil, let name = keys.open(heading)?.row.shownName else { return }
                extra = Problem(
                    place: heading.place,
                    problem: duplicates.isEmpty ? .extraItem(name) : .duplicateItem(name))
            }
            if let extra {
                items.removeAll { duplicates.contains($0.place) || $0.place == extra.place }
                items.append(extra)
                items.sort { $0.place < $1.place }
                return
            }
        }
        difference =
            UInt64(position) == manifest.itemCount
            ? .replayedItems : .itemCount(expected: manifest.itemCount, found: position)
    }

    /// In how many lists of the index an item is found.
    private static func linkCount(
        of opened: OpenedRow, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> UInt64 {
        var count: UInt64 = 0
        for list in opened.row.lists(keys) {
            let item = ItemHandle(of: opened.lookup)
            for token in [list.token(of: item), list.first] {
                let sealed = try readable { () throws(StoreError) in try view.link(token.bytes) }
                guard let sealed, IndexLink.open(sealed, at: token, keys)?.item == item else { continue }
                count += 1
                break
            }
        }
        return count
    }

    /// Whether the secret in a place is the one of its metadata.
    private static func opens(
        _ opened: OpenedRow, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> Bool {
        try readable { () throws(StoreError) in
            try view.withItem(place: opened.heading.place) { (heading, secret) throws(StoreError) -> Bool in
                _ = try keys.openSecret(secret, of: opened.row, at: heading.lookup)
                return true
            }
        } ?? false
    }
}

extension RowView {
    /// Calls `body` with each item, in the order of their places.
    func forEachItem(
        _ cancellation: Cancellation? = nil, _ progress: (Double) -> Void = { _ in },
        _ body: (ItemHeading) throws(StoreError) -> Void
    ) throws(StoreError) {
        var last: Int64?
        while true {
            try cancellation?.check()
            let items = try items(after: last, limit: 250)
            if items.isEmpty { return }
            for item in items { try body(item) }
            last = items.last?.place
            progress(ItemPlaces.fraction(upTo: last ?? 0))
        }
    }
}

/// The times when the items of a vault are compared with its manifest. The comparison detects an item that someone
/// without the key restored, removed, duplicated or moved, before anything is read.
///
/// It walks over all names, which takes some microseconds per item. `export`, `rekey` and the vault that is imported
/// are always compared.
public enum ItemCheck: Sendable, Hashable {
    /// When the vault is opened, and after each change by other processes, if the vault is a file with up to 10,000
    /// items. Only when the vault is opened, if it is in a database, with up to 1,000 items.
    case whenSmall
    /// As `whenSmall`, however many items there are.
    case always
    /// Not at all: to look at a vault that is damaged.
    case never

    /// 10,000 items.
    package static let limit = 10_000

    /// Throws `corrupted` unless the items of a view are those of its manifest, each where a lookup finds it.
    func compare(
        _ view: any RowView, _ manifest: Manifest, _ keys: VaultKeys, upTo limit: Int = limit
    ) throws(StoreError) {
        if self == .never || self == .whenSmall && manifest.itemCount > limit { return }
        var found = SetHash()
        var count: UInt64 = 0
        var last: Int64?
        while true {
            let items = try view.foundItems(after: last, limit: 250)
            if items.isEmpty { break }
            for item in items {
                count += 1
                // More than there should be are not all gone through.
                guard item.isInPlace, count <= manifest.itemCount else { throw .itemsDiffer }
            }
            for digest in Manifest.digests(of: items, keys) { found.add(digest) }
            last = items.last?.place
        }
        guard count == manifest.itemCount, found == manifest.items else { throw .itemsDiffer }
    }
}

/// The places in a table where an item may be: eight consecutive ones that follow from its lookup value.
///
/// A lookup is then one walk down one tree. Items whose lookup values share the first 60 bits are next to each other;
/// eight such items don't occur by chance.
struct ItemPlaces: Sendable, Hashable {
    let first: Int64
    var last: Int64 { first + Int64(Self.count - 1) }

    static let count = 8

    /// A number from 1 to 2^63 − 8: half of the lookup value's first eight bytes, read as a little-endian number.
    init(of lookup: [UInt8]) {
        var number: UInt64 = 0
        for (index, byte) in lookup.prefix(8).enumerated() { number |= UInt64(byte) << UInt64(index * 8) }
        first = min(max(Int64(number >> 1), 1), .max - Int64(Self.count - 1))
    }

    func contains(_ place: Int64) -> Bool { place >= first && place <= last }

    /// How far a walk is, from 0 to 1: places are spread evenly.
    static func fraction(upTo place: Int64) -> Double { Double(place) / 0x1p63 }

    /// The first of the places that isn't among these, or `nil`.
    func free(besides taken: Set<Int64>) -> Int64? { (first...last).first { !taken.contains($0) } }
}
