internal import CLatchkeyLibpq
internal import Glibc

/// What a vault in a database is measured against: libpq's own blocking calls with prepared statements, as a program in C
/// makes them. The functions that the vault doesn't use are looked up here.
@safe final class BareLibpq {
    private typealias Execute =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?, Int32
        ) -> OpaquePointer?
    private typealias Prepare =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int32, UnsafePointer<UInt32>?
        ) -> OpaquePointer?

    private let connection: OpaquePointer
    private let execute: Execute
    private let prepare: Prepare

    struct Failure: Error { let text: String }

    init(_ conninfo: String) throws {
        guard latchkey_libpq_load().outcome == LATCHKEY_LOADED, let library = unsafe dlopen("libpq.so.5", RTLD_NOW)
        else {
            throw Failure(text: "no libpq")
        }
        unsafe execute = unsafeBitCast(dlsym(library, "PQexecPrepared"), to: Execute.self)
        unsafe prepare = unsafeBitCast(dlsym(library, "PQprepare"), to: Prepare.self)
        let name = unsafe strdup("dbname")
        let value = unsafe strdup(conninfo)
        let opened = unsafe PQconnectdbParams([UnsafePointer(name), nil], [UnsafePointer(value), nil], 1)
        unsafe free(name)
        unsafe free(value)
        guard let opened = unsafe opened, unsafe PQstatus(opened) == CONNECTION_OK else {
            throw Failure(text: "no connection")
        }
        unsafe connection = opened
    }

    deinit { unsafe PQfinish(connection) }

    func prepare(_ name: String, _ sql: String) throws {
        let result = unsafe prepare(connection, name, sql, 0, nil)
        defer { unsafe PQclear(result) }
        guard unsafe PQresultStatus(result) == PGRES_COMMAND_OK else {
            throw Failure(text: unsafe String(cString: PQerrorMessage(connection)))
        }
    }

    /// Runs a prepared statement with parameters in binary form, and returns how many bytes its first row has.
    @discardableResult
    func run(_ name: String, _ values: [UInt8]...) throws -> Int {
        let lengths = values.map { Int32($0.count) }
        let formats = [Int32](repeating: 1, count: values.count)
        let block = UnsafeMutablePointer<CChar>.allocate(capacity: 1 + values.reduce(0) { $0 + $1.count })
        defer { unsafe block.deallocate() }
        var pointers: [UnsafePointer<CChar>?] = unsafe []
        var offset = 0
        for value in values {
            let start = unsafe block + offset
            if !value.isEmpty { unsafe UnsafeMutableRawPointer(start).copyMemory(from: value, byteCount: value.count) }
            unsafe pointers.append(UnsafePointer(start))
            offset += value.count
        }
        let result = unsafe execute(connection, name, Int32(values.count), pointers, lengths, formats, 1)
        defer { unsafe PQclear(result) }
        let status = unsafe PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            throw Failure(text: unsafe String(cString: PQerrorMessage(connection)))
        }
        guard unsafe PQntuples(result) > 0 else { return 0 }
        var count = 0
        for column in 0..<(unsafe PQnfields(result)) { count += Int(unsafe PQgetlength(result, 0, column)) }
        return count
    }
}
