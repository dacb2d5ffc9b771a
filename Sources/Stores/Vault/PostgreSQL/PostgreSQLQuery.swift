/// A statement and the types of its parameters. It is prepared once on each connection.
struct PostgreSQLQuery: Sendable {
    /// Different for different statements: its name on the server.
    let name: String
    let sql: String
    let types: [PostgreSQLType]

    init(_ name: String, _ sql: String, _ types: PostgreSQLType...) {
        self.name = name
        self.sql = sql
        self.types = types
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
    case null

    /// As the server has it; `nil` is NULL.
    var encoded: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .integer(let number): unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
        case .text(let text): Array(text.utf8)
        case .null: nil
        }
    }
}
