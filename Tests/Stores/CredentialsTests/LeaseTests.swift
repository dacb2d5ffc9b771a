import Foundation
import LatchkeyLog
import Testing

@testable import LatchkeyCredentials

@Suite struct LeaseTests {
    /// A folder of one test's own, which the test removes.
    struct Folder {
        let path = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        var leases: LeaseDirectory { LeaseDirectory(path: path + "/a/leases") }

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }

        func remove() {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    static let store = StoreIdentity(backend: "test", location: "here")
    static func key(_ account: String = "ada") throws -> CredentialKey {
        try CredentialKey(service: "github", account: account, kind: .session)
    }

    static func code(_ body: () async throws(StoreError) -> Void) async -> StoreError.Code? {
        await StoreErrorTests.code(body)
    }

    /// Whether the lease can be had. A process that another test is starting shares our descriptors until it runs, so
    /// a lease may come free a moment late.
    static func isFree(
        _ leases: LeaseDirectory, _ key: CredentialKey, of store: StoreIdentity = store
    ) async -> Bool {
        await code { () async throws(StoreError) in
            _ = try await leases.acquire(key, of: store, deadline: .after(.seconds(30)))
        } == nil
    }

    /// Whether someone has the lease now.
    static func isHeld(_ leases: LeaseDirectory, _ key: CredentialKey) async -> Bool {
        await code { () async throws(StoreError) in
            _ = try await leases.acquire(key, of: store, deadline: .after(.zero))
        } == .busy
    }

    @Test func `a lease excludes others until it is released or its value ends`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let key = try Self.key()
        for release in [true, false] {
            let lease = try await folder.leases.acquire(key, of: Self.store, deadline: .standard)
            #expect(await Self.isHeld(folder.leases, key))
            if release { lease.release() } else { _ = consume lease }
            #expect(await Self.isFree(folder.leases, key))
        }
    }

