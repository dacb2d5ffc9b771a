import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Servers that lie, in Python: they know the protocol, and nothing of our code.
@Suite struct HostileServerTests {
    private static let statuses = ["unavailable": 69, "corrupted": 65, "timed-out": 75]

    @Test(arguments: [
        ("refusal", "unavailable"), ("old-refusal", "unavailable"), ("refusal-for-ever", "unavailable"),
        ("authentication", "unavailable"), ("notices", "corrupted"), ("notifications", "corrupted"),
        ("results", "unavailable"), ("rows", "corrupted"), ("columns", "corrupted"), ("nothing", "corrupted"),
        ("copy", "unavailable"), ("error", "unavailable"), ("half", "unavailable"), ("drip", "timed-out"),
        ("farewell", "unavailable"),
    ])
    func `a server that sends nonsense, or sends without end, is a typed error`(
        mode: String, code: String
    ) async throws {
        let server = try await HostileServer(mode)
        let host = try HostOfVault()
        // Nothing but a slow server is waited for until the end.
        let run = try await host.run("list", "--timeout", mode == "drip" ? "5" : "60", vault: server.vault())
        #expect(run.status == Int32(Self.statuses[code]!) && run.errorText.contains("[store.\(code)]"), run.shown)
        // What a terminal would obey, and books.
        #expect(!run.errorText.utf8.contains(0x1B) && run.errorText.utf8.count < 4000, run.shown)
        // No word of the server's on a line of its own: libpq would print its notices there.
        #expect(run.errorText.split(separator: "\n").allSatisfy { $0.hasPrefix("latchkey: ") }, run.shown)
    }

