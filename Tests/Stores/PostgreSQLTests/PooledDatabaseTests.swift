import Foundation
import LatchkeyCredentials
import LatchkeyLog
import Testing
import TestServices

@testable import LatchkeyVault

/// Behind pgbouncer, which gives each transaction whichever connection is free.
@Suite struct PooledDatabaseTests {
    private let pool: PgBouncer
    private let vault: DatabaseVault

    init() async throws {
        let server = try await PostgreSQLServer.shared()
        pool = try await PgBouncer(before: server)
        var vault = try await DatabaseVault(on: server)
        vault.uri = pool.vault(vault.schema.name)
        self.vault = vault
    }

    @Test func `behind a pool everything works but news of changes, and the error says so`() async throws {
        let store = try await vault.create(3)
        // Several at once, so that the pool has something to mix.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let store = try await vault.open()
                    for round in 0..<10 {
                        try await store.save(secret("\(round)"), for: key("task \(number)"))
                        #expect(try await store.text(key("task \(number)")) == "\(round)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.rekey() == 11)
        #expect(try await store.verify().problems == [])
        let lease = try await store.exclusiveAccess(to: key("0"), in: vault.leases, deadline: .standard)
        let busy = await refusal { () async throws(StoreError) -> Void in
            try await vault.open().exclusiveAccess(
                to: key("0"), in: vault.leases, deadline: .after(.seconds(2))
            ).release()
        }
        #expect(busy?.code == .timedOut || busy?.code == .busy)
        lease.release()
        let changes = await refusal { () async throws(StoreError) -> Int in
            _ = try await store.changes(deadline: .standard)
            return 0
        }
        #expect(changes?.code == .unsupported && changes?.cause.text.contains("pool") == true)
    }
}
