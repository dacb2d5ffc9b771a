internal import Credentials
internal import RedactedLog

/// A connection with the statements that are prepared on it.
final class SQLiteSession: RowTransaction, @unchecked Sendable {
    // Sendable: its owner lends it to one thread at a time; see SQLiteRowTable.
    let connection: SQLiteConnection
    private let drawPlace: @Sendable () throws(StoreError) -> Int64
    private let begin, end, readItem, readHeading, readItems, readRecord: SQLiteStatement
    private lazy var writing: Result<WriteStatements, StoreError> = WriteStatements.prepare(on: connection)

    private var view = View.none

    /// What keeps the statements of one view on one state of the file.
    private enum View {
        case none, begun
        /// The running look-up, until its statement is reset: a single read is then a single statement.
        case lookup
        case transaction
    }

    /// The file's whole schema: anything else in it is refused.
    ///
    /// Items stand in the order of their places, and the index has nothing but look-up values and places. So SQLite never
    /// compares with a row to find another, which would read all pages of a large one.
    static let schema: [(name: String, sql: String)] = [
        (
            "items",
            """
            CREATE TABLE items(place INTEGER PRIMARY KEY, lookup BLOB NOT NULL UNIQUE, metadata BLOB NOT NULL, \
            secret BLOB NOT NULL)
            """
        ),
        ("records", "CREATE TABLE records(name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID"),
        // Made by SQLite for UNIQUE.
        ("sqlite_autoindex_items_1", ""),
    ]

    /// - Parameter drawPlace: gives a place for a new item. One that is taken is given back, and another one drawn.
    init(
        _ connection: SQLiteConnection,
        drawPlace: @escaping @Sendable () throws(StoreError) -> Int64 = SQLiteSession.randomPlace
    ) throws(StoreError) {
        self.connection = connection
        self.drawPlace = drawPlace
        try Self.checkSchema(connection)
        begin = try connection.prepare("BEGIN")
        end = try connection.prepare("COMMIT")
        readItem = try connection.prepare("SELECT metadata, secret FROM items WHERE lookup = ?1")
        readHeading = try connection.prepare("SELECT place, metadata FROM items WHERE lookup = ?1")
        readItems = try connection.prepare(
            "SELECT place, lookup, metadata FROM items WHERE place > ?1 ORDER BY place LIMIT ?2")
        readRecord = try connection.prepare("SELECT content FROM records WHERE name = ?1")
    }

    private static func checkSchema(_ connection: SQLiteConnection) throws(StoreError) {
        let statement = try connection.prepare(
            "SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name LIMIT \(schema.count + 1)")
        var found: [(name: String, sql: String)] = []
        while try statement.step() { found.append((try statement.text(0), try statement.text(1))) }
        guard found.count == schema.count, zip(found, schema).allSatisfy({ $0.name == $1.name && $0.sql == $1.sql })
        else { throw .vaultCorrupted("its tables are not those of a vault") }
    }

    // MARK: - Transactions

