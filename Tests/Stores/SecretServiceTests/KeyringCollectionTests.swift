import Testing
import TestServices

/// Which collection of a real gnome-keyring the store uses, and how it makes one that is missing.
struct KeyringCollectionTests {
    private func probe(_ session: PrivateSession, collection: String, creating: Bool = false) async throws
        -> KeyringProbe
    {
        let probe = try KeyringProbe(session)
        #expect(try await probe.ask("collection", collection) == ["ok"])
        if creating { _ = try await probe.ask("creating", "yes") }
        return probe
    }

    // MARK: - Naming one

    @Test func `a collection is used by its label or its path, apart from the default one`() async throws {
        let session = try await PrivateSession(.unlocked)
        let path = try await session.makeCollection("Work: Zażółć 🔑")
        let named = try await probe(session, collection: "Work: Zażółć 🔑")
        let placed = try await probe(session, collection: path)
        let standard = try KeyringProbe(session)
        try await standard.save("s", "u", "at home")
        #expect(try await named.save("s", "u", "at work")[0] == "saved")
        #expect(try await placed.read("s", "u") == "at work")
        #expect(try await named.ask("list") == ["s/u/password/Password for 'u' on 's'"])
        #expect(try await named.ask("state")[0] == path)
        #expect(try await placed.ask("delete", "s", "u", "password") == ["deleted"])
        #expect(try await named.read("s", "u") == nil)
        #expect(try await standard.read("s", "u") == "at home")
    }

    /// A move between them would delete the only copy.
    @Test func `two names of one collection are one store`() async throws {
        let session = try await PrivateSession(.unlocked)
        let path = try await session.makeCollection("Work")
        let named = try await probe(session, collection: "Work")
        try await named.save("s", "u", "kept")
        #expect(try await named.ask("move", "s", "u", "password", path).starts(with: ["error", "store.unsupported"]))
        #expect(try await named.read("s", "u") == "kept")
        try await KeyringProbe(session).save("s", "u", "kept")
        #expect(try await named.ask("move", "s", "u", "password", PrivateSession.loginCollection) == ["moved"])
        #expect(try await named.ask("list") == [""])
        #expect(try await KeyringProbe(session).ask("list") == ["s/u/password/Password for 'u' on 's'"])
    }

    @Test func `a collection that is locked is found by its label, and unlocked alone`() async throws {
        let session = try await PrivateSession(.unlocked)
        _ = try await session.makeCollection("Work", password: "work password")
        try await probe(session, collection: "Work").save("s", "u", "kept")
        try await session.restartDaemon(password: nil)
        let prompter = try await StandInPrompter(on: session, answering: .passwords(["work password"]))
        #expect(try await probe(session, collection: "Work").read("s", "u") == "kept")
        #expect(prompter.asked == 1)
        let standard = try KeyringProbe(session)
        #expect(try await standard.ask("state")[1] == "locked")
    }

    @Test func `changes in the chosen collection are reported, and changes in others aren't`() async throws {
        let session = try await PrivateSession(.unlocked)
        _ = try await session.makeCollection("Work")
        let watcher = try await probe(session, collection: "Work")
        let writer = try await probe(session, collection: "Work")
        #expect(try await watcher.ask("watch") == ["ok"])
        try await KeyringProbe(session).save("s", "elsewhere", "x")
        try await writer.save("s", "here", "x")
        #expect(try await watcher.ask("changes", "1") == ["saved s/here"])
    }

    @Test func `two collections with one label are an error that names both`() async throws {
        let session = try await PrivateSession(.unlocked)
        let first = try await session.makeCollection("Work")
        let second = try await session.makeCollection("Work")
        let probe = try await probe(session, collection: "Work")
        for operation in [
            ["read", "s", "u", "password"], ["save", "s", "u", "password", "00"], ["list"], ["state"], ["unlock"],
            ["delete", "s", "u", "password"], ["watch"],
        ] {
            let answer = try await probe.ask(operation)
            #expect(answer[1] == "store.ambiguous")
            #expect(answer[4].contains(first) && answer[4].contains(second))
        }
        _ = try await probe.ask("collection", first)
        #expect(try await probe.save("s", "u", "x")[0] == "saved")
    }

    @Test func `the error for a missing collection names the existing ones`() async throws {
        let session = try await PrivateSession(.unlocked)
        _ = try await session.makeCollection("Work")
        let probe = try await probe(session, collection: "Wrok")
        for operation in [["read", "s", "u", "password"], ["save", "s", "u", "password", "00"], ["list"], ["state"]] {
            let answer = try await probe.ask(operation)
            #expect(answer[1] == "store.unavailable")
            #expect(!answer[3].contains("Wrok"))
            #expect(answer[4].contains("'Work'") && answer[4].contains("'Login'"))
        }
        _ = try await probe.ask("collection", "/org/freedesktop/secrets/collection/wrok")
        let answer = try await probe.ask("read", "s", "u", "password")
        #expect(answer[1] == "store.unavailable" && answer[3].contains("/org/freedesktop/secrets/collection/wrok"))
    }

