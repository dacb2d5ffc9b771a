internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySystem
internal import Synchronization

/// The connections of one process to one database, kept for the next piece of work.
final class PostgreSQLPool: Sendable {
    private let address: PostgreSQLAddress
    private let idle = Mutex<[PostgreSQLConnection]>([])

    /// One reads, one writes, one holds a lease and one listens, where there is as much to do.
    private static let maximumIdleCount = 4

    init(_ address: PostgreSQLAddress) {
        self.address = address
    }

    /// Returns an unused connection. If connecting fails, this tries again until the deadline, after 50 ms and then
    /// more slowly, because a failover takes seconds.
    func take(_ cancellation: Cancellation) throws(StoreError) -> PostgreSQLConnection {
        while let kept = idle.withLock({ $0.popLast() }) {
            // Someone may have given up on its last answer.
            if kept.isUnsettled { _ = failure(StoreError.self, of: try kept.settle(cancellation)) }
            if !kept.isStale { return kept }
        }
        var pause = 50_000
        while true {
            try cancellation.check()
            switch Result(catching: { () throws(StoreError) in try PostgreSQLConnection(address, cancellation) }) {
            case .success(let connection): return connection
            case .failure(let error):
                guard error.code == .unavailable || error.code == .busy,
                    cancellation.deadline.remaining > .microseconds(pause)
                else { throw error.code == .busy ? .noDatabase(address, "the database closed the connection") : error }
            }
            usleep(UInt32(Int.random(in: pause / 2...pause)))
            pause = min(pause * 2, 1_000_000)
        }
    }

    /// Returns an idle connection, which the server may have closed; `nil` at once if all are in use.
    func takeIdle() -> PostgreSQLConnection? {
        idle.withLock { idle in
            idle.lastIndex { !$0.isUnsettled }.map { idle.remove(at: $0) }
        }
    }

    /// Takes a connection back; one that is lost ends here.
    func give(_ connection: PostgreSQLConnection) {
        if connection.isLost { return }
        connection.dropNotifications()
        idle.withLock { if $0.count < Self.maximumIdleCount { $0.append(connection) } }
    }
}
