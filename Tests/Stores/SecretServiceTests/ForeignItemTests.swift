import Testing
import TestServices

/// Items that other programs made, each of the shape that the program gives them, on a real gnome-keyring.
struct ForeignItemTests {
    /// Stores an item as another program would, with exactly these attributes.
    private func store(
        _ secret: String, _ attributes: [String], _ session: PrivateSession
    ) async throws {
        try await session.secretTool(["store", "--label=Foreign"] + attributes, input: Array(secret.utf8))
            .successful("store")
    }

    /// What secret-tool shows of the items under `s/u`: their secrets and all their attributes.
    private func shown(_ session: PrivateSession) async throws -> String {
        let run = try await session.secretTool(["search", "--all", "service", "s", "username", "u"])
        // It writes the attributes to standard error.
        return run.outputText + run.errorText
    }

    @Test(arguments: [
        ["application", "Python keyring library"], ["application", "rust-keyring", "target", "default"],
        ["xdg:schema", "org.freedesktop.Secret.Generic"],
    ])
    func `an item of Python keyring or keyring-rs is read, changed in place and deleted`(
        _ more: [String]
    ) async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await store("theirs", ["service", "s", "username", "u"] + more, session)
        #expect(try await probe.read("s", "u") == "theirs")
        #expect(try await probe.save("s", "u", "ours")[0] == "saved")
        let shown = try await shown(session)
        #expect(shown.split(separator: "\n").count { $0.hasPrefix("secret = ") } == 1)
        #expect(shown.contains("secret = ours"))
        // No attribute was lost: that program still finds its item.
        let theirs = try await session.secretTool(["lookup", "service", "s", "username", "u"] + more)
        #expect(theirs.outputText == "ours")
        #expect(try await probe.ask("list") == ["s/u/password/Foreign"])
        #expect(try await probe.ask("delete", "s", "u", "password") == ["deleted"])
        #expect(try await self.shown(session) == "")
    }

    @Test(arguments: [
        ["target", "other"], ["protocol", "https"], ["latchkey:kind", "session"], ["latchkey:kind", "password"],
        ["account", "u"],
    ])
    func `an item with distinguishing attributes is neither read nor changed`(_ more: [String]) async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await store("theirs", ["service", "s", "username", "u"] + more, session)
        #expect(try await probe.read("s", "u") == nil)
        #expect(try await probe.save("s", "u", "ours")[0] == "saved")
        #expect(try await probe.read("s", "u") == "ours")
        let theirs = ["lookup", "service", "s", "username", "u"] + more
        #expect(try await session.secretTool(theirs).outputText == "theirs")
        #expect(try await probe.ask("delete", "s", "u", "password") == ["deleted"])
        #expect(try await session.secretTool(theirs).outputText == "theirs")
        #expect(try await probe.read("s", "u") == nil)
    }

    @Test func `of two items under one key the latest is read, and a save changes that one`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "older")
        try await store("newer", ["service", "s", "username", "u", "application", "x"], session)
        #expect(try await shown(session).split(separator: "\n").count { $0.hasPrefix("secret = ") } == 2)
        #expect(try await probe.read("s", "u") == "newer")
        #expect(try await probe.ask("list") == ["s/u/password/Foreign"])
        #expect(try await probe.save("s", "u", "newest")[0] == "saved")
        #expect(try await probe.read("s", "u") == "newest")
        let shown = try await shown(session)
        #expect(shown.contains("secret = older") && shown.contains("secret = newest"))
        #expect(try await probe.ask("delete", "s", "u", "password") == ["deleted"])
        #expect(try await probe.read("s", "u") == nil)
    }

    @Test func `items of programs with other attributes are not listed`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        for attributes in [
            ["service", "gh:github.com", "username", ""], ["protocol", "https", "server", "h", "user", "u"],
            ["service", "https://h", "account", "u"], ["url", "sparse+https://h"], ["service", "only"],
        ] {
            try await store("x", attributes, session)
        }
        try await store("listed", ["service", "gh:github.com", "username", "octocat"], session)
        #expect(try await probe.ask("list") == ["gh:github.com/octocat/password/Foreign"])
    }
}
