internal import CLatchkeySQLite
internal import LatchkeyCredentials
internal import LatchkeyLog

/// One connection to the vault's file, used by one thread at a time.
///
/// It opens through the file system of `PageSealedFiles`, follows no symbolic link, and trusts nothing in the file's
/// schema.
@safe final class SQLiteConnection: @unchecked Sendable {
    // Sendable: the owner holds a lock, or is a single thread, around each use.
    private let handle: OpaquePointer
    private let isReadAsItIs: Bool

    enum Role { case creator, reader, writer }

    /// Opens an existing file; `creator` fills an empty one.
    ///
    /// - Parameter asItIs: reads the file without locks, and takes no notice of a journal beside it
    ///   (sqlite.org/uri.html, `immutable`).
    init(path: String, role: Role, asItIs: Bool = false) throws(StoreError) {
        PageSealedFiles.register()
        isReadAsItIs = asItIs
        var opened: OpaquePointer?
        let flags =
            (asItIs ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
            | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let name = asItIs ? Self.immutableURI(path) : path
        let status = unsafe sqlite3_open_v2(name, &opened, flags, PageSealedFiles.name)
        guard status == SQLITE_OK, let opened = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw .sqlite(status)
        }
        unsafe handle = unsafe opened
        let defended = unsafe latchkey_sqlite_defend(handle)
        guard defended == SQLITE_OK else { throw .sqlite(defended) }
        // A hostile file can't make SQLite hold more than the largest row; see `SQLiteStatement.blob` for many of them.
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(SealedSize.maximumRowByteCount))
        if role == .creator {
            var reserved = Int32(PageSealedFiles.sealByteCount)
            let refused = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
            guard refused == SQLITE_OK else { throw .sqlite(refused) }
            try execute("PRAGMA page_size = 4096")
        }
        for pragma in Self.settings(role) { try execute(pragma) }
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
    }

    private static func immutableURI(_ path: String) -> String {
        "file:\(PercentEncoding.encode(path) { $0 == UInt8(ascii: "/") || ASCII.isUnreserved($0) })?immutable=1"
    }

    /// Makes room for the inner pages of a large file: 4 MiB, and 2 % of a larger one, 16 MiB at most. Under 1 % of a
    /// file are inner pages of its b-trees, but each read at random brings another one, which pushes them out. All of a
    /// small file fits into the 2 MiB that SQLite takes by itself.
    func fitCache() throws(StoreError) {
        let count = try fileByteCount() / PageSealedFiles.pageByteCount
        if count > 400 { try execute("PRAGMA cache_size = \(min(max(count / 50, 1000), 4000))") }
    }

    private static func settings(_ role: Role) -> [String] {
        switch role {
        // A new file is written beside its place and renamed into it, so a journal would protect nothing.
        case .creator: ["PRAGMA journal_mode = MEMORY", "PRAGMA synchronous = FULL", "PRAGMA secure_delete = ON"]
        case .reader:
            ["PRAGMA query_only = ON", "PRAGMA cell_size_check = ON"]
        case .writer:
            [
                // The journal is emptied (and that synced) at each commit: no old row stays in it.
                "PRAGMA journal_mode = TRUNCATE", "PRAGMA synchronous = EXTRA", "PRAGMA secure_delete = ON",
                "PRAGMA cell_size_check = ON", "PRAGMA temp_store = MEMORY",
                // The changes of a save stay in memory until the commit, so that only one place waits for readers. More
                // than 39 MiB of pages go into the file earlier (the journal can undo them, and readers wait). If a
                // reader blocks that, SQLite uses more memory (pager.c, pagerStress). The number must not be a multiple
                // of 256, because SQLite also reads its last byte as a yes or no.
                "PRAGMA cache_spill = 10000",
                // 128 GiB; see PageSealedFiles.clearGap.
                "PRAGMA max_page_count = 33554431",
            ]
        }
    }

    /// Runs statements without results.
    func execute(_ sql: String) throws(StoreError) {
        let status = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw .sqlite(status) }
    }

    /// Whether no transaction is open.
    var isIdle: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }

    /// Throws `unavailable` if another file or none has its name now. SQLite itself looks at the first change only
    /// (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html, `SQLITE_FCNTL_HAS_MOVED`). A file that is only read, without
    /// locks, stays readable.
    func requireName() throws(StoreError) {
        if isReadAsItIs { return }
        var hasMoved: Int32 = 0
        let status = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard status == SQLITE_OK, hasMoved == 0 else { throw .sqlite(SQLite.readOnlyMoved) }
    }

    /// The file's change counter (fileformat2, section 1.3.8). Call it inside a transaction, where it stays the
    /// same until the commit.
    func changeCounter() throws(StoreError) -> UInt32 { try unsafe PageSealedFiles.changeCounter(of: file()) }

    /// The numbers of damaged pages, and how many pages the file has. Call it inside a transaction.
    func checkPages(_ cancellation: Cancellation) throws(StoreError) -> (damaged: [Int], fileByteCount: Int) {
        try unsafe PageSealedFiles.damagedPages(of: file(), cancellation)
    }

    /// The file's length, which is stable only during a transaction.
    func fileByteCount() throws(StoreError) -> Int { try unsafe PageSealedFiles.byteCount(of: file()) }

    /// The length that the file's header says it has.
    func pagesByteCount() throws(StoreError) -> Int {
        let count = try prepare("PRAGMA page_count")
        defer { count.reset() }
        return try count.step() ? Int(count.integer(0)) * PageSealedFiles.pageByteCount : 0
    }

    /// Lends the file's bytes, piece by piece. Call it inside a transaction.
    func copyFile(_ cancellation: Cancellation, _ body: ([UInt8]) throws(StoreError) -> Void) throws(StoreError) {
        try unsafe PageSealedFiles.copy(file(), cancellation, body)
    }

    private func file() throws(StoreError) -> UnsafeMutablePointer<sqlite3_file> {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let status = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard status == SQLITE_OK, let file = unsafe file else { throw .sqlite(status) }
        return unsafe file
    }

    /// Ends what all statements are doing.
    func resetStatements() {
        var statement = unsafe sqlite3_next_stmt(handle, nil)
        while let running = unsafe statement {
            unsafe sqlite3_reset(running)
            unsafe statement = unsafe sqlite3_next_stmt(handle, running)
        }
    }

    func prepare(_ sql: String) throws(StoreError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let status = unsafe sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement = unsafe statement else { throw .sqlite(status) }
        return unsafe SQLiteStatement(adopting: statement, of: self)
    }
}

