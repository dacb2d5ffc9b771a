import LatchkeyStoreContract
import TestServices
import Testing

/// The store on a real gnome-keyring.
struct KeyringTests {
    @Test func `a saved password is read, listed and deleted`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        #expect(try await probe.read("example.org", "ada") == nil)
        #expect(try await probe.save("example.org", "ada", "first")[0] == "saved")
        #expect(try await probe.save("example.org", "ada", "second")[0] == "saved")
        #expect(try await probe.read("example.org", "ada") == "second")
        #expect(
            try await probe.ask("list") == ["example.org/ada/password/Password for 'ada' on 'example.org'"])
        #expect(try await probe.ask("delete", "example.org", "ada", "password") == ["deleted"])
        #expect(try await probe.ask("delete", "example.org", "ada", "password") == ["none"])
        #expect(try await probe.read("example.org", "ada") == nil)
    }

    @Test func `a daemon restarted between two calls is found again`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("example.org", "ada", "kept")
        try await session.restartDaemon()
        #expect(try await probe.read("example.org", "ada") == "kept")
        try await session.restartDaemon()
        #expect(try await probe.save("example.org", "ada", "new")[0] == "saved")
        #expect(try await probe.read("example.org", "ada") == "new")
    }

    @Test func `the first call starts a service that the bus starts on demand`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("example.org", "ada", "kept")
        await session.killDaemon()
        try await session.activateDaemonOnDemand()
        let prompter = try await StandInPrompter(on: session, answering: .passwords([PrivateSession.password]))
        #expect(try await session.hasOwner() == false)
        #expect(try await KeyringProbe(session).read("example.org", "ada") == "kept")
        #expect(try await session.hasOwner())
        #expect(prompter.asked == 1)
        // The process that used the one before finds it too.
        #expect(try await probe.read("example.org", "ada") == "kept")
    }

    @Test func `a service that the bus can't start is unavailable`() async throws {
        let session = try await PrivateSession(.none)
        try await session.activateOnDemand("/bin/false")
        let probe = try KeyringProbe(session)
        for operation in Self.operations { #expect(try await probe.ask(operation)[1] == "store.unavailable") }
    }

    @Test func `a service that never comes is waited for once`() async throws {
        let session = try await PrivateSession(.none, limits: ["service_start_timeout": 2000])
        try await session.activateOnDemand("/bin/sh -c 'echo >> \"\(session.directory / "starts")\"; exec sleep 30'")
        for (count, operation) in zip(1..., Self.operations) {
            #expect(try await KeyringProbe(session).ask(operation)[1] == "store.unavailable")
            #expect(try session.directory.read("starts").count == count)
        }
    }

    private static let operations = [["read", "s", "u", "password"], ["save", "s", "u", "password", "00"], ["list"]]

    // On a busy machine gnome-keyring 42 may read a caller's first call before it knows the caller. OpenSession crashes it then.
    @Test(arguments: operations, [true, false])
    func `a session is opened after the service has replied`(_ operation: [String], isRunning: Bool) async throws {
        let session = try await PrivateSession(.unlocked)
        if !isRunning {
            await session.killDaemon()
            try await session.activateDaemonOnDemand()
        }
        let prompter = try await StandInPrompter(on: session, answering: .passwords([PrivateSession.password]))
        let monitor = try Program("dbus-monitor").start(["--session"], environment: session.environment)
        // It loses its name when it has become a monitor.
        try await monitor.wait(for: "the bus") { monitor.outputSoFar.contains("NameLost") }
        _ = try await KeyringProbe(session).ask(operation)
        withExtendedLifetime(prompter) {}
        // The monitor prints the messages in the order of the bus.
        try await monitor.wait(for: "the session") { monitor.outputSoFar.contains("member=OpenSession\n") }
        let messages = monitor.outputSoFar.split(separator: "\n")
        let opening = try #require(messages.firstIndex { $0.hasSuffix("member=OpenSession") })
        let caller = try #require(messages[opening].firstMatch(of: /sender=(\S+)/)?.1)
        let replies = messages[..<opening].filter { $0.contains(/sender=:\S+ -> destination=\S+ .*reply_serial/) }
        #expect(replies.contains { $0.contains("destination=\(caller) ") })
    }

    @Test func `a process uses one connection for everything`() async throws {
        let session = try await PrivateSession(.unlocked)
        _ = try await session.makeCollection("Work")
        let before = try await session.connectionCount()
        let probe = try KeyringProbe(session)
        for task in 0..<8 { _ = try await probe.ask("start", "\(task)", "save", "s", "\(task)", "password", "00") }
        for task in 0..<8 { #expect(try await probe.ask("join", "\(task)")[0] == "saved") }
        #expect(try await probe.ask("watch") == ["ok"])
        _ = try await probe.ask("collection", "Work")
        #expect(try await probe.read("s", "u") == nil)
        #expect(try await session.connectionCount() == before + 1)
        try await session.restartDaemon()
        _ = try await probe.ask("collection", "default")
        #expect(try await probe.ask("list").count == 8)
        #expect(try await session.connectionCount() == before + 1)
    }

    @Test func `a secret of 8 MiB is stored, and the log says that its memory couldn't be locked`() async throws {
        let session = try await PrivateSession(.unlocked)
        let limited = try KeyringProbe(lockingLittleOn: session)
        #expect(
            try await limited.ask("large", "s", "u", "password", "\(8 << 20)", within: .seconds(300))
                == ["same", "unlocked", "unlocked"])
        let answer = try await limited.ask("large", "s", "u", "password", "\((8 << 20) + 1)")
        #expect(answer[1] == "store.too-large")
        #expect(try await limited.ask("large", "s", "u", "password", "1000")[0] == "same")
    }

    @Test func `a label can have line breaks, and one with a NUL is refused before anything is sent`() async throws {
        let session = try await PrivateSession(.none)
        let service = try await StandInService(on: session)
        let probe = try KeyringProbe(session)
        let save = ["save", "s", "new", "password", "78", "none", "text"]
        #expect(try await probe.ask(save + ["a\0b"])[1] == "store.unsupported")
        #expect(service.calls("CreateItem") == 0)
        let real = try await PrivateSession(.unlocked)
        try await KeyringProbe(real).save("s", "u", "x")
        try await real.createItem("two\nlines", ["service": "s", "username": "v"], "y")
        #expect(try await KeyringProbe(real).ask("read", "s", "v", "password")[0] == "secret")
        // A listing is a table: what breaks its lines is shown as something else.
        let list = try await BuiltProducts.latchkey().run(
            ["list", "--store", "secret-service"], environment: real.environment)
        #expect(list.status == 0 && list.outputText.split(separator: "\n").count == 3, "\(list.outputText)")
    }
}

/// The contract of all stores, each statement with a process of its own.
struct KeyringContractTests {
    /// A session for six statements: to start one takes as long as a statement, but gnome-keyring writes all items at
    /// each save.
    @Test(arguments: ContractCase.all.grouped(by: 6))
    func `keeps the store contract`(_ statements: [ContractCase]) async throws {
        let session = try await PrivateSession(.unlocked)
        for statement in statements {
            let probe = try KeyringProbe(session)
            let answer = try await probe.ask("contract", statement.statement, within: .seconds(300))
            #expect(answer == ["kept"] && session.daemonIsRunning, "\(statement)")
        }
    }

    @Test(arguments: ContractCase.items)
    func `keeps items as every store does`(_ statement: ContractCase) async throws {
        let session = try await PrivateSession(.unlocked)
        let answer = try await KeyringProbe(session).ask("contract", statement.statement)
        #expect(answer == ["kept"])
    }
}

extension [ContractCase] {
    func grouped(by count: Int) -> [[ContractCase]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0...].prefix(count)) }
    }
}
