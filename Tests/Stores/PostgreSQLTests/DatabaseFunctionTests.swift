import LatchkeyCredentials
import TestServices
import Testing

@testable import LatchkeyVault

/// The owner of a database chooses what the names in our statements mean.
@Suite struct DatabaseFunctionTests {
    @Test func `functions in the place of the server's see sealed rows, and their lies are noticed`() async throws {
        let server = try await PostgreSQLServer(isDurable: false)
        let vault = try await DatabaseVault(on: server)
        let store = try await vault.create(2)
        try await store.save(secret("marker-4711"), for: key("marker-4711", service: "marker-4711"))
        // It is called with all that is read, and would fail if it saw what was saved.
        try await vault.sql(
            """
            CREATE SCHEMA evil; CREATE FUNCTION evil.octet_length(b bytea) RETURNS int LANGUAGE sql AS \
            $$ SELECT 1 / CASE WHEN position('marker-4711'::bytea IN b) > 0 THEN 0 ELSE 1 END $$; \
            ALTER ROLE admin SET search_path = evil, pg_catalog
            """)
        let opened = try await vault.open()
        #expect(try await opened.text(key("marker-4711", service: "marker-4711")) == "marker-4711")
        // It says that every row is short, these too.
        try await vault.sql(
            """
            UPDATE %.items SET secret = convert_to(repeat('x', 30000000), 'UTF8')
            """)
        let long = await refusal { () async throws(StoreError) -> String? in
            let opened = try await vault.open(itemCheck: .never)
            return try await opened.text(key("0"))
        }
        #expect(long?.code == .corrupted, "\(String(describing: long))")
    }

    @Test func `views with false content are noticed, and honest views work`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(3)
        try await vault.sql("ALTER TABLE %.items RENAME TO hidden; CREATE VIEW %.items AS SELECT * FROM %.hidden")
        try await store.save(secret("newer"), for: key("0"))
        #expect(try await vault.open().text(key("0")) == "newer")
        // Each item shows another's secret.
        try await vault.sql(
            """
            CREATE OR REPLACE VIEW %.items AS SELECT place, lookup, metadata, \
            (SELECT o.secret FROM %.hidden o WHERE o.place <> h.place LIMIT 1) AS secret FROM %.hidden h
            """)
        let shown = await refusal { () async throws(StoreError) in try await store.text(key("0")) }
        #expect(shown?.code == .corrupted)
        #expect(try await vault.open().verify().problems != [])
    }
}

/// What a lookup costs doesn't grow with the vault.
@Suite struct DatabasePlanTests {
    @Test func `no statement reads all items, even if PostgreSQL knows that few exist`() async throws {
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
