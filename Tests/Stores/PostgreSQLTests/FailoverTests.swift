import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing
import TestServices

@testable import LatchkeyVault

/// A primary and a standby that commits with it: what was acknowledged is there after the primary is gone.
@Suite(.timeLimit(.minutes(15)))
struct FailoverTests {
    private func servers() async throws -> (PostgreSQLServer, PostgreSQLServer) {
        let primary = try await PostgreSQLServer()
        let standby = try await PostgreSQLServer(following: primary, name: "standby")
        try await primary.commitTogether(with: "standby")
        return (primary, standby)
    }

    /// The doctor said of each server that changes can be lost.
    @Test func `a server that waits for its disk, and one that waits for another's, are known as that`() async throws {
        let alone = try await PostgreSQLServer()
        let state = try await VaultStore.databaseState(at: DatabaseVault(on: alone).uri)
        #expect(state.isDurable && !state.hasStandby)
        let (primary, standby) = try await servers()
        let vault = try await DatabaseVault(on: primary)
        let together = try await VaultStore.databaseState(at: vault.uri)
        #expect(together.isDurable && together.hasStandby && together.isStandbyConnected)
        try await vault.create()
        try await standby.kill()
        while try await VaultStore.databaseState(at: vault.uri).isStandbyConnected {
            try await Task.sleep(for: .milliseconds(10))
        }
        let environment = try vault.directory.environment().merging([
            "LATCHKEY_VAULT": vault.uri, "LATCHKEY_KEY_FILE": vault.keyFile,
        ]) { $1 }
        // The doctor's own save also waits for a standby, until its timeout.
        let doctor = try await BuiltProducts.latchkey().run(["doctor", "--timeout", "5"], environment: environment)
        #expect(doctor.outputText.contains("changes wait for a standby, but none is connected"), "\(doctor.outputText)")
    }

    /// The server committed, and said in a warning alone that no standby has it. After an ended connection, so did the
    /// commit of whoever looked for the save.
    @Test(arguments: [["pg_cancel_backend"], ["pg_terminate_backend", "pg_cancel_backend"]])
    func `a save that no standby confirmed isn't acknowledged`(_ functions: [String]) async throws {
        let server = try await PostgreSQLServer()
        let vault = try await DatabaseVault(on: server)
        let store = try await vault.create(1)
        try await server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try await server.sql("SELECT pg_reload_conf()")
        var refused: StoreError?
        // The server takes a moment to read its settings.
        while refused == nil {
            let isOver = Mutex(false)
            let saving = Task {
                defer { isOver.withLock { $0 = true } }
                return await refusal { () async throws(StoreError) in
                    try await store.save(
                        secret("newer"), for: key("0"), options: SaveOptions(), deadline: .after(.seconds(60)))
                }
            }
            for function in functions {
                let end =
                    "SELECT \(function)(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
                while !isOver.withLock({ $0 }), try await server.sql(end).isEmpty {}
            }
            refused = await saving.value
        }
        #expect(refused?.code == .timedOut && "\(refused!)".contains("a standby"), "\(refused as Any)")
        #expect(try await store.text(key("0")) == "newer")
    }

