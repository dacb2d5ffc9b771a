import Testing
import TestServices

/// An item that was read a moment ago is not described again, as long as its secret is the same.
struct KnownItemTests {
    @Test func `a repeated read searches and fetches the secret, and seldom describes the item`() async throws {
        let session = try await PrivateSession(.none)
        let service = try await StandInService(on: session)
        let probe = try KeyringProbe(session)
        for _ in 0..<40 { #expect(try await probe.read("s", "u") == "kept") }
        #expect(service.calls("SearchItems") == 40)
        #expect(service.calls("GetSecrets") == 40)
        // The first one before the session, which takes so long to open.
        #expect(service.methods.firstIndex(of: "SearchItems")! < service.methods.firstIndex(of: "OpenSession")!)
        // Once a second at most: forty reads would have to take forty.
        #expect(service.calls("GetAll") < 40)
        // A change looks at the item itself.
        let described = service.calls("GetAll")
        #expect(try await probe.save("s", "u", "changed")[0] == "saved")
        #expect(service.calls("GetAll") > described)
        #expect(try await probe.read("s", "u") == "changed")
    }

    @Test func `other programs' changes are visible at once, with all attributes`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "one")
        for number in 0..<10 {
            #expect(try await probe.read("s", "u") != nil)
            // Another label with another secret, on the same item.
            try await session.secretTool(
                ["store", "--label=Label \(number)", "service", "s", "username", "u"],
                input: Array("new \(number)".utf8)
            ).successful("store")
            let words = try await probe.ask("read", "s", "u", "password")
            #expect(words[0] == "secret" && Hex.bytes(words[1]) == Array("new \(number)".utf8))
            #expect(words[3] == "Label \(number)")
        }
    }

    /// gnome-keyring may give a new item the path of the one that was just deleted.
    @Test func `an item that replaces the one just read isn't mistaken for it`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        for number in 0..<10 {
            try await probe.save("s", "u", "ours")
            #expect(try await probe.read("s", "u") == "ours")
            try await session.secretTool(["clear", "service", "s", "username", "u"]).successful("clear")
            try await session.createItem(
                "Foreign", ["service": "s", "username": "u", "target": "other"], "theirs \(number)")
            #expect(try await probe.read("s", "u") == nil)
            try await session.secretTool(["clear", "service", "s", "username", "u"]).successful("clear")
        }
    }

    @Test func `a keyring that was locked since the last read reports that, and is read again once it is open`()
        async throws
    {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        _ = try await probe.ask("prompting", "no")
        try await probe.save("s", "u", "kept")
        for _ in 0..<3 {
            #expect(try await probe.read("s", "u") == "kept")
            try await session.lock()
            #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.locked")
            try await session.restartDaemon()
            #expect(try await probe.read("s", "u") == "kept")
        }
    }

    @Test func `an item that was deleted since the last read is absent`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        for _ in 0..<5 {
            try await probe.save("s", "u", "kept")
            #expect(try await probe.read("s", "u") == "kept")
            try await session.secretTool(["clear", "service", "s", "username", "u"]).successful("clear")
            #expect(try await probe.read("s", "u") == nil)
        }
    }
}
