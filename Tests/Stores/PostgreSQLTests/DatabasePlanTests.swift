import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// What a lookup costs doesn't grow with the vault.
@Suite struct DatabasePlanTests {
    @Test func `no statement reads all items, even where PostgreSQL knows that there are few`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create(20)
        try await vault.sql("ANALYZE %.items")
        try await {
            let store = try await vault.open()
            for number in 0..<20 { #expect(try await store.text(key("\(number)")) == "secret \(number)") }
            for number in 0..<5 { try await store.delete(key("\(number)")) }
            #expect(try await store.verify().itemCount == 15)
        }()
        // A session tells its counts when it ends, or a second later.
        func scans() async throws -> [Substring] {
            try await vault.sql(
                """
                SELECT seq_scan, idx_scan FROM pg_stat_user_tables \
                WHERE schemaname = '\(vault.schema.name)' AND relname = 'items'
                """
            ).split(whereSeparator: { "|\n".contains($0) })
        }
        while try await Int(scans()[1])! < 45 { try await Task.sleep(for: .milliseconds(50)) }
        // One is that which made the primary key.
        #expect(try await scans()[0] == "1")
    }
}
