import Foundation
import Testing
import TestServices

/// What Docs/HowTo/many-hosts.md shows beside its commands, which `PageCommandTests` runs: the unit, and the database's own files.
struct FleetPageTests {
    private static let page = "Docs/HowTo/many-hosts.md"

    private static func unit() throws -> String {
        let blocks = try Repository.blocks("ini", in: page)
        try #require(blocks.count == 1)
        return try blocks[0].replacing("/usr/bin/latchkey", with: BuiltProducts.latchkey().path)
    }

    @Test func `systemd finds nothing wrong with the unit`() async throws {
        let directory = try TestDirectory()
        let verify = { (unit: String) async throws -> ProgramRun in
            let file = try directory.write("orders-sync.service", unit, mode: 0o644)
            return try await Program("systemd-analyze").run(
                ["verify", "--man=no", file], environment: directory.environment())
        }
        let sound = try await verify(try Self.unit())
        #expect(sound.status == 0 && sound.errorText.isEmpty, "\(sound.errorText)")
        let faulty = try await verify(try Self.unit().replacing("StateDirectoryMode", with: "StateDirectoryRights"))
        #expect(faulty.errorText.contains("StateDirectoryRights"), "this check notices nothing")
    }

    @Test func `PostgreSQL accepts the page's settings and its rule for the role`() async throws {
        let blocks = try Repository.text(Self.page).components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.hasPrefix("\n") }.map(\.element)
        try #require(blocks.count == 2)
        let server = try await PostgreSQLServer(
            isDurable: false, access: blocks[0].split(separator: "\n").map(String.init))
        let folder = try TestDirectory()
        try await server.useTLS(from: CertificateAuthority(in: folder))
        withExtendedLifetime(folder) {}
        let rules = try await server.sql("SELECT type, user_name, auth_method, error FROM pg_hba_file_rules")
        #expect(rules.contains("hostssl|{orders}|scram-sha-256|\n"), "\(rules)")
        // It says no to what it doesn't know.
        for line in blocks[1].split(separator: "\n") { try await server.sql("ALTER SYSTEM SET \(line)") }
        await #expect(throws: (any Error).self) {
            try await server.sql("ALTER SYSTEM SET synchronous_standby_names = 'ANY'")
        }
    }

    /// systemd's part is played: the directory 0500, the files 0400.
    @Test func `a unit's credentials open the vault and sign in at the database`() async throws {
        let server = try await PostgreSQLServer(
            isDurable: false, access: ["host secrets orders 127.0.0.1/32 scram-sha-256"])
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["PATH"] = try BuiltProducts.searchPath()
        try directory.makeFolder("unit")
        try directory.write("unit/latchkey", (0..<32).map { UInt8($0) }, mode: 0o400)
        try directory.write("unit/pgpass", "127.0.0.1:*:secrets:orders:p4ssw0rd\n", mode: 0o400)
        _ = unsafe chmod(directory / "unit", 0o500)
        try await server.sql("CREATE ROLE orders LOGIN PASSWORD 'p4ssw0rd'")
        let latchkey = try BuiltProducts.latchkey()
        let schema = try await latchkey.run(
            ["vault", "schema", "orders", "--schema", "orders"], environment: environment)
        try await server.sql(schema.successful("vault schema").outputText)
        for line in try Self.unit().matches(of: /(?m)^Environment=([A-Z_]+)=(.*)$/) {
            environment[String(line.output.1)] = String(line.output.2).replacing("%d", with: directory / "unit")
                .replacing("/var/lib", with: directory / "state").replacing("/etc/orders", with: directory / "config")
                .replacing("db1,db2", with: "127.0.0.1:\(server.port)")
        }
        environment["CREDENTIALS_DIRECTORY"] = directory / "unit"
        for (arguments, input) in [
            (["vault", "init", "--credential", "latchkey"], ""), (["set", "api.example.org", "orders"], "s3cret"),
        ] {
            try await latchkey.run(arguments, environment: environment, input: Array(input.utf8)).successful(
                "\(arguments)")
        }
        let read = try await latchkey.run(["get", "api.example.org", "orders"], environment: environment)
        #expect(read.outputText == "s3cret" && read.errorText.isEmpty, "\(read.errorText)")
    }
}
