internal import Glibc

/// A real pgbouncer in transaction mode before a server, at a port of 127.0.0.1. It ends with the value.
public final class PgBouncer: Sendable {
    public let port: UInt16
    private let directory: TestDirectory
    private let running: RunningProgram

    /// - Parameters:
    ///   - connections: the connections to the server that all clients share.
    ///   - clients: the clients that it accepts; pgbouncer's own default is 100.
    public init(before server: PostgreSQLServer, connections: Int = 2, clients: Int = 100) async throws {
        directory = try TestDirectory()
        port = try LoopbackPort.free()
        try directory.write(
            "pgbouncer.ini",
            """
            [databases]
            secrets = host=\(server.directory.path) port=\(server.port) dbname=secrets user=\(PostgreSQLServer.superuser)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(connections)
            max_client_conn = \(clients)
            logfile = \(directory / "log")
            pidfile = \(directory / "pid")

            """)
        // pgbouncer refuses to run as root.
        var arguments = [directory / "pgbouncer.ini"]
        var program = try Program("pgbouncer")
        if getuid() == 0 {
            for name in [directory.path, directory / "pgbouncer.ini"] { _ = unsafe chmod(name, 0o777) }
            arguments = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--", program.path] + arguments
            program = try Program("setpriv")
        }
        running = try program.start(arguments)
        running.closeInput()
        let uri = "postgresql://admin@127.0.0.1:\(port)/secrets"
        try await running.wait(for: "pgbouncer") {
            try await Program("psql").run(["-X", "-c", "SELECT 1", uri]).status == 0
        }
    }

    deinit { running.kill() }

    public var processIdentifier: Int32 { running.pid }

    /// The URI of a vault in a schema of the server's database, through the pool.
    public func vault(_ schema: String) -> String {
        "postgresql://\(PostgreSQLServer.superuser)@127.0.0.1:\(port)/secrets?schema=\(schema)"
    }
}
