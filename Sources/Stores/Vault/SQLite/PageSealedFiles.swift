internal import CLatchkeySQLite
internal import Glibc
internal import LatchkeyCredentials

/// A file system for SQLite (sqlite.org/vfs.html) that keeps a checksum in the last 8 bytes of each page of the vault,
/// so that no flipped bit goes unnoticed, wherever in the file it is: slack, free pages and headers included.
///
/// The checksum finds damage; forgery is what the sealing of rows and manifest is for. Everything but the reading and
/// writing of the main file goes to SQLite's own file system. It offers no shared memory and no mapping, so a file
/// that asks for a write-ahead log is refused.
enum PageSealedFiles {
    static let name = "latchkey-vault"
    static let pageByteCount = 4096
    static let sealByteCount = 8
    /// SQLite never reads or writes the page with the bytes that it locks (fileformat2, section 1.4).
    static let lockPage = 0x4000_0000 / pageByteCount + 1
    /// The most that a write may leave out behind the file's end, in bytes; a transaction's cache is a sixth of it.
    static let longestGap: sqlite3_int64 = 256 << 20
    /// The start of the file that SQLite looks at before it holds a lock.
    private static let headerByteCount = 100

    /// Makes the file system known to SQLite, once; not as its default.
    static func register() { precondition(registered, "SQLite lacks its file system") }

    // MARK: - Checksums

    /// The checksum of a page without its seal, with the page's number as seed.
    static func seal(ofPage number: Int, _ page: Span<UInt8>) -> UInt64 {
        PageChecksum.digest(page.extracting(first: pageByteCount - sealByteCount), seed: UInt64(number))
    }

    static func isIntact(page number: Int, _ page: Span<UInt8>) -> Bool {
        let stored = (0..<sealByteCount).reduce(UInt64(0)) {
            $0 | UInt64(page[pageByteCount - sealByteCount + $1]) << UInt64($1 * 8)
        }
        return stored == seal(ofPage: number, page)
    }

    /// Puts a page's seal at its end.
    static func seal(page number: Int, _ page: inout MutableSpan<UInt8>) {
        let seal = seal(ofPage: number, page.span)
        for byte in 0..<sealByteCount {
            page[pageByteCount - sealByteCount + byte] = UInt8(truncatingIfNeeded: seal >> UInt64(byte * 8))
        }
    }

    /// Whether a first page is a vault's by its first 16 bytes and its application id (fileformat2, section 1.3).
    private static func isHeaderOfVault(_ page: Span<UInt8>) -> Bool {
        let magic = Array("SQLite format 3\0".utf8)
        let identifier = (68..<72).reduce(0) { $0 << 8 | Int(page[$1]) }
        return magic.indices.allSatisfy { magic[$0] == page[$0] } && identifier == SQLiteRowTable.applicationID
    }

    /// Whether a first page says that pages are as large as ours, with room for the seals, and written with a rollback
    /// journal: a forged one can't have SQLite put rows where they go, nor keep it from writing (fileformat2, sections
    /// 1.3.2 to 1.3.4).
    private static func hasOurPages(_ page: Span<UInt8>) -> Bool {
        Int(page[16]) << 8 | Int(page[17]) == pageByteCount && page[18] == 1 && page[19] == 1
            && Int(page[20]) == sealByteCount
    }

    /// Zeroes the unused room between a b-tree page's cell pointers and its cells (fileformat2, section 1.6).
    ///
    /// `secure_delete` covers what is deleted from a page, but not what was moved off it to another: without this,
    /// parts of a row stay behind after the row is deleted elsewhere. Other pages begin with a page number below 2^25
    /// (the writer's `max_page_count`), so their first byte is 0 or 1.
    private static func clearGap(ofPage number: Int, _ page: inout [UInt8]) {
        let header = number == 1 ? headerByteCount : 0
        let headerLength: Int
        switch page[header] {
        case 2, 5: headerLength = 12
        case 10, 13: headerLength = 8
        default: return
        }
        func word(_ offset: Int) -> Int { Int(page[header + offset]) << 8 | Int(page[header + offset + 1]) }
        let start = header + headerLength + word(3) * 2
        let end = word(5)
        guard start < end, end <= pageByteCount - sealByteCount else { return }
        unsafe page.withUnsafeMutableBytes { _ = unsafe memset($0.baseAddress! + start, 0, end - start) }
    }

    // MARK: - Reading all of it

    /// Call it while the file is locked for reading, as the two below.
    static func byteCount(of file: UnsafeMutablePointer<sqlite3_file>) throws(StoreError) -> Int {
        let inner = unsafe innerFile(file)
        var size: sqlite3_int64 = 0
        let status = unsafe inner.pointee.pMethods.pointee.xFileSize(inner, &size)
        guard status == SQLITE_OK else { throw .sqlite(status) }
        return Int(size)
    }

