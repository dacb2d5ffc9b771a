internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// The path of a vault, checked before SQLite opens it. This type never opens the file, because closing a descriptor of
/// the file would release SQLite's locks on it in this process (fcntl(2)).
///
/// The file must be a regular file (0600) of this user with one name, in a directory (0700) of this user, below
/// directories that only this user and root can change. Others may read a backup; see `VaultUse`.
struct VaultPath {
    /// Absolute, without symbolic links.
    let file: String
    let directory: String
    /// Whether the file is read unchanged, without locks and without a journal, and never written. This is for a backup
    /// in a place where another user could put a journal beside it, which SQLite would play back.
    var isReadAsItIs = false

    private static func openHint(_ number: Int32) -> LogMessage {
        number == ENOENT || number == ENOTDIR
            ? "\(Recovery.createVault)" : "make sure that you own the file and its directories, with modes 600 and 700"
    }

    // MARK: - Finding

    /// Checks an existing vault's file and everything above it.
    static func existing(_ path: String, for use: VaultUse = .daily) throws(StoreError) -> VaultPath {
        let name = try name(in: path)
        guard let directory = FileSystem.resolving(name.directory) else {
            let number = errno
            throw FileProblem.system("vault", path, number: number, hint: openHint(number))
        }
        var resolved = VaultPath(file: join(directory, name.file), directory: directory)
        let status = try resolved.status()
        // Advice on the mode is only for possible vaults, not for /etc/passwd. The content isn't read: see above.
        if status.isRegularFile, status.isOwn, !status.isPrivate, !resolved.hasJournal {
            try status.requireVaultLength()
        }
        do throws(StoreError) {
            try status.requirePrivateFile("vault", resolved.file)
            try resolved.checkDirectories(.daily)
            try resolved.checkJournal()
        } catch {
            guard use == .backup else { throw error }
            try status.requireOwnFile("backup", resolved.file)
            try resolved.checkDirectories(.backup)
            resolved.isReadAsItIs = true
        }
        // A change that was cut off may have left any length: SQLite undoes it when it opens the file.
        if resolved.isReadAsItIs || !resolved.hasJournal { try status.requireVaultLength() }
        return resolved
    }

    /// Whether the name is that of another file's journal: SQLite overwrites and deletes files of such names.
    static func isJournal(_ path: String) -> Bool { path.hasSuffix("-journal") }

    private var journal: String { file + "-journal" }

