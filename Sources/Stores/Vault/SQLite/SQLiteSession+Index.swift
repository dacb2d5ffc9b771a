internal import LatchkeyCredentials
internal import LatchkeyLog

/// The statements for the index and for finding what it names.
struct IndexStatements {
    fileprivate var readBeginning = LazyStatement(
        "SELECT place, lookup, metadata FROM items WHERE place BETWEEN ?1 AND ?2 AND substr(lookup, 1, 16) = ?3")
    fileprivate var readLink = LazyStatement("SELECT link FROM links WHERE token = ?1")
    /// As for items, the statement also looks up each row of the walk, because a forged inner page can mislead a
    /// lookup.
    fileprivate var readLinks = LazyStatement(
        """
        SELECT walked.token, walked.link FROM links AS walked CROSS JOIN links AS found \
        ON found.token = walked.token WHERE walked.token > ?1 ORDER BY walked.token LIMIT ?2
        """)
    fileprivate var addLink = LazyStatement("INSERT INTO links(token, link) VALUES(?1, ?2)")
    fileprivate var replaceLink = LazyStatement("UPDATE links SET link = ?2 WHERE token = ?1")
    fileprivate var removeLink = LazyStatement("DELETE FROM links WHERE token = ?1")
    fileprivate var removeLinks = LazyStatement("DELETE FROM links")
}

extension SQLiteSession {
    func heading(beginning: [UInt8]) throws(StoreError) -> ItemHeading? {
        try holdView()
        let statement = try indexing.readBeginning.on(connection)
        defer { statement.reset() }
        try statement.bind(item: beginning)
        guard try statement.step() else { return nil }
        let found = ItemHeading(
            place: statement.integer(0), lookup: try statement.blob(1), metadata: try statement.blob(2))
        guard try !statement.step() else { throw .itemTwice }
        return found
    }

    func link(_ token: [UInt8]) throws(StoreError) -> [UInt8]? {
        try holdView()
        let statement = try indexing.readLink.on(connection)
        defer { statement.reset() }
        try statement.bind(1, token)
        return try statement.step() ? try statement.blob(0) : nil
    }

    func links(after token: [UInt8]?, limit: Int) throws(StoreError) -> [LinkRow] {
        try holdView()
        let statement = try indexing.readLinks.on(connection)
        defer { statement.reset() }
        try statement.bind(1, token ?? [])
        try statement.bind(2, limit)
        var rows: [LinkRow] = []
        var last = token ?? []
        while try statement.step() {
            let row = LinkRow(token: try statement.blob(0), link: try statement.blob(1))
            // As for items: a forged table can have its rows in any order.
            guard last.lexicographicallyPrecedes(row.token) else { throw .vaultCorrupted("its index is out of order") }
            last = row.token
            rows.append(row)
        }
        return rows
    }

    func put(link token: [UInt8], _ content: [UInt8], isNew: Bool) throws(StoreError) {
        let statement = try isNew ? indexing.addLink.on(connection) : indexing.replaceLink.on(connection)
        try statement.bind(1, token)
        try statement.bind(2, content)
        try statement.run()
    }

    func remove(link token: [UInt8]) throws(StoreError) {
        let statement = try indexing.removeLink.on(connection)
        try statement.bind(1, token)
        try statement.run()
    }

    func removeAllLinks() throws(StoreError) { try indexing.removeLinks.on(connection).run() }
}

extension StoreError {
    /// The error for two rows of an item. The right one is unknown, and deleting one would reveal the other.
    static var itemTwice: StoreError { .vaultCorrupted("an item is stored twice") }
}

// MARK: - Damage

// The engine's checks of its file.

extension SQLiteSession {
    func damage(_ cancellation: Cancellation) throws(StoreError) -> [VaultProblem] {
        try snapshot { (session) throws(StoreError) -> [VaultProblem] in
            var damage: [VaultProblem] = []
            // A lookup takes the lock. If even that fails, the pages are read without it.
            if try nilIf(\StoreError.isCorruption, of: session.record(Manifest.recordName)) == nil {
                damage.append(.brokenStructure)
            }
            let pages = try session.connection.checkPages(cancellation)
            let size = try nilIf(\StoreError.isCorruption, of: session.connection.pagesByteCount())
            // Before the pages: in a hole there are more damaged ones than are reported.
            if let size, size != pages.fileByteCount { damage.append(.wrongLength) }
            damage += pages.damaged.map(VaultProblem.damagedPage)
            let isSound = try nilIf(\StoreError.isCorruption, of: session.hasSoundStructure(cancellation))
            if isSound != true { damage.append(.brokenStructure) }
            return damage
        }
    }

    private func hasSoundStructure(_ cancellation: Cancellation) throws(StoreError) -> Bool {
        try cancellation.check()
        let structure = try connection.prepare("PRAGMA integrity_check(1)")
        defer { structure.reset() }
        guard try structure.step() else { return true }
        return try structure.text(0) == "ok"
    }
}
