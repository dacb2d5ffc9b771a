internal import Foundation
internal import Testing
internal import TestServices

/// The service is killed at random moments, and the bus starts it again: 10 kills, 2,000 at night.
struct KilledServiceTests {
    @Test func `a service that is killed under eight writers loses no acknowledged change`() async throws {
        let session = try await PrivateSession(.none)
        try await ServedKeyring.makeVault(session)
        try session.directory.write(
            "services/org.freedesktop.secrets.service",
            """
            [D-BUS Service]
            Name=org.freedesktop.secrets
            Exec=\(try BuiltProducts.latchkey().path) keyring serve

            """)
        try await session.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.ReloadConfig")
        let script = TestData.folder().appendingPathComponent("writer.py").path
        let writers = try (0..<8).map { number in
            try Program("/usr/bin/python3").start(
                [script, "w\(number)", session.directory / "enough"], environment: session.environment)
        }
        for _ in 0..<(runsLong ? 2_000 : 10) {
            try await Task.sleep(for: .milliseconds(Int.random(in: 50...600)))
            // They have it started again.
            while true {
                if let pid = try? await session.servicePID(), kill(pid, SIGKILL) == 0 { break }
                try #require(writers.allSatisfy { $0.isRunning })
            }
        }
        try session.directory.write("enough", "")
        var beginnings = 0
        for writer in writers {
            let run = try await writer.finish(within: .seconds(300))
            let words = run.outputText.split { " \n".contains($0) }
            #expect(run.status == 0 && words.first == "right", "\(run.outputText)\(run.errorText)")
            beginnings += words.last.flatMap { Int($0) } ?? 0
        }
        // It did die under each of them, ten times but for some that it slept through.
        #expect(beginnings > 2 * writers.count, "\(beginnings)")
    }
}

extension PrivateSession {
    /// The process of whoever owns the name; it isn't started for that.
    fileprivate func servicePID() async throws -> Int32? {
        guard try await hasOwner() else { return nil }
        let reply = try await call(
            "org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetConnectionUnixProcessID",
            ["string:org.freedesktop.secrets"])
        return reply.split { " \n".contains($0) }.last.flatMap { Int32($0) }
    }
}
