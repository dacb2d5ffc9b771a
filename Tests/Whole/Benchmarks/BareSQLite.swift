internal import CLatchkeySQLite
internal import Foundation
internal import LatchkeySecrets

/// What a store on SQLite is measured against: one prepared insert or select, with the durability the vault has.
@safe final class BareSQLite {
    private var database: OpaquePointer?
    private var insert: OpaquePointer?
    private var select: OpaquePointer?

    struct Failure: Error { let code: Int32 }

    init(path: String, pragmas: [String]) throws {
        try unsafe check(sqlite3_open(path, &database))
        for pragma in pragmas { try unsafe check(sqlite3_exec(database, "PRAGMA " + pragma, nil, nil, nil)) }
        try unsafe check(
            sqlite3_exec(database, "CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID", nil, nil, nil))
        try unsafe check(sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO t VALUES(?,?)", -1, &insert, nil))
        try unsafe check(sqlite3_prepare_v2(database, "SELECT v FROM t WHERE k=?", -1, &select, nil))
    }

    deinit {
        unsafe sqlite3_finalize(insert)
        unsafe sqlite3_finalize(select)
        unsafe sqlite3_close(database)
    }

    func save(_ key: [UInt8], _ value: [UInt8]) throws {
        unsafe sqlite3_reset(insert)
        unsafe bind(insert, 1, key)
        unsafe bind(insert, 2, value)
        let status = unsafe sqlite3_step(insert)
        guard status == SQLITE_DONE else { throw Failure(code: status) }
        unsafe sqlite3_reset(insert)
    }

    /// Many rows in one transaction.
    func save(_ rows: [(key: [UInt8], value: [UInt8])]) throws {
        try unsafe check(sqlite3_exec(database, "BEGIN", nil, nil, nil))
        for row in rows { try save(row.key, row.value) }
        try unsafe check(sqlite3_exec(database, "COMMIT", nil, nil, nil))
    }

    func read(_ key: [UInt8]) throws -> [UInt8] {
        unsafe sqlite3_reset(select)
        unsafe bind(select, 1, key)
        let status = unsafe sqlite3_step(select)
        guard status == SQLITE_ROW, let blob = unsafe sqlite3_column_blob(select, 0) else {
            throw Failure(code: status)
        }
        let count = unsafe Int(sqlite3_column_bytes(select, 0))
        let value = unsafe Array(UnsafeRawBufferPointer(start: blob, count: count))
        unsafe sqlite3_reset(select)
        return value
    }

    private func bind(_ statement: OpaquePointer?, _ index: Int32, _ bytes: [UInt8]) {
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), transient)
    }

    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else { throw Failure(code: status) }
    }
}

/// A vault's rows as any program finds them that knows SQLite and no key.
@safe final class BareVaultRows {
    private var database: OpaquePointer?
    private var select: OpaquePointer?
    private var rows: [(place: Int64, lookup: [UInt8])] = []
    private var next = 0

    /// Opens a vault with as much memory for pages as `VaultStore` takes, and draws rows.
    init(path: String, sampling count: Int) throws {
        try unsafe check(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil))
        let pages = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        let cache = max(1000, min(4000, pages / 4096 / 50))
        try unsafe check(sqlite3_exec(database, "PRAGMA cache_size = \(cache)", nil, nil, nil))
        var draw: OpaquePointer?
        defer { unsafe sqlite3_finalize(draw) }
        let sql = "SELECT place, lookup FROM items WHERE place >= ?1 ORDER BY place LIMIT 1"
        try unsafe check(sqlite3_prepare_v2(database, sql, -1, &draw, nil))
        while rows.count < count {
            unsafe sqlite3_bind_int64(draw, 1, Int64.random(in: 1...Int64.max))
            if unsafe sqlite3_step(draw) == SQLITE_ROW, let blob = unsafe sqlite3_column_blob(draw, 1) {
                let lookup = unsafe Array(UnsafeRawBufferPointer(start: blob, count: 32))
                rows.append((unsafe sqlite3_column_int64(draw, 0), lookup))
            }
            unsafe sqlite3_reset(draw)
        }
        try unsafe check(
            sqlite3_prepare_v2(
                database, "SELECT metadata, secret FROM items WHERE place BETWEEN ?1 AND ?1 + 7 AND lookup = ?2", -1,
                &select, nil))
    }

    deinit {
        unsafe sqlite3_finalize(select)
        unsafe sqlite3_close(database)
    }

    /// Reads the next row that was drawn, and looks at a byte of each column.
    func readNext() throws {
        next = (next + 1) % rows.count
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe sqlite3_bind_int64(select, 1, rows[next].place)
        unsafe sqlite3_bind_blob(select, 2, rows[next].lookup, 32, transient)
        defer { unsafe sqlite3_reset(select) }
        let status = unsafe sqlite3_step(select)
        guard status == SQLITE_ROW, let metadata = unsafe sqlite3_column_blob(select, 0),
            let secret = unsafe sqlite3_column_blob(select, 1)
        else { throw BareSQLite.Failure(code: status) }
        let sum = unsafe metadata.load(as: UInt8.self) &+ secret.load(as: UInt8.self)
        withExtendedLifetime(sum) {}
    }

    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else { throw BareSQLite.Failure(code: status) }
    }
}

/// What a store that seals is measured against: one opening of a nonce and 256 sealed bytes.
struct BareSealing {
    struct Failure: Error {}

    private let nothing: [UInt8] = []
    private let key = [UInt8](repeating: 7, count: XChaCha20Poly1305.keyByteCount)

    func seal(_ plaintext: [UInt8], number: Int) -> [UInt8] {
        let nonce = (0..<24).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) }
        return nonce
            + XChaCha20Poly1305.seal(plaintext.span, associatedData: nothing.span, nonce: nonce.span, key: key.span)
    }

    func open(_ sealed: [UInt8]) throws -> [UInt8] {
        var plaintext = [UInt8](repeating: 0, count: sealed.count - 40)
        var span = plaintext.mutableSpan
        let opened = XChaCha20Poly1305.open(
            sealed.span.extracting(droppingFirst: 24), associatedData: nothing.span,
            nonce: sealed.span.extracting(first: 24),
            key: key.span, into: &span)
        guard opened else { throw Failure() }
        return plaintext
    }
}
