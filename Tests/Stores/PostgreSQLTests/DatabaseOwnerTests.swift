import Foundation
import LatchkeyCredentials
import LatchkeyLog
import Testing
import TestServices

@testable import LatchkeyVault

/// The owner of the tables reads and writes what it likes, and has no key.
@Suite struct DatabaseOwnerTests {
    private let vault: DatabaseVault

    init() async throws { vault = try await DatabaseVault() }

    @Test func `the database's owner sees hashes and padded sizes, and no name or secret`() async throws {
        let store = try await vault.create()
        let marker = "marker-4711"
        try await store.save(
            secret("secret of \(marker)"), for: key(marker, service: "\(marker).example"),
            options: SaveOptions(label: "label of \(marker)"))
        for table in ["items", "links", "records", "leases"] {
            let rows = try await vault.sql("SELECT * FROM %.\(table)")
            let hex = marker.utf8.map { String(format: "%02x", $0) }.joined()
            #expect(!rows.contains(marker) && !rows.contains(hex), "\(table)")
        }
        let sizes = try await vault.sql("SELECT octet_length(secret), octet_length(metadata) FROM %.items")
        try await store.save(secret("s"), for: key("another"))
        let both = Set(
            try await vault.sql("SELECT octet_length(secret), octet_length(metadata) FROM %.items").split(
                separator: "\n"))
        #expect(both == Set(sizes.split(separator: "\n")))
    }

    /// Each is noticed by whoever opens the vault, and by who verifies it.
    @Test(arguments: [
        // Deleted.
        "DELETE FROM %.items WHERE place = (SELECT min(place) FROM %.items)",
        // The secrets of two swapped.
        """
        UPDATE %.items i SET secret = j.secret FROM %.items j WHERE j.place <> i.place AND i.place IN \
        (SELECT min(place) FROM %.items UNION SELECT max(place) FROM %.items) AND j.place IN \
        (SELECT min(place) FROM %.items UNION SELECT max(place) FROM %.items)
        """,
        // Doubled, beside itself.
        """
        INSERT INTO %.items SELECT place + 1, lookup, metadata, secret FROM %.items \
        WHERE place = (SELECT min(place) FROM %.items)
        """,
        // Moved to where nobody looks.
        "UPDATE %.items SET place = 12345 WHERE place = (SELECT min(place) FROM %.items)",
        // Put back to what it was.
        "UPDATE %.items i SET metadata = o.metadata, secret = o.secret FROM %.old_items o WHERE o.place = i.place",
        // One bit.
        "UPDATE %.items SET metadata = set_bit(metadata, 500, 1 - get_bit(metadata, 500))",
        // Somebody else's slot.
        "INSERT INTO %.records VALUES('slot-0123456789abcdef0123456789abcdef', 'x')",
        "DELETE FROM %.records WHERE name = 'former'",
        // A name that is longer than any record's.
        "INSERT INTO %.records VALUES(repeat('z', 70000), 'x')",
    ])
    func `every change by the database's owner to rows is noticed`(_ change: String) async throws {
        let store = try await vault.create(4)
        try await vault.sql("CREATE TABLE %.old_items AS SELECT * FROM %.items")
        for number in 0..<4 { try await store.save(secret("newer \(number)"), for: key("\(number)")) }
        #expect(try await store.verify().problems == [])
        try await vault.sql(change)
        #expect(try await store.verify().problems != [])
        let opened = await refusal { () async throws(StoreError) -> Int in
            // Swapped secrets are sound names: the read itself says so.
            let store = try await vault.open()
            for number in 0..<4 { _ = try await store.text(key("\(number)")) }
            return 0
        }
        #expect(opened?.code == .corrupted)
    }

    /// They counted as stored, and the vault was damaged for all hosts.
    @Test(arguments: ["items", "records", "links"])
    func `a trigger that skips a change can't make it count as done`(_ table: String) async throws {
        let store = try await vault.create(2)
        try await vault.sql(
            """
            CREATE FUNCTION %.skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
            CREATE TRIGGER skip BEFORE INSERT OR UPDATE OR DELETE ON %.\(table) FOR EACH ROW \
            EXECUTE FUNCTION %.skip()
            """)
        let refused = await refusal { () async throws(StoreError) in
            try await store.save(secret("newer"), for: key("another"))
        }
        #expect(refused?.code == .permissionDenied && "\(refused!)".contains("skipped"), "\(refused as Any)")
        #expect(try await vault.open(itemCheck: .never).verify().problems == [])
    }

