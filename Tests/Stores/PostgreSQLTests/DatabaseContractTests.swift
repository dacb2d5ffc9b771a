import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyStoreContract
import LatchkeyStoreSelection
import Synchronization
import TestServices
import Testing

@testable import LatchkeyVault

/// A vault in a database keeps what a vault in a file keeps.
@Suite struct DatabaseContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let vault = try await DatabaseVault()
        try await vault.create()
        try await statement.check(leases: vault.leases) { try await vault.open() }
    }

    @Test(arguments: ContractCase.allOfItems)
    func `keeps the store contract for items`(_ statement: ContractCase) async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create()
        try await statement.check(on: store)
        #expect(try await store.verify().problems == [])
    }
}

/// A move between two URIs of one database would delete the only copy.
@Suite struct DatabaseMoveTests {
    @Test func `two URIs of one database are one store`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        var again = vault
        again.uri += "&connect_timeout=9"
        let other = try await again.open()
        await #expect { try await store.move(key("0"), to: other) } throws: {
            ($0 as? StoreError)?.code == .unsupported
        }
        #expect(try await store.list().all().count == 1)
        #expect(try await store.text(key("0")) == "secret 0")
    }

    @Test func `items stay, too`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create()
        let attributes = ItemAttributes(ofOthers: ["server": "git.example"])
        let draft = ItemDraft(
            .attributes(attributes, in: ItemCollection.first, replacing: false), contentType: "text/plain")
        _ = try await store.save(Secret<ItemContent>(copying: Array("theirs".utf8).span), draft, deadline: .standard)
        var again = vault
        again.uri += "&connect_timeout=9"
        let transfer = Transfer(from: store, to: try await again.open(), mode: .move)
        let items = try await transfer.items(service: nil, account: nil, deadline: .standard)
        var arrived: Set<ItemID> = []
        await #expect {
            try await transfer.transfer(items[0], onlyLooks: false, arrived: &arrived, deadline: .standard)
        } throws: {
            ($0 as? StoreError)?.code == .unsupported
        }
        #expect(try await store.unnamedItems(deadline: .standard).count == 1)
    }
}

/// Changes by others, told by the database.
@Suite struct DatabaseChangesTests {
    @Test(.timeLimit(.minutes(2)))
    func `another host's change is reported, and one during a lost connection too`() async throws {
        let server = try await PostgreSQLServer(isDurable: false)
        let vault = try await DatabaseVault(on: server)
        let store = try await vault.create(1)
        var changes = try await store.changes(deadline: .standard).makeAsyncIterator()
        let other = try await vault.open()
        try await other.save(secret("1"), for: key("1"))
        #expect(await changes.next() == CredentialChange(kind: .unknown, key: nil))
        #expect(try await store.text(key("1")) == "1")

        try await server.stop()
        try await server.start()
        try await other.save(secret("2"), for: key("1"))
        #expect(await changes.next() == CredentialChange(kind: .unknown, key: nil))
        #expect(try await store.text(key("1")) == "2")
    }

    @Test(.timeLimit(.minutes(2))) func `other hosts' items are reported by name`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        let items = store
        var changes = try await items.itemChanges(deadline: .standard).makeAsyncIterator()
        try await vault.open().save(secret("1"), for: key("1"))
        let change = try #require(await changes.next())
        #expect("\(change)".contains("login"), "\(change)")
        withExtendedLifetime(items) {}
    }

    @Test func `a notification shows a keyed hash, or nothing`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        let listener = try vault.session()
        listener.type("LISTEN latchkey_\(vault.schema.name); SELECT 'listens';\n")
        try await listener.wait(for: "LISTEN") { listener.outputSoFar.contains("listens") }
        try await store.save(secret("1"), for: key("marker-4711"))
        try await store.fill([key("2"), key("3")], with: secret("x"))
        listener.type("SELECT 'over';\n")
        // psql writes them after the response.
        try await listener.wait(for: "the notifications") {
            listener.outputSoFar.components(separatedBy: "Asynchronous notification").count >= 3
        }
        let said = listener.outputSoFar
        let hash = store.keys.lookup(of: key("marker-4711")).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(said.contains("payload \"\(hash.joined())\"") && !said.contains("marker"), "\(said)")
        #expect(said.components(separatedBy: "Asynchronous notification").count == 3, "\(said)")
        listener.kill()
    }

    /// A commit with a notification holds a lock of the whole server until it is on the disk. All vaults of a server took
    /// turns then, and ten were no faster than one. A commit of these saves doesn't end, because its standby is missing:
    /// the first one after the server's checkpointer has read its settings again, which may take a while.
    @Test(.timeLimit(.minutes(2))) func `a commit that takes long holds up no other vault's notification`() async throws
    {
        let server = try await PostgreSQLServer()
        let vault = try await DatabaseVault(on: server)
        let store = try await vault.create(1)
        try await server.sql("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
        try await server.sql("SELECT pg_reload_conf()")
        let isSeen = Mutex(false)
        let saving = Task {
            repeat {
                try await store.save(
                    secret("1"), for: key("0"), options: SaveOptions(), deadline: .after(.seconds(100)))
            } while !isSeen.withLock { $0 }
        }
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        while try await server.sql(waits) != "1\n" { try await Task.sleep(for: .milliseconds(20)) }
        isSeen.withLock { $0 = true }
        let other = try server.session()
        other.type("SET synchronous_commit = local; NOTIFY other; SELECT 'sent';\n")
        try await other.wait(for: "NOTIFY", within: .seconds(20)) { other.outputSoFar.contains("sent") }
        try await server.sql("ALTER SYSTEM RESET synchronous_standby_names")
        try await server.sql("SELECT pg_reload_conf()")
        try await saving.value
        #expect(try await vault.open().text(key("0")) == "1")
        other.kill()
    }
}
