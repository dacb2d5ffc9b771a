import Foundation
import Testing
import TestServices

/// What the store says when the bus, the service or the collection isn't there, stops or dies.
struct KeyringFaultTests {
    /// The words of an error: its code and the platform's number.
    private func error(_ words: [String]) -> [String] {
        words[0] == "error" ? Array(words[1...2]) : words
    }

    @Test func `without the service on the bus the store is unavailable, and says what to start`() async throws {
        let session = try await PrivateSession(.none)
        let probe = try KeyringProbe(session)
        let read = try await probe.ask("read", "s", "u", "password")
        #expect(error(read) == ["store.unavailable", "g-dbus-error-quark 2"])
        #expect(read[4].contains("gnome-keyring-daemon"))
        #expect(error(try await probe.save("s", "u", "x")) == ["store.unavailable", "g-dbus-error-quark 2"])
        #expect(error(try await probe.ask("state"))[0] == "store.unavailable")
        try await session.startDaemon(password: PrivateSession.password)
        #expect(try await probe.save("s", "u", "x")[0] == "saved")
    }

    @Test(arguments: [
        ("unix:path=/nonexistent/bus", "g-io-error-quark 1"), ("nonsense", "g-io-error-quark 13"),
        (nil, "-"),
    ])
    func `without a session bus the store is unavailable, and says what to do`(
        _ address: String?, platform: String
    ) async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        // Where GDBus looks for a bus when no address is set.
        environment["XDG_RUNTIME_DIR"] = try directory.makeFolder("empty")
        let probe = try KeyringProbe(environment: environment, ["DBUS_SESSION_BUS_ADDRESS": address])
        let read = try await probe.ask("read", "s", "u", "password")
        #expect(error(read) == ["store.unavailable", platform])
        #expect(read[4].contains("DBUS_SESSION_BUS_ADDRESS"))
    }

    /// GLib runs dbus-launch(1) where there is a display and no address, and the bus that it starts has no keyring.
    @Test func `a missing bus isn't started`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["XDG_RUNTIME_DIR"] = try directory.makeFolder("empty")
        environment["DISPLAY"] = ":77"
        environment["PATH"] = try directory.makeFolder("bin") + ":" + Program.searchPath
        let launcher = try directory.write(
            "bin/dbus-launch", "#!/bin/sh\n: > '\(directory / "started")'\nexit 1\n", mode: 0o700)
        #expect(FileManager.default.isExecutableFile(atPath: launcher))
        let probe = try KeyringProbe(environment: environment, ["DBUS_SESSION_BUS_ADDRESS": nil])
        for question in [["read", "s", "u", "password"], ["state"]] {
            #expect(error(try await probe.ask(question))[0] == "store.unavailable")
        }
        #expect(!FileManager.default.fileExists(atPath: directory / "started"))
    }

    @Test func `the store stops waiting for a silent service at the deadline, and works when it continues`()
        async throws
    {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "kept")
        session.suspendDaemon()
        _ = try await probe.ask("timeout", "200")
        #expect(error(try await probe.ask("read", "s", "u", "password"))[0] == "store.timed-out")
        #expect(error(try await probe.ask("delete", "s", "u", "password"))[0] == "store.timed-out")
        #expect(error(try await probe.ask("list"))[0] == "store.timed-out")
        session.resumeDaemon()
        _ = try await probe.ask("timeout", "30000")
        #expect(try await probe.read("s", "u") == "kept")
    }

    @Test func `a task that waits for a stopped service can be cancelled`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "kept")
        session.suspendDaemon()
        for operation in [["read", "s", "u", "password"], ["save", "s", "v", "password", "00"], ["list"]] {
            _ = try await probe.ask(["start", "task"] + operation)
            _ = try await probe.ask("cancel", "task")
            #expect(error(try await probe.ask("join", "task"))[0] == "store.cancelled")
        }
        session.resumeDaemon()
        #expect(try await probe.read("s", "u") == "kept")
    }

    @Test func `a service that is killed during a call ends the call, and the next call uses its successor`()
        async throws
    {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "kept")
        session.suspendDaemon()
        _ = try await probe.ask("start", "task", "read", "s", "u", "password")
        await session.killDaemon()
        #expect(error(try await probe.ask("join", "task"))[0] == "store.unavailable")
        #expect(error(try await probe.ask("read", "s", "u", "password"))[0] == "store.unavailable")
        try await session.startDaemon(password: PrivateSession.password)
        #expect(try await probe.read("s", "u") == "kept")
    }

    @Test func `a killed bus doesn't end the process, and the store works with the next bus`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "kept")
        session.suspendDaemon()
        _ = try await probe.ask("start", "task", "read", "s", "u", "password")
        await session.killBus()
        #expect(error(try await probe.ask("join", "task"))[0] == "store.unavailable")
        #expect(error(try await probe.ask("read", "s", "u", "password"))[0] == "store.unavailable")
        await session.killDaemon()
        try await session.startBus()
        try await session.startDaemon(password: PrivateSession.password)
        #expect(try await probe.read("s", "u") == "kept")
        #expect(probe.program.isRunning)
    }

    @Test func `the error for a missing default collection says how to make one`() async throws {
        let session = try await PrivateSession(.none)
        try await session.startDaemon(password: nil)
        let probe = try KeyringProbe(session)
        for operation in [["read", "s", "u", "password"], ["save", "s", "u", "password", "00"], ["list"], ["state"]] {
            let answer = try await probe.ask(operation)
            #expect(error(answer)[0] == "store.unavailable")
            #expect(answer[3].contains("collection"))
            #expect(answer[4].contains("keyring application"))
        }
    }

    // MARK: - Locked

    @Test func `a locked keyring that may not prompt reports at once that it is locked`() async throws {
        let session = try await PrivateSession(.locked)
        let probe = try KeyringProbe(session)
        _ = try await probe.ask("prompting", "no")
        for operation in [
            ["read", "s", "u", "password"], ["save", "s", "u", "password", "00"], ["delete", "s", "u", "password"],
            ["list"], ["unlock"],
        ] {
            #expect(error(try await probe.ask(operation))[0] == "store.locked")
        }
        #expect(try await probe.ask("state")[1...] == ["locked", "encrypted"])
    }

    @Test func `a locked keyring whose prompt can't be shown reports that`() async throws {
        let session = try await PrivateSession(.locked)
        let probe = try KeyringProbe(session)
        let answer = try await probe.ask("read", "s", "u", "password")
        #expect(error(answer)[0] == "store.prompt-dismissed")
        #expect(answer[4].contains("display"))
    }

    @Test func `the store locks its keyring, and others find it locked`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "kept")
        #expect(try await probe.ask("state")[1] == "open")
        #expect(try await probe.ask("unlock") == ["ok"])
        #expect(try await probe.ask("lock") == ["ok"])
        #expect(try await probe.ask("state")[1] == "locked")
        #expect(try await session.secretTool(["lookup", "service", "s", "username", "u"]).status != 0)
    }
}
