internal import Foundation
internal import Testing
internal import TestServices

/// A vault that is locked: it says so at once, and never that something isn't there.
struct LockedKeyringTests {
    private let keyring: ServedKeyring
    private static let root = "/org/freedesktop/secrets"
    private static let login = root + "/collection/login"

    init() async throws { keyring = try await ServedKeyring(mode: "locked") }

    private func calls(_ words: String...) async throws -> [String] {
        let run = try await keyring.python("call.py", words).successful("call.py")
        return run.outputText.split(separator: "\n").map(String.init)
    }

    private func agent(_ passphrases: String...) async throws -> RunningProgram {
        let agent = try BuiltProducts.program("keyring-fixture").start(
            ["agent"] + passphrases, environment: keyring.session.environment)
        try await agent.wait(for: "the agent") { agent.outputSoFar.contains("ready\n") }
        return agent
    }

    @Test func `a locked vault's name and collections exist, and every other call is refused as locked`() async throws {
        #expect(
            try await calls(
                "alias", "default", "alias", "login", "alias", "session", "get", Self.root, "Service", "Collections",
                "get", Self.login, "Collection", "Locked", "get", Self.login, "Collection", "Label", "get",
                Self.root + "/aliases/default", "Collection", "Locked", "introspect", Self.login) == [
                    Self.login, Self.login, Self.root + "/collection/session",
                    "('ao', ['\(Self.login)', '\(Self.root)/collection/session'])", "('b', True)", "('s', 'Latchkey')",
                    "('b', True)", "Secret.Collection DBus.Properties DBus.Introspectable DBus.Peer",
                ])
        let locked = "IsLocked the vault is locked: unlock the vault"
        #expect(
            try await calls(
                "search", "create", Self.login, "x", "get", Self.login, "Collection", "Items", "get",
                Self.login + "/i1", "Item", "Label", "delete", Self.login + "/i1", "alias", "other",
                "create-collection", "Work", "set-alias", "other", Self.login)
                == [String](repeating: locked, count: 8))
        // libsecret reads all properties of a collection before anything else.
        #expect(try await calls("all", Self.login, "Collection")[0].contains("'Items': ('ao', [])"))
    }

    @Test func `secret-tool reports that the vault is locked, and not that it is empty`() async throws {
        let lookup = try await keyring.session.secretTool(["lookup", "a", "1"])
        #expect(lookup.status == 1 && lookup.errorText.contains("the vault is locked"), "\(lookup.errorText)")
        let store = try await keyring.session.secretTool(["store", "--label=x", "a", "1"], input: [65])
        #expect(store.status == 1, "\(store.errorText)")
    }

    /// Remmina and Chromium don't say so themselves, and lose what they would have saved.
    @Test func `each program that is refused is named once`() async throws {
        _ = try await calls("search", "create", Self.login, "x", "search", "get", Self.login, "Collection", "Items")
        _ = try await calls("get", Self.login, "Collection", "Items", "create", Self.login, "x")
        let lines = try #require(keyring.service).outputSoFar.split(separator: "\n").filter { $0.hasPrefix("refused ") }
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("python3") }, "\(lines)")
    }

    /// Its items could be made, and not found.
    @Test func `the session collection, which is in memory alone, works while the vault is locked`() async throws {
        let session = Self.root + "/collection/session"
        #expect(
            try await calls("create", session, "x", "search", "read-plain", "x", "delete", session + "/i1", "search")
                == [
                    session + "/i1 /", "['\(session)/i1'] []", "secret", "/",
                    "IsLocked the vault is locked: unlock the vault",
                ])
    }

    @Test func `without an agent a prompt is dismissed at once`() async throws {
        #expect(try await calls("unlock", Self.login) == ["[] prompt", "True ('ao', [])"])
    }

    @Test func `with a key slot the vault opens without a prompt`() async throws {
        try await keyring.tell("slot")
        #expect(
            try await calls("unlock", Self.root + "/aliases/default", "get", Self.login, "Collection", "Locked")
                == ["['\(Self.root)/aliases/default'] /", "('b', False)"])
    }

    @Test func `an agent is asked until the passphrase is right, and then the waiting call is finished`() async throws {
        let agent = try await agent("wrong", "open sesame")
        let store = try await keyring.session.secretTool(["store", "--label=x", "a", "1"], input: Array("one".utf8))
        #expect(store.status == 0, "\(store.errorText)")
        #expect(try await keyring.session.secretTool(["lookup", "a", "1"]).outputText == "one")
        #expect(agent.outputSoFar == "ready\nasked\nasked again\n")
    }

    @Test func `one passphrase is enough for all waiting clients`() async throws {
        let agent = try await agent("open sesame")
        let session = keyring.session
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for number in 0..<6 {
                group.addTask {
                    try await session.secretTool(["store", "--label=x", "n", "\(number)"], input: [65]).status
                }
            }
            for try await status in group { #expect(status == 0) }
        }
        // Others' questions were asked before the first answer was tried.
        #expect(agent.outputSoFar == "ready\nasked\n")
        #expect(try await calls("search")[0].split(separator: ",").count == 6)
    }

    @Test func `a client can lock the vault: the keys are gone until a client unlocks it`() async throws {
        let agent = try await agent("open sesame", "open sesame")
        #expect(try await calls("unlock", Self.login) == ["[] prompt", "False ('ao', ['\(Self.login)'])"])
        #expect(
            try await calls("lock", Self.login, "get", Self.login, "Collection", "Locked", "create", Self.login, "x")
                == [
                    "['\(Self.login)'] /", "('b', True)", "IsLocked the vault is locked: unlock the vault",
                ])
        #expect(
            try await calls("unlock", Self.login, "search") == [
                "[] prompt", "False ('ao', ['\(Self.login)'])", "[] []",
            ])
        #expect(agent.outputSoFar == "ready\nasked\nasked\n")
    }

    /// It was refused until a client unlocked it, which libsecret does only with what a search has found; also after a
    /// second lock.
    @Test func `what a client locked is found again once a person unlocks the vault`() async throws {
        let agent = try await agent("open sesame")
        let made = try await calls(
            "unlock", Self.login, "create", Self.login, "x", "lock", Self.login, "lock", Self.login, "search")
        #expect(made.last == "IsLocked the vault is locked: unlock the vault")
        try await keyring.tell("slot")
        let item = Self.login + "/i1"
        #expect(
            try await calls("search", "read-plain", "x") == ["['\(item)'] []", "secret"])
        #expect(agent.outputSoFar == "ready\nasked\nasked\n")
    }

    /// libsecret searches before anything else, and unlocks only what a search has found.
    @Test func `a search waits until a person unlocks the vault, and is refused if no person does`() async throws {
        let agent = try await agent("open sesame", "open sesame")
        let tool = keyring.session
        #expect(
            try await tool.secretTool(["store", "--label=x", "a", "1"], input: Array("one".utf8)).status == 0)
        #expect(try await calls("lock", Self.login) == ["['\(Self.login)'] /"])
        #expect(try await tool.secretTool(["lookup", "a", "1"]).outputText == "one")
        #expect(agent.outputSoFar == "ready\nasked\nasked\n")
        // Now the person types nothing.
        #expect(try await calls("lock", Self.login) == ["['\(Self.login)'] /"])
        let refused = try await tool.secretTool(["lookup", "a", "1"])
        #expect(refused.status == 1 && refused.errorText.contains("the vault is locked"), "\(refused.errorText)")
        #expect(agent.outputSoFar == "ready\nasked\nasked\nasked\n")
    }

    /// Go programs make their collection before they unlock anything.
    @Test func `making a collection and listing items wait for a person too`() async throws {
        let agent = try await agent("open sesame", "open sesame")
        let made = try await calls("create-collection", "Work")
        #expect(made[0].hasPrefix(Self.root + "/collection/") && made[0].hasSuffix(" /"), "\(made)")
        #expect(
            try await calls("lock", Self.login, "lock", made[0].replacing(" /", with: ""))[0]
                == "['\(Self.login)'] /")
        #expect(try await calls("get", Self.login, "Collection", "Items") == ["('ao', [])"])
        #expect(agent.outputSoFar == "ready\nasked\nasked\n")
    }

    /// Liferea looks for its collection by its label, and made another one: its old passwords were gone for it.
    @Test func `a collection that a program makes because it saw none while locked is the one that is there`()
        async throws
    {
        let agent = try await agent("open sesame", "open sesame")
        let made = try await calls("create-collection", "Liferea", "lock", Self.login)
        #expect(try await calls("lock", String(made[0].dropLast(2))).count == 1)
        let again = try await calls("create-collection", "Liferea", "create-collection", "Liferea")
        #expect(again[0] == made[0] && again[1] != made[0], "\(made) \(again)")
        #expect(agent.outputSoFar == "ready\nasked\nasked\n")
    }

    /// A program that polls asked the person again each time.
    @Test func `after a refused search the person is asked again for an unlock alone, or by another connection`()
        async throws
    {
        let agent = try await agent()
        let locked = "IsLocked the vault is locked: unlock the vault"
        #expect(
            try await calls("search", "search", "unlock", Self.login)
                == [locked, locked, "[] prompt", "True ('ao', [])"])
        #expect(agent.outputSoFar == "ready\nasked\nasked\n")
        #expect(try await calls("search") == [locked])
        #expect(agent.outputSoFar == "ready\nasked\nasked\nasked\n")
    }

    /// The service held such a call, with all that it brought, beyond the limits of its queue.
    @Test func `a search of an unknown collection is refused at once, and asks nobody`() async throws {
        let agent = try await agent("silence")
        #expect(
            try await calls("search-in", Self.root + "/collection/nosuch")
                == ["IsLocked the vault is locked: unlock the vault"])
        #expect(agent.outputSoFar == "ready\n")
    }

    /// A connection has at most 64, and all together 8 MiB. A search has 16 bytes beside its value.
    @Test func `searches that wait have a limit, of one connection and of all`() async throws {
        let agent = try await agent("silence")
        let size = 32_000
        let counts = try await calls("waiting-searches", "6", "70", "\(size)").compactMap { Int($0) }
        #expect(counts == [64, 64, 64, 64, (8 << 20) / (size + 16) - 4 * 64, 0])
        #expect(agent.outputSoFar == "ready\nasked\n")
    }

    @Test func `a search in one collection waits for a person too, and an unlocking elsewhere ends the wait`()
        async throws
    {
        let agent = try await agent("silence")
        async let found = calls("search-in", Self.login)
        try await agent.wait(for: "the question") { agent.outputSoFar.contains("asked\n") }
        try await keyring.tell("slot")
        #expect(try await calls("search") == ["[] []"])
        #expect(try await found == ["[]"])
    }

    @Test func `the secrets of a locked vault are refused, and not none`() async throws {
        #expect(
            try await calls("secrets", Self.login + "/i1") == ["IsLocked the vault is locked: unlock the vault"])
    }

    @Test func `a question that nobody answers ends when a person unlocks the vault elsewhere`() async throws {
        let agent = try await agent("silence")
        async let waiting = calls("unlock", Self.login)
        try await agent.wait(for: "the question") { agent.outputSoFar.contains("asked\n") }
        try await keyring.tell("slot")
        #expect(try await calls("search") == ["[] []"])
        #expect(try await waiting == ["[] prompt", "False ('ao', ['\(Self.login)'])"])
    }

    @Test func `a person can lock and unlock the vault in another program`() async throws {
        try await keyring.tell("slot")
        #expect(try await calls("search") == ["[] []"])
        try await keyring.tell("lock")
        #expect(
            try await calls("search", "get", Self.login, "Collection", "Locked")
                == ["IsLocked the vault is locked: unlock the vault", "('b', True)"])
        try await keyring.tell("slot")
        #expect(try await calls("search") == ["[] []"])
    }

    @Test func `an agent that gives up dismisses the prompt`() async throws {
        let agent = try await agent("wrong")
        #expect(try await calls("unlock", Self.login) == ["[] prompt", "True ('ao', [])"])
        #expect(agent.outputSoFar == "ready\nasked\nasked again\n")
    }

    @Test func `if one agent refuses, the next one is asked`() async throws {
        let first = try await agent("open sesame")
        // The last one is asked first. This one says no.
        let second = try await agent()
        #expect(try await calls("unlock", Self.login) == ["[] prompt", "False ('ao', ['\(Self.login)'])"])
        #expect(second.outputSoFar == "ready\nasked\n" && first.outputSoFar == "ready\nasked\n")
    }

    @Test func `after three wrong passphrases of one agent another agent is asked`() async throws {
        let first = try await agent("open sesame")
        let second = try await agent("wrong", "wrong again", "and again", "never asked for")
        #expect(try await calls("unlock", Self.login) == ["[] prompt", "False ('ao', ['\(Self.login)'])"])
        #expect(second.outputSoFar == "ready\nasked\nasked again\nasked again\n")
        #expect(first.outputSoFar == "ready\nasked\n")
    }

    /// Any program of the user can call it, and would have the passphrase.
    @Test func `an agent gives the passphrase only to the keyring`() async throws {
        let agent = try await agent("open sesame")
        // The service is the first on the bus, and the agent next but for who waited for the name.
        let names = try await keyring.session.call(
            "org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames")
        let others = names.split { " []\n\t".contains($0) }.map(String.init).filter { $0.hasPrefix(":") }
        var refusals = 0
        for name in others where try await calls("ask", name) == ["AccessDenied"] { refusals += 1 }
        #expect(refusals == 1)
        #expect(agent.outputSoFar == "ready\n")
        // It ends with the service.
        keyring.service?.kill()
        let run = try await agent.finish(within: .seconds(60))
        #expect(run.outputText == "ready\nserviceLost\n")
    }
}
