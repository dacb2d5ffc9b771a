/// The tables of a vault in a database, and the statements that work on them.
///
/// The layout is that of the file (Docs/Reference/vault-format.md): the same rows with the same encryption. Only leases
/// are additional.
///
/// `%` represents the schema's name.
enum PostgreSQLSchema {
    /// Sealed rows don't become smaller, so that PostgreSQL needn't try.
    static let tables = [
        """
        CREATE TABLE %.items (
            place bigint PRIMARY KEY,
            lookup bytea NOT NULL,
            metadata bytea NOT NULL,
            secret bytea NOT NULL
        )
        """,
        "ALTER TABLE %.items ALTER metadata SET STORAGE EXTERNAL, ALTER secret SET STORAGE EXTERNAL",
        "CREATE TABLE %.links (token bytea PRIMARY KEY, link bytea NOT NULL)",
        "CREATE TABLE %.records (name text COLLATE \"C\" PRIMARY KEY, content bytea NOT NULL)",
        """
        CREATE TABLE %.leases (
            name bytea PRIMARY KEY,
            holder bytea NOT NULL,
            fence bigint NOT NULL,
            until timestamptz NOT NULL
        )
        """,
    ]

    // MARK: - Reading

    /// The change mark of a vault: the beginning of its manifest, which has a different nonce each time.
    private static let mark = "substr(content, 1, 4)"
    /// Keeps the server from sending an attacker's rows that are longer than a vault's.
    private static func bounded(_ column: String, _ limit: Int) -> String {
        "CASE WHEN octet_length(\(column)) <= \(limit) THEN \(column) END"
    }
    private static let metadata = bounded("metadata", SealedSize.maximumMetadataByteCount + 64)
    private static let secret = bounded("secret", SealedSize.maximumRowByteCount)
    private static let lookup = bounded("lookup", VaultKeys.lookupByteCount)
    private static let content = bounded("content", Manifest.maximumRecordByteCount)

    /// One item and the change mark. A read of one credential only needs this statement.
    static let item = PostgreSQLQuery(
        "item",
        """
        SELECT \(Self.mark), place, \(Self.metadata), \(Self.secret) FROM %.records \
        LEFT JOIN %.items ON place BETWEEN $1 AND $2 AND lookup = $3 WHERE name = 'manifest'
        """, .bigint, .bigint, .bytea)

    /// The same in a transaction, which knows the records.
    static let itemInTransaction = PostgreSQLQuery(
        "item-in-transaction",
        """
        SELECT NULL, place, \(Self.metadata), \(Self.secret) FROM %.items \
        WHERE place BETWEEN $1 AND $2 AND lookup = $3
        """, .bigint, .bigint, .bytea)

    static let records = PostgreSQLQuery(
        "records",
        """
        SELECT \(Self.bounded("name", Manifest.maximumRecordNameByteCount)), \(Self.content) FROM %.records \
        ORDER BY name LIMIT $1
        """, .bigint)

    static let heading = PostgreSQLQuery(
        "heading",
        "SELECT place, \(Self.metadata) FROM %.items WHERE place BETWEEN $1 AND $2 AND lookup = $3",
        .bigint, .bigint, .bytea)

    static let beginning = PostgreSQLQuery(
        "beginning",
        """
        SELECT place, \(Self.lookup), \(Self.metadata) FROM %.items \
        WHERE place BETWEEN $1 AND $2 AND substr(lookup, 1, 16) = $3
        """, .bigint, .bigint, .bytea)

    static let place = PostgreSQLQuery(
        "place", "SELECT \(Self.lookup), \(Self.metadata), \(Self.secret) FROM %.items WHERE place = $1",
        .bigint)

    static let items = PostgreSQLQuery(
        "items",
        """
        SELECT place, \(Self.lookup), \(Self.metadata) FROM %.items WHERE place > $1 \
        ORDER BY place LIMIT $2
        """, .bigint, .bigint)

