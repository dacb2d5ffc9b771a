import Foundation
import LatchkeyCredentials
import LatchkeyTestServer
import TestServices
import Testing

@testable import LatchkeyVault

/// Hosts that share a login, against a server that revokes all of it when a refresh token comes twice.
@Suite struct FleetTests {
    @Test func `sixty-four processes on two hosts make one refresh, and all get its token`() async throws {
        let fleet = try await Fleet()
        fleet.server.expireAccessTokens()
        try await fleet.expectAnswers(of: fleet.ask(64))
        #expect(fleet.server.record.refreshes == 1 && fleet.server.record.replays == 0)
    }

    @Test func `a wait for the database is shown at a terminal, until it ends`() async throws {
        let database = try await PostgreSQLServer()
        let host = try await Fleet.Host(vault: DatabaseVault(on: database).uri)
        try await host.run("vault", "init", "--key-file", host.directory / "key").successful("vault init")
        try await host.run("set", "mail", "ada", input: "hunter2").successful("set")
        let processes = try await database.stopAll()
        let terminal = try PseudoTerminal()
        let latchkey = try BuiltProducts.latchkey().path
        let reader = try Program("/bin/sh").start(
            ["-c", "exec \(latchkey) get mail ada 2> /dev/tty"], environment: host.environment, terminal: terminal)
        try await terminal.waitUntilShown("latchkey: waiting for the database …")
        database.continueAll(processes)
        let run = try await reader.finish()
        #expect(run.status == 0 && run.outputText.contains("hunter2"))
        try await terminal.waitUntilShown("\r" + String(repeating: " ", count: 79) + "\r")
    }

    @Test func `a host that is killed before it has sent anything costs nothing`() async throws {
        let fleet = try await Fleet()
        fleet.server.expireAccessTokens()
        // The server's metadata is requested with the lease in hand.
        fleet.server.switchOn(.held(.metadata))
        let asked = fleet.count(.metadata)
        let first = try fleet.ask(1)[0]
        try await first.wait(for: "the lease") { fleet.count(.metadata) > asked }
        first.kill()
        _ = try await first.finish()
        fleet.server.switchOff(.held(.metadata))
        let others = try fleet.ask(4)
        try await others[3].wait(for: "the others' refusals") { fleet.count(.userInfo) >= 5 }
        try await fleet.passLeaseTime()
        try await fleet.expectAnswers(of: others)
        #expect(fleet.server.record.refreshes == 1 && fleet.server.record.replays == 0)
    }

    @Test func `a host that is killed during the response costs the session, and the error says so`() async throws {
        let fleet = try await Fleet()
        fleet.server.expireAccessTokens()
        fleet.server.switchOn(.heldResponse(.token))
        let first = try fleet.ask(1)[0]
        try await first.wait(for: "the server's refresh") { fleet.server.record.refreshes == 1 }
        // With its worker: nobody is left who could store the answer.
        first.kill()
        _ = try await first.finish()
        fleet.server.switchOff(.heldResponse(.token))
        try await fleet.passLeaseTime()
        let second = try await fleet.hosts[1].start(
            ["request", "work", "GET", fleet.server.userInfoEndpoint, "--timeout", "60"]
        ).finish()
        #expect(second.status != 0 && second.errorText.contains("[sign-in.refresh-lost]"), "\(second.errorText)")
    }