    @Test func `another account, kind, service or store has a separate lease`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let lease = try await folder.leases.acquire(try Self.key(), of: Self.store, deadline: .standard)
        #expect(await Self.isFree(folder.leases, try Self.key("bob")))
        #expect(await Self.isFree(folder.leases, try CredentialKey(service: "github", account: "ada")))
        #expect(
            await Self.isFree(folder.leases, try CredentialKey(service: "gitlab", account: "ada", kind: .session)))
        #expect(
            await Self.isFree(folder.leases, try Self.key(), of: StoreIdentity(backend: "test", location: "there")))
        #expect(await Self.isHeld(folder.leases, try Self.key()))
        lease.release()
    }

    @Test func `a waiting task gets the lease when the holder releases it`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let leases = folder.leases
        let key = try Self.key()
        let lease = try await leases.acquire(key, of: Self.store, deadline: .standard)
        let waiting = Task { () async -> StoreError.Code? in
            await Self.code { () async throws(StoreError) in
                _ = try await leases.acquire(key, of: Self.store, deadline: .after(.seconds(60)))
            }
        }
        try await Task.sleep(for: .milliseconds(20))
        lease.release()
        #expect(await waiting.value == nil)
    }

    @Test func `a lease that is held is busy at the deadline, with a hint`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let key = try Self.key()
        let lease = try await folder.leases.acquire(key, of: Self.store, deadline: .standard)
        let error = await #expect(throws: StoreError.self) {
            _ = try await folder.leases.acquire(key, of: Self.store, deadline: .after(.milliseconds(5)))
        }
        #expect(error?.code == .busy && error?.hint != nil)
        #expect(error?.cause.text.contains("github/ada") == true)
        lease.release()
    }

    @Test func `cancelling a task ends its wait for a lease`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let leases = folder.leases
        let key = try Self.key()
        let lease = try await leases.acquire(key, of: Self.store, deadline: .standard)
        let waiting = Task { () async -> StoreError.Code? in
            await Self.code { () async throws(StoreError) in
                _ = try await leases.acquire(key, of: Self.store, deadline: .after(.seconds(60)))
            }
        }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        lease.release()
    }

    // MARK: - Among processes

    /// Takes the lock on a file as another process would, says so, and waits for its input to end.
    static let holder = """
        import fcntl, struct, sys
        file = open(sys.argv[1], "r+")
        # struct flock of the 64-bit ABI: type, whence, start, length, process
        fcntl.fcntl(file, 37, struct.pack("hh4xqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        print("held", flush=True)
        sys.stdin.read()
        """

    /// Starts the holder and waits until it holds.
    static func hold(_ path: String) throws -> (process: Process, input: Pipe) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", holder, path]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var said = Data()
        while !said.contains(0x0A) {
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "the holder ended")
            said += more
        }
        return (process, input)
    }

    /// The lock file of the one lease that was ever taken in a folder.
    static func onlyFile(_ folder: Folder) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.leases.path)
        try #require(names.count == 1)
        return folder.leases.path + "/" + names[0]
    }

    @Test func `another process's lease excludes us, and ends when that process is killed`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let key = try Self.key()
        #expect(await Self.isFree(folder.leases, key))
        let (process, input) = try Self.hold(try Self.onlyFile(folder))
        #expect(await Self.isHeld(folder.leases, key))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(await Self.isFree(folder.leases, key))
        try input.fileHandleForWriting.close()
    }

    @Test func `our lease excludes another process`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let lease = try await folder.leases.acquire(try Self.key(), of: Self.store, deadline: .standard)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", Self.holder, try Self.onlyFile(folder)]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        lease.release()
    }

    @Test func `a child program doesn't inherit the lease`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let key = try Self.key()
        let lease = try await folder.leases.acquire(key, of: Self.store, deadline: .standard)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cat")
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        lease.release()
        #expect(await Self.isFree(folder.leases, key))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    // MARK: - The directory

    @Test func `the directory is private, and its name shows no account`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        #expect(await Self.isFree(folder.leases, try Self.key()))
        for path in [folder.leases.path, folder.path + "/a"] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
        let file = try Self.onlyFile(folder)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty)
        #expect(!file.contains("github") && !file.contains("ada"))
    }

    @Test func `a directory that others can write, a link and a file are refused`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let manager = FileManager.default
        for name in ["open", "real"] {
            try manager.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false)
        }
        try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path + "/open")
        try manager.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: folder.path + "/real")
        try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
        for name in ["open", "link", "file", "file/below"] {
            let error = await #expect(throws: StoreError.self) {
                _ = try await LeaseDirectory(path: "\(folder.path)/\(name)").acquire(
                    try Self.key(), of: Self.store, deadline: .standard)
            }
            #expect(error?.code == .unavailable, "\(name)")
            #expect(error?.platform != nil && error?.hint != nil)
        }
    }

    @Test func `a lock file that is a link is refused, and its target untouched`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        #expect(await Self.isFree(folder.leases, try Self.key()))
        let file = try Self.onlyFile(folder)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.path + "/target")
        let error = await #expect(throws: StoreError.self) {
            _ = try await folder.leases.acquire(try Self.key(), of: Self.store, deadline: .standard)
        }
        #expect(error?.code == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/target"))
    }

    // MARK: - The user's own directory

    @Test func `the user's directory is the same in every environment`() throws {
        let own = LeaseDirectory.standard
        #expect(own.path == "/var/tmp/latchkey-\(geteuid())" || own.path.hasPrefix("/var/tmp/latchkey-\(geteuid())-"))
        let folder = try Folder()
        defer { folder.remove() }
        unsafe chmod(folder.path, 0o1777)
        #expect(
            LeaseDirectory.standard(below: [folder.path], user: geteuid()).path == folder.path
                + "/latchkey-\(geteuid())")
    }

    /// Another user who takes the name first would keep this one from ever refreshing a session.
    @Test func `every process skips a name that another user has taken`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        unsafe chmod(folder.path, 0o1777)
        // As root there are other users; as anyone else, this user's directory is the other's in that one's eyes.
        let (mine, other) = (geteuid(), geteuid() + 1)
        let path = "\(folder.path)/latchkey-\(other)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(LeaseDirectory.standard(below: [folder.path], user: other).path == path + "-1")
        #expect(LeaseDirectory.standard(below: [folder.path], user: mine).path == "\(folder.path)/latchkey-\(mine)")
        // Who has found a place stays there when the name before it becomes free.
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/latchkey-\(mine)-3", withIntermediateDirectories: false)
        #expect(LeaseDirectory.standard(below: [folder.path], user: mine).path == "\(folder.path)/latchkey-\(mine)-3")
    }

    @Test func `a folder in which others can rename is passed over`() throws {
        let (open, sticky) = (try Folder(), try Folder())
        defer { open.remove() }
        defer { sticky.remove() }
        unsafe chmod(open.path, 0o777)
        unsafe chmod(sticky.path, 0o1777)
        let path = LeaseDirectory.standard(below: [open.path, "/nowhere", sticky.path], user: geteuid()).path
        #expect(path == "\(sticky.path)/latchkey-\(geteuid())")
    }

    @Test func `a store of the same name in another scope has separate leases`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let key = try Self.key()
        let lease = try await folder.leases.scoped(by: "one bus").acquire(key, of: Self.store, deadline: .standard)
        #expect(await Self.isFree(folder.leases.scoped(by: "another"), key))
        #expect(await Self.isHeld(folder.leases.scoped(by: "one bus"), key))
        lease.release()
    }

    @Test func `a lock file that was deleted is created and locked again`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let key = try Self.key()
        let lease = try await folder.leases.acquire(key, of: Self.store, deadline: .standard)
        try FileManager.default.removeItem(atPath: try Self.onlyFile(folder))
        #expect(await Self.isFree(folder.leases, key))
        lease.release()
    }
}
