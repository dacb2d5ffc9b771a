import Testing
import TestServices

/// Several processes on one keyring.
struct SharedKeyringTests {
    @Test func `processes that save one credential at once make one item of it`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probes = try (0..<6).map { _ in try KeyringProbe(session) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, probe) in probes.enumerated() {
                group.addTask {
                    for round in 0..<8 {
                        let answer = try await probe.save("s", "u", "secret \(number) \(round)")
                        #expect(answer[0] == "saved")
                    }
                }
            }
            try await group.waitForAll()
        }
        let search = try await session.secretTool(["search", "--all", "service", "s"]).outputText
        #expect(search.split(separator: "\n").count { $0.hasPrefix("secret = ") } == 1)
        let read = try #require(try await probes[0].read("s", "u"))
        #expect(read.hasSuffix(" 7"))
    }

    @Test func `if several processes create an absent credential on that condition, one wins`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probes = try (0..<6).map { _ in try KeyringProbe(session) }
        let answers = try await withThrowingTaskGroup(of: [String].self) { group in
            for (number, probe) in probes.enumerated() {
                group.addTask { try await probe.save("s", "u", "\(number)", condition: "absent") }
            }
            return try await group.reduce(into: [[String]]()) { $0.append($1) }
        }
        #expect(answers.count { $0[0] == "saved" } == 1)
        #expect(answers.count { $0.count > 1 && $0[1] == "store.conflict" } == 5)
    }

    @Test func `a version is valid in other processes, and ends with any change`() async throws {
        let session = try await PrivateSession(.unlocked)
        let first = try KeyringProbe(session)
        let second = try KeyringProbe(session)
        let version = try await first.save("s", "u", "one")[1]
        #expect(try await second.ask("read", "s", "u", "password").last == version)
        #expect(try await second.save("s", "u", "two", condition: version)[0] == "saved")
        #expect(try await first.save("s", "u", "three", condition: version)[1] == "store.conflict")
        let item = ["store", "--label=L", "service", "s", "username", "u"]
        _ = try await first.read("s", "u")
        try await session.secretTool(item, input: Array("theirs".utf8)).successful("store")
        #expect(try await first.save("s", "u", "four", condition: "seen")[1] == "store.conflict")
        #expect(try await first.read("s", "u") == "theirs")
    }

    @Test func `versions made with different keys differ for the same secret`() async throws {
        let first = try await PrivateSession(.unlocked)
        let second = try await PrivateSession(.unlocked)
        let one = try await KeyringProbe(first).save("s", "u", "same")
        let other = try await KeyringProbe(second).save("s", "u", "same")
        #expect(one[0] == "saved" && other[0] == "saved" && one[1] != other[1])
    }

    @Test func `changes by other processes and programs are reported`() async throws {
        let session = try await PrivateSession(.unlocked)
        let watcher = try KeyringProbe(session)
        let other = try KeyringProbe(session)
        #expect(try await watcher.ask("watch") == ["ok"])
        try await other.save("s", "u", "created")
        try await other.save("s", "u", "changed")
        #expect(try await watcher.ask("changes", "2") == ["saved s/u", "saved s/u"])
        _ = try await other.ask("delete", "s", "u", "password")
        #expect(try await watcher.ask("changes", "3").last == "deleted s/u")
        let item = ["store", "--label=L", "service", "t", "username", "v"]
        try await session.secretTool(item, input: [0x31]).successful("store")
        #expect(try await watcher.ask("changes", "4").last == "saved t/v")
        await session.killDaemon()
        #expect(try await watcher.ask("changes", "5").last == "unknown -")
        try await session.startDaemon(password: PrivateSession.password)
        // The new daemon's name.
        #expect(try await watcher.ask("changes", "6").last == "unknown -")
        try await other.save("s", "w", "after the restart")
        #expect(try await watcher.ask("changes", "7").last == "saved s/w")
        await session.killBus()
        #expect(try await watcher.ask("changes", "9").last == "end")
    }
}
