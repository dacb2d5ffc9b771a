import Testing
import TestServices

/// A locked gnome-keyring with somebody in front of it.
struct KeyringPromptTests {
    /// A session whose keyring holds `s/u`, locked again, with its attributes hashed as after a login.
    private func lockedSession() async throws -> PrivateSession {
        let session = try await PrivateSession(.unlocked)
        try await KeyringProbe(session).save("s", "u", "kept")
        try await session.restartDaemon(password: nil)
        return session
    }

    @Test func `the right password opens the keyring, and items found by hashes are read`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .passwords([PrivateSession.password]))
        let probe = try KeyringProbe(session)
        #expect(try await probe.read("s", "u") == "kept")
        #expect(prompter.asked == 1)
        #expect(try await probe.ask("list") == ["s/u/password/Password for 'u' on 's'"])
        #expect(prompter.asked == 1)
    }

    @Test func `a save into a locked keyring replaces the item that is there`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .passwords([PrivateSession.password]))
        let probe = try KeyringProbe(session)
        #expect(try await probe.save("s", "u", "new")[0] == "saved")
        #expect(try await probe.ask("list").count == 1)
        #expect(try await probe.read("s", "u") == "new")
        #expect(prompter.asked == 1)
    }

    @Test func `absence in a locked keyring is reported only after it is opened`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .passwords([PrivateSession.password]))
        #expect(try await KeyringProbe(session).read("s", "nobody") == nil)
        #expect(prompter.asked == 1)
    }

    @Test func `a wrong password leads to another prompt`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(
            on: session, answering: .passwords(["wrong", "wronger", PrivateSession.password]))
        #expect(try await KeyringProbe(session).read("s", "u") == "kept")
        #expect(prompter.asked == 3)
    }

    @Test func `a prompt that is closed ends the operation, and changes nothing`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .cancel)
        let probe = try KeyringProbe(session)
        for operation in [
            ["read", "s", "u", "password"], ["save", "s", "u", "password", "00"], ["delete", "s", "u", "password"],
            ["list"], ["unlock"],
        ] {
            let before = prompter.asked
            #expect(try await probe.ask(operation)[1] == "store.prompt-dismissed")
            #expect(prompter.asked == before + 1)
        }
        try await session.restartDaemon()
        #expect(try await probe.read("s", "u") == "kept")
    }

    @Test func `the operation stops waiting for an unanswered prompt, and a later answer opens the keyring`()
        async throws
    {
        let session = try await lockedSession()
        let daemon = session.daemonPID
        let prompter = try await StandInPrompter(on: session, answering: .never)
        let dismissals = try await Dismissals(on: session)
        let probe = try KeyringProbe(session)
        // Longer than the prompt takes to appear on a busy machine.
        _ = try await probe.ask("timeout", "5000")
        _ = try await probe.ask("start", "task", "read", "s", "u", "password")
        try await prompter.wait(for: "the dialog") { $0.asked == 1 }
        #expect(try await probe.ask("join", "task")[1] == "store.timed-out")
        _ = try await probe.ask("timeout", "60000")
        _ = try await probe.ask("start", "second", "read", "s", "u", "password")
        // Answered before, it would leave the second one nothing to ask, or a dialog of its own.
        try await dismissals.waitForPrompts(2)
        try await prompter.answer(PrivateSession.password)
        #expect(try await probe.ask("join", "second")[0] == "secret")
        #expect(prompter.begun == 1 && dismissals.count == 0)
        #expect(session.daemonPID == daemon && session.daemonIsRunning)
    }

    @Test func `cancelling the task leaves the prompt open, and the daemon alive`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .never)
        let dismissals = try await Dismissals(on: session)
        let probe = try KeyringProbe(session)
        _ = try await probe.ask("start", "task", "read", "s", "u", "password")
        try await prompter.wait(for: "the dialog") { $0.asked == 1 }
        _ = try await probe.ask("cancel", "task")
        #expect(try await probe.ask("join", "task")[1] == "store.cancelled")
        try await prompter.answer(PrivateSession.password)
        #expect(try await probe.read("s", "u") == "kept")
        #expect(dismissals.count == 0 && session.daemonIsRunning)
    }

    @Test func `a program that ends while the prompt is open leaves the keyring to the others`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .never)
        do {
            let probe = try KeyringProbe(session)
            _ = try await probe.ask("start", "task", "read", "s", "u", "password")
            try await prompter.wait(for: "the dialog") { $0.asked == 1 }
        }
        let second = try KeyringProbe(session)
        _ = try await second.ask("start", "task", "read", "s", "u", "password")
        try await prompter.answer(PrivateSession.password)
        #expect(try await second.ask("join", "task")[0] == "secret")
        #expect(session.daemonIsRunning)
    }

    @Test func `a program that ends while it waits behind another one's prompt harms no program`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .never)
        let dismissals = try await Dismissals(on: session)
        let first = try KeyringProbe(session)
        _ = try await first.ask("start", "task", "read", "s", "u", "password")
        try await prompter.wait(for: "the dialog") { $0.asked == 1 }
        do {
            let second = try KeyringProbe(session)
            // Longer than the prompt takes on a busy machine.
            _ = try await second.ask("timeout", "5000")
            #expect(try await second.ask("read", "s", "u", "password")[1] == "store.timed-out")
        }
        let third = try KeyringProbe(session)
        _ = try await third.ask("start", "task", "read", "s", "u", "password")
        try await dismissals.waitForPrompts(3)
        try await prompter.answer(PrivateSession.password)
        #expect(try await first.ask("join", "task")[0] == "secret")
        #expect(try await third.ask("join", "task")[0] == "secret")
        #expect(prompter.begun == 1 && session.daemonIsRunning)
    }

    @Test func `without permission to prompt another program's prompt stays`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .never)
        let first = try KeyringProbe(session)
        _ = try await first.ask("start", "task", "read", "s", "u", "password")
        try await prompter.wait(for: "the dialog") { $0.asked == 1 }
        let second = try KeyringProbe(session)
        _ = try await second.ask("prompting", "no")
        #expect(try await second.ask("read", "s", "u", "password")[1] == "store.locked")
        try await prompter.answer(PrivateSession.password)
        #expect(try await first.ask("join", "task")[0] == "secret")
        #expect(session.daemonIsRunning)
    }

    @Test func `callers share one prompt, and one that stops waiting leaves it to the others`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .never)
        let dismissals = try await Dismissals(on: session)
        let probe = try KeyringProbe(session)
        _ = try await probe.ask("start", "first", "read", "s", "u", "password")
        try await prompter.wait(for: "the dialog") { $0.asked == 1 }
        _ = try await probe.ask("start", "second", "list")
        _ = try await probe.ask("start", "third", "read", "s", "nobody", "password")
        _ = try await probe.ask("timeout", "2000")
        // It comes last and is given up first; by then the others have joined the prompt.
        #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.timed-out")
        _ = try await probe.ask("cancel", "first")
        #expect(try await probe.ask("join", "first")[1] == "store.cancelled")
        try await prompter.answer(PrivateSession.password)
        let (second, third) = (try await probe.ask("join", "second"), try await probe.ask("join", "third"))
        #expect(second == ["s/u/password/Password for 'u' on 's'"] && third == ["none"], "\(second) \(third)")
        #expect(prompter.begun == 1 && dismissals.count == 0)
    }

    @Test func `many callers of a locked keyring share one prompt`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(
            on: session, answering: .passwords(["wrong", PrivateSession.password]))
        let probe = try KeyringProbe(session)
        for number in 0..<8 { _ = try await probe.ask("start", "\(number)", "read", "s", "u", "password") }
        for number in 0..<8 { #expect(try await probe.ask("join", "\(number)")[0] == "secret") }
        #expect(prompter.begun == 1)
    }

    @Test func `a service that dies while its prompt is open ends the operation`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .never)
        let probe = try KeyringProbe(session)
        _ = try await probe.ask("start", "task", "read", "s", "u", "password")
        try await prompter.wait(for: "the dialog") { $0.asked == 1 }
        await session.killDaemon()
        #expect(try await probe.ask("join", "task")[1] == "store.unavailable")
    }

    @Test func `without permission to prompt no dialog appears`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .passwords([PrivateSession.password]))
        let probe = try KeyringProbe(session)
        _ = try await probe.ask("prompting", "no")
        #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.locked")
        #expect(try await probe.ask("save", "s", "u", "password", "00")[1] == "store.locked")
        #expect(prompter.begun == 0)
    }
}

/// Sees on the bus which prompts are shown, and which are dismissed: none must be.
private struct Dismissals {
    private let monitor: RunningProgram

    init(on session: PrivateSession) async throws {
        let monitor = try Program("dbus-monitor").start(
            ["--session", "type='method_call',interface='org.freedesktop.Secret.Prompt'"],
            environment: session.environment)
        // It loses its name when it has become a monitor.
        try await monitor.wait(for: "the bus") { monitor.outputSoFar.contains("NameLost") }
        self.monitor = monitor
    }

    var count: Int { calls(of: "Dismiss") }

    /// Waits until the service was asked to show so many prompts.
    func waitForPrompts(_ number: Int) async throws {
        try await monitor.wait(for: "prompt \(number)") { calls(of: "Prompt") == number }
    }

    private func calls(of method: String) -> Int {
        monitor.outputSoFar.split(separator: "\n").count { $0.hasSuffix("member=\(method)") }
    }
}
