import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Leases that hosts share: by the database's clock, with a fence.
@Suite struct DatabaseLeaseTests {
    private let vault: DatabaseVault

    init() async throws { vault = try await DatabaseVault() }

    private func lease(_ store: VaultStore, _ deadline: Deadline = .standard) async throws(StoreError) -> Lease {
        try await store.exclusiveAccess(to: key("0"), in: vault.leases, deadline: deadline)
    }

    /// As if the time of all leases had passed.
    private func passTime() async throws { try await vault.sql("UPDATE %.leases SET until = now() - interval '1 s'") }

    private func fence() async throws -> String {
        try await vault.sql("SELECT fence FROM %.leases").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `the fence counts take-overs, and the table shows no name`() async throws {
        let store = try await vault.create(1)
        let other = try await vault.open()
        for number in 1...3 {
            let lease = try await lease(number == 2 ? other : store)
            #expect(try await fence() == "\(number)")
            lease.release()
        }
        let rows = try await vault.sql("SELECT encode(name, 'hex') || encode(holder, 'hex') FROM %.leases")
        let hash = store.keys.lookup(of: key("0")).map { String(format: "%02x", $0) }.joined()
        #expect(rows.hasPrefix(hash))
    }

    @Test func `a holder that was stopped past its lease changes nothing`() async throws {
        let store = try await vault.create(2)
        let late = try await lease(store)
        try await passTime()
        let other = try await vault.open()
        let new = try await lease(other)
        try await other.save(secret("by the new holder"), for: key("0"))
        let saving = await refusal { () async throws(StoreError) in
            try await store.save(secret("too late"), for: key("0"))
        }
        #expect(saving?.code == .conflict)
        let deleting = await refusal { () async throws(StoreError) in try await store.delete(key("0")) }
        #expect(deleting?.code == .conflict)
        // What the lease isn't for is its to change.
        try await store.save(secret("another"), for: key("1"))
        #expect(try await other.text(key("0")) == "by the new holder")
        late.release()
        // Its end doesn't end the other's.
        let third = try await vault.open()
        let busy = await refusal { () async throws(StoreError) -> Void in
            try await lease(third, .after(.seconds(2))).release()
        }
        #expect(busy?.code == .timedOut || busy?.code == .busy)
        new.release()
        try await lease(third).release()
        // Whoever holds none isn't asked for one.
        try await store.save(secret("later"), for: key("0"))
        #expect(try await vault.open().verify().problems == [])
    }

    @Test func `an expired lease that no other process took over still counts`() async throws {
        let store = try await vault.create(1)
        let late = try await lease(store)
        try await passTime()
        try await store.save(secret("renewed"), for: key("0"))
        late.release()
        #expect(try await vault.open().text(key("0")) == "renewed")
    }

    @Test func `a lease can be extended, but not after another process took it over`() async throws {
        let store = try await vault.create(1)
        guard let table = store.table as? PostgreSQLRowTable else { return #expect(Bool(false)) }
        let lookup = store.keys.lookup(of: key("0"))
        let cancellation = Cancellation(.standard)
        let mine = try #require(try table.lease(lookup, cancellation))
        #expect(try table.lease(lookup, cancellation) == nil)
        try await passTime()
        #expect(try table.extend(mine, cancellation))
        let rest = try await vault.sql("SELECT until > now() + interval '20 s' FROM %.leases")
        #expect(rest == "t\n")
        try await passTime()
        let theirs = try #require(try table.lease(lookup, cancellation))
        #expect(theirs.fence == mine.fence + 1)
        #expect(try table.extend(mine, cancellation) == false)
        try table.release(mine, cancellation)
        #expect(try table.extend(theirs, cancellation))
        // An extension that comes late revives nothing.
        try table.release(theirs, cancellation)
        #expect(try table.extend(theirs, cancellation) == false)
        _ = try #require(try table.lease(lookup, cancellation))
    }

    @Test func `a lease that couldn't be checked is given back`() async throws {
        let store = try await vault.create(1)
        try await vault.sql("CREATE TABLE %.before AS SELECT * FROM %.records")
        try await store.save(secret("newer"), for: key("0"))
        try await vault.sql("UPDATE %.records r SET content = b.content FROM %.before b WHERE b.name = r.name")
        let refused = await refusal { () async throws(StoreError) in try await lease(store).release() }
        #expect(refused?.code == .rolledBack)
        #expect(try await vault.sql("SELECT until = '-infinity' FROM %.leases") == "t\n")
    }

    @Test func `a rekeying waits until no process holds a lease, and leaves no old name`() async throws {
        let store = try await vault.create(3)
        let held = try await lease(store)
        let other = try await vault.open()
        let busy = await refusal { () async throws(StoreError) in
            try await other.rekey(deadline: .after(.milliseconds(500)))
        }
        #expect(busy?.code == .timedOut || busy?.code == .busy)
        held.release()
        #expect(try await other.rekey() == 3)
        #expect(try await vault.sql("SELECT count(*) FROM %.leases") == "0\n")
        // Under the new name, though this store doesn't know the new key yet.
        let again = try await lease(store)
        let taken = await refusal { () async throws(StoreError) -> Void in
            try await lease(other, .after(.seconds(2))).release()
        }
        #expect(taken?.code == .timedOut || taken?.code == .busy)
        try await store.save(secret("new"), for: key("0"))
        again.release()
    }

    @Test func `a database's leases don't use the file lock`() async throws {
        let store = try await vault.create(1)
        try await lease(store).release()
        #expect(!FileManager.default.fileExists(atPath: vault.leases.path))
    }
}
