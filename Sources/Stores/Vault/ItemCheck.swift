internal import LatchkeyCredentials

/// When the items of a vault are compared with its manifest, so that one which someone without the key put back, took
/// away, doubled or moved is noticed before anything is read.
///
/// It takes a walk over all names, some microseconds for each item. Whatever is chosen, `export`, `rekey` and the vault
/// that is imported are compared.
public enum ItemCheck: Sendable, Hashable {
    /// In a file with up to `limit` items: when it is opened, and each time that others have changed it. In a database
    /// with up to 1,000: when it is opened.
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