    @Test func `a collection that is deleted while in use is missing afterwards`() async throws {
        let session = try await PrivateSession(.unlocked)
        let path = try await session.makeCollection("Work")
        let probe = try await probe(session, collection: "Work")
        try await probe.save("s", "u", "x")
        try await session.call("org.freedesktop.secrets", path, "org.freedesktop.Secret.Collection.Delete")
        #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.unavailable")
        #expect(try await probe.save("s", "u", "y")[1] == "store.unavailable")
    }

    // MARK: - In memory

    @Test func `the session's collection reaches no disk and ends with the daemon`() async throws {
        let session = try await PrivateSession(.unlocked)
        let memory = try await probe(session, collection: "session")
        let standard = try KeyringProbe(session)
        let before = try session.keyringFiles()
        try await memory.save("s", "u", "only in memory")
        #expect(try await memory.read("s", "u") == "only in memory")
        #expect(try await standard.read("s", "u") == nil)
        #expect(try session.keyringFiles() == before)
        try await standard.save("s", "v", "on disk")
        #expect(try session.keyringFiles() != before)
        try await session.restartDaemon()
        #expect(try await memory.read("s", "u") == nil)
        #expect(try await standard.read("s", "v") == "on disk")
    }

    // MARK: - Making one

    /// A daemon that has no collection but the one in memory.
    private func sessionWithoutCollection() async throws -> PrivateSession {
        let session = try await PrivateSession(.none)
        try await session.startDaemon(password: nil)
        return session
    }

    @Test func `with consent a save makes the default collection, and the service asks for its password`() async throws
    {
        let session = try await sessionWithoutCollection()
        let prompter = try await StandInPrompter(on: session, answering: .passwords(["new password"]))
        let probe = try await probe(session, collection: "default", creating: true)
        // Reading makes nothing.
        #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.unavailable")
        #expect(try await probe.ask("list")[1] == "store.unavailable")
        #expect(prompter.begun == 0)
        #expect(try await probe.save("s", "u", "first")[0] == "saved")
        #expect(prompter.begun == 1)
        #expect(try await probe.ask("state")[0] == session.defaultCollection())
        #expect(try await session.secretTool(["lookup", "service", "s", "username", "u"]).outputText == "first")
        // It is there from now on, consent or not, and has the password that was given.
        try await session.restartDaemon(password: nil)
        let other = try KeyringProbe(session)
        #expect(try await other.read("s", "u") == "first")
        #expect(prompter.begun == 2)
    }

    @Test func `with consent a save makes a collection with the chosen label`() async throws {
        let session = try await PrivateSession(.unlocked)
        let before = try await session.defaultCollection()
        let prompter = try await StandInPrompter(on: session, answering: .passwords(["new password"]))
        let probe = try await probe(session, collection: "Work", creating: true)
        let answer = try await probe.save("s", "u", "x")
        #expect(answer[0] == "saved", "\(answer)")
        #expect(prompter.begun == 1)
        #expect(try await probe.read("s", "u") == "x")
        #expect(try await KeyringProbe(session).read("s", "u") == nil)
        #expect(try await session.defaultCollection() == before)
    }

    @Test func `tasks and processes that miss one collection make it once`() async throws {
        let session = try await PrivateSession(.unlocked)
        let before = try await session.collections()
        let prompter = try await StandInPrompter(on: session, answering: .passwords(["new password"]))
        let first = try await probe(session, collection: "Work", creating: true)
        let second = try await probe(session, collection: "Work", creating: true)
        let probes = [first, second]
        for probe in probes {
            for task in 0..<3 { _ = try await probe.ask("start", "\(task)", "save", "s", "\(task)", "password", "00") }
        }
        for probe in probes {
            for task in 0..<3 { #expect(try await probe.ask("join", "\(task)")[0] == "saved") }
        }
        #expect(try await session.collections().subtracting(before).count == 1)
        #expect(prompter.begun == 1)
    }

    @Test func `a collection whose prompt is closed is not made`() async throws {
        let session = try await sessionWithoutCollection()
        let before = try await session.collections()
        let prompter = try await StandInPrompter(on: session, answering: .cancel)
        let probe = try await probe(session, collection: "default", creating: true)
        #expect(try await probe.save("s", "u", "x")[1] == "store.prompt-dismissed")
        _ = try await probe.ask("prompting", "no")
        let answer = try await probe.save("s", "u", "x")
        #expect(answer[1] == "store.locked" && answer[3].contains("new collection"))
        #expect(try await session.collections() == before)
        #expect(prompter.asked == 1)
    }

    @Test func `without consent, and at a path, nothing is made`() async throws {
        let session = try await PrivateSession(.unlocked)
        let before = try await session.collections()
        let prompter = try await StandInPrompter(on: session, answering: .passwords(["new password"]))
        let probe = try await probe(session, collection: "Work")
        #expect(try await probe.save("s", "u", "x")[4].contains("create a collection in the keyring"))
        _ = try await probe.ask("creating", "yes")
        _ = try await probe.ask("collection", "/org/freedesktop/secrets/collection/work")
        #expect(try await probe.save("s", "u", "x")[1] == "store.unavailable")
        #expect(try await session.collections() == before)
        #expect(prompter.begun == 0)
    }
}