    @Test func `a warning of a trigger's doesn't make a save doubtful`() async throws {
        let store = try await vault.create(1)
        try await vault.sql(
            """
            CREATE FUNCTION %.warn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''no''; RETURN NEW; END'; \
            CREATE TRIGGER warn BEFORE INSERT OR UPDATE ON %.records FOR EACH ROW EXECUTE FUNCTION %.warn()
            """)
        try await store.save(secret("newer"), for: key("0"))
        #expect(try await store.text(key("0")) == "newer")
    }

    @Test(arguments: [
        "CREATE POLICY a ON %.items FOR SELECT USING (true); CREATE POLICY b ON %.items FOR INSERT WITH CHECK (true)",
        "",
    ])
    func `rows that a policy hides aren't missing, and a change of them is refused`(_ policies: String) async throws {
        let server = try await PostgreSQLServer(isDurable: false)
        let vault = try await DatabaseVault(on: server, role: "orders")
        try await vault.create(2)
        try await vault.sql("ALTER TABLE %.items ENABLE ROW LEVEL SECURITY; \(policies)")
        let uri = server.vault(vault.schema.name, user: "orders")
        let refused = await refusal { () async throws(StoreError) in
            let store = try await VaultStore.open(at: uri, unlockedBy: .keyFile(vault.keyFile))
            try await store.save(secret("newer"), for: key("0"))
        }
        #expect(refused?.code == .permissionDenied, "\(refused as Any)")
        try await vault.sql("ALTER TABLE %.items DISABLE ROW LEVEL SECURITY")
        let store = try await VaultStore.open(at: uri, unlockedBy: .keyFile(vault.keyFile))
        #expect(try await store.text(key("0")) == "secret 0")
        #expect(try await store.verify().problems == [])
    }

    @Test func `functions of others with the server's names aren't called`() async throws {
        let server = try await PostgreSQLServer(isDurable: false)
        let vault = try await DatabaseVault(on: server, role: "orders")
        try await vault.create(2)
        try await server.sql(
            """
            CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO orders; \
            CREATE FUNCTION evil.substr(bytea, int, int) RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea'; \
            CREATE FUNCTION evil.octet_length(bytea) RETURNS int LANGUAGE sql AS 'SELECT 1000000000'; \
            CREATE FUNCTION evil.pg_backend_pid() RETURNS int LANGUAGE sql AS 'SELECT 1'; \
            CREATE FUNCTION evil.set_config(text, text, bool) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'; \
            ALTER ROLE orders SET search_path = evil, pg_catalog
            """)
        let store = try await VaultStore.open(
            at: server.vault(vault.schema.name, user: "orders"), unlockedBy: .keyFile(vault.keyFile))
        #expect(try await store.text(key("0")) == "secret 0")
        try await store.save(secret("newer"), for: key("0"))
        #expect(try await store.verify().problems == [])
    }

    @Test func `restored tables are noticed by an open store, and by a host with a rollback record`() async throws {
        let host = RollbackMemory(directory: vault.directory / "state", logger: .disabled)
        _ = try await vault.create(3)
        let store = try await vault.open(memory: host)
        try await vault.sql(
            """
            CREATE TABLE %.old_items AS SELECT * FROM %.items; CREATE TABLE %.old_records AS SELECT * FROM %.records
            """)
        try await store.save(secret("newer"), for: key("1"))
        try await vault.sql(
            """
            BEGIN; DELETE FROM %.items; INSERT INTO %.items SELECT * FROM %.old_items; DELETE FROM %.records; \
            INSERT INTO %.records SELECT * FROM %.old_records; COMMIT
            """)
        let open = await refusal { () async throws(StoreError) in try await store.text(key("1")) }
        #expect(open?.code == .rolledBack)
        let again = await refusal { () async throws(StoreError) in try await vault.open(memory: host) }
        #expect(again?.code == .rolledBack)
        // Another host, which never saw it newer, can't know.
        let other = RollbackMemory(directory: vault.directory / "other", logger: .disabled)
        #expect(try await vault.open(memory: other).text(key("1")) == "secret 1")
    }

    @Test func `rows that are longer than a vault's aren't fetched`() async throws {
        let store = try await vault.create(1)
        for change in [
            "UPDATE %.items SET secret = convert_to(repeat('x', 30000000), 'UTF8')",
            "UPDATE %.items SET metadata = convert_to(repeat('x', 30000000), 'UTF8')",
            "UPDATE %.records SET content = convert_to(repeat('x', 30000000), 'UTF8') WHERE name = 'former'",
        ] {
            try await vault.sql("BEGIN; \(change)")
            try await vault.sql(change)
            let reading = await refusal { () async throws(StoreError) -> String? in
                let store = try await vault.open(itemCheck: .never)
                return try await store.text(key("0"))
            }
            #expect(reading?.code == .corrupted, "\(change)")
        }
        withExtendedLifetime(store) {}
    }
}
