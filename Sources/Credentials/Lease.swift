internal import Glibc
internal import RedactedLog
internal import Sodium

/// Exclusive access to one key of one store, among all Latchkey processes of this user.
///
/// It is an open-file-description lock (fcntl(2), F_OFD_SETLK) on a file with a hashed name, so that the kernel
/// frees it when the holder dies. The lease ends when the value does; the file stays.
/// A holder may leave a mark in the file while it does what can't be done twice; see `mark`.
public struct Lease: ~Copyable, Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// What the holder before left, who ended in the middle of what it marked; `nil` when it didn't. A number that tells one
    /// such thing from another, and no secret: the file is ordinary.
    package var mark: Int64? {
        var text = [UInt8](repeating: 0, count: 24)
        let count = unsafe pread(descriptor, &text, text.count, 0)
        guard count > 0, count < text.count else { return nil }
        return Int64(String(decoding: text.prefix(count), as: UTF8.self))
    }

    /// Leaves a mark, or takes it away. It outlives this process, but not the machine; what can't be written is not there.
    package func setMark(_ number: Int64?) {
        guard ftruncate(descriptor, 0) == 0, let number else { return }
        let text = Array(String(number).utf8)
        _ = unsafe pwrite(descriptor, text, text.count, 0)
    }

    /// Ends the lease now rather than at the end of its scope.
    public consuming func release() {}
}

/// Where leases are kept: a directory of this user alone.
public struct LeaseDirectory: Sendable, Hashable {
    public let path: String

    /// - Parameter path: a directory; it is made (0700) when it is missing.
    public init(path: String) {
        self.path = path
    }

    /// `$XDG_RUNTIME_DIR/latchkey/leases`; without a runtime directory `$XDG_STATE_HOME/latchkey/leases` or
    /// `~/.local/state/latchkey/leases`.
    public static func standard(environment: [String: String], home: String) -> LeaseDirectory {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let base = absolute("XDG_RUNTIME_DIR") ?? absolute("XDG_STATE_HOME") ?? home + "/.local/state"
        return LeaseDirectory(path: base + "/latchkey/leases")
    }

    /// Waits until nobody else holds the key, and takes it.
    ///
    /// Throws `busy` when the deadline passes, `cancelled`, or `unavailable` when the directory can't be used.
    public func acquire(
        _ key: CredentialKey, of store: StoreIdentity, deadline: Deadline
    ) async throws(StoreError) -> Lease {
        try prepare()
        let descriptor = try openLockFile(for: key, of: store)
        let lease = Lease(descriptor: descriptor)
        // The kernel has no waiting lock with a deadline that a task could cancel, so this asks again: after 1 ms, then
        // more slowly.
        var pause = Duration.milliseconds(1)
        while true {
            if Task.isCancelled { throw .cancelled }
            switch Self.tryLock(descriptor) {
            case 0: return lease
            case EAGAIN, EACCES, EINTR: break
            case let number:
                throw StoreError(.unavailable, "the lease file can't be locked", platform: .errno(number))
            }
            guard !deadline.hasPassed else {
                throw StoreError(
                    .busy, "another process holds \(key)", hint: "wait until it has finished, then try again")
            }
            do {
                try await Task.sleep(for: min(pause, deadline.remaining))
            } catch {
                throw .cancelled
            }
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    // MARK: - Files

    /// Makes the directory when it is missing, and throws `unavailable` when it isn't this user's alone to write.
    package func prepare() throws(StoreError) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            if unsafe mkdir(made, 0o700) != 0 && errno != EEXIST {
                throw unusable("can't be made", number: errno)
            }
        }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw unusable("can't be read", number: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw unusable("is no directory", number: ENOTDIR) }
        guard status.st_uid == geteuid() else { throw unusable("belongs to another user", number: EPERM) }
        guard status.st_mode & 0o022 == 0 else { throw unusable("can be written by others", number: EPERM) }
    }

    private func openLockFile(for key: CredentialKey, of store: StoreIdentity) throws(StoreError) -> Int32 {
        var name: [UInt8] = []
        for part in [store.backend, store.location, key.service, key.account, key.kind.name] {
            name += Array(part.utf8) + [0]
        }
        let digits = KeyedHash.digest(name, byteCount: 16).map {
            String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
        }
        let descriptor = unsafe open(
            "\(path)/\(digits.joined())", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard descriptor >= 0 else { throw unusable("can't be written", number: errno) }
        return descriptor
    }

    private static func tryLock(_ descriptor: Int32) -> Int32 {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        let ofdSetLock: Int32 = 37  // F_OFD_SETLK, which the module map doesn't carry
        return unsafe fcntl(descriptor, ofdSetLock, &lock) == 0 ? 0 : errno
    }

    private func unusable(_ what: StaticString, number: Int32) -> StoreError {
        let path = LoggableText(reviewed: "a directory from the XDG environment", unredacted: path)
        return StoreError(
            .unavailable, "the lease directory \(path) \(what)", hint: "set XDG_RUNTIME_DIR to a directory of your own",
            platform: .errno(number))
    }
}

extension CredentialStore {
    /// Returns exclusive access to a key among Latchkey's processes, for read-change-write such as a token refresh.
    public func exclusiveAccess(
        to key: CredentialKey, in directory: LeaseDirectory, deadline: Deadline
    ) async throws(StoreError) -> Lease {
        try await directory.acquire(key, of: identity, deadline: deadline)
    }
}