    /// The big-endian number in bytes 24 to 27 of the file.
    static func changeCounter(of file: UnsafeMutablePointer<sqlite3_file>) throws(StoreError) -> UInt32 {
        let inner = unsafe innerFile(file)
        var counter: UInt32 = 0
        let status = unsafe withUnsafeMutableBytes(of: &counter) {
            unsafe inner.pointee.pMethods.pointee.xRead(inner, $0.baseAddress!, 4, 24)
        }
        guard status == SQLITE_OK else { throw .sqlite(status) }
        return UInt32(bigEndian: counter)
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ bytes: inout [UInt8], at offset: Int
    ) throws(StoreError) {
        let inner = unsafe innerFile(file)
        let count = Int32(bytes.count)
        let status = unsafe bytes.withUnsafeMutableBytes {
            unsafe inner.pointee.pMethods.pointee.xRead(inner, $0.baseAddress!, count, sqlite3_int64(offset))
        }
        guard status == SQLITE_OK else { throw .sqlite(status) }
    }

    /// The numbers of damaged pages, of a few more than are reported, with the file's size.
    static func damagedPages(
        of file: UnsafeMutablePointer<sqlite3_file>, _ cancellation: Cancellation
    ) throws(StoreError) -> (damaged: [Int], fileByteCount: Int) {
        let size = try unsafe byteCount(of: file)
        var damaged: [Int] = []
        var page = [UInt8](repeating: 0, count: pageByteCount)
        for number in 0..<size / pageByteCount where number + 1 != lockPage {
            if number % 64 == 0 { try cancellation.check() }
            try unsafe read(file, &page, at: number * pageByteCount)
            if !isIntact(page: number + 1, page.span) { damaged.append(number + 1) }
            if damaged.count > VaultVerification.maximumProblemCount { break }
        }
        return (damaged, size)
    }

    /// Lends the bytes of the file as they are, up to 1 MiB at a time.
    static func copy(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ cancellation: Cancellation,
        _ body: ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) {
        let size = try unsafe byteCount(of: file)
        var bytes = [UInt8](repeating: 0, count: min(size, 1 << 20))
        for offset in stride(from: 0, to: size, by: 1 << 20) {
            try cancellation.check()
            if size - offset < bytes.count { bytes.removeLast(bytes.count - (size - offset)) }
            try unsafe read(file, &bytes, at: offset)
            try body(bytes)
        }
    }

    // MARK: - Registration

    /// Our part of an open file comes first in the memory SQLite gives, its own file system's part behind it.
    private static let ownByteCount = 16

    private static func innerFile(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<sqlite3_file> {
        unsafe (UnsafeMutableRawPointer(file) + ownByteCount).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func system(_ file: UnsafeMutablePointer<sqlite3_file>) -> sqlite3_io_methods {
        unsafe innerFile(file).pointee.pMethods.pointee
    }

    nonisolated(unsafe) private static let original = unsafe sqlite3_vfs_find(nil)

    /// Written once, before SQLite first sees them; never freed.
    nonisolated(unsafe) private static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        unsafe methods.initialize(to: sqlite3_io_methods())
        unsafe methods.pointee.iVersion = 1
        unsafe methods.pointee.xClose = { unsafe system($0!).xClose(innerFile($0!)) }
        unsafe methods.pointee.xRead = { unsafe read($0!, $1!, $2, $3) }
        unsafe methods.pointee.xWrite = { unsafe write($0!, $1!, $2, $3) }
        unsafe methods.pointee.xTruncate = { unsafe system($0!).xTruncate(innerFile($0!), $1) }
        unsafe methods.pointee.xSync = { unsafe system($0!).xSync(innerFile($0!), $1) }
        unsafe methods.pointee.xFileSize = { unsafe system($0!).xFileSize(innerFile($0!), $1) }
        unsafe methods.pointee.xLock = { unsafe system($0!).xLock(innerFile($0!), $1) }
        unsafe methods.pointee.xUnlock = { unsafe system($0!).xUnlock(innerFile($0!), $1) }
        unsafe methods.pointee.xCheckReservedLock = { unsafe system($0!).xCheckReservedLock(innerFile($0!), $1) }
        unsafe methods.pointee.xFileControl = { unsafe system($0!).xFileControl(innerFile($0!), $1, $2) }
        unsafe methods.pointee.xSectorSize = { unsafe system($0!).xSectorSize(innerFile($0!)) }
        unsafe methods.pointee.xDeviceCharacteristics = { unsafe system($0!).xDeviceCharacteristics(innerFile($0!)) }
        return unsafe methods
    }()

    private static let registered: Bool = {
        guard let original = unsafe original else { return false }
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        // A copy keeps the private data by which SQLite's own functions work; name, opening and size are ours.
        unsafe own.initialize(to: original.pointee)
        unsafe own.pointee.pNext = nil
        unsafe own.pointee.zName = unsafe UnsafePointer(strdup(name))
        unsafe own.pointee.szOsFile += Int32(ownByteCount)
        unsafe own.pointee.xOpen = { unsafe open($1, $2!, $3, $4) }
        unsafe own.pointee.xAccess = { unsafe access($1!, $2, $3!) }
        return unsafe sqlite3_vfs_register(own, 0) == SQLITE_OK
    }()

    // MARK: - What is not passed on

    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ given: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let system = unsafe original!
        // A transaction of a vault is in one file. SQLite would open any file that a journal names as its
        // super-journal, and delete it after playing it back (pager.c, pager_delsuper).
        guard flags & SQLITE_OPEN_SUPER_JOURNAL == 0 else { return SQLite.ioDamaged }
        // Only SQLite needs the content of journals.
        guard flags & SQLITE_OPEN_MAIN_DB != 0 else {
            if flags & SQLITE_OPEN_MAIN_JOURNAL != 0 && flags & SQLITE_OPEN_CREATE != 0, let name = unsafe name {
                return unsafe openJournal(name, file, flags, given)
            }
            return unsafe system.pointee.xOpen(system, name, file, flags, given)
        }
        unsafe file.pointee.pMethods = nil
        let status = unsafe system.pointee.xOpen(system, name, innerFile(file), flags, given)
        if status == SQLITE_OK { unsafe file.pointee.pMethods = unsafe UnsafePointer(methods) }
        return status
    }

