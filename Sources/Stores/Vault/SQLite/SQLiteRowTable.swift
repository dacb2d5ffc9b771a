internal import CLatchkeyLinux
internal import CLatchkeySQLite
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// The row table in a file of SQLite, with rollback journal. A commit is on the disk when `write` returns. Readers
/// never write. No copy of an old row stays in a log.
final class SQLiteRowTable: RowTable {
    let path: String
    private let isReadAsItIs: Bool
    /// Lends to one reading task at a time; a lookup takes microseconds.
    private let reader: Mutex<SQLiteSession>
    /// Opened at the first write.
    private let writer = Mutex<SQLiteSession?>(nil)

    static let applicationID = 0x4C4B_5631  // "LKV1"

    /// Opens the table in an existing file whose path was checked.
    convenience init(_ place: VaultPath) throws(StoreError) {
        try self.init(path: place.file, asItIs: place.isReadAsItIs)
    }

    init(path: String, asItIs: Bool = false) throws(StoreError) {
        self.path = path
        isReadAsItIs = asItIs
        let connection = try SQLiteConnection(path: path, role: .reader, asItIs: asItIs)
        let session = try SQLiteSession(connection)
        try connection.fitCache()
        reader = Mutex(session)
    }

    /// Writes a new table with these records, and the rows that `fill` adds, into an empty file.
    static func create(
        path: String, records: [NamedRecord], fill: (SQLiteSession) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, role: .creator)
        try connection.execute("PRAGMA application_id = \(applicationID); BEGIN IMMEDIATE")
        for table in SQLiteSession.schema { try connection.execute(table.sql) }
        let session = try SQLiteSession(connection)
        for record in records { try session.put(record: record.name, record.content) }
        try fill(session)
        try connection.execute("COMMIT")
    }

    func read<Result: ~Copyable & Sendable>(
        _ cancellation: Cancellation?, _ body: (any RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if cancellation != nil { return try snapshot(body) }
        let result = try reader.withLockIfAvailable { (session) throws(StoreError) in try session.snapshot(body) }
        guard let result else { throw StoreError(.busy, "another thread reads the vault") }
        return result
    }

    /// Lends a consistent view, once no other thread reads.
    func snapshot<Result: ~Copyable & Sendable>(
        _ body: (SQLiteSession) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try reader.withLock { (session) throws(StoreError) in try session.snapshot(body) }
    }

    func write<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (any RowTransaction) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try writer.withLock { (present) throws(StoreError) -> Result in
            try cancellation.check()
            let session: SQLiteSession
            if let present {
                session = present
            } else {
                // The journal would be in another file system, or gone with the container, after a crash.
                guard unsafe latchkey_is_mount(path) == 0 else { throw .mountedAlone }
                session = try cancellation.retry { () throws(StoreError) in
                    try SQLiteSession(SQLiteConnection(path: path, role: .writer))
                }
                present = session
            }
            return try session.transaction(cancellation, body)
        }
    }

    func separate(_ cancellation: Cancellation, copyingFrom byteCount: Int) throws(StoreError) -> any RowTable {
        let table = try SQLiteRowTable(path: path, asItIs: isReadAsItIs)
        // Without locks no process waits.
        if isReadAsItIs { return table }
        return try table.copy(cancellation, from: byteCount) ?? table
    }

    func damage(_ cancellation: Cancellation) throws(StoreError) -> [VaultProblem] {
        try reader.withLock { (session) throws(StoreError) in try session.damage(cancellation) }
    }
}

// MARK: - Copying

// An exact copy of the file, for work that takes longer than writers should wait.

extension SQLiteRowTable {
    /// How large a file is that is copied for reading all of it: what is smaller is read within some tenths of a
    /// second.
    static let copiedByteCount = 16 << 20

    /// Copies the file beside itself while it is locked for reading, a second or two for a gigabyte, and opens the
    /// copy.
    ///
    /// The copy is as encrypted as the file and has mode 0600. It loses its name as soon as it is open, so that a
    /// killed process doesn't leave a file. Returns `nil` for a smaller file, and if the copy fails.
    func copy(_ cancellation: Cancellation, from byteCount: Int) throws(StoreError) -> SQLiteRowTable? {
        let temporaryFile: TemporaryFile?
        do throws(StoreError) {
            temporaryFile = try snapshot { (view) throws(StoreError) -> TemporaryFile? in
                // A lookup takes the lock.
                _ = try view.record(Manifest.recordName)
                // A hole behind the pages would fill the disk.
                let size = try view.connection.fileByteCount()
                guard size >= byteCount, try view.connection.pagesByteCount() == size else { return nil }
                let temporaryFile = try TemporaryFile(of: path, in: PrivateDirectory.containing(path))
                do throws(StoreError) {
                    try view.connection.copyFile(cancellation) { (bytes) throws(StoreError) in
                        try temporaryFile.append(bytes)
                    }
                } catch {
                    temporaryFile.remove()
                    throw error
                }
                return temporaryFile
            }
        } catch {
            // A damaged file is read in place too.
            guard [.cannotWrite, .permissionDenied, .unavailable, .corrupted].contains(error.code) else { throw error }
            return nil
        }
        guard let temporaryFile else { return nil }
        defer { temporaryFile.remove() }
        return try SQLiteRowTable(path: temporaryFile.path, asItIs: true)
    }
}
