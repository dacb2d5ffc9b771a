internal import CTestProcess
internal import Foundation
internal import Synchronization

/// A real PostgreSQL server of one test (or of all, see `shared`), which listens at a socket in a directory of its own
/// and at a port of 127.0.0.1. It refuses to be root's, and runs as Debian's `postgres` then.
public final class PostgreSQLServer: Sendable {
    public let directory: TestDirectory
    public let port: UInt16
    private let running = Mutex<RunningProgram?>(nil)
    /// Its segment of shared memory. The kernel permits 4,096 of all users, and a server that is killed leaves its own.
    let segment = Mutex<Int32?>(nil)

    private static let folder = "/usr/lib/postgresql/15/bin/"
    public static let superuser = "admin"

    /// A server that a whole test run shares; each test has a schema of its own there.
    public static func shared() async throws -> PostgreSQLServer { try await sharedServer.value }
    private static let sharedServer = Task {
        let server = try await PostgreSQLServer(isDurable: false)
        // It is never started again, and nothing of the tests' runs after its end.
        server.removeSegment()
        return server
    }

    /// A cluster with an empty database that all others are copies of: to make one takes twenty times as long.
    private static let fresh = Task {
        let directory = try TestDirectory()
        try own(directory.path)
        try await run(
            "initdb",
            [
                "--pgdata", directory / "data", "--username", superuser, "--auth", "trust", "--encoding", "UTF8",
                "--no-locale", "--no-sync", "--wal-segsize", "1",
            ]
        ).successful("initdb")
        try await run(
            "postgres", ["--single", "-F", "-D", directory / "data", "postgres"], input: "CREATE DATABASE secrets\n"
        ).successful("postgres --single")
        return directory
    }

    /// Makes a cluster and starts it.
    ///
    /// - Parameters:
    ///   - isDurable: whether commits wait for the disk, as outside of tests they do.
    ///   - settings: lines for postgresql.conf.
    ///   - access: lines for pg_hba.conf, before the one that lets everybody in at the socket.
    public init(isDurable: Bool = true, settings: [String] = [], access: [String] = []) async throws {
        directory = try TestDirectory()
        port = try LoopbackPort.free()
        try Self.own(directory.path)
        // Other users of a test's reach the socket.
        _ = unsafe chmod(directory.path, 0o711)
        try await Program("cp").run(["-a", Self.fresh.value / "data", directory / "data"]).successful("cp")
        try configure(isDurable: isDurable, settings, access)
        try await start()
    }

    /// A standby that follows a primary, with what was committed there so far.
    public init(following primary: PostgreSQLServer, name: String) async throws {
        directory = try TestDirectory()
        port = try LoopbackPort.free()
        try Self.own(directory.path)
        // Other users of a test's reach the socket.
        _ = unsafe chmod(directory.path, 0o711)
        try await Self.run(
            "pg_basebackup",
            [
                "--pgdata", directory / "data", "--write-recovery-conf", "--checkpoint", "fast", "--no-sync",
                "--dbname",
                "host=\(primary.directory.path) port=\(primary.port) user=\(Self.superuser) application_name=\(name)",
            ]
        ).successful("pg_basebackup")
        try configure(isDurable: true, ["primary_conninfo = '\(primary.ownAddress) application_name=\(name)'"], [])
        try await start()
    }

    deinit {
        running.withLock { $0?.kill() }
        removeSegment()
    }

    /// The kernel does so once no process uses it any more.
    private func removeSegment() {
        if let segment = segment.withLock({ $0 }) { _ = latchkey_remove_segment(segment) }
    }

    private var ownAddress: String { "host=\(directory.path) port=\(port) user=\(Self.superuser)" }

    private func configure(isDurable: Bool, _ settings: [String], _ access: [String]) throws {
        let durable = isDurable ? "on" : "off"
        let lines =
            [
                "listen_addresses = '127.0.0.1'", "port = \(port)", "unix_socket_directories = '\(directory.path)'",
                "fsync = \(durable)", "synchronous_commit = \(durable)", "full_page_writes = \(durable)",
                "max_connections = 200", "shared_buffers = 32MB", "max_wal_senders = 5", "logging_collector = off",
                "log_min_messages = fatal", "max_prepared_transactions = 0",
                // In its own directory: a megabyte of /dev/shm would outlive a server that is killed.
                "dynamic_shared_memory_type = mmap",
            ] + settings
        try write("data/postgresql.conf", lines)
        try write(
            "data/pg_hba.conf",
            access + [
                "local all all trust", "local replication all trust", "host all all 127.0.0.1/32 trust",
                "host replication all 127.0.0.1/32 trust",
            ])
    }

    /// Writes a file that the server may read.
    public func write(_ name: String, _ lines: [String]) throws {
        try directory.write(name, lines.joined(separator: "\n") + "\n")
        try Self.own(directory / name)
    }

    // MARK: - Running

