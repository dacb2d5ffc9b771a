import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// The owner of a database chooses what the names in our statements mean.
@Suite struct DatabaseFunctionTests {
    @Test func `functions in the place of the server's see sealed rows, and their lies are noticed`() async throws {
        let server = try await PostgreSQLServer(isDurable: false)
        let vault = try await DatabaseVault(on: server)
        let store = try await vault.create(2)
        try await vault.sql(
            """
            CREATE SCHEMA evil; CREATE TABLE evil.seen(bytes bytea); \
            CREATE FUNCTION evil.octet_length(b bytea) RETURNS int LANGUAGE sql AS \
            'INSERT INTO evil.seen VALUES(b); SELECT 1'; \
            CREATE FUNCTION evil.substr(b bytea, i int, j int) RETURNS bytea LANGUAGE sql AS \
            $$ SELECT '\\x00000000'::bytea $$; \
            ALTER ROLE admin SET search_path = evil, pg_catalog
            """)
        try await store.save(secret("marker-4711"), for: key("marker-4711"))
        let other = try await DatabaseVault(on: server)
        let reads = await refusal { () async throws(StoreError) -> String? in
            let opened = try await vault.open()
            return try await opened.text(key("0"))
        }
        // Reading transactions refuse such a function; nothing else comes of it.
        #expect(reads != nil)
        let hex = "marker-4711".utf8.map { String($0, radix: 16) }.joined()
        #expect(try await !server.sql("SELECT string_agg(bytes::text, '') FROM evil.seen").contains(hex))
        // One that says that every row is short.
        try await vault.sql(
            """
            CREATE OR REPLACE FUNCTION evil.octet_length(b bytea) RETURNS int LANGUAGE sql AS 'SELECT 1'; \
            UPDATE %.items SET secret = convert_to(repeat('x', 30000000), 'UTF8')
            """)
        let long = await refusal { () async throws(StoreError) -> String? in
            let opened = try await vault.open(itemCheck: .never)
            return try await opened.text(key("0"))
        }
        #expect(long?.code == .corrupted, "\(String(describing: long))")
        withExtendedLifetime(other) {}
    }

    @Test func `views that show something else each time are noticed, and honest ones work`() async throws {
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
