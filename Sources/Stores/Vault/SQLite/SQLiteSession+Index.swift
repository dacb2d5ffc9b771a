internal import LatchkeyCredentials
internal import LatchkeyLog

/// The statements for the index and for finding what it names, prepared when they are first needed.
struct IndexStatements {
    fileprivate let readBeginning, readLink, readLinks, addLink, replaceLink, removeLink, removeLinks: SQLiteStatement

    init(on connection: SQLiteConnection) throws(StoreError) {
        readBeginning = try connection.prepare(
            """
            SELECT place, lookup, metadata FROM items WHERE place BETWEEN ?1 AND ?2 AND substr(lookup, 1, 16) = ?3
            """)
        readLink = try connection.prepare("SELECT link FROM links WHERE token = ?1")
        // As for items: what the walk comes to is looked up as well, since a forged inner page can lead a lookup
        // elsewhere.
        readLinks = try connection.prepare(
            """
            SELECT walked.token, walked.link FROM links AS walked CROSS JOIN links AS found \
            ON found.token = walked.token WHERE walked.token > ?1 ORDER BY walked.token LIMIT ?2
            """)
        addLink = try connection.prepare("INSERT INTO links(token, link) VALUES(?1, ?2)")
        replaceLink = try connection.prepare("UPDATE links SET link = ?2 WHERE token = ?1")
        removeLink = try connection.prepare("DELETE FROM links WHERE token = ?1")
        removeLinks = try connection.prepare("DELETE FROM links")
    }
}

extension SQLiteSession {
    func heading(beginning: [UInt8]) throws(StoreError) -> ItemHeading? {
        try holdView()
        let statement = try indexing.get().readBeginning
        defer { statement.reset() }
        let places = ItemPlaces(of: beginning)
        try statement.bind(1, Int(places.first))
        try statement.bind(2, Int(places.last))
        try statement.bind(3, beginning)
        guard try statement.step() else { return nil }
        let found = ItemHeading(
            place: statement.integer(0), lookup: try statement.blob(1), metadata: try statement.blob(2))
        guard try !statement.step() else { throw .itemTwice }
        return found
    }

    func link(_ token: [UInt8]) throws(StoreError) -> [UInt8]? {
        try holdView()
        let statement = try indexing.get().readLink
        defer { statement.reset() }
        try statement.bind(1, token)
        return try statement.step() ? try statement.blob(0) : nil
    }

    func links(after token: [UInt8]?, limit: Int) throws(StoreError) -> [LinkRow] {
        try holdView()
        let statement = try indexing.get().readLinks
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
        let indexing = try indexing.get()
        let statement = isNew ? indexing.addLink : indexing.replaceLink
        try statement.bind(1, token)
        try statement.bind(2, content)
        try statement.run()
    }

    func remove(link token: [UInt8]) throws(StoreError) {
        let statement = try indexing.get().removeLink
        try statement.bind(1, token)
        try statement.run()
    }

    func removeAllLinks() throws(StoreError) { try indexing.get().removeLinks.run() }
}

extension StoreError {
    /// Which one is right can't be told, and to take one away would bring the other to light.
    static var itemTwice: StoreError { .vaultCorrupted("an item is there twice") }
}
