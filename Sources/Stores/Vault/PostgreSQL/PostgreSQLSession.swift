internal import LatchkeyCredentials
internal import LatchkeyLog

/// A connection while it is lent to one view or one transaction.
final class PostgreSQLSession: RowTransaction, @unchecked Sendable {
    // Sendable: its owner lends it to one thread at a time; see PostgreSQLRowTable.
    let connection: PostgreSQLConnection
    private let cancellation: Cancellation

    /// Whether it gives up, rather than to wait for more than a moment.
    private let isQuick: Bool

    /// The transaction that keeps the statements of one view on one state of the tables.
    private enum View {
        case none
        /// One lookup was made, as a statement of its own.
        case lookup
        case transaction
    }
    private var view = View.none
    /// All records, as they are in this transaction.
    private var content: [String: [UInt8]] = [:]
    private var mark: UInt32?
    /// The places of the items looked up in this transaction; `nil` for an item that doesn't exist.
    private var places: [[UInt8]: Int64?] = [:]
    private(set) var hasWritten = false
    private(set) var trace = Trace()
    /// The encrypted metadata of the last item.
    private var seen: (lookup: [UInt8], metadata: [UInt8])?
    /// Leases that this process has, by their items.
    private let held: [[UInt8]: RowLease]

    /// The lookup value of the changed item in hexadecimal digits; empty for none or several.
    private var changedItem: String { changed.count == 1 ? Hexadecimal.encode(changed.first!) : "" }
    private var changed: Set<[UInt8]> = []

    /// The trace of a transaction in the tables. Each row has a different nonce, so equal bytes are from the same
    /// transaction.
    struct Trace: Sendable {
        /// Empty for none.
        var manifest: (before: [UInt8], after: [UInt8]) = ([], [])
        /// The metadata of the first saved item; `before` is `nil` if unknown.
        var item: (lookup: [UInt8], before: [UInt8]?, after: [UInt8])?
    }

    init(
        _ connection: PostgreSQLConnection, _ cancellation: Cancellation,
        holding held: [[UInt8]: RowLease] = [:], isQuick: Bool = false
    ) {
        self.isQuick = isQuick
        self.held = held
        self.connection = connection
        self.cancellation = cancellation
    }

    private func ask(_ query: PostgreSQLQuery, _ values: PostgreSQLValue...) throws(StoreError) -> PostgreSQLResult {
        try connection.ask(query, values, cancellation, isQuick: isQuick)
    }

    private func send(_ query: PostgreSQLQuery, _ values: PostgreSQLValue...) throws(StoreError) {
        hasWritten = true
        try connection.send(query, values, cancellation)
    }

    // MARK: - Transactions

    /// Before any other statement than a view's first lookup.
    private func holdView() throws(StoreError) {
        guard view != .transaction else { return }
        if isQuick { throw StoreError(.busy, "a statement is slow") }
        try connection.send(PostgreSQLSchema.beginReading, [], cancellation)
        view = .transaction
        if connection.isPooled {
            try connection.send(PostgreSQLSchema.settings(ofTransaction: true), [], cancellation)
        }
        let before = mark
        try readRecords()
        guard before == nil || before == mark else {
            throw StoreError(.busy, "another process changed the vault")
        }
    }

    /// Begins a transaction that excludes other writers.
    func beginWriting() throws(StoreError) {
        try connection.send(PostgreSQLSchema.begin, [], cancellation)
        view = .transaction
        if connection.isPooled {
            try connection.send(PostgreSQLSchema.settings(ofTransaction: true), [], cancellation)
        }
        try connection.send(PostgreSQLSchema.lock, [], cancellation)
        try readRecords()
        trace.manifest.before = content[Manifest.recordName] ?? []
    }

    /// Waits for the end of the transaction that has left `trace`, and returns whether it was committed; `nil` when
    /// others have written since what it had written.
    func outcome(of trace: Trace) throws(StoreError) -> Bool? {
        try beginWriting()
        if content.isEmpty {
            try connection.send(PostgreSQLSchema.lockRecords, [], cancellation)
            try readRecords()
        }
        let manifest = content[Manifest.recordName] ?? []
        if manifest == trace.manifest.after { return true }
        if manifest == trace.manifest.before { return false }
        guard let item = trace.item, let now = try heading(item.lookup)?.metadata else { return nil }
        return now == item.after ? true : now == item.before ? false : nil
    }

