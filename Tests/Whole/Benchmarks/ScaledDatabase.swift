internal import Foundation
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyVault
internal import TestServices

/// Ten to a thousand hosts against one PostgreSQL, directly and through pgbouncer, as fast as they can: throughput, times,
/// and what the server's processes wait for.
struct ScaledDatabase {
    private static let hostCounts = [10, 50, 100, 300, 1000]
    private static let phaseSeconds = 5
    /// Not the superuser, for whom the server keeps connections back.
    private static let user = "fleet"

    private let server: PostgreSQLServer
    private let keyFile: String
    private let directory: TestDirectory

    static func run() async throws {
        // The server's own default refuses the last ones.
        try await ramp("direct, max_connections = 100", [100], connections: 100)
        try await ramp("direct", hostCounts, connections: 3000)
        try await ramp("through pgbouncer, 20 connections", hostCounts, connections: 100, pooled: true)
        try await ramp("direct, ten vaults", hostCounts, connections: 3000, vaults: 10)
    }

    private static func ramp(
        _ title: String, _ hostCounts: [Int], connections: Int, vaults: Int = 1, pooled: Bool = false
    ) async throws {
        let directory = try TestDirectory()
        let group = ScaledDatabase(
            server: try await PostgreSQLServer(
                settings: ["max_connections = \(connections)", "shared_buffers = 256MB"]),
            keyFile: directory / "key", directory: directory)
        try VaultKeyFile.create(at: group.keyFile)
        let schemas = (0..<vaults).map { "v\($0)" }
        let hostCount = hostCounts.max() ?? 0
        try await group.make(schemas, hostCount)
        let pool = pooled ? try await PgBouncer(before: group.server, connections: 20, clients: 5000) : nil
        let addresses = schemas.map { schema in
            pool?.vault(schema)
                ?? "postgresql://\(user)@127.0.0.1:\(group.server.port)/secrets?schema=\(schema)"
        }
        print("\n\(title): \(hostCount * DatabaseHosts.sessionsEach) sessions")
        for (stage, count) in hostCounts.enumerated() {
            guard try await group.stage(stage, count, addresses, pool) else { break }
        }
        try await group.server.stop()
    }

    /// Each host's sessions, in its vault.
    private func make(_ schemas: [String], _ hostCount: Int) async throws {
        // Nothing is measured here.
        try await server.sql("ALTER SYSTEM SET synchronous_commit = off")
        try await server.sql("SELECT pg_reload_conf()")
        try await server.sql("CREATE ROLE \(Self.user) LOGIN")
        var stores: [SessionStore] = []
        for schema in schemas {
            try await server.sql(
                VaultStore.schemaStatements(
                    PostgreSQLSchemaName(schema)!, for: PostgreSQLSchemaName(Self.user)!))
            let store = try await VaultStore.create(at: server.vault(schema), unlockedBy: .keyFile(keyFile))
            stores.append(DatabaseHosts.sessions(in: store))
        }
        for host in 0..<hostCount {
            for session in 0..<DatabaseHosts.sessionsEach {
                try await stores[host % stores.count].save(
                    DatabaseHosts.session(DatabaseHosts.account(host, session)))
            }
        }
        try await server.sql("ALTER SYSTEM RESET synchronous_commit")
        try await server.sql("SELECT pg_reload_conf()")
        try await server.sql("VACUUM ANALYZE")
        try await server.sql("CHECKPOINT")
    }

    // MARK: - A stage

    /// Returns whether all hosts could connect.
    private func stage(_ stage: Int, _ count: Int, _ vaults: [String], _ pool: PgBouncer?) async throws -> Bool {
        let each = max(1, count / 50)
        let processes = try stride(from: 0, to: count, by: each).map { first in
            try DatabaseHosts(
                first: first, count: min(each, count - first), seconds: Self.phaseSeconds, stage: stage,
                keyFile: keyFile, vaults: vaults
            ).start()
        }
        defer { for process in processes { process.kill() } }
        try await wait(for: "open", of: processes)
        let opening = DatabasePhase("open", processes)
        let open = count - opening.errors.values.reduce(0, +)
        print("  \(count) hosts: \(open) connected \(opening.errors.isEmpty ? "" : "\(opening.errors)")")
        guard open == count else { return false }
        for name in ["refresh", "read", "both"] {
            let watch = try ServerWatch(server, pool, processes)
            let start = ContinuousClock.now
            for process in processes { process.type("\n") }
            try await watch.look(for: Self.phaseSeconds)
            try await wait(for: name, of: processes)
            // Until the last one has its response, which may take longer than the phase.
            let time = (ContinuousClock.now - start) / .seconds(1)
            let phase = DatabasePhase(name, processes)
            print(
                """
                    \(name): \(Int(Double(phase.microseconds.count) / time)) a second, \
                \(Self.number(phase.percentile(0.5))) ms p50, \(Self.number(phase.percentile(0.99))) ms p99, errors \
                \(phase.errors.isEmpty ? "none" : "\(phase.errors)"); \(try watch.summary())
                """)
        }
        return true
    }

