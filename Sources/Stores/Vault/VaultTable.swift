internal import LatchkeyCredentials

/// The table of a vault: in a file, or in a database. One type for both, so that vaults of either kind are copied into
/// each other, and all above is compiled once.
enum VaultTable: RowTable {
    case file(SQLiteRowTable)
    case database(PostgreSQLRowTable)

    func read<Result: ~Copyable & Sendable>(
        _ cancellation: Cancellation?, _ body: (VaultSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        switch self {
        case .file(let table):
            try table.read(cancellation) { (session) throws(StoreError) in try body(.file(session)) }
        case .database(let table):
            try table.read(cancellation) { (session) throws(StoreError) in try body(.database(session)) }
        }
    }

    func write<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (VaultSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        switch self {
        case .file(let table):
            try table.write(cancellation) { (session) throws(StoreError) in try body(.file(session)) }
        case .database(let table):
            try table.write(cancellation) { (session) throws(StoreError) in try body(.database(session)) }
        }
    }

    func separate(_ cancellation: Cancellation, copyingFrom byteCount: Int) throws(StoreError) -> VaultTable {
        switch self {
        case .file(let table): .file(try table.separate(cancellation, copyingFrom: byteCount))
        case .database(let table): .database(try table.separate(cancellation, copyingFrom: byteCount))
        }
    }

    var comparedCount: Int {
        switch self {
        case .file(let table): table.comparedCount
        case .database(let table): table.comparedCount
        }
    }

    var comparesAgain: Bool {
        switch self {
        case .file(let table): table.comparesAgain
        case .database(let table): table.comparesAgain
        }
    }

    func lease(_ lookup: [UInt8], _ cancellation: Cancellation) throws(StoreError) -> RowLease? {
        guard case .database(let table) = self else { return nil }
        return try table.lease(lookup, cancellation)
    }

    func extend(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError) -> Bool {
        guard case .database(let table) = self else { return false }
        return try table.extend(lease, cancellation)
    }

    func release(_ lease: RowLease, _ cancellation: Cancellation) throws(StoreError) {
        guard case .database(let table) = self else { return }
        try table.release(lease, cancellation)
    }

    func damage(_ cancellation: Cancellation) throws(StoreError) -> [TableDamage] {
        switch self {
        case .file(let table): try table.damage(cancellation)
        case .database(let table): try table.damage(cancellation)
        }
    }
}

/// A view or a transaction of either.
enum VaultSession: RowTransaction {
    case file(SQLiteSession)
    case database(PostgreSQLSession)

    func withItem<Result: ~Copyable>(
        _ lookup: [UInt8], _ body: (_ metadata: Span<UInt8>, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        switch self {
        case .file(let session): try session.withItem(lookup, body)
        case .database(let session): try session.withItem(lookup, body)
        }
    }

    func withItem<Result: ~Copyable>(
        place: Int64, _ body: (ItemHeading, _ secret: Span<UInt8>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        switch self {
        case .file(let session): try session.withItem(place: place, body)
        case .database(let session): try session.withItem(place: place, body)
        }
    }

    private var session: any RowTransaction {
        switch self {
        case .file(let session): session
        case .database(let session): session
        }
    }

    func heading(_ lookup: [UInt8]) throws(StoreError) -> ItemHeading? { try session.heading(lookup) }
    func heading(beginning: [UInt8]) throws(StoreError) -> ItemHeading? { try session.heading(beginning: beginning) }

    func items(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try session.items(after: place, limit: limit)
    }

    func foundItems(after place: Int64?, limit: Int) throws(StoreError) -> [ItemHeading] {
        try session.foundItems(after: place, limit: limit)
    }

    func record(_ name: String) throws(StoreError) -> [UInt8]? { try session.record(name) }
    func records() throws(StoreError) -> [NamedRecord] { try session.records() }

    /// Asked for with every read.
    func changeMark() throws(StoreError) -> UInt32 {
        switch self {
        case .file(let session): try session.changeMark()
        case .database(let session): try session.changeMark()
        }
    }

    func link(_ token: [UInt8]) throws(StoreError) -> [UInt8]? { try session.link(token) }

    func links(after token: [UInt8]?, limit: Int) throws(StoreError) -> [LinkRow] {
        try session.links(after: token, limit: limit)
    }

    func put(_ lookup: [UInt8], metadata: [UInt8], secret: [UInt8]) throws(StoreError) {
        try session.put(lookup, metadata: metadata, secret: secret)
    }

    func remove(_ lookup: [UInt8]) throws(StoreError) { try session.remove(lookup) }
    func put(record name: String, _ content: [UInt8]) throws(StoreError) { try session.put(record: name, content) }
    func remove(record name: String) throws(StoreError) { try session.remove(record: name) }
    func remove(place: Int64) throws(StoreError) { try session.remove(place: place) }

    func put(link token: [UInt8], _ content: [UInt8], isNew: Bool) throws(StoreError) {
        try session.put(link: token, content, isNew: isNew)
    }

    func remove(link token: [UInt8]) throws(StoreError) { try session.remove(link: token) }
    func removeAllLinks() throws(StoreError) { try session.removeAllLinks() }
    func endLeases() throws(StoreError) { try session.endLeases() }
    func changeMarkOfCommit() throws(StoreError) -> UInt32 { try session.changeMarkOfCommit() }
}