    private func readRecords() throws(StoreError) {
        let rows = try ask(PostgreSQLSchema.records, .integer(Int64(Manifest.maximumRecordCount) + 2))
        content = [:]
        for row in 0..<rows.rowCount {
            if rows.isNull(row, 0) { throw .rowTooLong }
            content[try rows.text(row, 0)] = try Self.bounded(rows, row, 1)
        }
        mark = Self.mark(content[Manifest.recordName] ?? [])
    }

    /// Ends a view, or a transaction in which nothing was written.
    func end() throws(StoreError) {
        guard view == .transaction else { return }
        view = .none
        try connection.send(PostgreSQLSchema.commit, [], cancellation)
        try connection.settle(cancellation)
    }

    /// Commits, and waits for it whatever happens to the task that asked for it.
    ///
    /// The notification is a transaction after it, in the same round trip. A commit with a notification would hold a
    /// lock of the whole server until it is on the disk, so that all vaults of a server would take turns. If the server
    /// ends between the two, listeners lose their connections and look anew.
    func commit() throws(StoreError) {
        let waiting = Cancellation(cancellation.deadline)
        try connection.commit(then: PostgreSQLSchema.notify, [.text(changedItem)], waiting)
        view = .none
    }

    /// Undoes everything, where the connection is still of use.
    func rollBack() throws(StoreError) {
        guard view == .transaction, !connection.isLost else { return }
        view = .none
        let cancellation = Cancellation(.after(.seconds(2)))
        // Earlier statements may have failed, which doesn't matter.
        _ = failure(StoreError.self, of: try connection.settle(cancellation))
        try connection.send(PostgreSQLSchema.rollback, [], cancellation)
        try connection.settle(cancellation)
    }

    // MARK: - Reading

