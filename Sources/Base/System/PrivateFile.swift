package import Glibc

/// Small files of this user alone that are replaced whole: the remembered store, a provider's configuration.
package enum PrivateFile {
    /// Reads a file of at most `limit` bytes. A longer file fails with EFBIG. A pipe or a device fails with EINVAL, so
    /// the call never waits for one and never returns an empty result for one.
    ///
    /// - Parameter followsLinks: whether the path's last part may be a symbolic link; if not, a link fails with ELOOP.
    package static func read(_ path: String, limit: Int, followsLinks: Bool = true) throws(SystemErrorNumber) -> [UInt8]
    {
        try readOwned(path, limit: limit, followsLinks: followsLinks).bytes
    }

    /// Reads a file as `read` does, and also returns the file's owner and mode.
    package static func readOwned(
        _ path: String, limit: Int, followsLinks: Bool = true
    ) throws(SystemErrorNumber) -> (bytes: [UInt8], owner: UInt32, mode: UInt32) {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { throw SystemErrorNumber(errno) }
        defer { close(descriptor) }
        let status = try FileStatus.of(descriptor: descriptor)
        guard status.isRegularFile || status.isDirectory else { throw SystemErrorNumber(EINVAL) }
        return (try DescriptorBytes.all(of: descriptor, limit: limit), status.owner, status.mode)
    }

    /// Writes a file (0600) under a name of its own, then gives it its name, durably: a reader sees the old file or the
    /// new one. Its folder is made where it is missing.
    package static func replace(_ path: String, with text: String) throws(SystemErrorNumber) {
        try replace(path, with: text.utf8.span, mode: 0o600)
    }

    /// The same with any bytes and mode.
    package static func replace(_ path: String, with bytes: Span<UInt8>, mode: UInt32) throws(SystemErrorNumber) {
        if path.hasPrefix("/") { try PrivateDirectory.make(PrivateDirectory.containing(path)) }
        // A random name instead of the process ID: a killed process's file would block a later process with the same
        // ID.
        let temporaryFile = "\(path).new-\(Hexadecimal.encode(UInt64.random(in: 0 ... .max)))"
        let descriptor = unsafe open(temporaryFile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard descriptor >= 0 else { throw SystemErrorNumber(errno) }
        // Sets the bits that the umask removed.
        var number: Int32? = fchmod(descriptor, mode) == 0 ? nil : errno
        if number == nil {
            number =
                failure(SystemErrorNumber.self, of: try DescriptorBytes.write(bytes, to: descriptor))?.number
        }
        if number == nil, fsync(descriptor) != 0 { number = errno }
        close(descriptor)
        if number == nil, unsafe rename(temporaryFile, path) != 0 { number = errno }
        if let number {
            unsafe unlink(temporaryFile)
            throw SystemErrorNumber(number)
        }
        let outcome = PrivateDirectory.synchronise(of: path)
        if outcome != 0 { throw SystemErrorNumber(outcome) }
    }
}

/// Directories of this user alone.
package enum PrivateDirectory {
    /// Makes a directory and those above it where they are missing, durably, with mode 0700 whatever the umask.
    package static func make(_ path: String) throws(SystemErrorNumber) {
        try make(path) { $1 }
    }

    /// The same, with an error that is made of the directory that it fails at.
    package static func make<Failure: Error>(
        _ path: String, orThrow failure: (_ path: String, SystemErrorNumber) -> Failure
    ) throws(Failure) {
        var above = path.hasPrefix("/") ? "/" : "."
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/" + part
            if unsafe mkdir(made, 0o700) == 0 {
                unsafe chmod(made, 0o700)
                let number = synchronise(above)
                guard number == 0 else { throw failure(above, SystemErrorNumber(number)) }
            } else if errno != EEXIST {
                throw failure(made, SystemErrorNumber(errno))
            }
            above = made
        }
    }

    /// Makes the names in a directory durable, because a power failure can undo a rename. Returns 0 or an errno.
    package static func synchronise(_ path: String) -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Names are data of a directory; its times may be lost.
        return fdatasync(descriptor) == 0 ? 0 : errno
    }

    /// The same for the directory of a file.
    package static func synchronise(of file: String) -> Int32 { synchronise(containing(file)) }

    /// The directory of a file.
    package static func containing(_ file: String) -> String {
        let end = file.lastIndex(of: "/")
        return end.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
    }
}

/// An open-file-description lock (fcntl(2), F_OFD_SETLK) on one byte of a file: the kernel frees it when the descriptor
/// is closed or its process dies. SQLite locks other bytes, so it is not in SQLite's way.
package enum FileLock {
    /// Takes the lock if it is free and returns 0, or an errno: EAGAIN or EACCES if another process holds it.
    ///
    /// - Parameters:
    ///   - offset: the offset of the byte, which may be past the file's end.
    ///   - isShared: whether others may share it.
    package static func take(_ descriptor: Int32, at offset: off_t = 0, isShared: Bool = false) -> Int32 {
        var lock = flock()
        lock.l_type = Int16(isShared ? F_RDLCK : F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = offset
        lock.l_len = 1
        let ofdSetLock: Int32 = 37  // F_OFD_SETLK, which the module map doesn't carry
        return unsafe fcntl(descriptor, ofdSetLock, &lock) == 0 ? 0 : errno
    }

    /// Waits a tenth of a second for the lock at most: it is for what takes microseconds.
    package static func takeSoon(_ descriptor: Int32) -> Int32 {
        var number = take(descriptor)
        for _ in 0..<200 where number == EAGAIN || number == EACCES || number == EINTR {
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 250_000...750_000))
            unsafe nanosleep(&pause, nil)
            number = take(descriptor)
        }
        return number
    }
}

package enum FileSystem {
    /// Returns the path without links. Returns `nil`, with errno, if the path leads nowhere.
    package static func resolving(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The names in a folder but `.` and `..`, in any order. A name that isn't UTF-8 leads to no file.
    package static func names(in path: String) throws(SystemErrorNumber) -> [String] {
        guard let stream = unsafe opendir(path) else { throw SystemErrorNumber(errno) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            // An entry is only as long as its name.
            let start = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
            let name = unsafe String(cString: start.assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        if errno != 0 { throw SystemErrorNumber(errno) }
        return names
    }
}