/// A statement that is prepared when it is first needed.
struct LazyStatement {
    private let sql: String
    private var prepared: SQLiteStatement?

    init(_ sql: String) {
        self.sql = sql
    }

    mutating func on(_ connection: SQLiteConnection) throws(StoreError) -> SQLiteStatement {
        if let prepared { return prepared }
        let statement = try connection.prepare(sql)
        prepared = statement
        return statement
    }
}

/// A prepared statement, finalised with its owner.
@safe final class SQLiteStatement: @unchecked Sendable {
    // Sendable: as its connection.
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    init(adopting handle: OpaquePointer, of connection: SQLiteConnection) {
        unsafe self.handle = unsafe handle
        self.connection = connection
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    // MARK: - Parameters, from 1

    func bind(_ index: Int32, _ bytes: [UInt8]) throws(StoreError) {
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
            return unsafe sqlite3_bind_blob64(handle, index, base, UInt64(buffer.count), SQLiteStatement.transient)
        }
        guard status == SQLITE_OK else { throw .sqlite(status) }
    }

    func bind(_ index: Int32, _ text: String) throws(StoreError) {
        let status = unsafe sqlite3_bind_text(handle, index, text, -1, SQLiteStatement.transient)
        guard status == SQLITE_OK else { throw .sqlite(status) }
    }

    func bind(_ index: Int32, _ number: Int) throws(StoreError) {
        let status = unsafe sqlite3_bind_int64(handle, index, Int64(number))
        guard status == SQLITE_OK else { throw .sqlite(status) }
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
    private static var transient: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    /// Lets go of the bound values.
    func clear() {
        unsafe sqlite3_clear_bindings(handle)
    }

    // MARK: - Rows

    /// Goes to the next row and returns whether there is one. Resets itself at the end and on refusal.
    func step() throws(StoreError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        case let status:
            reset()
            throw .sqlite(status)
        }
    }

    func run() throws(StoreError) {
        while try step() {}
    }

    func reset() {
        unsafe sqlite3_reset(handle)
    }

    // MARK: - Columns, from 0

    /// Lends a blob; throws `corrupted` for a value of another type. Valid until the next step.
    func withBlob<Result: ~Copyable>(
        _ column: Int32, _ body: (Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB else {
            throw .vaultCorrupted("a value is of another type")
        }
        let base = unsafe sqlite3_column_blob(handle, column)
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        if unsafe base == nil && count > 0 { throw .sqlite(SQLITE_NOMEM) }
        let buffer = unsafe UnsafeRawBufferPointer(start: base, count: count)
        return try unsafe body(Span<UInt8>(_unsafeBytes: buffer))
    }

    /// A copy. Many rows of a forged file can have one overflow page, so a small file could fill the memory with copies.
    ///
    /// - Parameter limit: in bytes; enough for all but secrets and records.
    func blob(_ column: Int32, atMost limit: Int = 64 << 10) throws(StoreError) -> [UInt8] {
        try withBlob(column) { (bytes) throws(StoreError) in
            guard bytes.count <= limit else { throw .rowTooLong }
            return [UInt8](copying: bytes)
        }
    }

    func text(_ column: Int32, atMost limit: Int = 64 << 10) throws(StoreError) -> String {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT,
            let text = unsafe sqlite3_column_text(handle, column)
        else { throw .vaultCorrupted("a value is of another type") }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        guard count <= limit else { throw .rowTooLong }
        let buffer = unsafe UnsafeBufferPointer(start: text, count: count)
        guard let string = unsafe String(validating: buffer, as: UTF8.self) else {
            throw .vaultCorrupted("a value isn't UTF-8")
        }
        return string
    }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }
}

extension [UInt8] {
    init(copying span: Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