    @Test func `a connection that ends immediately is made again`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create(1)
        let cut = vault.directory / "was-cut"
        let server = try await HostileServer("farewell", before: vault.server, cut)
        let host = try HostOfVault(key: vault.keyFile)
        let uri = server.vault(vault.schema.name, user: PostgreSQLServer.superuser)
        let run = try await host.run("get", "example.org", "0", vault: uri)
        #expect(run.outputText == "secret 0" && run.errorText.isEmpty, run.shown)
        #expect(FileManager.default.fileExists(atPath: cut))
    }

    @Test func `a database that is far away gets each statement once`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create(1)
        let server = try await HostileServer("far", before: vault.server)
        let uri = server.vault(vault.schema.name, user: PostgreSQLServer.superuser)
        let store = try await VaultStore.open(at: uri, unlockedBy: .keyFile(vault.keyFile))
        for _ in 0..<10 { #expect(try await store.text(key("0")) == "secret 0") }
        let asked = server.shown.split(separator: "\n")
        #expect(asked.count { $0 == "asked item" } == 10, "\(asked)")
    }

    /// Each run waits for ten seconds, so all run in one test: others run meanwhile.
    @Test func `whatever a server in between changes, nothing crashes and nothing is lost`() async {
        await withTaskGroup { group in
            for seed in 0..<6 {
                group.addTask { do { try await change(seed) } catch { Issue.record(error, "\(seed)") } }
            }
            await group.waitForAll()
        }
    }

    private func change(_ seed: Int) async throws {
        let vault = try await DatabaseVault()
        try await vault.create(3)
        let server = try await HostileServer("change", before: vault.server, "\(seed)")
        let host = try HostOfVault(key: vault.keyFile)
        let uri = server.vault(vault.schema.name, user: PostgreSQLServer.superuser)
        for round in 0..<4 {
            for arguments in [["list"], ["get", "example.org", "1"], ["set", "example.org", "new\(round)"]] {
                let run = try await host.run(arguments + ["--timeout", "1"], vault: uri, input: "new")
                // Documented statuses: a trap or a signal has another.
                #expect(
                    [0, 65, 69, 73, 74, 75, 77, 78].contains(run.status),
                    "\(seed), \(arguments): \(run.status) \(run.shown)")
                if run.status == 0 && arguments[0] == "get" { #expect(run.outputText == "secret 1", "\(seed)") }
                if run.status == 0 && arguments[0] == "set" {
                    #expect(try await vault.open().text(key("new\(round)")) == "new", "\(seed)")
                }
                #expect(!run.errorText.utf8.contains(0x1B), run.shown)
            }
        }
        let store = try await vault.open()
        #expect(try await store.verify().problems == [], "\(seed)")
        #expect(try await store.text(key("1")) == "secret 1", "\(seed)")
    }

    @Test func `a commit that the server says it has undone isn't reported as done`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create(1)
        let server = try await HostileServer("undo", before: vault.server)
        let host = try HostOfVault(key: vault.keyFile)
        let uri = server.vault(vault.schema.name, user: PostgreSQLServer.superuser)
        let run = try await host.run("set", "example.org", "0", "--force", vault: uri, input: "new")
        #expect(run.status == 69 && run.errorText.contains("rolled the change back"), run.shown)
        #expect(try await vault.open().verify().problems == [])
    }

    @Test func `a save whose commit got no response is found in the tables`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create(1)
        let server = try await HostileServer("cut", before: vault.server, vault.directory / "was-cut")
        let host = try HostOfVault(key: vault.keyFile)
        let uri = server.vault(vault.schema.name, user: PostgreSQLServer.superuser)
        let run = try await host.run("set", "example.org", "new", vault: uri, input: "new")
        #expect(FileManager.default.fileExists(atPath: vault.directory / "was-cut"))
        #expect(run.status == 0, run.shown)
        let report = try await vault.open().verify()
        // One generation for the save: it wasn't made twice.
        #expect(report.problems == [] && report.itemCount == 2 && report.generation == 3)
        #expect(try await vault.open().text(key("new")) == "new")
    }

    @Test func `a cancelled task doesn't wait for a server that accepts no connections`() async throws {
        let server = try await HostileServer("silent")
        let vault = try await DatabaseVault()
        let opening = Task {
            await refusal { () async throws(StoreError) in
                try await VaultStore.open(
                    at: server.vault(), unlockedBy: .keyFile(vault.keyFile), deadline: .after(.seconds(600)))
            }
        }
        try await server.waitUntilShown("asked")
        opening.cancel()
        #expect(await opening.value?.code == .cancelled)
    }

    @Test func `a server that accepts no connections leaves the next one its time`() async throws {
        let silent = try await HostileServer("silent")
        var vault = try await DatabaseVault()
        try await vault.create(1)
        vault.uri =
            "postgresql://admin@127.0.0.1:\(silent.port),127.0.0.1:\(vault.server.port)/secrets"
            + "?schema=\(vault.schema.name)&connect_timeout=1"
        #expect(try await vault.open().text(key("0")) == "secret 0")
        #expect(silent.shown.contains("asked"))
        let refused = await refusal { () async throws(StoreError) in
            try await VaultStore.open(
                at: silent.vault(parameters: "&connect_timeout=1"), unlockedBy: .keyFile(vault.keyFile),
                deadline: .after(.seconds(600)))
        }
        #expect(refused?.code == .unavailable && "\(refused!)".contains("in time"))
    }

    @Test func `a password from a password file never goes to an unverified server`() async throws {
        let server = try await HostileServer("clear-text")
        let host = try HostOfVault()
        try host.directory.write("pgpass", "*:*:*:*:p4ssw0rd\n")
        for (parameters, isSent) in [("", false), ("&sslmode=prefer&channel_binding=require", false)] {
            let run = try await host.run("list", vault: server.vault(host: "127.0.0.2", parameters: parameters))
            #expect(run.status == 69 && !run.errorText.contains("p4ssw0rd"), run.shown)
            #expect(server.shown.contains("p4ssw0rd") == isSent)
        }
        // The danger is real: whoever names it gets it.
        _ = try await host.run("list", vault: server.vault(host: "127.0.0.2", parameters: "&sslmode=prefer"))
        #expect(server.shown.contains("password p4ssw0rd"))
    }

    @Test func `a password file signs in, by the variable and by the URI, and a wrong password is reported`()
        async throws
    {
        let server = try await PostgreSQLServer(
            isDurable: false, access: ["host secrets orders 127.0.0.1/32 scram-sha-256"])
        let vault = try await DatabaseVault(on: server, role: "orders")
        try await vault.create(1)
        try await server.sql("ALTER ROLE orders PASSWORD 'p4ssw0rd'")
        let host = try HostOfVault(key: vault.keyFile)
        let uri = "postgresql://orders@127.0.0.1:\(server.port)/secrets?schema=\(vault.schema.name)"
        let without = try await host.run("get", "example.org", "0", vault: uri)
        #expect(without.status == 77 && without.errorText.contains("no password supplied"), without.shown)
        try host.directory.write("pgpass", "127.0.0.1:\(server.port):secrets:orders:p4ssw0rd\n")
        #expect(try await host.run("get", "example.org", "0", vault: uri).outputText == "secret 0")
        let other = try host.directory.write("other", "*:*:*:*:wr0ng\n")
        // Each of several servers is tried once: a role may be locked after some attempts.
        let place = "127.0.0.1:\(server.port)"
        let failure = /FATAL: +password authentication failed/
        for (uri, count) in [(uri, 1), (uri.replacing(place, with: "\(place),\(place)"), 2)] {
            let before = server.log.matches(of: failure).count
            let wrong = try await host.run(
                "get", "example.org", "0", vault: uri + "&passfile=" + other.replacing("/", with: "%2F"))
            #expect(wrong.status == 77 && wrong.errorText.contains("password authentication failed"), wrong.shown)
            #expect(!wrong.errorText.contains("wr0ng") && !wrong.errorText.contains("LOCATION"))
            #expect(server.log.matches(of: failure).count - before == count)
        }
    }
}

