internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// Calls back on a separate thread after a commit by any process (LISTEN), and after a reconnection, because commits
/// may have been missed.
final class PostgreSQLListener: ChangeWatch {
    /// One end of a pipe, closed when it is to end.
    private let end: Int32

    init(
        _ address: PostgreSQLAddress, _ cancellation: Cancellation, _ changed: @escaping @Sendable () -> Void
    ) throws(StoreError) {
        let connection = try Self.connect(address, cancellation)
        let ends = try mapError(
            { (error: SystemErrorNumber) in
                StoreError(.unavailable, "the system gave no pipe", platform: .errno(error.number))
            }, of: DescriptorBytes.pipe())
        end = ends.writing
        let follower = Follower(address, bell: ends.reading, connection, changed)
        try mapError(
            { (error: SystemErrorNumber) in
                StoreError(.unavailable, "the system gave no thread", platform: .errno(error.number))
            }, of: SystemThread.detach { follower.follow() })
    }

    deinit {
        close(end)
    }

    private static func connect(
        _ address: PostgreSQLAddress, _ cancellation: Cancellation
    ) throws(StoreError) -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(address, cancellation)
        guard !connection.isPooled else {
            throw StoreError(
                .unsupported, "a connection pooler in front of the database hides changes by other processes",
                hint: "use the database's own address to wait for changes")
        }
        _ = try connection.ask(PostgreSQLSchema.listen, [], cancellation)
        return connection
    }

    /// The thread's work.
    private final class Follower: Sendable {
        private let address: PostgreSQLAddress
        private let bell: Int32
        private let first: PostgreSQLConnection
        private let changed: @Sendable () -> Void

        init(
            _ address: PostgreSQLAddress, bell: Int32, _ first: PostgreSQLConnection,
            _ changed: @escaping @Sendable () -> Void
        ) {
            self.address = address
            self.bell = bell
            self.first = first
            self.changed = changed
        }

        deinit {
            close(bell)
        }

        func follow() {
            var connection = first
            while true {
                guard connection.waitForInput(orFor: bell) else { return }
                if let texts = try? connection.notifications() {
                    if !texts.isEmpty { changed() }
                    continue
                }
                guard let next = reconnect() else { return }
                connection = next
                // Notifications may have been lost in the meantime.
                changed()
            }
        }

        private func reconnect() -> PostgreSQLConnection? {
            var pause: Int32 = 100
            while true {
                if let next = try? PostgreSQLListener.connect(address, Cancellation(.standard)) { return next }
                var entry = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
                if unsafe poll(&entry, 1, pause) != 0 { return nil }
                pause = min(pause * 2, 10_000)
            }
        }
    }
}
