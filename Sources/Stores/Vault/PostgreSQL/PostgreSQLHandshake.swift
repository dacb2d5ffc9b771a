internal import CLatchkeyLibpq
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySystem

/// Makes a connection, step by step (libpq, section 34.1, PQconnectPoll): what a server sends, or doesn't, holds nobody
/// past the deadline. libpq's own call looks at the clock only while nothing comes.
struct PostgreSQLHandshake {
    private let address: PostgreSQLAddress
    private let cancellation: Cancellation

    /// Certificates and parameters are some kilobytes.
    private static let maximumByteCount: UInt64 = 1 << 20

    init(_ address: PostgreSQLAddress, _ cancellation: Cancellation) {
        self.address = address
        self.cancellation = cancellation
    }

    /// The first server that fits, each given its share of the time that is left. The caller ends the connection.
    ///
    /// Throws `unavailable` with what each says.
    func connect() throws(StoreError) -> OpaquePointer {
        let servers = address.servers
        var messages: [String] = []
        for (index, server) in servers.enumerated() {
            var time = cancellation.deadline.remaining / (servers.count - index)
            if let limit = server["connect_timeout"].flatMap({ Int($0) }), limit > 0 {
                time = min(time, .seconds(limit))
            }
            guard let connection = unsafe Self.start(server) else {
                throw StoreError(.unavailable, "there is not enough memory for a connection")
            }
            let end = Result { () throws(StoreError) in try unsafe finish(connection, .after(time)) }
            if case .success(nil) = end { return unsafe connection }
            unsafe PQfinish(connection)
            if let message = try end.get() { messages.append(message) }
        }
        throw .noDatabase(address, messages.joined(separator: "\n"))
    }

    /// Returns what is wrong, or `nil`.
    private func finish(_ connection: OpaquePointer, _ deadline: Deadline) throws(StoreError) -> String? {
        var step = PGRES_POLLING_WRITING
        while unsafe PQstatus(connection) != CONNECTION_BAD && step != PGRES_POLLING_FAILED {
            let socket = unsafe PQsocket(connection)
            let isReady = deadline.poll(socket, for: Int16(step == PGRES_POLLING_READING ? POLLIN : POLLOUT))
            if let error = failure(StoreError.self, of: try cancellation.check()), error.code == .cancelled {
                throw error
            }
            guard !deadline.hasPassed, PostgreSQLConnection.receivedByteCount(socket) <= Self.maximumByteCount else {
                return "\(unsafe Self.host(connection)) doesn't let anybody in in time"
            }
            if !isReady { continue }
            step = unsafe PQconnectPoll(connection)
            if step == PGRES_POLLING_OK { return nil }
        }
        return unsafe String(cString: PQerrorMessage(connection))
    }

    private static func host(_ connection: OpaquePointer) -> String {
        guard let host = unsafe PQhost(connection) else { return "the server" }
        return unsafe String(cString: host)
    }

    private static func start(_ parameters: [String: String]) -> OpaquePointer? {
        var names: [UnsafePointer<CChar>?] = unsafe []
        var values: [UnsafePointer<CChar>?] = unsafe []
        for (name, value) in parameters {
            unsafe names.append(UnsafePointer(strdup(name)))
            unsafe values.append(UnsafePointer(strdup(value)))
        }
        defer {
            for index in unsafe names.indices {
                unsafe free(UnsafeMutablePointer(mutating: names[index]))
                unsafe free(UnsafeMutablePointer(mutating: values[index]))
            }
        }
        let connection = unsafe PQconnectStartParams(names + [nil], values + [nil], 0)
        // A notice would go to standard error otherwise, and in the server's own words.
        unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
        return unsafe connection
    }
}

extension Deadline {
    /// Waits for a descriptor, 50 ms at most: a cancellation has none to wait for. Returns whether it is ready.
    func poll(_ descriptor: Int32, for events: Int16) -> Bool {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        let (seconds, attoseconds) = remaining.components
        let rest = min(50, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
        return unsafe Glibc.poll(&entry, 1, Int32(rest)) != 0
    }
}
