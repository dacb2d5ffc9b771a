internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// lstat(2) and fstat(2) as values.
struct FileStatus {
    let device: UInt
    let inode: UInt
    let mode: mode_t
    let owner: uid_t
    let linkCount: UInt
    let byteCount: Int

    /// Returns `nil` with the errno.
    static func ofLink(at path: String) -> Result<FileStatus, ErrorNumber> {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? .success(FileStatus(status)) : .failure(ErrorNumber(errno))
    }

    static func of(descriptor: Int32) -> Result<FileStatus, ErrorNumber> {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? .success(FileStatus(status)) : .failure(ErrorNumber(errno))
    }

    private init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        mode = status.st_mode
        owner = status.st_uid
        linkCount = UInt(status.st_nlink)
        byteCount = Int(status.st_size)
    }

    var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    var isSymbolicLink: Bool { mode & S_IFMT == S_IFLNK }
    /// Whether the owner alone has any permission.
    var isPrivate: Bool { mode & 0o077 == 0 }
    var isWritableByOthers: Bool { mode & 0o022 != 0 }

    struct ErrorNumber: Error {
        let number: Int32
        init(_ number: Int32) { self.number = number }
    }

    /// Throws unless this is a regular file of this user that no other user can write to.
    func requireOwnFile(_ what: StaticString, _ path: String) throws(StoreError) {
        if isSymbolicLink { throw FileProblem.refuse(what, path, "is a symbolic link", hint: "name the file itself") }
        if isDirectory { throw FileProblem.refuse(what, path, "is a directory", hint: "name a file in it") }
        guard isRegularFile else { throw FileProblem.refuse(what, path, "is no regular file") }
        guard owner == geteuid() else { throw FileProblem.refuse(what, path, "belongs to another user") }
        guard !isWritableByOthers else {
            throw FileProblem.refuse(
                what, path, "can be changed by other users",
                hint: "if it is the right file, run chmod 600 on it, and consider who may have changed it")
        }
    }

    /// Throws unless this is a regular file of this user alone with one name.
    func requirePrivateFile(_ what: StaticString, _ path: String) throws(StoreError) {
        try requireOwnFile(what, path)
        guard isPrivate else {
            throw FileProblem.refuse(
                what, path, "can be used by other users",
                hint: "if it is the right file, run chmod 600 on it, and consider who may have read it")
        }
        guard linkCount == 1 else {
            throw FileProblem.refuse(what, path, "has a second name (a hard link)", hint: "remove the other name")
        }
    }
}
