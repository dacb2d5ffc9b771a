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
            String(repeating: invalid, count: 6) + "LimitsExceeded\nInvalidArgs\nLimitsExceeded\n[]\nLimitsExceeded\n"
        ),
        (
            "wrong",
            """
            InvalidArgs
            InvalidArgs
            UnknownMethod
            UnknownInterface
            UnknownObject
            UnknownObject
            UnknownObject
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
    ]

    @Test(arguments: Self.cases, [ServedKeyring.Server.ours, .vault])
    func `a hostile client gets its errors, and others their answers`(
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

    /// It held all others up for two seconds.
    @Test func `who wants ten thousand secrets at once lets others have their turns`() async throws {
        let keyring = try await ServedKeyring(.fullVault)
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
