internal import CLatchkeySQLite
internal import LatchkeyCredentials
internal import LatchkeyLog

extension StoreError {
    /// Says what an extended result code of SQLite means for a vault (sqlite.org/rescode.html).
    static func sqlite(_ code: Int32) -> StoreError {
        let platform = PlatformCode(
            domain: LoggableText(reviewed: "a word of ours", unredacted: "sqlite"), number: Int(code))
        func error(_ code: Code, _ cause: LogMessage, hint: LogMessage? = nil) -> StoreError {
            StoreError(code, cause, hint: hint, platform: platform)
        }
        switch code {
        case SQLite.ioDamaged, SQLite.ioShortRead, SQLite.ioFileSystemDamaged: return damaged(platform)
        case SQLite.ioRead, SQLite.ioSize, SQLite.ioAccess, SQLite.ioLock, SQLite.ioReadLock, SQLite.ioUnlock:
            return error(.unavailable, "the vault's file can't be read")
        case SQLite.readOnlyMoved:
            return error(
                .unavailable, "the vault was moved or replaced while it was open", hint: "\(Recovery.reopenVault)")
        case SQLite.readOnlyDirectory:
            return error(
                .cannotWrite, "the vault's directory can't be written to",
                hint: "make sure that you own the directory and its mode is 700")
        default: break
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: return error(.busy, "another process is using the vault")
        case SQLITE_NOTADB: return .noVault("it doesn't start like a vault", platform)
        // The tables were there when the vault was opened. SQLite doesn't see another file's in the same place by itself.
        case SQLITE_ERROR, SQLITE_SCHEMA:
            return error(
                .corrupted, "the vault's file is damaged, or was replaced while it was open",
                hint: "\(Recovery.reopenVault); if that fails too, \(Recovery.verifyVault), and restore a backup")
        // SQLITE_TOOBIG: saves are checked before, so the file has a row that no vault writes.
        case SQLITE_CORRUPT, SQLITE_FORMAT, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_TOOBIG:
            return damaged(platform)
        case SQLITE_FULL:
            return error(.cannotWrite, "the disk with the vault is full", hint: "free some space, then try again")
        case SQLITE_IOERR:
            return error(
                .cannotWrite, "the system could not write the vault; the old content is unchanged",
                hint: "make sure that the disk has room and that files may grow (`ulimit -f`)")
        case SQLITE_READONLY:
            return error(
                .cannotWrite, "the vault can't be written",
                hint: "make sure that the file's mode is 600 and that its file system isn't mounted read-only"
            )
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            return error(
                .permissionDenied, "the vault can't be opened",
                hint: "make sure that you own the file and its directory, with modes 600 and 700")
        // SQLite says so too of a row that claims nearly 4 GiB: it then asks for no bytes (btree.c, accessPayload).
        case SQLITE_NOMEM where canAllocate: return damaged(platform)
        case SQLITE_NOMEM: return error(.unavailable, "not enough memory for the vault")
        case SQLITE_INTERRUPT: return .cancelled
        default: return error(.unavailable, "SQLite refused the operation on the vault")
        }
    }

    /// Whether there is memory for the largest row.
    private static var canAllocate: Bool {
        guard let memory = unsafe sqlite3_malloc(Int32(SealedSize.maximumRowByteCount)) else { return false }
        unsafe sqlite3_free(memory)
        return true
    }

    private static func damaged(_ platform: PlatformCode) -> StoreError {
        StoreError(
            .corrupted, "the vault's file is damaged",
            hint: "\(Recovery.verifyVault), and restore a backup", platform: platform)
    }
}

/// Result codes that are macros too complex for the importer (sqlite.org/rescode.html).
enum SQLite {
    static let ioRead = SQLITE_IOERR | (1 << 8)
    static let ioShortRead = SQLITE_IOERR | (2 << 8)
    static let ioSize = SQLITE_IOERR | (7 << 8)
    static let ioUnlock = SQLITE_IOERR | (8 << 8)
    static let ioReadLock = SQLITE_IOERR | (9 << 8)
    static let ioAccess = SQLITE_IOERR | (13 << 8)
    static let ioLock = SQLITE_IOERR | (15 << 8)
    static let readOnlyMoved = SQLITE_READONLY | (4 << 8)
    static let readOnlyDirectory = SQLITE_READONLY | (6 << 8)
    static let ioFolderSync = SQLITE_IOERR | (5 << 8)
    static let ioDamaged = SQLITE_IOERR | (32 << 8)
    static let ioFileSystemDamaged = SQLITE_IOERR | (33 << 8)
}