/// A home with a key file, for the program.
private struct HostOfVault {
    let directory: TestDirectory
    private let environment: [String: String]

    init(key: String? = nil) throws {
        directory = try TestDirectory()
        let file = directory / "key"
        if let key {
            try FileManager.default.copyItem(atPath: key, toPath: file)
        } else {
            try directory.write("key", [UInt8](repeating: 7, count: 32))
        }
        environment = try directory.environment().merging([
            "LATCHKEY_KEY_FILE": file, "PGPASSFILE": directory / "pgpass",
        ]) { $1 }
    }

    func run(_ arguments: String..., vault: String, input: String = "") async throws -> ProgramRun {
        try await run(arguments, vault: vault, input: input)
    }

    func run(_ arguments: [String], vault: String, input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            arguments, environment: environment.merging(["LATCHKEY_VAULT": vault]) { $1 }, input: Array(input.utf8))
    }
}

extension ProgramRun {
    fileprivate var shown: Comment { "\(status): \(errorText.prefix(500))" }
}

final class HostileServer: Sendable {
    let port: UInt16
    private let running: RunningProgram

    /// - Parameter server: what it stands before, if it isn't alone.
    init(_ mode: String, before server: PostgreSQLServer? = nil, _ argument: String = "") async throws {
        port = try LoopbackPort.free()
        let script = TestData.folder().appendingPathComponent("hostile_database.py").path
        let socket = server.map { $0.directory / ".s.PGSQL.\($0.port)" }
        running = try Program("python3").start([script, "\(port)", mode] + (socket.map { [$0, argument] } ?? []))
        running.closeInput()
        try await running.wait(for: "the server") { [running] in running.outputSoFar.contains("ready") }
    }

    deinit { running.kill() }

    /// What it has printed.
    var shown: String { running.outputSoFar }

    func waitUntilShown(_ text: String) async throws {
        try await running.wait(for: text) { [running] in running.outputSoFar.contains(text) }
    }

    func vault(
        _ schema: String = "orders", user: String = "orders", host: String = "127.0.0.1", parameters: String = ""
    ) -> String { "postgresql://\(user)@\(host):\(port)/secrets?schema=\(schema)\(parameters)" }
}
