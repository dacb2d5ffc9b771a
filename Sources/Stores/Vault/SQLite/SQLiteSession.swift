internal import LatchkeyCredentials
internal import LatchkeyLog

/// A connection with the statements that are prepared on it.
final class SQLiteSession: RowTransaction, @unchecked Sendable {
    // Sendable: its owner lends it to one thread at a time; see SQLiteRowTable.
    let connection: SQLiteConnection
    private var begin = LazyStatement("BEGIN")
    private var end = LazyStatement("COMMIT")
    private var readItem = LazyStatement("SELECT metadata, secret FROM items WHERE \(SQLiteSession.isItem)")
    private var readHeading = LazyStatement("SELECT place, metadata FROM items WHERE \(SQLiteSession.isItem)")
    private var readPlace = LazyStatement("SELECT lookup, metadata, secret FROM items WHERE place = ?1")
    private var readItems = LazyStatement(
        "SELECT place, lookup, metadata FROM items WHERE place > ?1 ORDER BY place LIMIT ?2")
    /// A walk visits all rows, but a forged inner page can mislead a lookup. So the statement also looks up each row of
    /// the walk. The walk is the outer loop, because a cross join keeps the order.
    private var readFoundItems = LazyStatement(
        """
        SELECT walked.place, walked.lookup, walked.metadata FROM items AS walked \
        CROSS JOIN items AS found ON found.place = walked.place \
        WHERE walked.place > ?1 ORDER BY walked.place LIMIT ?2
        """)
    private var readRecord = LazyStatement("SELECT content FROM records WHERE name = ?1")
    private var readRecords = LazyStatement("SELECT name, content FROM records ORDER BY name LIMIT ?1")
    private var writing = WriteStatements()
    var indexing = IndexStatements()

    private var view = View.none

    /// The transaction that keeps the statements of one view on one state of the file.
    private enum View {
        case none, begun
        /// The running lookup, until its statement is reset: a single read is then a single statement.
        case lookup
        case transaction
    }

    /// The file's whole schema: anything else in it is refused.
    ///
    /// Items are in the order of their positions, which come from their lookup values. A lookup follows one tree, whose
    /// inner pages only contain positions. SQLite never compares rows' contents to find a row, which would read all
    /// pages of a large one.
    static let schema: [(name: String, sql: String)] = [
        (
            "items",
            """
            CREATE TABLE items(place INTEGER PRIMARY KEY, lookup BLOB NOT NULL, metadata BLOB NOT NULL, \
            secret BLOB NOT NULL)
            """
        ),
        ("links", "CREATE TABLE links(token BLOB PRIMARY KEY, link BLOB NOT NULL) WITHOUT ROWID"),
        ("records", "CREATE TABLE records(name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID"),
    ]

    init(_ connection: SQLiteConnection) throws(StoreError) {
        self.connection = connection
        try Self.checkSchema(connection)
    }

    /// Which rows are the one with a lookup value; see `SQLiteStatement.bind(item:)`.
    fileprivate static let isItem = "place BETWEEN ?1 AND ?2 AND lookup = ?3"

    private static func checkSchema(_ connection: SQLiteConnection) throws(StoreError) {
        let statement = try connection.prepare(
            "SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name LIMIT \(schema.count + 1)")
        var found: [(name: String, sql: String)] = []
        while try statement.step() { found.append((try statement.text(0), try statement.text(1))) }
        guard found.count == schema.count, zip(found, schema).allSatisfy({ $0.name == $1.name && $0.sql == $1.sql })
        else { throw .vaultCorrupted("its tables are not those of a vault") }
    }

    // MARK: - Transactions

