internal import Foundation
internal import Testing
internal import TestServices

/// Clients that break the rules, or the service: see hostile.py.
struct HostileClientTests {
    private static let invalid = "InvalidArgs\n"

    private static let cases: [(name: String, output: String)] = [
        ("foreign", "NoSession\nNoSession\nNoSession\nNoSession\nUnknownObject\nb'secret'\n"),
        ("closed", "()\nNoSession\nUnknownObject\nNoSession\nNoSession NoSession\n"),
        ("short_keys", "1000\n" + String(repeating: invalid, count: 10) + "NotSupported\n"),
        ("padding", String(repeating: invalid, count: 9) + "2\n[]\nInvalidArgs\n"),
        (
            "large",
            String(repeating: invalid, count: 6) + "LimitsExceeded\nInvalidArgs\n"
                + String(repeating: "LimitsExceeded\n", count: 3) + "UnknownObject\n[]\n1\nLimitsExceeded\n"
        ),
        (
            "wrong",
            """
            InvalidArgs
            InvalidArgs
            UnknownMethod
            UnknownInterface
            NoSuchObject
            NoSuchObject
            NoSuchObject
            UnknownObject
            UnknownObject
            UnknownObject
            UnknownProperty
            UnknownInterface
            PropertyReadOnly
            InvalidArgs
            InvalidArgs
            NoSuchObject
            ('/',)
            ([], '/')

            """
        ),
        ("many", "200\n100\n"),
        ("death", "True True\n"),
        ("flood", "True\n{'answered': 5000, 'refused': 0}\n"),
        ("heavy", "True\n"),
        ("silent", "True\nb'secret' b'secret'\nLimitsExceeded\n3\n0 0 0\n"),
    ]

    @Test(arguments: Self.cases, ServedKeyring.Server.attacked)
    func `a hostile client gets errors, and other clients get their responses`(
        _ hostility: (name: String, output: String), _ server: ServedKeyring.Server
    ) async throws {
        let keyring = try await ServedKeyring(server)
        let run = try await keyring.python("hostile.py", [hostility.name])
        #expect(run.outputText == hostility.output, "\(run.errorText)")
        // It lives, and serves others.
        let service = try #require(keyring.service)
        #expect(service.isRunning)
        let stored = try await keyring.session.secretTool(
            ["store", "--label=After", "after", "hostile"], input: Array("whole".utf8))
        #expect(stored.status == 0, "\(stored.errorText)")
        #expect(try await keyring.session.secretTool(["lookup", "after", "hostile"]).outputText == "whole")
        // Twice what may wait, and what the worker holds of it.
        #expect(try Self.largestMemory(of: service.pid) < 256 << 10)
    }

    /// `Ping` without an interface was taken for the portal's method, which ended the process; at a session's path it
    /// closed the session.
    @Test(arguments: [(ServedKeyring.Server.ours, "delete"), (.ours, "keyring"), (.vault, "keyring")])
    func `a call that an object doesn't have is an error, and changes nothing`(
        server: ServedKeyring.Server, mode: String
    ) async throws {
        let keyring = try await ServedKeyring(server, mode: mode)
        let paths = mode == "delete" ? ["/org/freedesktop/secrets/collection/todelete/confirm"] : []
        let seed = Int.random(in: 0..<1_000_000)
        let run = try await keyring.python("hostile.py", ["confused", runsLong ? "20000" : "800", "\(seed)"] + paths)
        #expect(run.outputText == "True True True\n", "seed \(seed): \(run.errorText)")
        #expect(try #require(keyring.service).isRunning)
    }

    /// 80 calls of each method, 100,000 at night.
    @Test(arguments: ServedKeyring.Server.attacked)
    func `whatever a method is called with, the service lives and keeps what it has`(
        _ server: ServedKeyring.Server
    ) async throws {
        let keyring = try await ServedKeyring(server)
        let seed = Int.random(in: 0..<1_000_000)
        let run = try await keyring.python("hostile.py", ["methods", runsLong ? "100000" : "80", "\(seed)"])
        #expect(run.outputText == "b'secret' True\n", "seed \(seed): \(run.errorText)")
        #expect(try #require(keyring.service).isRunning)
    }

    /// Its responses filled 435 MB, and others waited behind them for up to 25 s; on a fast machine for ever, because the bus
    /// stopped reading from the service.
    @Test func `a client that searches without end and never reads fills no memory, and others are served`()
        async throws
    {
        let keyring = try await ServedKeyring(.fullVault, count: 10_000)
        let service = try #require(keyring.service)
        _ = try await keyring.python("hostile.py", ["deaf", "0.5"])
        let before = try Self.largestMemory(of: service.pid)
        let run = try await keyring.python("hostile.py", ["deaf", "3"])
        #expect(run.outputText == "True True\nTrue\n", "\(run.errorText)")
        #expect(try Self.largestMemory(of: service.pid) < before + (64 << 10))
    }

    /// It held all others up for two seconds.
    @Test func `a client that wants ten thousand secrets at once lets others have their turns`() async throws {
        let keyring = try await ServedKeyring(.fullVault, count: 10_000)
        let run = try await keyring.python("hostile.py", ["greedy"])
        #expect(run.outputText == "10000 10000 True\n", "\(run.errorText)")
    }

    /// In KiB (VmHWM of proc_pid_status(5)).
    private static func largestMemory(of pid: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int($0) } ?? .max
    }
}
