internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

extension FileStatus {
    /// Throws unless this is a regular file of this user that no other user can write to.
    func requireOwnFile(_ what: StaticString, _ path: String) throws(StoreError) {
        if isSymbolicLink {
            throw FileProblem.refuse(what, path, "is a symbolic link", hint: "use the path of the file itself")
        }
        if isDirectory { throw FileProblem.refuse(what, path, "is a directory", hint: "use the path of a file in it") }
        guard isRegularFile else { throw FileProblem.refuse(what, path, "isn't a regular file") }
        guard isOwn else { throw FileProblem.refuse(what, path, "belongs to another user") }
        guard !isWritableByOthers else {
            throw FileProblem.refuse(
                what, path, "can be changed by other users",
                hint:
                    "check who may have changed the file, then run `chmod 600 \(FileProblem.loggable(ASCII.shellWord(path)))`"
            )
        }
    }

    /// Throws unless this is a regular file of this user alone with one name.
    func requirePrivateFile(_ what: StaticString, _ path: String) throws(StoreError) {
        try requireOwnFile(what, path)
        guard isPrivate else {
            throw FileProblem.refuse(
                what, path, "can be used by other users",
                hint:
                    "check who may have read the file, then run `chmod 600 \(FileProblem.loggable(ASCII.shellWord(path)))`"
            )
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
        hint: LogMessage? = "use a file of your own, in a directory that only you can write"
    ) -> StoreError {
        StoreError(.permissionDenied, "the \(what) \(loggable(path)) \(problem)", hint: hint)
    }

    /// Explains an errno from opening or creating a file.
    static func system(_ what: StaticString, _ path: String, number: Int32, hint: LogMessage? = nil) -> StoreError {
        let path = loggable(path)
        let platform = PlatformCode.errno(number)
        return switch number {
        case ENOENT, ENOTDIR: StoreError(.unavailable, "no \(what) at \(path)", hint: hint, platform: platform)
        case EEXIST: StoreError(.conflict, "the \(what) \(path) already exists", hint: hint, platform: platform)
        case EACCES, EPERM, ELOOP:
            StoreError(
                .permissionDenied, "the \(what) \(path) can't be used: \(SystemErrorNumber(number))", hint: hint,
                platform: platform)
        case ENOSPC, EDQUOT, EROFS, EIO, EFBIG:
            StoreError(
                .cannotWrite, "the \(what) \(path) can't be written: \(SystemErrorNumber(number))",
                hint: hint ?? "make sure that the disk isn't full, and that you can write to it", platform: platform)
        default:
            StoreError(
                .unavailable, "the \(what) \(path) can't be used: \(SystemErrorNumber(number))", hint: hint,
                platform: platform)
        }
    }

    /// Makes a directory and those above it where they are missing.
    static func makeDirectory(_ path: String) throws(StoreError) {
        try PrivateDirectory.make(path) { system("directory", $0, number: $1.number) }
    }

    static func loggable(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file, which people name", unredacted: path)
    }
}
