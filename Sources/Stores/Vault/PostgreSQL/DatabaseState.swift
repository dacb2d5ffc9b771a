package import LatchkeyCredentials

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
        "settings",
        """
        SELECT current_setting('synchronous_commit') <> 'off' AND current_setting('fsync') = 'on', \
        current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') \
        IN ('on', 'remote_apply')
        """)

    fileprivate func state(_ cancellation: Cancellation) throws(StoreError) -> DatabaseState {
        let rows = try ask(Self.settings, [], cancellation)
        func isTrue(_ column: Int) throws(StoreError) -> Bool { try rows.bytes(0, column) == [1] }
        return DatabaseState(
            isLocal: isLocal, isEncrypted: isEncrypted, checksServer: address.parameters["sslmode"] == "verify-full",
            isDurable: try isTrue(0), hasStandby: try isTrue(1), isPooled: isPooled, serverVersion: serverVersion)
    }
}
