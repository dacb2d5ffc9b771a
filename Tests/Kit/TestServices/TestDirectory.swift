internal import CTestProcess
public import Foundation
public import Synchronization

/// A fresh directory of one test, `/dev/shm/lk-XXXXXX` or `/tmp/lk-XXXXXX` with mode 0700, removed when the value dies.
///
/// The name is short because unix sockets live in it, whose paths must stay under 108 bytes.
public final class TestDirectory: Sendable {
    public let path: String

    /// Whether directories are made on disk, as the benchmarks and a long run need them.
    public static let usesDisk = Atomic(runsLong)

    /// Whether programs can be started from /dev/shm, and 4 GiB are free. On a disk the tests take an eighth longer: its
    /// journal is busy with thousands of files that live for seconds.
    private static let hasRoomInMemory: Bool = {
        var room = statvfs()
        let forbidsPrograms: UInt = 8  // ST_NOEXEC
        return unsafe statvfs("/dev/shm", &room) == 0 && room.f_flag & forbidsPrograms == 0
            && room.f_bavail * room.f_frsize >= 4 << 30
    }()

    /// - Parameter inMemory: in /dev/shm, or in /tmp if that fails. The default is memory where there is room, unless
    ///   `usesDisk`.
    public init(inMemory: Bool? = nil) throws {
        let inMemory = inMemory ?? (!Self.usesDisk.load(ordering: .relaxed) && Self.hasRoomInMemory)
        var template = Array("/dev/shm/lk-XXXXXX".utf8CString)
        if unsafe !inMemory || mkdtemp(&template) == nil {
            template = Array("/tmp/lk-XXXXXX".utf8CString)
            guard unsafe mkdtemp(&template) != nil else { throw ServiceFailure.system("mkdtemp", errno) }
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Leash.shared.hold(directory: path)
    }

    deinit {
        removeTree()
        Leash.shared.free(directory: path)
    }

    private func removeTree() {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            // A test that took the write permission from a folder gives it back here, then removal succeeds.
            let walk = FileManager.default.enumerator(atPath: path)
            while let name = walk?.nextObject() as? String {
                _ = unsafe chmod(self / name, 0o700)
            }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// The path of a name inside, which need not exist.
    public static func / (directory: TestDirectory, name: String) -> String {
        directory.path + "/" + name
    }

    /// Makes a folder inside, parents included, with mode 0700.
    @discardableResult
    public func makeFolder(_ name: String, mode: Int = 0o700) throws -> String {
        let folder = self / name
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        return folder
    }

    /// Writes a file inside and gives it exactly this mode, whatever the umask.
    @discardableResult
    public func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws -> String {
        let file = self / name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        guard unsafe chmod(file, mode) == 0 else { throw ServiceFailure.system("chmod", errno) }
        if mode & 0o100 != 0 { try waitForWriters(of: file) }
        return file
    }

    /// A child that another test forks has the file open for writing until the child executes its own program. Until
    /// then nobody can execute the file. The kernel grants a read lease only when no process has it open for writing
    /// (fcntl(2)).
    private func waitForWriters(of file: String) throws {
        let reader = unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard reader >= 0 else { throw ServiceFailure.system("open of a program", errno) }
        defer { close(reader) }
        for _ in 0..<10_000 {
            if fcntl(reader, Int32(latchkey_set_lease), Int32(F_RDLCK)) == 0 { break }
            guard errno == EAGAIN else { throw ServiceFailure.system("a lease", errno) }
            usleep(1000)
        }
        // A child may keep the lease, too, and the kernel ends its owner when somebody writes to the file then.
        _ = fcntl(reader, Int32(latchkey_set_lease), Int32(F_UNLCK))
    }

    @discardableResult
    public func write(_ name: String, _ text: String, mode: UInt32 = 0o600) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    public func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: self / name)))
    }

    /// The environment of a child that must see nothing of the user: its own HOME and XDG base directories in here.
    ///
    /// There is no session bus and no display in it; `PrivateSession` adds a bus of its own.
    public func environment() throws -> [String: String] {
        var variables = ["PATH": Program.searchPath, "LANG": "C.UTF-8", "TZ": "UTC"]
        for (variable, folder) in [
            ("HOME", "home"), ("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"), ("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "tmp"),
        ] {
            variables[variable] = try makeFolder(folder)
        }
        return variables
    }
}

