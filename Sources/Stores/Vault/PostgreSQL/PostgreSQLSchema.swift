/// The tables of a vault in a database, and the statements that work on them.
///
/// The layout is that of the file (Docs/Formats/vault-v1.md): the same rows, sealed in the same way. A lease is the
/// only thing that the file doesn't have.
struct PostgreSQLSchema: Sendable {
    let schema: PostgreSQLSchemaName

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

    private func query(_ name: String, _ sql: String, _ types: PostgreSQLType...) -> PostgreSQLQuery {
        PostgreSQLQuery(
            name: "\(schema.name).\(name)", sql: sql.replacing("%.", with: "\(schema.name)."), types: types)
    }

    // MARK: - Reading

    /// What shows that a vault was changed: the beginning of its manifest, which is sealed with another nonce each time.
    private static let mark = "substr(content, 1, 4)"
    /// Where the rows of hostile hands are longer than a vault's, they aren't sent.
    private static func bounded(_ column: String, _ limit: Int) -> String {
        "CASE WHEN octet_length(\(column)) <= \(limit) THEN \(column) END"
    }
    private static let metadata = bounded("metadata", SealedSize.maximumMetadataByteCount + 64)
    private static let secret = bounded("secret", SealedSize.maximumRowByteCount)
    private static let lookup = bounded("lookup", VaultKeys.lookupByteCount)
    private static let content = bounded("content", PostgreSQLSchema.maximumRecordByteCount)
    static let maximumRecordByteCount = 4 << 20

    /// One item, and the mark: a read of one credential is this statement alone.
    var item: PostgreSQLQuery {
        query(
            "item",
            """
            SELECT \(Self.mark), place, \(Self.metadata), \(Self.secret) FROM %.records \
            LEFT JOIN %.items ON place BETWEEN $1 AND $2 AND lookup = $3 WHERE name = 'manifest'
            """, .bigint, .bigint, .bytea)
    }

    /// The same in a transaction, which knows the records.
    var itemInTransaction: PostgreSQLQuery {
        query(
            "item-in-transaction",
            """
            SELECT NULL, place, \(Self.metadata), \(Self.secret) FROM %.items \
            WHERE place BETWEEN $1 AND $2 AND lookup = $3
            """, .bigint, .bigint, .bytea)
    }

    var records: PostgreSQLQuery {
        query(
            "records", "SELECT name, \(Self.content) FROM %.records ORDER BY name LIMIT $1", .bigint)
    }

    /// The same after `lock`, with the transaction's number.
    var recordsForWriting: PostgreSQLQuery {
        query(
            "records-for-writing",
            """
            SELECT name, \(Self.content), pg_current_xact_id()::text::bigint FROM %.records ORDER BY name LIMIT $1
            """, .bigint)
    }

    var heading: PostgreSQLQuery {
        query(
            "heading",
            "SELECT place, \(Self.metadata) FROM %.items WHERE place BETWEEN $1 AND $2 AND lookup = $3",
            .bigint, .bigint, .bytea)
    }

    var beginning: PostgreSQLQuery {
        query(
            "beginning",
            """
            SELECT place, \(Self.lookup), \(Self.metadata) FROM %.items \
            WHERE place BETWEEN $1 AND $2 AND substr(lookup, 1, 16) = $3
            """, .bigint, .bigint, .bytea)
    }

    var place: PostgreSQLQuery {
        query(
            "place", "SELECT \(Self.lookup), \(Self.metadata), \(Self.secret) FROM %.items WHERE place = $1",
            .bigint)
    }

    var items: PostgreSQLQuery {
        query(
            "items",
            """
            SELECT place, \(Self.lookup), \(Self.metadata) FROM %.items WHERE place > $1 \
            ORDER BY place LIMIT $2
            """, .bigint, .bigint)
    }

    var taken: PostgreSQLQuery {
        query(
            "taken", "SELECT place, \(Self.lookup) FROM %.items WHERE place BETWEEN $1 AND $2 ORDER BY place",
            .bigint, .bigint)
    }

    private static let link = bounded("link", 65536)

    var link: PostgreSQLQuery {
        query("link", "SELECT \(Self.link) FROM %.links WHERE token = $1", .bytea)
    }

    var links: PostgreSQLQuery {
        query(
            "links",
            """
            SELECT \(Self.bounded("token", 16)), \(Self.link) FROM %.links WHERE token > $1 ORDER BY token LIMIT $2
            """, .bytea, .bigint)
    }

    // MARK: - Transactions

