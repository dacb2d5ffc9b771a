internal import Glibc
internal import LatchkeyCredentials

// A copy of the file as it is, for work that takes longer than writers should wait.

extension SQLiteRowTable {
    /// How large a file is that is copied for reading all of it: what is smaller is read within some tenths of a
    /// second.
    static let copiedByteCount = 16 << 20

    /// Copies the file beside itself while it is locked for reading, a second or two for a gigabyte, and opens the
    /// copy.
    ///
    /// The copy is sealed as the file is, with mode 0600, and loses its name as soon as it is open: a killed process
    /// leaves nothing behind. Returns `nil` for a smaller file, and where no copy can be made.
    func copy(_ cancellation: Cancellation, from byteCount: Int) throws(StoreError) -> SQLiteRowTable? {
        let directory = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        let temporaryFile: TemporaryFile?
        do throws(StoreError) {
            temporaryFile = try snapshot { (view) throws(StoreError) -> TemporaryFile? in
                // A lookup takes the lock.
                _ = try view.record(Manifest.recordName)
                guard try view.connection.fileByteCount() >= byteCount else { return nil }
                let temporaryFile = try TemporaryFile(of: path, in: directory.isEmpty ? "/" : directory)
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
            // A damaged file is looked at where it is, too.
            guard [.cannotWrite, .permissionDenied, .unavailable, .corrupted].contains(error.code) else { throw error }
            return nil
        }
        guard let temporaryFile else { return nil }
        defer { temporaryFile.remove() }
        return try SQLiteRowTable(path: temporaryFile.path)
    }
}