    /// Refuses a journal that isn't a file, and a file that isn't a journal, because SQLite opens any file of that
    /// name. SQLite would wait indefinitely at a pipe, and would overwrite another file.
    private func checkJournal() throws(StoreError) {
        guard let status = try? FileStatus.ofLink(at: journal) else { return }
        guard status.isRegularFile else {
            throw FileProblem.refuse(
                "journal of the vault", journal, "isn't a regular file",
                hint: "remove it: a journal of SQLite is a regular file")
        }
        // The journal's first bytes (fileformat2, section 3); zeros until it is complete.
        var start = [UInt8](repeating: 0, count: 8)
        let descriptor = unsafe open(journal, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        defer { close(descriptor) }
        if descriptor < 0 && errno == ENOENT { return }
        guard descriptor >= 0, unsafe read(descriptor, &start, start.count) >= 0 else {
            throw FileProblem.system("journal of the vault", journal, number: errno)
        }
        guard start == [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] || start.allSatisfy({ $0 == 0 }) else {
            throw FileProblem.refuse(
                "file", journal, "isn't a journal of SQLite, which would overwrite it", hint: "rename that file")
        }
    }

    private var hasJournal: Bool {
        guard let status = try? FileStatus.ofLink(at: journal) else { return false }
        return status.byteCount > 0
    }

    /// Checks the place for a new vault, making the directory (0700) and those above it when they are missing.
    static func new(_ path: String, for use: VaultUse = .daily) throws(StoreError) -> VaultPath {
        let name = try name(in: path)
        try FileProblem.makeDirectory(name.directory)
        guard let directory = FileSystem.resolving(name.directory) else {
            throw FileProblem.system("directory", name.directory, number: errno)
        }
        let resolved = VaultPath(file: join(directory, name.file), directory: directory)
        try resolved.checkDirectories(use)
        try resolved.checkName(name.file)
        return resolved
    }

    /// Checks the existing part of a new vault's path, without a change.
    static func checkNew(_ path: String, for use: VaultUse) throws(StoreError) {
        let name = try name(in: path)
        if let directory = FileSystem.resolving(name.directory) {
            let resolved = VaultPath(file: join(directory, name.file), directory: directory)
            try resolved.checkDirectories(use)
            try resolved.checkName(name.file)
            return try checkWritable(directory)
        }
        // Missing directories will be created in the nearest existing one.
        var parts = name.directory.split(separator: "/")
        let start = name.directory.hasPrefix("/") ? "/" : "./"
        while true {
            if let directory = FileSystem.resolving(start + parts.joined(separator: "/")) {
                try VaultPath(file: path, directory: directory).checkDirectories(.backup)
                if use == .backup {
                    // A missing parent may be a disk that isn't mounted, so it isn't created.
                    throw FileProblem.system(
                        "directory", String(name.directory.dropLast()), number: ENOENT,
                        hint: "create the directory first, or make sure that its disk is mounted")
                }
                return try checkWritable(directory)
            }
            let number = errno
            guard number == ENOENT, parts.popLast() != nil else {
                throw FileProblem.system("directory", name.directory, number: number)
            }
        }
    }

    private static func checkWritable(_ directory: String) throws(StoreError) {
        guard unsafe access(directory, W_OK | X_OK) != 0 else { return }
        throw FileProblem.system("directory", directory, number: errno, hint: "choose a path that you can write to")
    }

    private func checkName(_ name: String) throws(StoreError) {
        if TemporaryFile.isTemporary(name) || Self.isJournal(name) {
            throw FileProblem.refuse(
                "vault", file, "has a name that is reserved for unfinished files and journals",
                hint: "choose another name")
        }
        try checkJournal()
        if (try? FileStatus.ofLink(at: file)) != nil { throw exists }
        // SQLite would write the pages of a vault that was there before into the new one.
        if hasJournal {
            throw FileProblem.refuse(
                "file", journal, "is left of a vault that was there, and would change the new one",
                hint: "move the file to where that vault is, with that name, or delete it")
        }
    }

    /// The file's status now.
    func status() throws(StoreError) -> FileStatus {
        try mapError(
            { (error: SystemErrorNumber) in
                FileProblem.system("vault", file, number: error.number, hint: Self.openHint(error.number))
            }, of: FileStatus.ofLink(at: file))
    }

    private static func name(in path: String) throws(StoreError) -> (directory: String, file: String) {
        guard !path.utf8.contains(0), let last = path.split(separator: "/").last, !path.hasSuffix("/"),
            last != ".", last != ".."
        else {
            throw StoreError(
                .unavailable, "\(FileProblem.loggable(path)) isn't the path of a file", hint: "use the path of a vault")
        }
        let directory = String(path.dropLast(last.count))
        return (directory.isEmpty ? "." : directory, String(last))
    }

    private static func join(_ directory: String, _ name: String) -> String {
        directory == "/" ? "/" + name : directory + "/" + name
    }

    // MARK: - Directories

    private func checkDirectories(_ use: VaultUse) throws(StoreError) {
        var path = directory
        var isInnermost = use == .daily
        while true {
            guard let status = try? FileStatus.ofLink(at: path) else {
                throw FileProblem.refuse("directory", path, "can't be read")
            }
            guard status.isDirectory else { throw FileProblem.refuse("directory", path, "isn't a directory") }
            if isInnermost {
                guard status.isOwn else {
                    throw FileProblem.refuse("directory", path, "belongs to another user")
                }
                guard status.isPrivate else {
                    throw FileProblem.refuse(
                        "directory", path, "can be used by other users",
                        hint: "keep the vault in a separate directory with mode 700")
                }
            } else {
                guard status.isOwn || status.owner == 0 else {
                    throw FileProblem.refuse("directory", path, "belongs to another user, who could replace the vault")
                }
                // In a sticky directory, such as /tmp, a user can't replace another user's file.
                guard !status.isWritableByOthers || status.mode & S_ISVTX != 0 else {
                    throw FileProblem.refuse(
                        "directory", path, "can be changed by other users, who could replace the vault",
                        hint: status.isOwn
                            ? "run `chmod go-w \(FileProblem.loggable(ASCII.shellWord(path)))`"
                            : "move the vault to a directory that only you can write")
                }
            }
            if path == "/" { return }
            // Canonical: one slash before each name.
            path = PrivateDirectory.containing(path)
            isInnermost = false
        }
    }

    // MARK: - Making

    private var exists: StoreError {
        FileProblem.system("vault", file, number: EEXIST, hint: "open the vault, or choose another path")
    }

    /// Makes a file under another name with `fill`, then gives it its name if that is still free, durably.
    func create(
        for use: VaultUse = .daily, _ fill: (_ path: String) throws(StoreError) -> Void
    ) throws(StoreError) {
        let temporaryFile = try TemporaryFile(of: file, in: directory, for: use)
        do throws(StoreError) {
            try fill(temporaryFile.path)
            switch temporaryFile.rename(to: file) {
            case 0: break
            case EEXIST: throw exists
            case let number: throw FileProblem.system("vault", file, number: number)
            }
        } catch {
            temporaryFile.remove()
            throw error
        }
        let number = PrivateDirectory.synchronise(directory)
        guard number == 0 else { throw FileProblem.system("directory", directory, number: number) }
    }
}

/// The use of a vault's file, which determines the rights of other users.
package enum VaultUse: Sendable, Hashable {
    /// The vault in use: other users must not have any access to its file or directory.
    case daily
    /// An export or an import. Others may read the encrypted file, but must not change or replace it.
    case backup
}

extension FileStatus {
    /// Throws unless this is the length of a whole vault.
    func requireVaultLength() throws(StoreError) {
        guard byteCount >= PageSealedFiles.pageByteCount, byteCount % PageSealedFiles.pageByteCount == 0 else {
            throw .noVault("its length isn't that of a vault")
        }
    }
}