    private func wait(for name: String, of processes: [RunningProgram]) async throws {
        for process in processes {
            try await process.wait(for: name, within: .seconds(180)) {
                process.outputSoFar.contains("\(name) ") || process.outputSoFar.contains("\(name)\n")
            }
        }
    }

    static func number(_ value: Double) -> String { String(format: "%.1f", value) }
}

/// What the server does during a phase: its connections, what they wait for, and who uses the processor.
private final class ServerWatch {
    private let server: PostgreSQLServer
    private let pool: PgBouncer?
    private let clients: [Int32]
    private let session: RunningProgram
    private let start = ContinuousClock.now
    private var before: [Double] = []
    private var used: [Double] = []

    private static let query = """
        SELECT 'all', count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' UNION ALL \
        SELECT coalesce(wait_event_type || ':' || wait_event, 'running'), count(*) FROM pg_stat_activity \
        WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid() GROUP BY 1;

        """

    init(_ server: PostgreSQLServer, _ pool: PgBouncer?, _ clients: [RunningProgram]) throws {
        self.server = server
        self.pool = pool
        self.clients = clients.map(\.pid)
        session = try server.session()
        before = try processorSeconds()
    }

    func look(for seconds: Int) async throws {
        for _ in 0..<(seconds - 1) * 4 {
            session.type(Self.query)
            try await Task.sleep(for: .milliseconds(250))
        }
        let now = try processorSeconds()
        let time = (ContinuousClock.now - start) / .seconds(1)
        used = zip(now, before).map { ($0 - $1) / time }
    }

    func summary() throws -> String {
        var counts: [String: Int] = [:]
        var connections = 0
        for line in session.outputSoFar.split(separator: "\n") {
            let parts = line.split(separator: "|")
            guard parts.count == 2, let count = Int(parts[1]) else { continue }
            if parts[0] == "all" {
                connections = max(connections, count)
            } else {
                counts["\(parts[0])", default: 0] += count
            }
        }
        session.kill()
        let all = max(1, counts.values.reduce(0, +))
        let waits = counts.sorted { $0.value > $1.value }.prefix(4).map { "\($0.key) \(100 * $0.value / all) %" }
        let parts = zip(["server", "pool", "hosts", "machine"], used).map { "\($0) \(String(format: "%.2f", $1))" }
        return
            "\(connections) connections; waits: \(waits.joined(separator: ", ")); processors: \(parts.joined(separator: ", "))"
    }

    /// Of the server, the pool, the hosts and the whole machine.
    private func processorSeconds() throws -> [Double] {
        let main = server.processIdentifier ?? -1
        var parents: [Int32: Int32] = [:]
        var times: [Int32: Double] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            // proc(5), stat: the name in parentheses, then the state, the parent, and the times 14 and 15.
            guard let pid = Int32(name), let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { continue }
            let fields = text[text.index(after: end)...].split(separator: " ")
            guard fields.count > 14, let user = Double(fields[11]), let system = Double(fields[12]) else { continue }
            parents[pid] = Int32(fields[1])
            // With those of connections that have ended.
            let ended = pid == main ? (Double(fields[13]) ?? 0) + (Double(fields[14]) ?? 0) : 0
            times[pid] = (user + system + ended) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
        let backends = times.filter { $0.key == main || parents[$0.key] == main }.values.reduce(0, +)
        let pooler = pool.flatMap { times[$0.processIdentifier] } ?? 0
        let hosts = clients.reduce(0) { $0 + (times[$1] ?? 0) }
        let machine = try String(contentsOfFile: "/proc/stat", encoding: .utf8).split(separator: "\n")[0]
            .split(separator: " ").dropFirst().compactMap { Double($0) }
        // Without idle and waiting for the disk.
        let busy =
            (machine[0] + machine[1] + machine[2] + machine[5] + machine[6]) / Double(sysconf(Int32(_SC_CLK_TCK)))
        return [backends, pooler, hosts, busy]
    }
}
