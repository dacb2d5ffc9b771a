internal import LatchkeyCredentials

/// The storage of encrypted rows: an engine with transactions that only sees opaque bytes.
///
/// A table has *items* (a 32-byte lookup value, encrypted metadata, an encrypted secret), *links* (a 16-byte token,
/// encrypted content) and a few named *records* (slots, keys, manifest). It knows no key and no layout, so an SQLite
/// file, a server's tables and memory in tests are the same to the vault above.
protocol RowTable: Sendable {
    /// Lends a consistent view of the last commit, on the calling thread.
    ///
    /// Throws `busy` at once if a writer has the table; the caller waits and tries again. If another thread reads, the
    /// call waits for that thread. The call never waits without a cancellation, and throws `busy` instead.
    func read<Result: ~Copyable & Sendable>(
        _ cancellation: Cancellation?, _ body: (any RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result

    /// Runs `body` as one transaction: all of it is committed durably, or, when anything throws, nothing.
    ///
    /// Blocks the calling thread while others write, until `cancellation` ends.
    func write<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (any RowTransaction) throws(StoreError) -> Result
    ) throws(StoreError) -> Result

    /// Opens the same table again for a long read, so that the read doesn't delay the rest of a store. A table of at
    /// least `byteCount` bytes is copied instead, so that writers don't wait either. If no copy can be made (a full or
    /// read-only disk), the result is the table itself.
    ///
    /// Throws `busy` at once if a writer has the table.
    func separate(_ cancellation: Cancellation, copyingFrom byteCount: Int) throws(StoreError) -> any RowTable

    /// Looks for damage that the engine itself can find, over the whole table.
    ///
    /// Throws `busy` at once when a writer has the table.
    func damage(_ cancellation: Cancellation) throws(StoreError) -> [VaultProblem]

    /// Takes the lease with a name, by the clock of the table's server. Returns `nil` if another process holds it. The
    /// lease ends after `RowLease.duration`.
    ///
    /// Changes through this table to the item with this lookup value are refused as soon as another process has the
    /// lease, until this lease is released.
    func lease(_ lookup: [UInt8], _ cancellation: Cancellation) throws(StoreError) -> RowLease?
    /// Lets a lease last on, while it is still this one's. Returns whether it is.
    func extend(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError) -> Bool
    func release(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError)

    /// Up to how many items are compared with the manifest when a vault is opened: a walk through them takes its time.
    var comparedCount: Int { get }
    /// Whether they are compared again each time that others have changed them.
    var comparesAgain: Bool { get }
}

/// One consistent state of a table.
protocol RowView {
    /// Lends the item under a lookup value, or returns `nil`.
    func withItem<Result: ~Copyable>(
        _ lookup: [UInt8], _ body: (_ metadata: Span<UInt8>, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result?

    /// Lends the item in a place, or returns `nil` if the place is empty.
    func withItem<Result: ~Copyable>(
        place: Int64, _ body: (ItemHeading, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result?

    /// The item under a lookup value without its secret, which isn't read; `nil` when there is none.
    ///
    /// Throws `corrupted` when there are two.
    func heading(_ lookup: [UInt8]) throws(StoreError) -> ItemHeading?

    /// As `heading`, by the first 16 bytes of the lookup value.
    func heading(beginning: [UInt8]) throws(StoreError) -> ItemHeading?

    /// Up to `limit` items after a place (`nil`: from the start) in the order of places. Secrets aren't read.
    func items(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading]

    func record(_ name: String) throws(StoreError) -> [UInt8]?

    /// All records but the manifest, in the order of their names' bytes.
    func records() throws(StoreError) -> [NamedRecord]

    /// A number that changes with each commit by any process. All processes that have the table open get the same
    /// number. The number is valid after the first lookup of the view.
    func changeMark() throws(StoreError) -> UInt32

    /// As `items`, but without items in a place where a lookup wouldn't find them. Only a forged table has such items.
    func foundItems(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading]

    func link(_ token: [UInt8]) throws(StoreError) -> [UInt8]?

    /// Up to `limit` links after a token (`nil`: from the start) in the order of tokens, and only those that a lookup
    /// finds.
    func links(after token: [UInt8]?, limit: Int) throws(StoreError) -> [LinkRow]
}

/// A view in which changes can be made.
protocol RowTransaction: RowView {
    /// Replaces the item with the same lookup value, or puts the item into the first free one of its places.
    ///
    /// Throws `corrupted` if other items occupy all places.
    func put(_ lookup: [UInt8], metadata: [UInt8], secret: [UInt8]) throws(StoreError)
    func remove(_ lookup: [UInt8]) throws(StoreError)
    func put(record name: String, _ content: [UInt8]) throws(StoreError)
    func remove(record name: String) throws(StoreError)

    /// Removes the item in a place.
    func remove(place: Int64) throws(StoreError)

    /// Throws `corrupted` when one is to be new and isn't.
    func put(link token: [UInt8], _ content: [UInt8], isNew: Bool) throws(StoreError)
    func remove(link token: [UInt8]) throws(StoreError)
    func removeAllLinks() throws(StoreError)

    /// Throws `busy` while there are leases, and prevents new ones until the transaction has ended: after it, no item
    /// has their names.
    func endLeases() throws(StoreError)

    /// The `changeMark` that there will be when this transaction, which changed something, is committed.
    func changeMarkOfCommit() throws(StoreError) -> UInt32
}

/// Exclusive access to one item, among all who share a table.
struct RowLease: Sendable, Hashable {
    let lookup: [UInt8]
    /// Chosen by chance for each.
    let holder: [UInt8]
    /// Counts up each time that another one takes it over.
    let fence: Int64

    /// How long a lease lasts unless it is extended: as long as a token request may take.
    static let duration = Duration.seconds(30)
}

/// A table that one machine's processes share, whose leases are in files.
extension RowTable {
    var comparedCount: Int { ItemCheck.limit }
    var comparesAgain: Bool { true }

    func lease(_ lookup: [UInt8], _ cancellation: Cancellation) throws(StoreError) -> RowLease? { nil }
    func extend(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError) -> Bool { false }
    func release(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError) {}
}

extension RowTransaction {
    func endLeases() throws(StoreError) {}
}

/// An item without its secret.
struct ItemHeading: Sendable {
    /// The item's place in the table: one of its `ItemPlaces`, unless someone moved it. Places are spread evenly and
    /// show no order, because they come from hashes. An item stays in its place until it is removed.
    let place: Int64
    let lookup: [UInt8]
    let metadata: [UInt8]

    /// Whether the item is where a lookup finds it.
    var isInPlace: Bool { ItemPlaces(of: lookup).contains(place) }
}

/// A row of the index.
struct LinkRow: Sendable, Hashable {
    let token: [UInt8]
    let link: [UInt8]
}

/// A record of the vault's own: a slot, the sealed keys, the manifest.
struct NamedRecord: Sendable, Hashable {
    let name: String
    let content: [UInt8]
}