    /// Lends a consistent view. Throws `busy` at once when a writer has the file, and `unavailable` when the file was
    /// moved or replaced.
    func snapshot<Result: ~Copyable & Sendable>(
        _ body: (SQLiteSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try connection.requireName()
        view = .begun
        do throws(StoreError) {
            let result = try body(self)
            try readItem.on(connection).reset()
            // SQLite may have ended it at an I/O error that `body` took note of.
            if view == .transaction && !connection.isIdle { try end.on(connection).run() }
            view = .none
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Before any other statement than a view's first lookup.
    func holdView() throws(StoreError) {
        guard view == .begun || view == .lookup else { return }
        // While the lookup runs, this takes over its state of the file.
        try begin.on(connection).run()
        view = .transaction
    }

    /// Commits what `body` does, or undoes it when anything throws. Waits for other writers and for readers.
    func transaction<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (SQLiteSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let begin = try writing.begin.on(connection)
        try cancellation.retry { () throws(StoreError) in try begin.run() }
        view = .transaction
        do throws(StoreError) {
            try connection.requireName()
            let result = try body(self)
            // Fails while others read. The transaction stays open, and new readers wait.
            try cancellation.retry { () throws(StoreError) in try end.on(connection).run() }
            view = .none
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() {
        connection.resetStatements()
        view = .none
        if connection.isIdle { return }
        // Refused only where SQLite has rolled back by itself; the connection is checked instead of the status.
        try? connection.execute("ROLLBACK")
        precondition(connection.isIdle, "SQLite kept a transaction open")
    }

    // MARK: - Reading

    func withItem<Result: ~Copyable>(
        _ lookup: [UInt8], _ body: (_ metadata: Span<UInt8>, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        if view == .lookup { try holdView() }
        let readItem = try readItem.on(connection)
        if view == .transaction { readItem.reset() }
        try readItem.bind(item: lookup)
        guard try readItem.step() else { return nil }
        if view == .begun { view = .lookup }
        defer { if view != .lookup { readItem.reset() } }
        return try readItem.withBlob(0) { (metadata) throws(StoreError) -> Result in
            try readItem.withBlob(1) { (secret) throws(StoreError) -> Result in try body(metadata, secret) }
        }
    }

    func withItem<Result: ~Copyable>(
        place: Int64, _ body: (ItemHeading, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        try holdView()
        let statement = try readPlace.on(connection)
        defer { statement.reset() }
        try statement.bind(1, Int(place))
        guard try statement.step() else { return nil }
        let heading = ItemHeading(place: place, lookup: try statement.blob(0), metadata: try statement.blob(1))
        return try statement.withBlob(2) { (secret) throws(StoreError) -> Result in try body(heading, secret) }
    }

    func heading(_ lookup: [UInt8]) throws(StoreError) -> ItemHeading? {
        try holdView()
        let readHeading = try readHeading.on(connection)
        defer { readHeading.reset() }
        try readHeading.bind(item: lookup)
        guard try readHeading.step() else { return nil }
        let found = ItemHeading(place: readHeading.integer(0), lookup: lookup, metadata: try readHeading.blob(1))
        guard try !readHeading.step() else { throw .itemTwice }
        return found
    }

    func items(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try items(readItems.on(connection), after: place, limit: limit)
    }

    func foundItems(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try items(readFoundItems.on(connection), after: place, limit: limit)
    }

    private func items(
        _ statement: SQLiteStatement, after place: Int64?, limit: Int
    ) throws(StoreError) -> [ItemHeading] {
        try holdView()
        defer { statement.reset() }
        try statement.bind(1, Int(place ?? .min))
        try statement.bind(2, limit)
        var items: [ItemHeading] = []
        var last = place
        while try statement.step() {
            let found = statement.integer(0)
            // A forged table can have rows in any order. Then continuing after the last one might never end.
            if let last, found <= last { throw .vaultCorrupted("its items are out of order") }
            last = found
            items.append(
                ItemHeading(place: found, lookup: try statement.blob(1), metadata: try statement.blob(2)))
        }
        return items
    }

    func record(_ name: String) throws(StoreError) -> [UInt8]? {
        try holdView()
        let readRecord = try readRecord.on(connection)
        defer { readRecord.reset() }
        try readRecord.bind(1, name)
        return try readRecord.step() ? try readRecord.blob(0, atMost: Manifest.maximumRecordByteCount) : nil
    }

    func records() throws(StoreError) -> [NamedRecord] {
        try holdView()
        let statement = try readRecords.on(connection)
        defer { statement.reset() }
        try statement.bind(1, Manifest.maximumRecordCount + 1)
        var records: [NamedRecord] = []
        var byteCount = 0
        while try statement.step() {
            let name = try statement.text(0, atMost: Manifest.maximumRecordNameByteCount)
            let content = try statement.blob(1, atMost: Manifest.maximumRecordByteCount)
            byteCount += content.count
            guard byteCount <= Manifest.maximumRecordsByteCount else { throw .rowTooLong }
            if name != Manifest.recordName { records.append(NamedRecord(name: name, content: content)) }
        }
        return records
    }

    func changeMark() throws(StoreError) -> UInt32 {
        // An unsuccessful lookup has released its lock, so a writer may have written rows that are undone later.
        if view == .begun { _ = try record(Manifest.recordName) }
        return try connection.changeCounter()
    }

    // MARK: - Writing

    func put(_ lookup: [UInt8], metadata: [UInt8], secret: [UInt8]) throws(StoreError) {
        let place = try place(for: lookup)
        let statement = try writing.putItem.on(connection)
        // The statement would keep its copy of the row until the next one.
        defer { statement.clear() }
        try statement.bind(1, Int(place))
        try statement.bind(2, lookup)
        try statement.bind(3, metadata)
        try statement.bind(4, secret)
        try statement.run()
        // SQLite can lose a row that it has just written in a forged page.
        guard try heading(lookup)?.metadata == metadata else { throw .vaultCorrupted("it lost what was saved") }
    }

    /// The position of the item with a lookup value, or the position for a new one.
    private func place(for lookup: [UInt8]) throws(StoreError) -> Int64 {
        let places = ItemPlaces(of: lookup)
        let statement = try writing.takenPlaces.on(connection)
        defer { statement.reset() }
        try statement.bind(1, Int(places.first))
        try statement.bind(2, Int(places.last))
        var taken: Set<Int64> = []
        while try statement.step() {
            let place = statement.integer(0)
            if try statement.blob(1) == lookup { return place }
            taken.insert(place)
        }
        guard let free = places.free(besides: taken) else { throw .noFreePlace }
        return free
    }

    func remove(_ lookup: [UInt8]) throws(StoreError) {
        let statement = try writing.removeItem.on(connection)
        try statement.bind(item: lookup)
        try statement.run()
    }

    func remove(place: Int64) throws(StoreError) {
        let statement = try writing.removePlace.on(connection)
        try statement.bind(1, Int(place))
        try statement.run()
    }

    /// SQLite counts once in each transaction that changes something (fileformat2, section 1.3.8).
    func changeMarkOfCommit() throws(StoreError) -> UInt32 { try connection.changeCounter() &+ 1 }

    func put(record name: String, _ content: [UInt8]) throws(StoreError) {
        let statement = try writing.putRecord.on(connection)
        try statement.bind(1, name)
        try statement.bind(2, content)
        try statement.run()
    }

    func remove(record name: String) throws(StoreError) {
        let statement = try writing.removeRecord.on(connection)
        try statement.bind(1, name)
        try statement.run()
    }
}

/// The statements of a connection that writes.
private struct WriteStatements {
    var begin = LazyStatement("BEGIN IMMEDIATE")
    var takenPlaces = LazyStatement("SELECT place, lookup FROM items WHERE place BETWEEN ?1 AND ?2 ORDER BY place")
    var putItem = LazyStatement(
        """
        INSERT INTO items(place, lookup, metadata, secret) VALUES(?1, ?2, ?3, ?4) ON CONFLICT(place) \
        DO UPDATE SET metadata = excluded.metadata, secret = excluded.secret
        """)
    var removeItem = LazyStatement("DELETE FROM items WHERE \(SQLiteSession.isItem)")
    var removePlace = LazyStatement("DELETE FROM items WHERE place = ?1")
    var putRecord = LazyStatement(
        """
        INSERT INTO records(name, content) VALUES(?1, ?2) ON CONFLICT(name) \
        DO UPDATE SET content = excluded.content
        """)
    var removeRecord = LazyStatement("DELETE FROM records WHERE name = ?1")
}

extension SQLiteStatement {
    /// Binds the parameters of `isItem`: a lookup value, or its beginning.
    func bind(item lookup: [UInt8]) throws(StoreError) {
        let places = ItemPlaces(of: lookup)
        try bind(1, Int(places.first))
        try bind(2, Int(places.last))
        try bind(3, lookup)
    }
}

extension StoreError {
    /// The error for eight lookup values with 60 equal bits, which can't be a coincidence.
    static var noFreePlace: StoreError { .vaultCorrupted("other items occupy all slots for a new item") }
}
