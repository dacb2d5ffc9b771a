import Foundation
import Synchronization
import Testing

@testable import TestServices

struct ProgramTests {
    @Test func `a program gets its input and its environment only`() async throws {
        let shell = try Program("sh")
        let run = try await shell.run(
            ["-c", "cat; env; echo error >&2; exit 3"], environment: ["ONLY": "this"], input: Array("input\n".utf8))
        let lines = run.outputText.split(separator: "\n")
        #expect(lines.first == "input")
        #expect(lines.contains("ONLY=this"))
        #expect(!lines.contains { $0.hasPrefix("HOME=") })
        #expect(run.errorText == "error\n")
        #expect(run.status == 3)
    }

    @Test func `a file of the kernel's is read as a whole`() throws {
        // Foundation's own reading ends after one page.
        #expect(try String(kernelFile: "/proc/self/smaps").utf8.count > 2 * sysconf(Int32(_SC_PAGESIZE)))
    }

    @Test func `a program is written once nobody has it open for writing`() throws {
        let directory = try TestDirectory()
        let writer = unsafe open(try directory.write("program", ""), O_WRONLY | O_CLOEXEC)
        let closing = DispatchSemaphore(value: 0)
        Thread {
            usleep(50_000)
            closing.signal()
            close(writer)
        }.start()
        try directory.write("program", "#!/bin/sh\n", mode: 0o700)
        #expect(closing.wait(timeout: .now()) == .success)
    }

    @Test func `a PostgreSQL server that is killed leaves no shared memory`() async throws {
        var server: PostgreSQLServer? = try await PostgreSQLServer()
        let number = try #require(server?.segment.withLock { $0 })
        func listed() async throws -> Bool {
            try await Program("ipcs").run(["-m"]).successful("ipcs").outputText.contains(" \(number) ")
        }
        #expect(try await listed())
        server = nil
        while try await listed() { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test func `a mebibyte goes in and comes out unchanged`() async throws {
        let bytes = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try await Program("cat").run(input: bytes).output == bytes)
    }

    @Test func `a program that doesn't read its input still ends`() async throws {
        let run = try await Program("true").run(input: [UInt8](repeating: 0, count: 1 << 20))
        #expect(run.status == 0)
    }

    @Test func `a program that exceeds its time is killed together with its children`() async throws {
        let directory = try TestDirectory()
        let fifo = directory / "alive"
        try await Program("mkfifo").run([fifo]).successful("mkfifo")
        let reader = try Program("cat").start([fifo])
        await #expect(throws: ServiceFailure.self) {
            // The inner sleep holds the writing end of the pipe open for as long as it lives.
            try await Program("sh").run(["-c", "(sleep 1000) >'\(fifo)' & wait"], timeout: .seconds(5))
        }
        #expect(try await reader.finish(within: .seconds(120)).status == 0)
    }

    @Test func `the error for a missing program says what to do`() {
        #expect {
            _ = try Program("no-such-program-anywhere")
        } throws: {
            "\($0)".contains("`no-such-program-anywhere` is not installed") && "\($0)".contains("README.md")
        }
    }

    @Test func `output of a running program can be read before it ends`() async throws {
        let running = try Program("cat").start()
        running.type("hello\n")
        try await running.wait(for: "the echo") { running.outputSoFar == "hello\n" }
        #expect(running.isRunning)
        #expect(try await running.finish().status == 0)
    }

    @Test func `output of several writers at once is complete`() async throws {
        let run = try await Program("sh").run([
            "-c", "for i in 1 2 3 4; do (for j in $(seq 5000); do echo line; done) & done; wait",
        ])
        #expect(run.outputText.split(separator: "\n").count { $0 == "line" } == 20_000)
    }

    @Test func `the status shows the signal that ended a program, as in a shell`() async throws {
        let running = try Program("sleep").start(["1000"])
        running.signal(SIGTERM)
        #expect(try await running.finish().status == 128 + SIGTERM)
    }
}

struct TestDirectoryTests {
    @Test func `a test directory is short and private, and ends with its value`() throws {
        var directory: TestDirectory? = try TestDirectory()
        let path = try #require(directory).path
        #expect(["/dev/shm/lk-XXXXXX".utf8.count, "/tmp/lk-XXXXXX".utf8.count].contains(path.utf8.count))
        #expect(try TestDirectory(inMemory: false).path.hasPrefix("/tmp/lk-"))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        let folder = try #require(directory).makeFolder("a/b")
        try #require(directory).write("a/b/c", "text")
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder)
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `the environment of a test directory has no bus and nothing of the user`() throws {
        let directory = try TestDirectory()
        let environment = try directory.environment()
        #expect(Set(environment.keys).isSuperset(of: ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "PATH"]))
        #expect(environment["DBUS_SESSION_BUS_ADDRESS"] == nil)
        for (variable, value) in environment where variable.hasPrefix("XDG_") || variable == "HOME" {
            #expect(value.hasPrefix(directory.path + "/"))
        }
    }
}

struct LeashTests {
    @Test func `the end of a test run ends its programs and directories, and no others`() async throws {
        let leash = Leash()
        let (held, freed) = (try Program("sleep").start(["1000"]), try Program("sleep").start(["1000"]))
        let (folder, kept) = (try TestDirectory(), try TestDirectory())
        for process in [held.pid, freed.pid] { leash.hold(process: process) }
        for directory in [folder.path, kept.path] { leash.hold(directory: directory) }
        leash.free(process: freed.pid)
        leash.free(directory: kept.path)
        leash.letGo()
        #expect(try await held.finish(within: .seconds(120)).status == 128 + SIGKILL)
        let limit = ContinuousClock.now + .seconds(120)
        while FileManager.default.fileExists(atPath: folder.path), ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(FileManager.default.fileExists(atPath: kept.path))
        #expect(freed.isRunning)
    }
}
