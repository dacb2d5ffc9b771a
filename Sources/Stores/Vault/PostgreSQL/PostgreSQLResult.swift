internal import CLatchkeyLibpq
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// The rows that a statement gave, in binary form; freed with the value.
@safe struct PostgreSQLResult: ~Copyable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe PQclear(pointer)
    }

    var status: ExecStatusType { unsafe PQresultStatus(pointer) }

    /// SQLSTATE of an error (PostgreSQL, appendix A).
    var sqlState: String {
        guard let text = unsafe PQresultErrorField(pointer, Int32(LATCHKEY_DIAG_SQLSTATE)) else { return "" }
        return unsafe String(cString: text)
    }

    /// Whether it is a `COMMIT` that was done; the server answers `ROLLBACK` where it undid the transaction.
    var isCommit: Bool { unsafe strcmp(PQcmdStatus(pointer), "COMMIT") == 0 }

    var rowCount: Int { Int(unsafe PQntuples(pointer)) }

    /// How many rows a statement changed.
    var changedCount: Int {
        unsafe Int(String(cString: PQcmdTuples(pointer))) ?? 0
    }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe PQgetisnull(pointer, Int32(row), Int32(column)) != 0
    }

    /// Lends a value's bytes. NULL has none.
    func withBytes<Value: ~Copyable>(
        _ row: Int, _ column: Int, _ body: (Span<UInt8>) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let count = Int(unsafe PQgetlength(pointer, Int32(row), Int32(column)))
        guard let start = unsafe PQgetvalue(pointer, Int32(row), Int32(column)) else {
            return try body(Span())
        }
        let bytes = unsafe UnsafeBufferPointer(
            start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe Span(_unsafeElements: bytes))
    }

    func bytes(_ row: Int, _ column: Int) throws(StoreError) -> [UInt8] {
        try withBytes(row, column) { (span) throws(StoreError) in
            unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
        }
    }

    func text(_ row: Int, _ column: Int) throws(StoreError) -> String {
        guard let text = String(validating: try bytes(row, column), as: UTF8.self) else {
            throw .vaultCorrupted("a name in it isn't text")
        }
        return text
    }

    /// A number of two, four or eight bytes. Throws `corrupted` for anything else.
    func integer(_ row: Int, _ column: Int) throws(StoreError) -> Int64 {
        try withBytes(row, column) { (span) throws(StoreError) in
            guard [2, 4, 8].contains(span.count) else { throw .vaultCorrupted("a number in it is malformed") }
            var number: Int64 = span[0] & 0x80 == 0 ? 0 : -1
            for index in span.indices { number = number << 8 | Int64(span[index]) }
            return number
        }
    }
}

/// A statement and the types of its parameters. Each connection prepares it once.
struct PostgreSQLQuery: Sendable {
    /// Different for different statements: its name on the server.
    let name: String
    let sql: String
    let types: [PostgreSQLType]
}

extension PostgreSQLQuery {
    init(_ name: String, _ sql: String, _ types: PostgreSQLType...) {
        self.init(name: name, sql: sql, types: types)
    }

    /// A statement that changes a row. It fails in the server (22012) if a trigger or a rule of the tables' owner skips the
    /// change, so that the transaction is undone.
    static func change(_ name: String, _ sql: String, _ types: PostgreSQLType...) -> PostgreSQLQuery {
        PostgreSQLQuery(
            name: name, sql: "WITH changed AS (\(sql) RETURNING 1) SELECT 1 / count(*) FROM changed", types: types)
    }
}

/// The types that parameters have, by their object identifiers (PostgreSQL's pg_type.dat).
enum PostgreSQLType: UInt32, Sendable {
    case bytea = 17
    case bigint = 20
    case text = 25
}

/// A parameter in binary form.
enum PostgreSQLValue {
    case bytes([UInt8])
    case integer(Int64)
    case text(String)

    /// Appends the value as the server has it, and returns how many bytes that are.
    func append(to block: inout [UInt8]) -> Int {
        let start = block.count
        switch self {
        case .bytes(let bytes): block += bytes
        case .integer(let number): unsafe withUnsafeBytes(of: number.bigEndian) { unsafe block += $0 }
        case .text(let text): block += text.utf8
        }
        return block.count - start
    }
}