    static let taken = PostgreSQLQuery(
        "taken", "SELECT place, \(Self.lookup) FROM %.items WHERE place BETWEEN $1 AND $2 ORDER BY place",
        .bigint, .bigint)

    private static let boundedLink = bounded("link", 65536)

    static let link = PostgreSQLQuery("link", "SELECT \(Self.boundedLink) FROM %.links WHERE token = $1", .bytea)

    static let links = PostgreSQLQuery(
        "links",
        """
        SELECT \(Self.bounded("token", 16)), \(Self.boundedLink) FROM %.links WHERE token > $1 ORDER BY token LIMIT $2
        """, .bytea, .bigint)

    // MARK: - Transactions

    static let beginReading = PostgreSQLQuery("begin-reading", "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    static let begin = PostgreSQLQuery("begin", "BEGIN ISOLATION LEVEL READ COMMITTED")
    static let commit = PostgreSQLQuery("commit", "COMMIT")
    static let rollback = PostgreSQLQuery("rollback", "ROLLBACK")

    /// The settings of a session, or of one transaction if a pool shares sessions.
    ///
    /// The server ends a silent transaction, so that a stopped process doesn't block others indefinitely. The server
    /// also checks during waits whether the client still exists. A statement's plan is made once and uses the index.
    /// Otherwise PostgreSQL would plan each lookup in a large table again, and would read a whole table by a plan that
    /// it made while the table was small.
    static func settings(ofTransaction: Bool) -> PostgreSQLQuery {
        let settings = [
            ("idle_in_transaction_session_timeout", "\(maximumSilence)"), ("client_connection_check_interval", "1000"),
            ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("enable_bitmapscan", "off"),
            ("jit", "off"),
            // Rows that a policy hides are an error, not missing; functions are the server's own.
            ("row_security", "off"), ("search_path", "pg_catalog"),
            // A COMMIT warns if a standby may not have it.
            ("client_min_messages", "warning"),
        ]
        let calls = settings.map { name, value in "pg_catalog.set_config('\(name)', '\(value)', \(ofTransaction))" }
        return PostgreSQLQuery("settings", "SELECT " + calls.joined(separator: ", "))
    }
    /// In milliseconds.
    static let maximumSilence = 15_000

    /// The holder of this row writes. The others wait for the row.
    static let lock = PostgreSQLQuery("lock", "SELECT 1 FROM %.records WHERE name = 'manifest' FOR UPDATE")

    /// Waits for processes that create a vault, before that row exists.
    static let lockRecords = PostgreSQLQuery("lock-records", "LOCK TABLE %.records IN SHARE MODE")

    // MARK: - Writing

    static let insertItem = PostgreSQLQuery.change(
        "insert-item", "INSERT INTO %.items(place, lookup, metadata, secret) VALUES($1, $2, $3, $4)", .bigint,
        .bytea,
        .bytea, .bytea)

    static let updateItem = PostgreSQLQuery.change(
        "update-item", "UPDATE %.items SET metadata = $3, secret = $4 WHERE place = $1 AND lookup = $2", .bigint,
        .bytea, .bytea, .bytea)

    static let deleteItem = PostgreSQLQuery.change(
        "delete-item", "DELETE FROM %.items WHERE place BETWEEN $1 AND $2 AND lookup = $3", .bigint, .bigint, .bytea
    )

    static let deletePlace = PostgreSQLQuery("delete-place", "DELETE FROM %.items WHERE place = $1", .bigint)

    static let putRecord = PostgreSQLQuery.change(
        "put-record",
        """
        INSERT INTO %.records(name, content) VALUES($1, $2) \
        ON CONFLICT (name) DO UPDATE SET content = excluded.content
        """, .text, .bytea)

    static let addRecord = PostgreSQLQuery.change(
        "add-record", "INSERT INTO %.records(name, content) VALUES($1, $2)", .text, .bytea)

    static let deleteRecord = PostgreSQLQuery("delete-record", "DELETE FROM %.records WHERE name = $1", .text)

    static let insertLink = PostgreSQLQuery.change(
        "insert-link", "INSERT INTO %.links(token, link) VALUES($1, $2)", .bytea, .bytea)

    static let updateLink = PostgreSQLQuery.change(
        "update-link", "UPDATE %.links SET link = $2 WHERE token = $1", .bytea, .bytea)

    static let deleteLink = PostgreSQLQuery("delete-link", "DELETE FROM %.links WHERE token = $1", .bytea)

    static let deleteLinks = PostgreSQLQuery("delete-links", "DELETE FROM %.links")

    // MARK: - Leases

    /// By the server's clock alone: those of hosts differ.
    static let takeLease = PostgreSQLQuery(
        "take-lease",
        """
        INSERT INTO %.leases AS l (name, holder, fence, until) \
        VALUES($1, $2, 1, clock_timestamp() + \(Self.leaseDuration)) ON CONFLICT (name) DO UPDATE \
        SET holder = excluded.holder, fence = l.fence + 1, until = excluded.until \
        WHERE l.until < clock_timestamp() RETURNING fence
        """, .bytea, .bytea)

    static let extendLease = PostgreSQLQuery(
        "extend-lease",
        """
        UPDATE %.leases SET until = clock_timestamp() + \(Self.leaseDuration) \
        WHERE name = $1 AND holder = $2 AND fence = $3 AND until <> '-infinity'
        """, .bytea, .bytea, .bigint)

    /// The row stays, so that the fence goes on counting.
    static let releaseLease = PostgreSQLQuery(
        "release-lease",
        "UPDATE %.leases SET until = '-infinity' WHERE name = $1 AND holder = $2 AND fence = $3", .bytea, .bytea,
        .bigint)

    /// Whoever takes a lease over waits until this transaction has ended.
    static let holdLease = PostgreSQLQuery(
        "hold-lease", "SELECT 1 FROM %.leases WHERE name = $1 AND holder = $2 AND fence = $3 FOR UPDATE", .bytea,
        .bytea, .bigint)

    private static let leaseDuration = "interval '\(RowLease.duration.components.seconds) seconds'"

    static let lockLeases = PostgreSQLQuery("lock-leases", "LOCK TABLE %.leases IN EXCLUSIVE MODE")

    static let activeLeases = PostgreSQLQuery(
        "active-leases", "SELECT count(*) FROM %.leases WHERE until >= clock_timestamp()")

    /// Selects no rows, but fails if the table isn't there, isn't readable or has other columns.
    static let noLeases = PostgreSQLQuery("no-leases", "SELECT name, holder, fence, until FROM %.leases LIMIT 0")

    static let deleteLeases = PostgreSQLQuery("delete-leases", "DELETE FROM %.leases")

    // MARK: - News

    /// Tells those who listen. The payload shows a keyed hash, or nothing.
    static let notify = PostgreSQLQuery("notify", "SELECT pg_notify('latchkey_%', $1)", .text)

    static let listen = PostgreSQLQuery("listen", "LISTEN latchkey_%")
}

// MARK: - Statements

extension VaultStore {
    /// The statements that give a database the tables of a vault, for its administrator: nothing here runs them.
    ///
    /// - Parameter role: may work with the vault, and do nothing else.
    package static func schemaStatements(_ schema: PostgreSQLSchemaName, for role: PostgreSQLSchemaName) -> String {
        var lines = ["BEGIN;", "CREATE SCHEMA \(schema.quoted);"]
        lines += PostgreSQLSchema.tables.map { schema.filled(in: $0) + ";" }
        lines += [
            "GRANT USAGE ON SCHEMA \(schema.quoted) TO \(role.quoted);",
            """
            GRANT SELECT, INSERT, UPDATE, DELETE ON \(schema.quoted).items, \(schema.quoted).links, \
            \(schema.quoted).records, \(schema.quoted).leases TO \(role.quoted);
            """, "COMMIT;",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