    /// Opens a journal to write it, once its name is sure to last; see `JournalName`.
    private static func openJournal(
        _ name: UnsafePointer<CChar>, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ given: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let system = unsafe original!
        // For an existing journal SQLite doesn't sync the folder again.
        let isThere = unsafe Glibc.access(name, F_OK) == 0
        let status = unsafe system.pointee.xOpen(
            system, name, file, isThere ? flags & ~SQLITE_OPEN_CREATE : flags, given)
        guard status == SQLITE_OK else { return status }
        if JournalName.makeLast(unsafe String(cString: name)) { return SQLITE_OK }
        _ = unsafe file.pointee.pMethods.pointee.xClose(file)
        unsafe file.pointee.pMethods = nil
        return SQLite.ioFolderSync
    }

    /// SQLite looks for a write-ahead log before each read. A vault never has one, so the file system isn't asked.
    private static func access(
        _ name: UnsafePointer<CChar>, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>
    ) -> Int32 {
        let length = unsafe strlen(name)
        if unsafe length >= 4 && strcmp(name + length - 4, "-wal") == 0 {
            unsafe result.pointee = 0
            return SQLITE_OK
        }
        let system = unsafe original!
        return unsafe system.pointee.xAccess(system, name, flags, result)
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ target: UnsafeMutableRawPointer, _ count: Int32,
        _ offset: sqlite3_int64
    ) -> Int32 {
        let inner = unsafe innerFile(file)
        let xRead = unsafe inner.pointee.pMethods.pointee.xRead!
        // SQLite reads the page size and the change counter separately. The whole page follows and is checked.
        if offset + sqlite3_int64(count) <= headerByteCount { return unsafe xRead(inner, target, count, offset) }
        guard count == pageByteCount, offset % sqlite3_int64(pageByteCount) == 0 else {
            return unsafe readPart(file, target, Int(count), Int(offset))
        }
        let status = unsafe xRead(inner, target, count, offset)
        guard status == SQLITE_OK else { return status }
        let page = unsafe Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(start: target, count: pageByteCount))
        if isIntact(page: Int(offset) / pageByteCount + 1, page) {
            return offset == 0 && !hasOurPages(page) ? SQLite.ioDamaged : SQLITE_OK
        }
        return offset == 0 && !isHeaderOfVault(page) ? SQLITE_NOTADB : SQLite.ioDamaged
    }

    /// A part of one page, as newer versions of SQLite read from overflow pages: the whole page is checked.
    private static func readPart(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int
    ) -> Int32 {
        let start = offset % pageByteCount
        guard start + count <= pageByteCount else { return SQLite.ioDamaged }
        var page = [UInt8](repeating: 0, count: pageByteCount)
        return unsafe page.withUnsafeMutableBytes {
            let status = unsafe read(
                file, $0.baseAddress!, Int32(pageByteCount), sqlite3_int64(offset - start))
            if status == SQLITE_OK { unsafe target.copyMemory(from: $0.baseAddress! + start, byteCount: count) }
            return status
        }
    }

    private static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ source: UnsafeRawPointer, _ count: Int32, _ offset: sqlite3_int64
    ) -> Int32 {
        // Nothing but a forged journal can make SQLite write pages of another size.
        guard count == pageByteCount, offset % sqlite3_int64(pageByteCount) == 0 else { return SQLite.ioDamaged }
        let inner = unsafe innerFile(file)
        // A vault never shrinks. A forged journal that says it was larger before would make it so, with terabytes of
        // nothing that every check walks through (pager.c, pager_truncate).
        if offset > longestGap {
            var size: sqlite3_int64 = 0
            let sized = unsafe inner.pointee.pMethods.pointee.xFileSize(inner, &size)
            guard sized == SQLITE_OK else { return sized }
            guard offset - size <= longestGap else { return SQLite.ioDamaged }
        }
        var page = unsafe [UInt8](UnsafeRawBufferPointer(start: source, count: pageByteCount))
        let number = Int(offset) / pageByteCount + 1
        clearGap(ofPage: number, &page)
        var span = page.mutableSpan
        seal(page: number, &span)
        return unsafe page.withUnsafeBytes {
            unsafe inner.pointee.pMethods.pointee.xWrite(inner, $0.baseAddress!, count, offset)
        }
    }
}
