package import Glibc

/// stat(2), lstat(2) and fstat(2) as values.
package struct FileStatus: Sendable {
    package let device: UInt
    package let inode: UInt
    package let mode: mode_t
    package let owner: uid_t
    package let linkCount: UInt
    package let byteCount: Int

    package static func of(descriptor: Int32) throws(SystemErrorNumber) -> FileStatus {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemErrorNumber(errno) }
        return FileStatus(status)
    }

    /// The status of the file that a path leads to through links.
    package static func of(_ path: String) throws(SystemErrorNumber) -> FileStatus {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw SystemErrorNumber(errno) }
        return FileStatus(status)
    }

    /// Of a link itself.
    package static func ofLink(at path: String) throws(SystemErrorNumber) -> FileStatus {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw SystemErrorNumber(errno) }
        return FileStatus(status)
    }

    private init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        mode = status.st_mode
        owner = status.st_uid
        linkCount = UInt(status.st_nlink)
        byteCount = Int(status.st_size)
    }

    package var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
    package var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    package var isSymbolicLink: Bool { mode & S_IFMT == S_IFLNK }
    package var isOwn: Bool { owner == geteuid() }
    /// Whether the owner alone has any permission.
    package var isPrivate: Bool { mode & 0o077 == 0 }
    package var isWritableByOthers: Bool { mode & 0o022 != 0 }
}