extension String {
    /// Reads a whole file of the kernel, such as /proc/net/tcp. `String(contentsOfFile:)` ends at the first read that
    /// gives less than was asked for: after 4 KiB at most.
    public init(kernelFile path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        self.init(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
}

/// Whether the night's counts were asked for, by `LATCHKEY_LONG=1`: `Tests/night` does.
public let runsLong = ProcessInfo.processInfo.environment["LATCHKEY_LONG"] == "1"

/// Where the files lie that tests read.
///
/// Beside the source that asks, unless `LATCHKEY_TEST_DATA` names a copy of the folder `Tests`: Tests/unprivileged
/// makes one, because the checkout may be out of an ordinary user's reach.
public enum TestData {
    /// The folder `Tests`: the checkout's, or the copy.
    public static let tests: URL = {
        var folder = Self.folder()
        while folder.lastPathComponent != "Kit" { folder.deleteLastPathComponent() }
        return folder.deletingLastPathComponent()
    }()

    /// The checkout.
    public static var package: URL { tests.deletingLastPathComponent() }

    /// Whether tests that compare what programs print write their files anew: `LATCHKEY_RECORD=1`.
    public static var isRecording: Bool { ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] == "1" }

    /// The lines of what was shown, with the pattern in place of each line that one still matches, in their order.
    public static func recorded(
        _ shown: String, over expected: String, matches: (_ line: String, _ pattern: String) -> Bool
    ) -> [String] {
        let lines = shown.components(separatedBy: "\n")
        let patterns = expected.components(separatedBy: "\n")
        // The longest common subsequence of each two ends.
        var longest = [[Int]](repeating: [Int](repeating: 0, count: patterns.count + 1), count: lines.count + 1)
        for line in lines.indices.reversed() {
            for pattern in patterns.indices.reversed() {
                longest[line][pattern] =
                    matches(lines[line], patterns[pattern])
                    ? longest[line + 1][pattern + 1] + 1
                    : max(longest[line + 1][pattern], longest[line][pattern + 1])
            }
        }
        var recorded: [String] = []
        var pattern = 0
        for (line, text) in lines.enumerated() {
            while pattern < patterns.count, longest[line][pattern] == longest[line][pattern + 1] { pattern += 1 }
            if pattern < patterns.count, matches(text, patterns[pattern]) {
                recorded.append(patterns[pattern])
                pattern += 1
            } else {
                recorded.append(text)
            }
        }
        return recorded
    }

    /// - Parameter source: the file that asks, in the folder `Tests` of the checkout.
    public static func folder(beside source: String = #filePath) -> URL {
        let folder = URL(fileURLWithPath: source).deletingLastPathComponent()
        guard let copy = ProcessInfo.processInfo.environment["LATCHKEY_TEST_DATA"],
            let place = folder.pathComponents.lastIndex(of: "Tests")
        else { return folder }
        return folder.pathComponents[(place + 1)...].reduce(URL(fileURLWithPath: copy)) { (folder, name) in
            folder.appendingPathComponent(name)
        }
    }
}

/// Why a service or program that a test needs isn't there, in words that say what to do about it.
public struct ServiceFailure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }

    /// A program that the set-up script installs is missing. Tests fail then; they are never skipped.
    static func missing(program: String) -> ServiceFailure {
        ServiceFailure(
            "the program `\(program)` is not installed: the second command of README.md installs what the tests use"
        )
    }

    static func system(_ call: String, _ number: Int32) -> ServiceFailure {
        ServiceFailure("\(call) failed with errno \(number)")
    }
}
