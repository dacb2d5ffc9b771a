internal import Foundation
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeyVault
internal import TestServices

/// A vault in PostgreSQL beside bare libpq on the same rows, and with a hundred to a million of them.
struct DatabaseVaults {
    let server: PostgreSQLServer
    let directory: TestDirectory
    private var keyFile: String { directory / "key" }

    static func run() async throws {
        let group = DatabaseVaults(
            server: try await PostgreSQLServer(settings: ["shared_buffers = 1GB"]), directory: try TestDirectory())
        try VaultKeyFile.create(at: group.keyFile)
        try await group.warm()
        try await group.scale()
    }

    private static func key(_ number: Int) throws -> CredentialKey {
        try CredentialKey(service: "example.org", account: "\(number)")
    }

    private func make(_ schema: String, _ count: Int) async throws -> VaultStore {
        try await server.sql(
            VaultStore.schemaStatements(
                PostgreSQLSchemaName(schema)!, for: PostgreSQLSchemaName(PostgreSQLServer.superuser)!))
        let store = try await VaultStore.create(at: server.vault(schema), unlockedBy: .keyFile(keyFile))
        let secret = try Secret<Password>.random(byteCount: 40)
        let start = ContinuousClock.now
        for first in stride(from: 0, to: count, by: 20_000) {
            let keys = try (first..<min(count, first + 20_000)).map(Self.key)
            try await store.fill(keys, with: secret, deadline: .after(.seconds(600)))
        }
        print("made a vault of \(count) in \((ContinuousClock.now - start).components.seconds) s")
        try await server.sql("ANALYZE \(schema).items")
        return store
    }

    private func bareConnection() throws -> BareLibpq {
        try BareLibpq("host=\(server.directory.path) port=\(server.port) user=admin dbname=secrets")
    }

    /// Of hexadecimal digits.
    private static func bytes(_ digits: String) -> [UInt8] {
        let all = Array(digits.utf8)
        return stride(from: 0, to: all.count, by: 2).map {
            UInt8(String(decoding: all[$0..<$0 + 2], as: UTF8.self), radix: 16)!
        }
    }

    private func warm() async throws {
        let store = try await make("warm", 100)
        let key = try Self.key(7)
        let bare = try bareConnection()
        try bare.prepare("read", "SELECT metadata, secret FROM warm.items WHERE place = $1")
        try bare.prepare("begin", "BEGIN")
        try bare.prepare("lock", "SELECT content FROM warm.records WHERE name = 'manifest' FOR UPDATE")
        try bare.prepare("old", "SELECT metadata FROM warm.items WHERE place = $1")
        try bare.prepare("save", "UPDATE warm.items SET metadata = $2, secret = $3 WHERE place = $1")
        try bare.prepare("manifest", "UPDATE warm.records SET content = $1 WHERE name = 'other'")
        try bare.prepare("commit", "COMMIT")
        let place = try await server.sql(
            """
            SELECT encode(int8send(place), 'hex'), octet_length(metadata), octet_length(secret), encode(lookup, 'hex') \
            FROM warm.items ORDER BY place LIMIT 1
            """)
        // What a read of the vault sends: the mark along with the row, found by its lookup value.
        try bare.prepare(
            "read-marked",
            """
            SELECT substr(content, 1, 4), place, metadata, secret FROM warm.records \
            LEFT JOIN warm.items ON place BETWEEN $1 AND $1 + 7 AND lookup = $2 WHERE name = 'manifest'
            """)
        let parts = place.split(whereSeparator: { "|\n".contains($0) }).map(String.init)
        let (number, lookup) = (Self.bytes(parts[0]), Self.bytes(parts[3]))
        let (metadata, secret) = (
            [UInt8](repeating: 1, count: Int(parts[1])!), [UInt8](repeating: 2, count: Int(parts[2])!)
        )
        try await server.sql("CREATE TABLE warm.other AS SELECT * FROM warm.items")
        Comparison(
            title: "Warm read from a vault in PostgreSQL (limit: 1.3 × bare libpq)", limit: 1.3,
            rows: try await Measurement.take(
                rounds: 51, count: 100,
                [
                    ("libpq, one prepared SELECT", { _ = try bare.run("read", number) }),
                    ("libpq, the vault's statement", { _ = try bare.run("read-marked", number, lookup) }),
                    ("VaultStore.read", { _ = try await store.read(key, as: Password.self) != nil }),
                ])
        ).show()
        // The bare one writes to a copy, so that the vault stays sound.
        try bare.prepare("save-other", "UPDATE warm.other SET metadata = $2, secret = $3 WHERE place = $1")
        let value = try Secret<Password>.random(byteCount: 40)
        Comparison(
            title: "Durable save to a vault in PostgreSQL (limit: 1.3 × the bare transaction)", limit: 1.3,
            rows: try await Measurement.take(
                rounds: 51, count: 5,
                [
                    (
                        "libpq: lock, read, two updates, commit",
                        {
                            try bare.run("begin")
                            try bare.run("lock")
                            try bare.run("old", number)
                            try bare.run("save-other", number, metadata, secret)
                            try bare.run("manifest", metadata)
                            try bare.run("commit")
                        }
                    ),
                    ("VaultStore.save", { _ = try await store.save(value, for: key) }),
                ])
        ).show()
    }

    private func scale() async throws {
        let sizes = [100, 100_000, 1_000_000]
        var reads: [(name: String, run: () async throws -> Void)] = []
        var controls: [(name: String, run: () async throws -> Void)] = []
        let bare = try bareConnection()
        var saves: [(name: String, run: () async throws -> Void)] = []
        let value = try Secret<Password>.random(byteCount: 40)
        for size in sizes {
            let store = try await make("s\(size)", size)
            if size == 100_000 { try await list(store) }
            reads.append(
                (
                    "a vault of \(size)",
                    { _ = try await store.read(Self.key(Int.random(in: 0..<size)), as: Password.self) != nil }
                ))
            try bare.prepare("read-\(size)", "SELECT metadata, secret FROM s\(size).items WHERE place = $1")
            let places = try await server.sql(
                "SELECT encode(int8send(place), 'hex') FROM s\(size).items ORDER BY random() LIMIT 20000"
            )
            .split(separator: "\n").map { Self.bytes(String($0)) }
            controls.append(
                ("bare libpq, a table of \(size)", { try bare.run("read-\(size)", places.randomElement()!) }))
            saves.append(
                ("a vault of \(size)", { _ = try await store.save(value, for: Self.key(Int.random(in: 0..<size))) }))
        }
        Comparison(
            title: "Warm read, drawn from all (limit: 1.5 × a vault of 100)", limit: 1.5,
            rows: try await Measurement.take(rounds: 21, count: 200, reads)
        ).show()
        Comparison(
            title: "The same rows through libpq alone",
            rows: try await Measurement.take(rounds: 21, count: 200, controls)
        ).show()
        Comparison(
            title: "Save, drawn from all (limit: 1.5 × a vault of 100)", limit: 1.5,
            rows: try await Measurement.take(rounds: 21, count: 5, saves)
        ).show()
    }

    /// A list of a hundred thousand, and what it adds to the process.
    private func list(_ store: VaultStore) async throws {
        func residentMegabytes() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
        }
        let before = try residentMegabytes()
        let start = ContinuousClock.now
        var count = 0
        for try await _ in store.list(deadline: .after(.seconds(600))) { count += 1 }
        let time = start.duration(to: .now).components.seconds
        print(
            "listed \(count) in \(time) s; the most that was resident: \(before) MB before, \(try residentMegabytes()) after"
        )
    }
}
