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
