internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySystem

/// A new file under a temporary name until it is complete: `NAME.new-` and 16 hexadecimal digits, with mode 0600.
///
/// The process that creates the file holds a lock on it. A file without a lock belonged to a killed process; the next
/// process with a new file in the same directory removes it. A file without a name (O_TMPFILE) would vanish by itself,
/// but SQLite opens files by name.
struct TemporaryFile: ~Copyable {
    let path: String
    private let descriptor: Int32

    private static let mark = ".new-"
    private static let digitCount = 16

    /// Makes the temporary file of a file, and removes abandoned ones beside it.
    init(of file: String, in directory: String, for use: VaultUse = .daily) throws(StoreError) {
        Self.removeAbandoned(in: directory)
        while true {
            let path = file + Self.mark + Hexadecimal.encode(try Sealing.randomOctets(Self.digitCount / 2))
            let descriptor = unsafe Glibc.open(
                path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
            guard descriptor >= 0 else { throw FileProblem.system("vault", path, number: errno) }
            // Restores the bits that the umask removed.
            var failure: Int32 = fchmod(descriptor, 0o600) == 0 ? 0 : errno
            // A stick with FAT refuses to change the one mode of all its files: what others may do there is read.
            if failure == EPERM, use == .backup,
                (try? FileStatus.of(descriptor: descriptor))?.isWritableByOthers == false
            {
                failure = 0
            }
            if failure == 0 { failure = FileLock.take(descriptor) }
            // Another process may have removed the file as an abandoned one before this process took the lock.
            if failure == 0 && Self.isNamed(path, descriptor) {
                self.path = path
                self.descriptor = descriptor
                return
            }
            close(descriptor)
            unsafe unlink(path)
            guard failure == 0 || failure == EAGAIN || failure == EACCES else {
                throw FileProblem.system("vault", path, number: failure)
            }
        }
    }

    deinit {
        close(descriptor)
    }

    /// Renames the file to its final name if that is free; returns 0 or an errno.
    borrowing func rename(to file: String) -> Int32 {
        if unsafe latchkey_rename_new(path, file) == 0 { return 0 }
        // NFS and file systems in user space often don't support that. Then an empty file reserves the name first:
        // other users can't write to the directory.
        guard errno == EINVAL || errno == ENOSYS else { return errno }
        let placeholder = unsafe Glibc.open(
            file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard placeholder >= 0 else { return errno }
        close(placeholder)
        if unsafe Glibc.rename(path, file) == 0 { return 0 }
        let number = errno
        unsafe unlink(file)
        return number
    }

    /// Writes at the end of what was written so far. Nothing is synced.
    borrowing func append(_ bytes: [UInt8]) throws(StoreError) {
        try mapError(
            { (error: SystemErrorNumber) in FileProblem.system("copy", path, number: error.number) },
            of: DescriptorBytes.write(bytes.span, to: descriptor))
    }

    borrowing func remove() {
        unsafe unlink(path)
    }

    // MARK: - Abandoned ones

    /// Whether a file's name is a temporary file's, which no vault may have.
    static func isTemporary(_ name: String) -> Bool {
        let end = name.utf8.suffix(mark.utf8.count + digitCount)
        return end.starts(with: mark.utf8)
            && end.dropFirst(mark.utf8.count).count { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
                == digitCount
    }

    private static func removeAbandoned(in directory: String) {
        for name in (try? FileSystem.names(in: directory)) ?? [] where isTemporary(name) {
            removeIfAbandoned(directory + "/" + name)
        }
    }

    private static func removeIfAbandoned(_ path: String) {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard let status = try? FileStatus.of(descriptor: descriptor), status.isRegularFile,
            status.isOwn, status.linkCount == 1, isVaultInTheMaking(descriptor),
            FileLock.take(descriptor) == 0, isNamed(path, descriptor)
        else { return }
        unsafe unlink(path)
    }

    /// Whether a file is empty, lacks its first page, or belongs to a vault. Other files of that name aren't ours.
    private static func isVaultInTheMaking(_ descriptor: Int32) -> Bool {
        var head = [UInt8](repeating: 0, count: 100)
        let count = unsafe pread(descriptor, &head, head.count, 0)
        if count == 0 { return true }
        let identifier = (0..<4).reduce(0) { $0 << 8 | Int(head[68 + $1]) }
        return count == head.count
            && (head.allSatisfy { $0 == 0 }
                || head.starts(with: Array("SQLite format 3\0".utf8)) && identifier == SQLiteRowTable.applicationID)
    }

    /// Whether the name is still that of the open file.
    private static func isNamed(_ path: String, _ descriptor: Int32) -> Bool {
        guard let named = try? FileStatus.ofLink(at: path),
            let opened = try? FileStatus.of(descriptor: descriptor)
        else { return false }
        return named.device == opened.device && named.inode == opened.inode
    }
}