    /// Lends a consistent view; throws `busy` at once when a writer has the file.
    func snapshot<Result: ~Copyable & Sendable>(
        _ body: (SQLiteSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        view = .begun
        do throws(StoreError) {
            let result = try body(self)
            readItem.reset()
            // SQLite may have ended it at an I/O error that `body` took note of.
            if view == .transaction && !connection.isIdle { try end.run() }
            view = .none
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Before any other statement than a view's first look-up.
    private func holdView() throws(StoreError) {
        guard view == .begun || view == .lookup else { return }
        // While the look-up runs, this takes over its state of the file.
        try begin.run()
        view = .transaction
    }

    /// Commits what `body` does, or undoes it when anything throws. Waits for other writers and for readers.
    func transaction<Result: Sendable>(
        _ patience: Patience, _ body: (SQLiteSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let writing = try writing.get()
        try patience.retry { () throws(StoreError) in try writing.begin.run() }
        view = .transaction
        do throws(StoreError) {
            let result = try body(self)
            // Refused while others read; the transaction stays open, and no new reader is let in meanwhile.
            try patience.retry { () throws(StoreError) in try end.run() }
            view = .none
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() {
        readItem.reset()
        readHeading.reset()
        readItems.reset()
        readRecord.reset()
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
        if view == .transaction { readItem.reset() }
        try readItem.bind(1, lookup)
        guard try readItem.step() else { return nil }
        if view == .begun { view = .lookup }
        defer { if view != .lookup { readItem.reset() } }
        return try readItem.withBlob(0) { (metadata) throws(StoreError) -> Result in
            try readItem.withBlob(1) { (secret) throws(StoreError) -> Result in try body(metadata, secret) }
        }
    }

    func heading(_ lookup: [UInt8]) throws(StoreError) -> ItemHeading? {
        try holdView()
        defer { readHeading.reset() }
        try readHeading.bind(1, lookup)
        guard try readHeading.step() else { return nil }
        return ItemHeading(place: readHeading.integer(0), lookup: lookup, metadata: try readHeading.blob(1))
    }

    func items(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try holdView()
        defer { readItems.reset() }
        try readItems.bind(1, Int(place ?? .min))
        try readItems.bind(2, limit)
        var items: [ItemHeading] = []
        var last = place
        while try readItems.step() {
            let found = readItems.integer(0)
            // A forged table can have its rows in any order, and whoever goes on after the last one would never end.
            if let last, found <= last { throw .vaultCorrupted("its items are out of order") }
            last = found
            items.append(
                ItemHeading(place: found, lookup: try readItems.blob(1), metadata: try readItems.blob(2)))
        }
        return items
    }

    func record(_ name: String) throws(StoreError) -> [UInt8]? {
        try holdView()
        defer { readRecord.reset() }
        try readRecord.bind(1, name)
        return try readRecord.step() ? try readRecord.blob(0) : nil
    }

    func records() throws(StoreError) -> [NamedRecord] {
        try holdView()
        let statement = try connection.prepare("SELECT name, content FROM records ORDER BY name LIMIT ?1")
        try statement.bind(1, Manifest.maximumRecordCount + 1)
        var records: [NamedRecord] = []
        while try statement.step() {
            let record = NamedRecord(name: try statement.text(0), content: try statement.blob(1))
            if record.name != Manifest.recordName { records.append(record) }
        }
        return records
    }

    func changeMark() throws(StoreError) -> UInt32 { try connection.changeMark() }

    // MARK: - Writing

    func put(_ lookup: [UInt8], metadata: [UInt8], secret: [UInt8]) throws(StoreError) {
        let statement = try writing.get().putItem
        // The statement would keep its copy of the row until the next one.
        defer { statement.clear() }
        try statement.bind(2, lookup)
        try statement.bind(3, metadata)
        try statement.bind(4, secret)
        // Among 2^40 items, one draw in eight million is taken.
        for _ in 0..<8 {
            try statement.bind(1, Int(try drawPlace()))
            try statement.run()
            if connection.changedRowCount > 0 { return }
        }
        throw StoreError(.unavailable, "the system's random numbers repeat themselves")
    }

    /// 63 random bits, never 0.
    static func randomPlace() throws(StoreError) -> Int64 {
        let bits = try Sealing.randomOctets(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return max(1, Int64(bits >> 1))
    }

    func remove(_ lookup: [UInt8]) throws(StoreError) {
        let statement = try writing.get().removeItem
        try statement.bind(1, lookup)
        try statement.run()
    }

    func put(record name: String, _ content: [UInt8]) throws(StoreError) {
        let statement = try writing.get().putRecord
        try statement.bind(1, name)
        try statement.bind(2, content)
        try statement.run()
    }

    func remove(record name: String) throws(StoreError) {
        let statement = try writing.get().removeRecord
        try statement.bind(1, name)
        try statement.run()
    }
}

/// The statements of a connection that writes.
private struct WriteStatements {
    let begin, putItem, removeItem, putRecord, removeRecord: SQLiteStatement

    static func prepare(on connection: SQLiteConnection) -> Result<WriteStatements, StoreError> {
        Result { () throws(StoreError) in
            WriteStatements(
                begin: try connection.prepare("BEGIN IMMEDIATE"),
                putItem: try connection.prepare(
                    """
                    INSERT INTO items(place, lookup, metadata, secret) VALUES(?1, ?2, ?3, ?4) \
                    ON CONFLICT(lookup) DO UPDATE SET metadata = excluded.metadata, secret = excluded.secret \
                    ON CONFLICT(place) DO NOTHING
                    """),
                removeItem: try connection.prepare("DELETE FROM items WHERE lookup = ?1"),
                putRecord: try connection.prepare(
                    """
                    INSERT INTO records(name, content) VALUES(?1, ?2) ON CONFLICT(name) \
                    DO UPDATE SET content = excluded.content
                    """),
                removeRecord: try connection.prepare("DELETE FROM records WHERE name = ?1"))
        }
    }
}
