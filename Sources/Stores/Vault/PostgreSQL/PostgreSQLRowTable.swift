internal import Glibc
package import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// The row table in a database. A commit is as durable as the database's `synchronous_commit` makes it.
///
/// A read is a statement of its own or a transaction of one state (repeatable read), and waits for no writer. Writers
/// wait for each other at one row.
final class PostgreSQLRowTable: RowTable {
    let address: PostgreSQLAddress
    private let pool: PostgreSQLPool
    /// The leases of this process.
    private let leases = Mutex<[[UInt8]: RowLease]>([:])

    /// Connects. Throws `unavailable` without a reachable server or without tables, and the errors of `address`.
    init(_ address: PostgreSQLAddress, _ cancellation: Cancellation) throws(StoreError) {
        self.address = address
        pool = PostgreSQLPool(address)
        let first = Swift.Result { () throws(StoreError) in try PostgreSQLConnection(address, cancellation) }
        // A failover among several servers, or a restart after a hang-up, takes seconds.
        if case .failure(let error) = first,
            address.servers.count > 1 && error.code == .unavailable || error.code == .busy
        {
            let patience = Deadline.after(.seconds(address.servers.count > 1 ? 10 : 2))
            pool.give(
                try pool.take(Cancellation(Deadline(min(cancellation.deadline.instant, patience.instant)))))
        } else {
            pool.give(try first.get())
        }
    }