    public func start() async throws {
        for _ in 0..<600 {
            do {
                return try await startOnce()
            } catch let error where "\(error)".contains("pre-existing shared memory block") {
                // The processes of connections end a moment after a server that was killed.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        try await startOnce()
    }

    private func startOnce() async throws {
        let server = try Self.program("postgres", ["-D", directory / "data"])
        let process = try server.program.start(
            server.arguments, environment: ["PATH": Program.searchPath, "LC_ALL": "C.UTF-8"])
        process.closeInput()
        running.withLock { $0 = process }
        // The file's last line, once clients may connect.
        try await process.wait(for: "PostgreSQL") {
            let state = try? String(contentsOfFile: directory / "data/postmaster.pid", encoding: .utf8)
            return state?.contains("\nready") ?? false
        }
        // The line before the last: a key and the segment's number.
        let state = try String(contentsOfFile: directory / "data/postmaster.pid", encoding: .utf8)
        segment.withLock {
            $0 = state.split(separator: "\n").dropLast().last?.split(separator: " ").last.flatMap { Int32($0) }
        }
    }

    /// What the server has logged.
    public var log: String { running.withLock { $0?.errorsSoFar } ?? "" }

    /// The server's first process; those of its connections are its children.
    public var processIdentifier: Int32? { running.withLock { $0?.pid } }

    /// Ends all of it at once, as a power failure of the machine would.
    public func kill() async throws {
        guard let process = running.withLock({ $0.take() }) else { return }
        process.kill()
        _ = try await process.finish(within: .seconds(30))
        _ = unsafe unlink(directory / "data/postmaster.pid")
    }

    /// Ends it in an orderly way, without waiting for connections to end.
    public func stop() async throws {
        guard let process = running.withLock({ $0.take() }) else { return }
        try await Self.run("pg_ctl", ["stop", "-D", directory / "data", "-m", "fast"]).successful("pg_ctl")
        _ = try await process.finish(within: .seconds(30))
    }

    /// Makes a standby the primary one.
    public func promote() async throws {
        try await Self.run("pg_ctl", ["promote", "-D", directory / "data", "-w"]).successful("pg_ctl promote")
    }

    // MARK: - Using

    /// Runs statements as the database's owner and returns what they gave, without frames.
    @discardableResult
    public func sql(_ statements: String, database: String = "secrets") async throws -> String {
        try await Program(Self.folder + "psql").run(
            [
                "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", directory.path, "-p", "\(port)", "-U",
                Self.superuser, "-d", database, "-f", "-",
            ], environment: ["PATH": Program.searchPath, "LC_ALL": "C.UTF-8"], input: Array(statements.utf8)
        ).successful("psql").outputText
    }

    /// A session of the database's owner, which runs what is sent to it.
    public func session(database: String = "secrets") throws -> RunningProgram {
        try Program(Self.folder + "psql").start(
            [
                "-X", "-q", "-A", "-t", "-h", directory.path, "-p", "\(port)", "-U", Self.superuser, "-d", database,
                "-f", "-",
            ], environment: ["PATH": Program.searchPath, "LC_ALL": "C.UTF-8"])
    }

    /// Lets connections at the port use TLS, with a server's certificate of an authority.
    public func useTLS(from authority: CertificateAuthority) async throws {
        try write("data/server.crt", [String(contentsOfFile: authority.serverChain, encoding: .utf8)])
        try write("data/server.key", [String(contentsOfFile: authority.serverKey, encoding: .utf8)])
        try await sql("ALTER SYSTEM SET ssl = on; SELECT pg_reload_conf()")
        while try await sql("SHOW ssl") != "on\n" { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// The URI of a vault in a schema of the server's database.
    public func vault(
        _ schema: String, user: String = PostgreSQLServer.superuser, parameters: String = ""
    ) -> String {
        let folder = directory.path.replacing("/", with: "%2F")
        return "postgresql://\(user)@\(folder):\(port)/secrets?schema=\(schema)\(parameters)"
    }

    /// The URI of a vault in a schema of whichever of several servers is the primary one.
    public static func vault(_ schema: String, on servers: [PostgreSQLServer]) -> String {
        let hosts = servers.map { $0.directory.path.replacing("/", with: "%2F") }.joined(separator: ",")
        let ports = servers.map { "\($0.port)" }.joined(separator: ",")
        return "postgresql://\(superuser)@/secrets?host=\(hosts)&port=\(ports)&schema=\(schema)"
    }

    /// Has commits wait for a standby from now on.
    public func commitTogether(with name: String) async throws {
        try await sql("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try await sql("SELECT pg_reload_conf()")
        while try await sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1\n" {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Names no two tests share.
    public static func newSchema() -> String {
        "t" + UUID().uuidString.lowercased().filter { $0 != "-" }
    }

    // MARK: - Parts

    private static func own(_ path: String) throws {
        guard getuid() == 0, let user = unsafe getpwnam("postgres") else { return }
        guard unsafe chown(path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
            throw ServiceFailure.system("chown", errno)
        }
    }

    private static func program(
        _ name: String, _ arguments: [String]
    ) throws -> (program: Program, arguments: [String]) {
        guard getuid() == 0 else { return (try Program(folder + name), arguments) }
        return (
            try Program("setpriv"),
            ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--", folder + name] + arguments
        )
    }

    private static func run(_ name: String, _ arguments: [String], input: String = "") async throws -> ProgramRun {
        let found = try program(name, arguments)
        return try await found.program.run(
            found.arguments, environment: ["PATH": Program.searchPath, "LC_ALL": "C.UTF-8"], input: Array(input.utf8))
    }
}

// MARK: - Standing still

extension PostgreSQLServer {
    /// Stops all processes of the server, and returns them.
    public func stopAll() async throws -> [Int32] {
        guard let first = processIdentifier else { return [] }
        let children = try await Program("pgrep").run(["-P", "\(first)"]).outputText
        let all = [first] + children.split(separator: "\n").compactMap { Int32($0) }
        for process in all { Foundation.kill(process, SIGSTOP) }
        return all
    }

    public func continueAll(_ processes: [Int32]) {
        for process in processes { Foundation.kill(process, SIGCONT) }
    }
}