    @Test func `a host that is stopped past its lease stores nothing over the other's session`() async throws {
        let fleet = try await Fleet()
        fleet.server.expireAccessTokens()
        fleet.server.switchOn(.held(.metadata))
        let asked = fleet.count(.metadata)
        let first = try fleet.ask(1)[0]
        try await first.wait(for: "the lease") { fleet.count(.metadata) > asked }
        try await first.stopGroup()
        fleet.server.switchOff(.held(.metadata))
        try await fleet.passLeaseTime()
        try await fleet.expectAnswers(
            of: [fleet.hosts[1].start(["request", "work", "GET", fleet.server.userInfoEndpoint, "--timeout", "60"])])
        #expect(fleet.server.record.refreshes == 1)
        let session = try await fleet.vault.sql("SELECT md5(string_agg(secret::text, '' ORDER BY place)) FROM %.items")
        first.signalGroup(SIGCONT)
        let late = try await first.finish()
        // It has not asked the server with the spent token, and has changed nothing.
        #expect(late.errorText.contains("[store.conflict]") || late.status == 0, "\(late.errorText)")
        #expect(fleet.server.record.refreshes == 1 && fleet.server.record.replays == 0)
        #expect(
            try await fleet.vault.sql("SELECT md5(string_agg(secret::text, '' ORDER BY place)) FROM %.items") == session
        )
        try await fleet.expectAnswers(of: fleet.ask(2))
        #expect(fleet.server.record.refreshes == 1 && fleet.server.record.replays == 0)
    }

    /// The server's processes of its connections are killed at each step.
    @Test(arguments: ["lease", "request", "answer"])
    func `connections that are killed in a refresh cost nothing`(step: String) async throws {
        let fleet = try await Fleet(on: PostgreSQLServer())
        fleet.server.expireAccessTokens()
        func terminate() async throws {
            try await fleet.vault.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'latchkey'")
        }
        let fault: AuthorizationServerFault =
            step == "lease"
            ? .slow(.seconds(1), .metadata) : step == "request" ? .slow(.seconds(1), .token) : .heldResponse(.token)
        fleet.server.switchOn(fault)
        let asked = (fleet.count(.metadata), fleet.count(.token))
        let programs = try fleet.ask(4)
        try await programs[0].wait(for: "the step") {
            switch step {
            case "lease": fleet.count(.metadata) > asked.0
            case "request": fleet.count(.token) > asked.1
            default: fleet.server.record.refreshes == 1
            }
        }
        try await terminate()
        fleet.server.switchOff(fault)
        try await fleet.expectAnswers(of: programs)
        #expect(fleet.server.record.refreshes == 1 && fleet.server.record.replays == 0)
    }

    @Test func `a database that is killed and started again in a refresh costs nothing`() async throws {
        let database = try await PostgreSQLServer()
        let fleet = try await Fleet(on: database)
        fleet.server.expireAccessTokens()
        fleet.server.switchOn(.heldResponse(.token))
        let asked = fleet.count(.userInfo)
        let programs = try fleet.ask(4)
        // Who hasn't opened the vault by then is told that there is no database.
        try await programs[0].wait(for: "the server's refresh, and the others' refusals") {
            fleet.server.record.refreshes == 1 && fleet.count(.userInfo) >= asked + 4
        }
        try await database.kill()
        fleet.server.switchOff(.heldResponse(.token))
        try await database.start()
        try await fleet.expectAnswers(of: programs)
        #expect(fleet.server.record.refreshes == 1 && fleet.server.record.replays == 0)
    }

    @Test func `without the database no refresh is made`() async throws {
        let database = try await PostgreSQLServer()
        let fleet = try await Fleet(on: database)
        fleet.server.expireAccessTokens()
        try await database.stop()
        let run = try await fleet.hosts[0].run("token", "work")
        #expect(run.status == 69 && run.errorText.contains("[store.unavailable]"), "\(run.errorText)")
        #expect(fleet.server.record.refreshes == 0)
        try await database.start()
        try await fleet.expectAnswers(of: fleet.ask(2))
        #expect(fleet.server.record.refreshes == 1)
    }

    @Test func `a host that is dropped is locked out, and the others need nothing`() async throws {
        let fleet = try await Fleet()
        let (first, second) = (fleet.hosts[0], fleet.hosts[1])
        try await second.run("set", "example.org", "ada", input: "one").successful("set")
        try await first.run("vault", "remove-slot", "second").successful("remove-slot")
        try await first.run("vault", "rekey").successful("rekey")
        let refused = try await second.run("get", "example.org", "ada")
        #expect(refused.status == 77 && refused.errorText.contains("[store.wrong-key]"), "\(refused.errorText)")
        #expect(try await first.run("get", "example.org", "ada").successful("get").outputText == "one")
    }

    /// A host that opened the vault while another one rekeyed it called it corrupted, and later put back, for good.
    @Test(arguments: [false, true]) func `hosts continue while another one rekeys the vault repeatedly`(
        inDatabase: Bool
    ) async throws {
        let directory = try TestDirectory()
        let vault = inDatabase ? try await DatabaseVault().uri : directory / "vault"
        let run = try await Program("/usr/bin/python3").run(
            [
                TestData.folder().appendingPathComponent("rekey_hosts.py").path, try BuiltProducts.latchkey().path,
                vault, directory.path, "20",
            ])
        #expect(
            run.status == 0 && run.outputText.hasPrefix("20 ") && run.outputText.hasSuffix(" 0\n"), "\(run.outputText)")
    }
}

extension RunningProgram {
    /// The program and its worker, which are one group.
    func signalGroup(_ number: Int32) { if isRunning { Foundation.kill(-pid, number) } }

    /// Stops all threads of the group. Until one of them has its turn and takes the signal, the others go on.
    func stopGroup() async throws {
        signalGroup(SIGSTOP)
        func names(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
        try await wait(for: "the group's stop") {
            names("/proc").filter { Int32($0) != nil }.allSatisfy { process in
                names("/proc/\(process)/task").allSatisfy { thread in
                    let stat = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/stat", encoding: .utf8)
                    // State, parent and group follow the name.
                    let fields = stat?.split(separator: ")").last?.split(separator: " ") ?? []
                    return fields.count < 3 || fields[2] != "\(pid)" || ["T", "Z"].contains(fields[0])
                }
            }
        }
    }
}

/// Each host its key.
@Suite struct HostSlotTests {
    @Test func `a hundred hosts have one key each, and a dropped one is locked out`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        for host in 1..<100 {
            try VaultKeyFile.create(at: vault.directory / "key\(host)")
            try await store.addSlot(
                .keyFile(vault.directory / "key\(host)"), name: #require(KeySlotName("host\(host)")))
        }
        func open(on host: Int) async throws(StoreError) -> VaultStore {
            try await VaultStore.open(at: vault.uri, unlockedBy: .keyFile(vault.directory / "key\(host)"))
        }
        let last = try await open(on: 99)
        #expect(try await store.removeSlot(#require(KeySlotName("host50"))))
        #expect(try await store.rekey() == 1)
        let dropped = await refusal { () async throws(StoreError) in try await open(on: 50) }
        #expect(dropped?.code == .wrongKey)
        // One that was open goes on, and one that comes needs nothing.
        #expect(try await last.text(key("0")) == "secret 0")
        #expect(try await open(on: 51).text(key("0")) == "secret 0")
    }
}