    func withItem<Result: ~Copyable>(
        _ lookup: [UInt8], _ body: (_ metadata: Span<UInt8>, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        if view == .lookup { try holdView() }
        let places = ItemPlaces(of: lookup)
        let query = view == .none ? PostgreSQLSchema.item : PostgreSQLSchema.itemInTransaction
        let rows = try ask(query, .integer(places.first), .integer(places.last), .bytes(lookup))
        guard rows.rowCount > 0 else {
            if view == .transaction { return nil }
            throw .noVaultRecords
        }
        if view == .none {
            view = .lookup
            mark = Self.mark(try rows.bytes(0, 0))
        }
        if rows.isNull(0, 1) { return nil }
        guard rows.rowCount == 1 else { throw .itemTwice }
        guard !rows.isNull(0, 2), !rows.isNull(0, 3) else { throw .rowTooLong }
        return try rows.withBytes(0, 2) { (metadata) throws(StoreError) -> Result in
            try rows.withBytes(0, 3) { (secret) throws(StoreError) -> Result in try body(metadata, secret) }
        }
    }

    func withItem<Result: ~Copyable>(
        place: Int64, _ body: (ItemHeading, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        try holdView()
        let rows = try ask(PostgreSQLSchema.place, .integer(place))
        guard rows.rowCount > 0 else { return nil }
        let heading = ItemHeading(
            place: place, lookup: try Self.bounded(rows, 0, 0), metadata: try Self.bounded(rows, 0, 1))
        guard !rows.isNull(0, 2) else { throw .rowTooLong }
        return try rows.withBytes(0, 2) { (secret) throws(StoreError) -> Result in try body(heading, secret) }
    }

    func heading(_ lookup: [UInt8]) throws(StoreError) -> ItemHeading? {
        try holdView()
        let places = ItemPlaces(of: lookup)
        let rows = try ask(PostgreSQLSchema.heading, .integer(places.first), .integer(places.last), .bytes(lookup))
        guard rows.rowCount <= 1 else { throw .itemTwice }
        guard rows.rowCount == 1 else {
            self.places[lookup] = .some(nil)
            return nil
        }
        let place = try rows.integer(0, 0)
        self.places[lookup] = place
        let metadata = try Self.bounded(rows, 0, 1)
        seen = (lookup, metadata)
        return ItemHeading(place: place, lookup: lookup, metadata: metadata)
    }

    func heading(beginning: [UInt8]) throws(StoreError) -> ItemHeading? {
        try holdView()
        let places = ItemPlaces(of: beginning)
        let rows = try ask(PostgreSQLSchema.beginning, .integer(places.first), .integer(places.last), .bytes(beginning))
        guard rows.rowCount <= 1 else { throw .itemTwice }
        return rows.rowCount == 0 ? nil : try Self.heading(rows, 0)
    }

    func items(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try holdView()
        let rows = try ask(PostgreSQLSchema.items, .integer(place ?? .min), .integer(Int64(limit)))
        var items: [ItemHeading] = []
        var last = place
        for row in 0..<rows.rowCount {
            let item = try Self.heading(rows, row)
            // Whoever goes on after the last one would never end.
            if let last, item.place <= last { throw .vaultCorrupted("its items are out of order") }
            last = item.place
            items.append(item)
        }
        return items
    }

    /// A forged index of the engine's own is for its owner to find: a lookup and a walk go down one tree here.
    func foundItems(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try items(after: place, limit: limit)
    }

    func record(_ name: String) throws(StoreError) -> [UInt8]? {
        try holdView()
        if content.isEmpty { throw .noVaultRecords }
        return content[name]
    }

    func records() throws(StoreError) -> [NamedRecord] {
        try holdView()
        return content.filter { $0.key != Manifest.recordName }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { NamedRecord(name: $0.key, content: $0.value) }
    }

    func changeMark() throws(StoreError) -> UInt32 {
        if mark == nil { try holdView() }
        return mark ?? 0
    }

    func link(_ token: [UInt8]) throws(StoreError) -> [UInt8]? {
        try holdView()
        let rows = try ask(PostgreSQLSchema.link, .bytes(token))
        return rows.rowCount == 0 ? nil : try Self.bounded(rows, 0, 0)
    }

    func links(after token: [UInt8]?, limit: Int) throws(StoreError) -> [LinkRow] {
        try holdView()
        let rows = try ask(PostgreSQLSchema.links, .bytes(token ?? []), .integer(Int64(limit)))
        var links: [LinkRow] = []
        var last = token ?? []
        for row in 0..<rows.rowCount {
            let link = LinkRow(token: try Self.bounded(rows, row, 0), link: try Self.bounded(rows, row, 1))
            guard last.lexicographicallyPrecedes(link.token) else { throw .vaultCorrupted("its index is out of order") }
            last = link.token
            links.append(link)
        }
        return links
    }

    // MARK: - Writing

    func put(_ lookup: [UInt8], metadata: [UInt8], secret: [UInt8]) throws(StoreError) {
        try note(lookup)
        if places[lookup] == nil { _ = try heading(lookup) }
        if trace.item == nil {
            trace.item = (lookup, seen.flatMap { $0.lookup == lookup ? $0.metadata : nil }, metadata)
        } else if trace.item?.lookup == lookup {
            trace.item?.after = metadata
        }
        let content = (PostgreSQLValue.bytes(lookup), PostgreSQLValue.bytes(metadata), PostgreSQLValue.bytes(secret))
        if let place = places[lookup] ?? nil {
            return try send(PostgreSQLSchema.updateItem, .integer(place), content.0, content.1, content.2)
        }
        let place = try freePlace(for: lookup)
        try send(PostgreSQLSchema.insertItem, .integer(place), content.0, content.1, content.2)
        places[lookup] = place
    }

    /// Records a changed item. If this process had a lease on it, checks that another host hasn't taken the lease over.
    private func note(_ lookup: [UInt8]) throws(StoreError) {
        if changed.count < 2 { changed.insert(lookup) }
        guard let lease = held[lookup] else { return }
        let rows = try ask(
            PostgreSQLSchema.holdLease, .bytes(lease.lookup), .bytes(lease.holder), .integer(lease.fence))
        guard rows.rowCount == 1 else { throw .leaseLost }
    }

    func endLeases() throws(StoreError) {
        try send(PostgreSQLSchema.lockLeases)
        guard try ask(PostgreSQLSchema.activeLeases).integer(0, 0) == 0 else {
            throw StoreError(.busy, "a session of the vault is being renewed")
        }
        try send(PostgreSQLSchema.deleteLeases)
    }

    private func freePlace(for lookup: [UInt8]) throws(StoreError) -> Int64 {
        let places = ItemPlaces(of: lookup)
        let rows = try ask(PostgreSQLSchema.taken, .integer(places.first), .integer(places.last))
        var taken: Set<Int64> = []
        for row in 0..<rows.rowCount { taken.insert(try rows.integer(row, 0)) }
        guard let free = places.free(besides: taken) else { throw .noFreePlace }
        return free
    }

    func remove(_ lookup: [UInt8]) throws(StoreError) {
        try note(lookup)
        let places = ItemPlaces(of: lookup)
        try send(PostgreSQLSchema.deleteItem, .integer(places.first), .integer(places.last), .bytes(lookup))
        self.places[lookup] = nil
    }

    func remove(place: Int64) throws(StoreError) {
        try send(PostgreSQLSchema.deletePlace, .integer(place))
        places = [:]
    }

    /// Throws `conflict` if the tables contain a vault, or its items after its records were lost.
    func checkVacant() throws(StoreError) {
        try holdView()
        guard content.isEmpty else { throw .vaultExists }
        guard try ask(PostgreSQLSchema.items, .integer(.min), .integer(1)).rowCount == 0,
            try ask(PostgreSQLSchema.links, .bytes([]), .integer(1)).rowCount == 0
        else { throw .lostRecords }
    }

    /// Writes the first records of a vault. Throws `conflict` if there are records already, or another process writes
    /// some.
    func create(_ records: [NamedRecord]) throws(StoreError) {
        try checkVacant()
        for record in records {
            try send(PostgreSQLSchema.addRecord, .text(record.name), .bytes(record.content))
            content[record.name] = record.content
            if record.name == Manifest.recordName { trace.manifest.after = record.content }
        }
        _ = try mapError(
            { (error: StoreError) in error.code == .corrupted ? StoreError.vaultExists : error },
            of: connection.settle(cancellation))
    }

    func put(record name: String, _ content: [UInt8]) throws(StoreError) {
        try send(PostgreSQLSchema.putRecord, .text(name), .bytes(content))
        self.content[name] = content
        if name == Manifest.recordName { trace.manifest.after = content }
    }

    func remove(record name: String) throws(StoreError) {
        try send(PostgreSQLSchema.deleteRecord, .text(name))
        content[name] = nil
    }

    func put(link token: [UInt8], _ content: [UInt8], isNew: Bool) throws(StoreError) {
        try send(isNew ? PostgreSQLSchema.insertLink : PostgreSQLSchema.updateLink, .bytes(token), .bytes(content))
    }

    func remove(link token: [UInt8]) throws(StoreError) { try send(PostgreSQLSchema.deleteLink, .bytes(token)) }

    func removeAllLinks() throws(StoreError) { try send(PostgreSQLSchema.deleteLinks) }

    /// The change mark of the new manifest.
    func changeMarkOfCommit() throws(StoreError) -> UInt32 { Self.mark(content[Manifest.recordName] ?? []) }

    // MARK: - Parts

    /// The first four bytes of the manifest's nonce.
    private static func mark(_ manifest: [UInt8]) -> UInt32 { manifest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    private static func heading(_ rows: borrowing PostgreSQLResult, _ row: Int) throws(StoreError) -> ItemHeading {
        ItemHeading(
            place: try rows.integer(row, 0), lookup: try bounded(rows, row, 1), metadata: try bounded(rows, row, 2))
    }

    private static func bounded(
        _ rows: borrowing PostgreSQLResult, _ row: Int, _ column: Int
    ) throws(StoreError) -> [UInt8] {
        if rows.isNull(row, column) { throw .rowTooLong }
        return try rows.bytes(row, column)
    }
}

extension StoreError {
    static var leaseLost: StoreError {
        StoreError(
            .conflict, "nothing was changed: this process waited too long, so another process took over its lease",
            hint: "read the change of the other process")
    }

    static var rowTooLong: StoreError { .vaultCorrupted("a row in it is too long for a vault") }
}
