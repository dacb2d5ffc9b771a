import Foundation
import Testing

/// What every module needs of the system is in one place each, below Sources/Base/System, or in the file that is named here.
@Suite struct OneFoundationTests {
    @Test(arguments: [
        ("pthread_create(", ["Base/System/SystemThread.swift"]),
        // The one lock on bytes of files; SQLite has its own.
        ("ofdSetLock", ["Base/System/FileLock.swift"]),
        ("\"XDG_CONFIG_HOME\"", ["Base/Process/ProgramEnvironment.swift"]),
        // Without the log's two, which must not raise SIGPIPE.
        ("Glibc.write(", ["Base/System/DescriptorBytes.swift", "Base/Log/PipeSafeWrite.swift"]),
    ])
    func `one place does it`(_ call: String, _ places: [String]) throws {
        let users = try SinksTests.sources().filter { $0.1.contains(call) }.map(\.0)
        let others = users.filter { path in !places.contains { path.hasPrefix($0) } }
        #expect(!users.isEmpty && others.isEmpty, "\(others)")
    }

    /// One error is mapped into another by `mapError`; a `do` of its own decides something.
    @Test func `few errors are caught by hand`() throws {
        let count = try SinksTests.sources().reduce(0) { $0 + $1.1.components(separatedBy: "do throws(").count - 1 }
        #expect((1..<150).contains(count), "\(count)")
    }
}