    func read<Result: ~Copyable & Sendable>(
        _ cancellation: Cancellation?, _ body: (any RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard let cancellation else { return try readAtOnce(body) }
        return try withSession(cancellation) { (session) throws(StoreError) -> Result in
            let result = try body(session)
            try session.end()
            return result
        }
    }

    /// A lookup on the caller's thread, which others need: for ten milliseconds at most, in which a server nearby
    /// answers. One that is further away gets no statement twice.
    private func readAtOnce<Result: ~Copyable & Sendable>(
        _ body: (any RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard let connection = pool.takeIdle() else { throw StoreError(.busy, "a connection is slow") }
        defer { pool.give(connection) }
        guard connection.isNear else { throw StoreError(.busy, "the database is far away") }
        return try body(PostgreSQLSession(connection, Cancellation(.standard), isQuick: true))
    }

    func write<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (any RowTransaction) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try transaction(cancellation, body)
    }

    private func transaction<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (PostgreSQLSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try cancellation.check()
        return try withSession(cancellation) { (session) throws(StoreError) in
            try session.beginWriting()
            let result = try body(session)
            guard session.hasWritten else {
                try session.end()
                return result
            }
            try cancellation.check()
            try commit(session, cancellation)
            return result
        }
    }

    /// Undoes the transaction of a `body` that throws.
    private func withSession<Result: ~Copyable>(
        _ cancellation: Cancellation, _ body: (PostgreSQLSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withConnection(cancellation) { (connection) throws(StoreError) -> Result in
            let session = PostgreSQLSession(connection, cancellation, holding: leases.withLock { $0 })
            switch Swift.Result(catching: { () throws(StoreError) -> Result in try body(session) }) {
            case .success(let result): return result
            case .failure(let error):
                if failure(StoreError.self, of: try session.rollBack()) != nil { connection.giveUp() }
                throw error
            }
        }
    }

    /// Throws `conflict` if the tables contain a vault or rows of one, and `unavailable` without tables.
    func checkVacant(_ cancellation: Cancellation) throws(StoreError) {
        try withSession(cancellation) { (session) throws(StoreError) in
            try session.checkVacant()
            try session.end()
        }
    }

    /// Writes a vault's records into empty tables, with the rows that `fill` adds.
    func create(
        _ records: [NamedRecord], _ cancellation: Cancellation,
        _ fill: (PostgreSQLSession) throws(StoreError) -> Void
    ) throws(StoreError) {
        try transaction(cancellation) { (session) throws(StoreError) in
            try session.create(records)
            try fill(session)
        }
    }

    /// Commits. The change may exist as soon as this begins, whatever the answer is.
    private func commit(_ session: PostgreSQLSession, _ cancellation: Cancellation) throws(StoreError) {
        guard let error = failure(StoreError.self, of: try session.commit()) else { return }
        // Unless the connection was lost, the server has refused, and undone everything.
        guard session.connection.isLost, try wasCommitted(session.trace, cancellation) else { throw error }
    }

    /// Whether a transaction whose commit got no response is in the tables. The rows are compared, because a number of
    /// a transaction (`pg_xact_status`) means another transaction after a crash or a failover. Throws `timedOut` when
    /// the rows no longer show it, or no server can be reached.
    private func wasCommitted(
        _ trace: PostgreSQLSession.Trace, _ cancellation: Cancellation
    ) throws(StoreError) -> Bool {
        // A little more time than there was: not to know is worse than to wait.
        let cancellation = Cancellation(.after(max(cancellation.deadline.remaining, .seconds(5))))
        while !cancellation.deadline.hasPassed {
            let outcome = Swift.Result { () throws(StoreError) in
                try withSession(cancellation) { (session) throws(StoreError) in
                    let outcome = try session.outcome(of: trace)
                    // A standby that has this commit has the one before it, of which the listeners may not know.
                    if outcome == true { try session.commit() } else { try session.end() }
                    return outcome
                }
            }
            switch outcome {
            case .success(let outcome?): return outcome
            case .success(nil): throw .outcomeUnknown
            case .failure(.commitDoubtful): throw .commitDoubtful
            case .failure: usleep(20_000)
            }
        }
        throw .outcomeUnknown
    }

    /// Half a megabyte goes over the network for these.
    var comparedCount: Int { 1000 }
    /// With many hosts each change would be followed by a walk of each.
    var comparesAgain: Bool { false }

    // MARK: - Leases

    func lease(_ lookup: [UInt8], _ cancellation: Cancellation) throws(StoreError) -> RowLease? {
        let holder = try Sealing.randomOctets(16)
        let fence = try withConnection(cancellation) { (connection) throws(StoreError) -> Int64? in
            let rows = try connection.ask(PostgreSQLSchema.takeLease, [.bytes(lookup), .bytes(holder)], cancellation)
            return rows.rowCount == 1 ? try rows.integer(0, 0) : nil
        }
        guard let fence else { return nil }
        let lease = RowLease(lookup: lookup, holder: holder, fence: fence)
        leases.withLock { $0[lookup] = lease }
        return lease
    }

    func extend(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError) -> Bool {
        try withConnection(cancellation) { (connection) throws(StoreError) in
            try connection.ask(PostgreSQLSchema.extendLease, lease.values, cancellation).changedCount == 1
        }
    }

    func release(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError) {
        leases.withLock { if $0[lease.lookup] == lease { $0[lease.lookup] = nil } }
        try withConnection(cancellation) { (connection) throws(StoreError) in
            _ = try connection.ask(PostgreSQLSchema.releaseLease, lease.values, cancellation)
        }
    }

    private func withConnection<Result: ~Copyable>(
        _ cancellation: Cancellation, _ body: (PostgreSQLConnection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let connection = try pool.take(cancellation)
        defer { pool.give(connection) }
        return try body(connection)
    }

    /// Other processes read and write in the meantime, because a view of a server never blocks them.
    func separate(_ cancellation: Cancellation, copyingFrom byteCount: Int) throws(StoreError) -> any RowTable { self }

    /// Its engine is its administrator's to check. Throws if the table of the leases, which no reading needs, isn't as
    /// it should be.
    func damage(_ cancellation: Cancellation) throws(StoreError) -> [VaultProblem] {
        try withConnection(cancellation) { (connection) throws(StoreError) in
            _ = try connection.ask(PostgreSQLSchema.noLeases, [], cancellation)
        }
        return []
    }
}

extension RowLease {
    fileprivate var values: [PostgreSQLValue] { [.bytes(lookup), .bytes(holder), .integer(fence)] }
}

extension StoreError {
    /// The connection was lost at the commit, or a standby didn't confirm it. The database didn't come back in time, or
    /// others have written since.
    static var outcomeUnknown: StoreError {
        StoreError(
            .timedOut, "the database didn't confirm the commit: the change may be stored or not",
            hint: "make sure that the database and its standby work, and make the change again if it isn't stored")
    }
}

/// How safely a database keeps a vault's rows, as its own settings and the connection show it.
package struct DatabaseState: Sendable, Hashable {
    /// Whether the connection doesn't leave the machine.
    package let isLocal: Bool
    package let isEncrypted: Bool
    /// Whether the server's certificate and name are checked, `sslmode=verify-full`.
    package let checksServer: Bool
    /// Whether a save that returned is on the server's disk: `synchronous_commit` isn't off, and `fsync` is on.
    package let isDurable: Bool
    /// Whether it is on another server's disk as well.
    package let hasStandby: Bool
    /// Whether such a server, or any other, is connected: without it changes wait.
    package let isStandbyConnected: Bool
    /// Whether a pool of connections is in between, so that changes are not reported.
    package let isPooled: Bool
    /// Such as 150020 for 15.20.
    package let serverVersion: Int
}

extension VaultStore {
    /// Connects to a vault's database and looks. Throws `unavailable` when it can't be reached.
    package static func databaseState(
        at uri: String, deadline: Deadline = .standard
    ) async throws(StoreError) -> DatabaseState {
        try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try PostgreSQLConnection(PostgreSQLAddress(uri), cancellation).state(cancellation)
        }
    }
}

extension PostgreSQLConnection {
    private static let settings = PostgreSQLQuery(
        "durability",
        """
        SELECT current_setting('synchronous_commit') <> 'off' AND current_setting('fsync') = 'on', \
        current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') \
        IN ('on', 'remote_apply'), EXISTS (SELECT FROM pg_stat_replication)
        """)

    fileprivate func state(_ cancellation: Cancellation) throws(StoreError) -> DatabaseState {
        let rows = try ask(Self.settings, [], cancellation)
        func isTrue(_ column: Int) throws(StoreError) -> Bool { try rows.bytes(0, column) == [1] }
        return DatabaseState(
            isLocal: isLocal, isEncrypted: isEncrypted, checksServer: address.parameters["sslmode"] == "verify-full",
            isDurable: try isTrue(0), hasStandby: try isTrue(1), isStandbyConnected: try isTrue(2), isPooled: isPooled,
            serverVersion: serverVersion)
    }
}
