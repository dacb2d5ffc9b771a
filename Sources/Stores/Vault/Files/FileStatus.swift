internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySystem

/// lstat(2) and fstat(2) as values.
struct FileStatus {
    let device: UInt
    let inode: UInt
    let mode: mode_t
    let owner: uid_t
    let linkCount: UInt
    let byteCount: Int

    /// Returns the status, or the errno.
    static func ofLink(at path: String) -> Result<FileStatus, SystemErrorNumber> {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? .success(FileStatus(status)) : .failure(SystemErrorNumber(errno))
    }

    static func of(descriptor: Int32) -> Result<FileStatus, SystemErrorNumber> {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0
            ? .success(FileStatus(status)) : .failure(SystemErrorNumber(errno))
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

    /// Throws unless this is a regular file of this user that no other user can write to.
    func requireOwnFile(_ what: StaticString, _ path: String) throws(StoreError) {
        if isSymbolicLink {
            throw FileProblem.refuse(what, path, "is a symbolic link", hint: "use the path of the file itself")
        }
        if isDirectory { throw FileProblem.refuse(what, path, "is a directory", hint: "use the path of a file in it") }
        guard isRegularFile else { throw FileProblem.refuse(what, path, "isn't a regular file") }
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

/// The reason not to use a file or folder: its purpose, its path, and the problem.
enum FileProblem {
    static func refuse(
        _ what: StaticString, _ path: String, _ problem: StaticString,
        hint: LogMessage? = "use a file of your own, in a folder that only you can write"
    ) -> StoreError {
        StoreError(.permissionDenied, "the \(what) \(loggable(path)) \(problem)", hint: hint)
    }

    /// Explains an errno from opening or creating a file.
    static func system(_ what: StaticString, _ path: String, number: Int32, hint: LogMessage? = nil) -> StoreError {
        let path = loggable(path)
        let platform = PlatformCode.errno(number)
        return switch number {
        case ENOENT, ENOTDIR: StoreError(.unavailable, "no \(what) at \(path)", hint: hint, platform: platform)
        case EEXIST: StoreError(.conflict, "the \(what) \(path) exists already", hint: hint, platform: platform)
        case EACCES, EPERM, ELOOP:
            StoreError(.permissionDenied, "the \(what) \(path) can't be used", hint: hint, platform: platform)
        case ENOSPC, EDQUOT, EROFS, EIO, EFBIG:
            StoreError(
                .cannotWrite, "the \(what) \(path) can't be written: \(SystemErrorNumber(number))",
                hint: hint ?? "make sure that the disk isn't full, and that you can write to it", platform: platform)
        default: StoreError(.unavailable, "the \(what) \(path) can't be used", hint: hint, platform: platform)
        }
    }

    static func loggable(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file, which people name", unredacted: path)
    }
}

/// Directories of this user alone.
enum PrivateDirectory {
    /// Makes a directory and those above it where they are missing, durably, with mode 0700 whatever the umask.
    static func make(_ path: String) throws(StoreError) {
        var above = path.hasPrefix("/") ? "/" : "."
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/" + part
            if unsafe mkdir(made, 0o700) == 0 {
                unsafe chmod(made, 0o700)
                let number = synchronise(above)
                guard number == 0 else { throw FileProblem.system("directory", above, number: number) }
            } else if errno != EEXIST {
                throw FileProblem.system("directory", made, number: errno)
            }
            above = made
        }
    }

    /// Makes the names in a directory durable, because a power failure can undo a rename. Returns 0 or an errno.
    static func synchronise(_ path: String) -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Names are data of a directory; its times may be lost.
        return fdatasync(descriptor) == 0 ? 0 : errno
    }

    /// The same for the directory of a file.
    static func synchronise(of file: String) -> Int32 { synchronise(containing(file)) }

    /// The directory of a file.
    static func containing(_ file: String) -> String {
        let end = file.lastIndex(of: "/")
        return end.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
    }
}