    static let beginReading = PostgreSQLQuery(
        name: "begin-reading", sql: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", types: [])
    static let begin = PostgreSQLQuery(name: "begin", sql: "BEGIN ISOLATION LEVEL READ COMMITTED", types: [])
    static let commit = PostgreSQLQuery(name: "commit", sql: "COMMIT", types: [])
    static let rollback = PostgreSQLQuery(name: "rollback", sql: "ROLLBACK", types: [])

    /// After what silence of ours in a transaction the server ends it, so that a process that is stopped doesn't keep
    /// others out for ever, and how soon it notices in a wait that we are gone.
    static func limits(ofTransaction: Bool) -> PostgreSQLQuery {
        PostgreSQLQuery(
            name: "limits",
            sql: """
                SELECT set_config('idle_in_transaction_session_timeout', '\(maximumSilence)', \(ofTransaction)), \
                set_config('client_connection_check_interval', '1000', \(ofTransaction))
                """, types: [])
    }
    /// In milliseconds.
    static let maximumSilence = 15_000

    /// Who has this row writes; the others wait for it.
    var lock: PostgreSQLQuery {
        query("lock", "SELECT 1 FROM %.records WHERE name = 'manifest' FOR UPDATE")
    }

    static let outcome = PostgreSQLQuery(
        name: "outcome", sql: "SELECT pg_xact_status($1::text::xid8)", types: [.text])

    // MARK: - Writing

    var insertItem: PostgreSQLQuery {
        query(
            "insert-item", "INSERT INTO %.items(place, lookup, metadata, secret) VALUES($1, $2, $3, $4)", .bigint,
            .bytea,
            .bytea, .bytea)
    }

    var updateItem: PostgreSQLQuery {
        query(
            "update-item", "UPDATE %.items SET metadata = $3, secret = $4 WHERE place = $1 AND lookup = $2", .bigint,
            .bytea, .bytea, .bytea)
    }

    var deleteItem: PostgreSQLQuery {
        query(
            "delete-item", "DELETE FROM %.items WHERE place BETWEEN $1 AND $2 AND lookup = $3", .bigint, .bigint, .bytea
        )
    }

    var deletePlace: PostgreSQLQuery {
        query("delete-place", "DELETE FROM %.items WHERE place = $1", .bigint)
    }

    var putRecord: PostgreSQLQuery {
        query(
            "put-record",
            """
            INSERT INTO %.records(name, content) VALUES($1, $2) \
            ON CONFLICT (name) DO UPDATE SET content = excluded.content
            """, .text, .bytea)
    }

    var addRecord: PostgreSQLQuery {
        query("add-record", "INSERT INTO %.records(name, content) VALUES($1, $2)", .text, .bytea)
    }

    var deleteRecord: PostgreSQLQuery {
        query("delete-record", "DELETE FROM %.records WHERE name = $1", .text)
    }

    var insertLink: PostgreSQLQuery {
        query("insert-link", "INSERT INTO %.links(token, link) VALUES($1, $2)", .bytea, .bytea)
    }

    var updateLink: PostgreSQLQuery {
        query("update-link", "UPDATE %.links SET link = $2 WHERE token = $1", .bytea, .bytea)
    }

    var deleteLink: PostgreSQLQuery {
        query("delete-link", "DELETE FROM %.links WHERE token = $1", .bytea)
    }

    var deleteLinks: PostgreSQLQuery { query("delete-links", "DELETE FROM %.links") }

    // MARK: - Leases

    /// By the server's clock alone: those of hosts differ.
    var takeLease: PostgreSQLQuery {
        query(
            "take-lease",
            """
            INSERT INTO %.leases AS l (name, holder, fence, until) \
            VALUES($1, $2, 1, clock_timestamp() + \(Self.leaseDuration)) ON CONFLICT (name) DO UPDATE \
            SET holder = excluded.holder, fence = l.fence + 1, until = excluded.until \
            WHERE l.until < clock_timestamp() RETURNING fence
            """, .bytea, .bytea)
    }

    var extendLease: PostgreSQLQuery {
        query(
            "extend-lease",
            """
            UPDATE %.leases SET until = clock_timestamp() + \(Self.leaseDuration) \
            WHERE name = $1 AND holder = $2 AND fence = $3
            """, .bytea, .bytea, .bigint)
    }

    /// The row stays, so that the fence goes on counting.
    var releaseLease: PostgreSQLQuery {
        query(
            "release-lease",
            "UPDATE %.leases SET until = '-infinity' WHERE name = $1 AND holder = $2 AND fence = $3", .bytea, .bytea,
            .bigint)
    }

    /// Whoever takes a lease over waits until this transaction has ended.
    var holdLease: PostgreSQLQuery {
        query(
            "hold-lease", "SELECT 1 FROM %.leases WHERE name = $1 AND holder = $2 AND fence = $3 FOR UPDATE", .bytea,
            .bytea, .bigint)
    }

    private static let leaseDuration = "interval '\(RowLease.duration.components.seconds) seconds'"

    var lockLeases: PostgreSQLQuery { query("lock-leases", "LOCK TABLE %.leases IN EXCLUSIVE MODE") }

    var activeLeases: PostgreSQLQuery {
        query("active-leases", "SELECT count(*) FROM %.leases WHERE until >= clock_timestamp()")
    }

    var deleteLeases: PostgreSQLQuery { query("delete-leases", "DELETE FROM %.leases") }

    // MARK: - News

    /// Tells those who listen. The payload shows a keyed hash, or nothing.
    var notify: PostgreSQLQuery {
        query("notify", "SELECT pg_notify('latchkey_\(schema.name)', $1)", .text)
    }

    var listen: PostgreSQLQuery { query("listen", "LISTEN latchkey_\(schema.name)") }
}