    @Test func `a standby promoted between saves loses nothing that was acknowledged`() async throws {
        let (primary, standby) = try await servers()
        var vault = try await DatabaseVault(on: primary)
        vault.uri = PostgreSQLServer.vault(vault.schema.name, on: [primary, standby])
        let store = try await vault.create()
        let acknowledged = Mutex(0)
        let isOver = Mutex(false)
        let writer = Task {
            var number = 0
            while !isOver.withLock({ $0 }) {
                try await store.save(
                    secret("secret \(number)"), for: key("\(number)"), options: SaveOptions(),
                    deadline: .after(.seconds(60)))
                number += 1
                acknowledged.withLock { [number] in $0 = number }
            }
        }
        while acknowledged.withLock({ $0 }) < 50 { try await Task.sleep(for: .milliseconds(10)) }
        try await primary.kill()
        try await standby.promote()
        let before = acknowledged.withLock { $0 }
        while acknowledged.withLock({ $0 }) < before + 20 { try await Task.sleep(for: .milliseconds(10)) }
        isOver.withLock { $0 = true }
        try await writer.value
        let count = acknowledged.withLock { $0 }
        let other = try await vault.open()
        for number in 0..<count { #expect(try await other.text(key("\(number)")) == "secret \(number)") }
        let report = try await other.verify()
        #expect(report.problems == [] && report.itemCount == count)
    }

    /// Nothing waited for the standby, which lacks the last save of one host. The other host's saves outnumber it.
    @Test func `a host whose save a promoted standby lacks refuses the vault, after others have saved too`()
        async throws
    {
        let primary = try await PostgreSQLServer()
        let standby = try await PostgreSQLServer(following: primary, name: "standby")
        var vault = try await DatabaseVault(on: primary)
        vault.uri = PostgreSQLServer.vault(vault.schema.name, on: [primary, standby])
        func memory(_ host: String) -> RollbackMemory { RollbackMemory(directory: vault.directory / host) }
        try await vault.create(1)
        let (a, b) = (try await vault.open(memory: memory("a")), try await vault.open(memory: memory("b")))
        for store in [a, b] { try await store.save(secret("before"), for: key("0")) }
        let position = try await primary.sql("SELECT pg_current_wal_flush_lsn()").trimmingCharacters(in: .newlines)
        let hasAll = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= '\(position)'"
        while try await primary.sql(hasAll) != "1\n" { try await Task.sleep(for: .milliseconds(10)) }
        try await standby.kill()
        try await a.save(secret("acknowledged"), for: key("0"))
        try await primary.kill()
        try await standby.start()
        try await standby.promote()
        for number in 1...3 {
            try await b.save(
                secret("\(number)"), for: key("\(number)"), options: SaveOptions(), deadline: .after(.seconds(60)))
        }
        let open = await refusal { () async throws(StoreError) in
            try await a.text(key("0"), deadline: .after(.seconds(60)))
        }
        #expect(open?.code == .rolledBack, "\(open as Any)")
        let again = await refusal { () async throws(StoreError) in try await vault.open(memory: memory("a")) }
        #expect(again?.code == .rolledBack && "\(again!)".contains("is missing"), "\(again as Any)")
        #expect(try await vault.open(memory: memory("b")).rollback == .current)
    }

    @Test func `a standby promoted in the middle of a refresh causes no second refresh`() async throws {
        let (primary, standby) = try await servers()
        let fleet = try await Fleet(on: primary) { PostgreSQLServer.vault($0.schema.name, on: [primary, standby]) }
        fleet.server.expireAccessTokens()
        fleet.server.switchOn(.heldResponse(.token))
        let programs = try fleet.ask(4)
        try await programs[0].wait(for: "the server's refresh") { fleet.server.record.refreshes == 1 }
        try await primary.kill()
        try await standby.promote()
        fleet.server.switchOff(.heldResponse(.token))
        try await fleet.expectAnswers(of: programs)
        #expect(fleet.server.record.refreshes == 1 && fleet.server.record.replays == 0)
    }

    /// The primary waits for its standby in vain, and its answer to COMMIT never comes.
    @Test func `a commit whose response never comes is reported as unknown, and its outcome is found later`()
        async throws
    {
        let (primary, standby) = try await servers()
        var vault = try await DatabaseVault(on: primary)
        vault.uri = PostgreSQLServer.vault(vault.schema.name, on: [primary, standby])
        let store = try await vault.create(1)
        try await standby.kill()
        let unknown = await refusal { () async throws(StoreError) in
            try await store.save(
                secret("newer"), for: key("0"), options: SaveOptions(), deadline: .after(.seconds(15)))
        }
        #expect(unknown?.code == .timedOut && "\(unknown!)".contains("may be stored or not"), "\(unknown!)")
        try await standby.start()
        // Whatever became of it, what is there is whole.
        let text = try await vault.open().text(key("0"))
        #expect(text == "newer" || text == "secret 0")
        #expect(try await vault.open().verify().problems == [])
    }

    @Test func `after a connection lost at the commit the save is reported correctly`()
        async throws
    {
        let server = try await PostgreSQLServer()
        let vault = try await DatabaseVault(on: server)
        let store = try await vault.create(1)
        // Backends die at any step while saves go on: each save that returned is there, and none is there twice.
        let attributes = ItemAttributes(ofOthers: ["server": "git.example"])
        let isOver = Mutex(false)
        let killer = Task {
            while !isOver.withLock({ $0 }) {
                try await vault.sql(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                    WHERE application_name = 'latchkey' AND state <> 'idle'
                    """)
            }
        }
        for number in 1...60 {
            try await store.save(
                secret("secret \(number)"), for: key("0"), options: SaveOptions(), deadline: .after(.seconds(60)))
            #expect(try await store.text(key("0"), deadline: .after(.seconds(60))) == "secret \(number)")
            // As a program does in the served keyring.
            let saved = try await store.save(
                Secret<ItemContent>(copying: Array("item \(number)".utf8).span),
                ItemDraft(
                    .attributes(attributes, in: ItemCollection.first, replacing: true), contentType: "text/plain"),
                deadline: .after(.seconds(60)))
            #expect(saved?.isNew == (number == 1))
        }
        isOver.withLock { $0 = true }
        try await killer.value
        let report = try await vault.open().verify()
        // One generation for each save, and none for a retry.
        #expect(report.problems == [] && report.generation == 122)
    }

    @Test func `a save waits until a network interruption ends`() async throws {
        let server = try await PostgreSQLServer()
        let vault = try await DatabaseVault(on: server)
        let store = try await vault.create(1)
        // As if its packets went nowhere: the server's processes are stopped, and the connection stays open.
        let family = try await server.stopAll()
        let saving = Task {
            try await store.save(
                secret("after the cut"), for: key("0"), options: SaveOptions(), deadline: .after(.seconds(60)))
        }
        let reading = await refusal { () async throws(StoreError) in
            try await store.text(key("0"), deadline: .after(.seconds(1)))
        }
        #expect(reading?.code == .timedOut || reading?.code == .unavailable)
        server.continueAll(family)
        _ = try await saving.value
        #expect(try await vault.open().text(key("0")) == "after the cut")
    }
}
