internal import Glibc
internal import LatchkeyLog
internal import Synchronization

/// Exclusive access to one key of one store, among all Latchkey processes of this user, or of all hosts that share the
/// store.
///
/// On one machine a lease is an open-file-description lock (fcntl(2), F_OFD_SETLK) on one byte of a file, so the kernel
/// releases it if the holder dies. The lease ends with the value; the file stays.
package struct Lease: ~Copyable, Sendable {
    private enum Kind {
        case file(descriptor: Int32)
        case own(any HeldLease)
    }
    private let kind: Kind

    init(descriptor: Int32) {
        kind = .file(descriptor: descriptor)
    }

    /// A store's own.
    package init(_ held: any HeldLease) {
        kind = .own(held)
    }

    deinit {
        switch kind {
        case .file(let descriptor): close(descriptor)
        case .own(let held): held.release()
        }
    }

    /// Ends the lease now rather than at the end of its scope.
    package consuming func release() {}
}

/// A lease of a store that has leases of its own.
package protocol HeldLease: Sendable {
    /// Called once. It doesn't wait for what may take long.
    func release()
}

/// Gives out the leases of a store that has leases of its own, such as one that several hosts share.
package protocol LeaseSource: AnyObject, Sendable {
    /// Waits until no other holder has the key, then takes the lease. Throws as `LeaseDirectory.acquire` does.
    func acquire(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> Lease
}

extension CredentialStore {
    /// Returns exclusive access to a key among Latchkey's processes, for read-change-write such as a token refresh.
    ///
    /// Throws `busy` if the deadline passes, `cancelled`, or `unavailable` if the lease's file can't be used.
    ///
    /// - Parameter directory: used by stores without a location for leases (see `leases(in:deadline:)`).
    package func exclusiveAccess(
        to key: CredentialKey, in directory: LeaseDirectory, deadline: Deadline
    ) async throws(StoreError) -> Lease {
        try await leases(in: directory, deadline: deadline).acquire(key, of: identity, deadline: deadline)
    }
}

/// The location of leases: an empty file in a directory that only this user can access, with a byte for each key; or a
/// location in the store that several hosts share.
public struct LeaseDirectory: Sendable, Hashable {
    /// Empty for a store's own.
    package let path: String
    private let own: OwnLeases?
    private let fileName: String
    private let scope: String

    /// - Parameter path: a directory. The first lease makes it (0700) if it is missing, and throws `unavailable` if it
    ///   isn't this user's, or other users can write to it.
    public init(path: String) {
        self.init(path: path, fileName: "leases")
    }

    /// - Parameter scope: tells stores apart that have the same identity, such as the same keyring on another bus.
    package init(path: String, fileName: String, scope: String = "") {
        self.path = path
        self.fileName = fileName
        self.scope = scope
        own = nil
    }

    /// A store's own.
    package init(_ source: any LeaseSource) {
        path = ""
        fileName = ""
        scope = ""
        own = OwnLeases(source: source)
    }

    package func scoped(by scope: String) -> LeaseDirectory {
        LeaseDirectory(path: path, fileName: fileName, scope: scope)
    }

    /// Waits until no other process or task holds the key, and takes it.
    ///
    /// Throws `busy` when the deadline passes, `cancelled`, or `unavailable` when the directory can't be used.
    package func acquire(
        _ key: CredentialKey, of store: StoreIdentity, deadline: Deadline
    ) async throws(StoreError) -> Lease {
        if let own { return try await own.source.acquire(key, deadline: deadline) }
        try prepare()
        let offset = Self.offset(of: key, of: store, scope)
        return try await Self.wait(for: key, deadline) { () throws(StoreError) in try tryAcquire(offset) }
    }

    /// The kernel lacks a lock that waits with a deadline and that a task can cancel, so this polls: after 1 ms, then more
    /// slowly.
    fileprivate static func wait(
        for key: CredentialKey, _ deadline: Deadline, take: () throws(StoreError) -> Lease?
    ) async throws(StoreError) -> Lease {
        var pause = Duration.milliseconds(1)
        var wait = LongWait()
        defer { wait.end() }
        while true {
            if Task.isCancelled { throw .cancelled }
            if let lease = try take() { return lease }
            guard !deadline.hasPassed else {
                throw StoreError(
                    .busy, "another process holds \(key)", hint: "wait until it has finished, then try again")
            }
            wait.goesOn("waiting for another process that uses \(key)")
            do {
                try await Task.sleep(for: min(pause, deadline.remaining))
            } catch {
                throw .cancelled
            }
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Sixty-two bits of a hash: two keys that share a byte would wait for each other, and nothing worse.
    private static func offset(of key: CredentialKey, of store: StoreIdentity, _ scope: String) -> off_t {
        var name: [UInt8] = []
        for part in [scope, store.backend, store.location, key.service, key.account, key.kind.name] {
            name += Array(part.utf8) + [0]
        }
        return KeyedHash.digest(name, byteCount: 16).prefix(8).reduce(0) { $0 << 8 | off_t($1) } & (1 << 62 - 1)
    }

    // MARK: - Files

    /// Makes the directory when it is missing, and throws `unavailable` when it isn't this user's alone to write.
    package func prepare() throws(StoreError) {
        try mapError(
            { (error: SystemErrorNumber) in unusable("can't be created", number: error.number) },
            of: PrivateDirectory.make(path))
        let status = try mapError(
            { (error: SystemErrorNumber) in unusable("can't be read", number: error.number) },
            of: FileStatus.ofLink(at: path))
        guard status.isDirectory else { throw unusable("isn't a directory", number: ENOTDIR) }
        guard status.isOwn else { throw unusable("belongs to another user", number: EPERM) }
        guard !status.isWritableByOthers else { throw unusable("can be written by others", number: EPERM) }
    }

    /// `nil` while another has it.
    private func tryAcquire(_ offset: off_t) throws(StoreError) -> Lease? {
        let descriptor = unsafe open(
            "\(path)/\(fileName)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard descriptor >= 0 else { throw unusable("can't be written", number: errno) }
        let lease = Lease(descriptor: descriptor)
        switch FileLock.take(descriptor, at: offset) {
        case 0: break
        case EAGAIN, EACCES, EINTR: return nil
        case let number: throw StoreError(.unavailable, "the lease file can't be locked", platform: .errno(number))
        }
        // If a clean-up has deleted the file, the next process would lock another one.
        guard let status = try? FileStatus.of(descriptor: descriptor), status.linkCount > 0 else { return nil }
        // A process with an unusual umask may have created the file; then no other process could open it.
        if status.mode & 0o600 != 0o600 { fchmod(descriptor, 0o600) }
        return lease
    }

    private func unusable(_ what: StaticString, number: Int32) -> StoreError {
        let path = LoggableText(reviewed: "a directory of leases", unredacted: path)
        return StoreError(
            .unavailable, "the lease directory \(path) \(what)",
            hint: number == EROFS
                ? "make the disk writable"
                : "use a directory that you own and that other users can't write to",
            platform: .errno(number))
    }
}

/// The leases of a store that only one process has.
final class TaskLeases: LeaseSource {
    private let held = Mutex<Set<CredentialKey>>([])

    func acquire(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> Lease {
        try await LeaseDirectory.wait(for: key, deadline) { () throws(StoreError) in
            held.withLock { $0.insert(key).inserted } ? Lease(Held(key: key, leases: self)) : nil
        }
    }

    private struct Held: HeldLease {
        let key: CredentialKey
        let leases: TaskLeases

        func release() { leases.held.withLock { _ = $0.remove(key) } }
    }
}

/// Leases of a store's own, which is known by its place in memory.
private struct OwnLeases: Sendable, Hashable {
    let source: any LeaseSource

    static func == (left: OwnLeases, right: OwnLeases) -> Bool { left.source === right.source }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(source)) }
}

// MARK: - The user's own

extension LeaseDirectory {
    /// The user's own, whatever the environment says: a cron job, `su`, ssh and a desktop's terminal must meet in one
    /// place. `/var/tmp/latchkey-UID`, which outlives a restart, as the key of the keyring's versions beside the leases must;
    /// where another user has taken that name, the next with `-1` to `-9` behind it; then the same in `/tmp`.
    ///
    /// A service with a `/tmp` of its own (`PrivateTmp=`, systemd.exec(5)) has another one: a vault's leases are beside
    /// the vault for that reason.
    public static var standard: LeaseDirectory {
        standard(below: ["/var/tmp", "/tmp"], user: geteuid())
    }

    static func standard(below folders: [String], user: uid_t) -> LeaseDirectory {
        var paths: [String] = []
        for folder in folders where isSafe(folder) {
            let path = "\(folder)/latchkey-\(user)"
            paths += [path] + (1...9).map { "\(path)-\($0)" }
        }
        let own = paths.first { (try? FileStatus.ofLink(at: $0))?.owner == user }
        let path = own ?? paths.first { (try? FileStatus.ofLink(at: $0)) == nil }
        return LeaseDirectory(path: path ?? "/var/tmp/latchkey-\(user)")
    }

    /// No other user can rename what is in it.
    private static func isSafe(_ folder: String) -> Bool {
        guard let status = try? FileStatus.ofLink(at: folder), status.isDirectory else { return false }
        return !status.isWritableByOthers || status.mode & S_ISVTX != 0
    }
}
