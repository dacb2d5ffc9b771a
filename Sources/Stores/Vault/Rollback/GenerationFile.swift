internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// The small file with a vault's mark, which processes share.
///
/// The file is overwritten in place, in one write of fewer bytes than a disk's sector. So after a power failure the
/// file has either the old bytes or the new ones. A reader without the lock may get some of both. A rename would need
/// an fsync for each save. An empty file counts as a missing one, because a process that died before writing leaves
/// one.
struct GenerationFile: Sendable {
    let directory: String
    let path: String

    private static let what: StaticString = "memory of the vault"

    init(directory: String, name: [UInt8]) {
        self.directory = directory
        path = directory + "/" + Hexadecimal.encode(name)
    }

    /// The result of reading.
    enum Content: Sendable, Equatable {
        case nothing
        /// As read; one byte more than a mark has at most.
        case bytes([UInt8])
        /// The system doesn't let it be read.
        case unusable(StoreError)
    }

    /// Reads what is there. Throws `permissionDenied` when others could have written it.
    func read() throws(StoreError) -> Content {
        do throws(StoreError) {
            guard let descriptor = try openExisting(O_RDONLY) else { return .nothing }
            defer { close(descriptor) }
            return try read(descriptor)
        } catch {
            // An error with an errno is the system's refusal. Any other error is our own.
            guard error.platform != nil else { throw error }
            return .unusable(error)
        }
    }

    /// Writes what `change` returns for what is there, while no other process does; `nil` leaves it.
    ///
    /// Throws `busy` when another process holds the file for a tenth of a second.
    func update(
        _ change: (Content) throws(StoreError) -> [UInt8]?
    ) throws(StoreError) {
        let present = try openExisting(O_RDWR)
        let descriptor = if let present { present } else { try make() }
        defer { close(descriptor) }
        switch FileLock.takeSoon(descriptor) {
        case 0: break
        case EAGAIN, EACCES, EINTR:
            throw StoreError(.busy, "another process holds the \(Self.what) \(FileProblem.loggable(path))")
        case let number: throw FileProblem.system(Self.what, path, number: number)
        }
        let content = try read(descriptor)
        guard let bytes = try change(content) else { return }
        let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
        guard count == bytes.count else {
            throw FileProblem.system(Self.what, path, number: count < 0 ? errno : ENOSPC)
        }
        // Once, when its name is new or its length changes; what is written over it later needs none.
        let oldCount = if case .bytes(let old) = content { old.count } else { 0 }
        if oldCount > bytes.count, ftruncate(descriptor, off_t(bytes.count)) != 0 {
            throw FileProblem.system(Self.what, path, number: errno)
        }
        if oldCount != bytes.count {
            let number = fdatasync(descriptor) == 0 ? PrivateDirectory.synchronise(directory) : errno
            guard number == 0 else { throw FileProblem.system(Self.what, path, number: number) }
        }
    }

    // MARK: - Parts

    private func openExisting(_ mode: Int32) throws(StoreError) -> Int32? {
        guard directory.hasPrefix("/"), !directory.utf8.contains(0) else {
            throw FileProblem.refuse("directory", directory, "isn't an absolute path, or has a NUL in it")
        }
        let folder = try mappingError({ (error: SystemErrorNumber) in
            FileProblem.system("directory", directory, number: error.number)
        }) { () throws(SystemErrorNumber) in
            try nilIf(
                { (error: SystemErrorNumber) in [ENOENT, ENOTDIR].contains(error.number) },
                of: FileStatus.ofLink(at: directory))
        }
        guard let folder else { return nil }
        guard folder.isDirectory, folder.isOwn, folder.isPrivate else {
            throw FileProblem.refuse(
                "directory", directory, "is not a directory of this user alone",
                hint: "replace it with a directory, where Latchkey records the last seen state of vaults")
        }
        let descriptor = unsafe open(path, mode | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            if errno == ELOOP { throw FileProblem.refuse(Self.what, path, "is a symbolic link") }
            throw FileProblem.system(Self.what, path, number: errno)
        }
        do throws(StoreError) {
            let status = try mapError(
                { (error: SystemErrorNumber) in FileProblem.system(Self.what, path, number: error.number) },
                of: FileStatus.of(descriptor: descriptor))
            try status.requirePrivateFile(Self.what, path)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private func make() throws(StoreError) -> Int32 {
        try FileProblem.makeDirectory(directory)
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        if descriptor < 0 {
            let number = errno
            // Another process has just made it.
            if number == EEXIST, let present = try openExisting(O_RDWR) { return present }
            throw FileProblem.system(Self.what, path, number: number)
        }
        // Restores the bits that the umask removed.
        fchmod(descriptor, 0o600)
        return descriptor
    }

    private func read(_ descriptor: Int32) throws(StoreError) -> Content {
        var bytes = [UInt8](repeating: 0, count: GenerationMark.sealedByteCount + 1)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw FileProblem.system(Self.what, path, number: errno) }
        return count == 0 ? .nothing : .bytes(Array(bytes.prefix(count)))
    }
}
