import Foundation
import Testing
import TestServices

/// Many processes on one gnome-keyring, which may die at any time. LATCHKEY_LONG=1 takes the large counts.
struct KeyringLoadTests {
    @Test func `processes that save the same credentials at once make one item of each`() async throws {
        let saves = runsLong ? 200 : 25
        let session = try await PrivateSession(.unlocked)
        let probes = try (0..<8).map { _ in try KeyringProbe(session) }
        for (number, probe) in probes.enumerated() {
            _ = try await probe.ask("start", "load", "share", "\(number)", "\(saves)", "5")
        }
        for probe in probes {
            let answer = try await probe.ask(["join", "load"], within: .seconds(600))
            #expect(answer == ["saved \(saves)", "read \(saves)", "refused 0", "right"])
        }
        let items = try await session.items()
        #expect(items.map { $0.attributes["username"] }.sorted { $0! < $1! } == ["u0", "u1", "u2", "u3", "u4"])
        for item in items { #expect(item.secret.hasPrefix(item.attributes["username"]! + " ")) }
        #expect(try await probes[0].ask("duplicates") == [""])
    }

    @Test func `a daemon that is killed repeatedly under load gives no wrong response, and no caller hangs`()
        async throws
    {
        let kills = runsLong ? 50 : 8
        let session = try await PrivateSession(.unlocked)
        let probes = try (0..<4).map { _ in try KeyringProbe(session) }
        for (number, probe) in probes.enumerated() {
            _ = try await probe.ask("timeout", "5000")
            _ = try await probe.ask("start", "load", "own", "u\(number)", "1000000")
        }
        for round in 0..<kills {
            // While saves are under way: not the same moment each time.
            try await Task.sleep(for: .milliseconds(100 + round * 37 % 200))
            await session.killDaemon()
            if round % 3 == 0 { try await Task.sleep(for: .milliseconds(50)) }
            try await session.startDaemon(password: PrivateSession.password)
        }
        var saved: [Int] = []
        var refused = 0
        for probe in probes {
            _ = try await probe.ask("cancel", "load")
            let answer = try await probe.ask("join", "load")
            #expect(answer.last == "right")
            saved.append(Int(answer[0].dropFirst("saved ".count)) ?? 0)
            refused += Int(answer[2].dropFirst("refused ".count)) ?? 0
        }
        // It was under load, and it did die meanwhile.
        #expect(saved.reduce(0, +) > 0 && refused > 0)
        #expect(try await KeyringProbe(session).ask("duplicates") == [""])
        // Whoever lost the daemon finds the new one.
        for (number, probe) in probes.enumerated() { try await probe.save("load", "u\(number)", "after") }
        #expect(try await session.items().count == probes.count)
    }

    /// The bus of a private session allows 128 pending replies a connection, as dbus-daemon does unless it is told
    /// otherwise.
    @Test func `calls beyond a bus's limit wait their turn, and can be cancelled`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "kept")
        session.suspendDaemon()
        for task in 0..<200 { _ = try await probe.ask("start", "\(task)", "read", "s", "u", "password") }
        for task in [199, 198] {
            _ = try await probe.ask("cancel", "\(task)")
            #expect(try await probe.ask("join", "\(task)")[1] == "store.cancelled")
        }
        session.resumeDaemon()
        for task in 0..<198 { #expect(try await probe.ask("join", "\(task)")[0] == "secret") }
    }
}
