import LatchkeyStoreContract
import Testing
import TestServices

/// The store on a real KeePassXC.
struct KeePassXCTests {
    /// It takes a second to start, so each of two keeps half of the statements.
    @Test(arguments: ContractCase.all.grouped(by: (ContractCase.all.count + 1) / 2))
    func `keeps the store contract`(_ statements: [ContractCase]) async throws {
        let keePassXC = try await KeePassXC()
        for statement in statements {
            let probe = try KeyringProbe(keePassXC.session)
            let answer = try await probe.ask("contract", statement.statement, within: .seconds(300))
            #expect(answer == ["kept"], "\(statement)")
            #expect(keePassXC.isRunning)
        }
    }

    // MARK: - What is different from gnome-keyring

    @Test func `bytes and text stay unchanged, even when the database is opened again`() async throws {
        let keePassXC = try await KeePassXC()
        let secrets: [(name: String, bytes: [UInt8], type: String)] = [
            ("bytes", [0xFF, 0x00, 0xFE], "binary"), ("text", Array("zażółć\r\n\t🔑".utf8), "text"),
            ("UTF-8 as bytes", Array("zażółć".utf8), "binary"), ("nothing", [], "text"), ("no bytes", [], "binary"),
            // What KeePassXC would change in text.
            ("placeholder", Array("{TITLE}".utf8), "text"), ("member", Array("{S:service}".utf8), "text"),
            ("JSON", Array(#"{"token":"{USERNAME}"}"#.utf8), "text"), ("mark", [0xEF, 0xBB, 0xBF, 0x61], "text"),
            ("NUL", [0x61, 0x00, 0x62], "text"), ("control", [0x1B, 0x01, 0x7F], "text"),
        ]
        let probe = try KeyringProbe(keePassXC.session)
        for (name, bytes, type) in secrets {
            // Over another one, of the other type.
            let other = type == "text" ? "binary" : "text"
            #expect(try await probe.ask("save", "s", name, "password", "616263", "none", other)[0] == "saved")
            #expect(try await probe.ask("save", "s", name, "password", Hex.digits(bytes), "none", type)[0] == "saved")
        }
        func check() async throws {
            let probe = try KeyringProbe(keePassXC.session)
            for (name, bytes, _) in secrets {
                #expect(try await probe.ask("read", "s", name, "password")[1] == Hex.digits(bytes), "\(name)")
            }
            #expect(try await probe.ask("read", "s", "bytes", "password")[2] == "application/octet-stream")
            #expect(try await probe.ask("read", "s", "text", "password")[2] == "text/plain")
            #expect(try await probe.ask("list").count == secrets.count)
            #expect(try await probe.ask("duplicates") == [""])
        }
        try await check()
        await keePassXC.stop()
        try await keePassXC.start()
        try await check()
    }

    @Test func `other programs and the store read each other's passwords`() async throws {
        let keePassXC = try await KeePassXC()
        let session = keePassXC.session
        let probe = try KeyringProbe(session)
        try await probe.save("s", "ours", "written here")
        let ours = ["service", "s", "username", "ours"]
        #expect(try await session.secretTool(["lookup"] + ours).outputText == "written here")
        let theirs = ["service", "s", "username", "theirs"]
        try await session.secretTool(["store", "--label=Theirs"] + theirs, input: Array("written there".utf8))
            .successful("store")
        #expect(try await probe.read("s", "theirs") == "written there")
        #expect(try await probe.save("s", "theirs", "changed here")[0] == "saved")
        #expect(try await session.secretTool(["lookup"] + theirs).outputText == "changed here")
        #expect(
            try await probe.ask("list", "s").sorted() == [
                "s/ours/password/Password for 'ours' on 's'", "s/theirs/password/Theirs",
            ])
        #expect(try await probe.ask("delete", "s", "theirs", "password") == ["deleted"])
        #expect(try await session.secretTool(["lookup"] + theirs).status == 1)
        #expect(keePassXC.isRunning)
    }

    @Test func `a collection that KeePassXC doesn't have is an error, and its own is found by its label`() async throws
    {
        let keePassXC = try await KeePassXC()
        let session = keePassXC.session
        let probe = try KeyringProbe(session)
        try await probe.save("s", "u", "kept")
        _ = try await probe.ask("collection", "session")
        #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.unavailable")
        _ = try await probe.ask("collection", "nowhere")
        let answer = try await probe.ask("read", "s", "u", "password")
        #expect(answer[1] == "store.unavailable" && answer[4].contains("'\(KeePassXC.label)'"))
        for name in [KeePassXC.label, KeePassXC.collection] {
            _ = try await probe.ask("collection", name)
            #expect(try await probe.read("s", "u") == "kept")
        }
        #expect(keePassXC.isRunning)
    }

    @Test func `a locked database is locked at once without permission to prompt, and its items aren't absent`()
        async throws
    {
        let keePassXC = try await KeePassXC()
        let probe = try KeyringProbe(keePassXC.session)
        try await probe.save("s", "u", "kept")
        #expect(try await probe.ask("lock") == ["ok"])
        _ = try await probe.ask("prompting", "no")
        for operation in [
            ["read", "s", "u", "password"], ["save", "s", "u", "password", "00"], ["delete", "s", "u", "password"],
            ["list"], ["unlock"], ["duplicates"],
        ] {
            #expect(try await probe.ask(operation)[1] == "store.locked")
        }
        #expect(try await probe.ask("state")[1...] == ["locked", "encrypted"])
    }

    @Test func `an unseen dialog ends at the deadline`() async throws {
        let keePassXC = try await KeePassXC()
        await keePassXC.stop()
        try await keePassXC.start(password: nil)
        let probe = try KeyringProbe(keePassXC.session)
        _ = try await probe.ask("timeout", "2000")
        #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.timed-out")
        #expect(try await probe.save("s", "u", "x")[1] == "store.timed-out")
        #expect(try await keePassXC.isLocked() == true)
    }

    @Test func `an item that is locked apart from its collection is locked, neither read nor absent`() async throws {
        let keePassXC = try await KeePassXC(confirmsAccess: true)
        let probe = try KeyringProbe(keePassXC.session)
        // Whoever creates an item may read it; another process is asked about.
        try await probe.save("s", "u", "kept")
        #expect(try await probe.read("s", "u") == "kept")
        let other = try KeyringProbe(keePassXC.session)
        #expect(try await other.ask("state")[1] == "open")
        _ = try await other.ask("prompting", "no")
        #expect(try await other.ask("read", "s", "u", "password")[1] == "store.locked")
        #expect(try await other.ask("save", "s", "u", "password", "00")[1] == "store.locked")
        #expect(try await other.read("s", "nobody") == nil)
        _ = try await other.ask("prompting", "yes")
        _ = try await other.ask("timeout", "2000")
        #expect(try await other.ask("read", "s", "u", "password")[1] == "store.timed-out")
        #expect(try await probe.read("s", "u") == "kept")
    }

    @Test func `the next call uses a KeePassXC that was killed and started again`() async throws {
        let keePassXC = try await KeePassXC()
        let probe = try KeyringProbe(keePassXC.session)
        try await probe.save("s", "u", "kept")
        await keePassXC.stop()
        #expect(try await probe.ask("read", "s", "u", "password")[1] == "store.unavailable")
        try await keePassXC.start()
        #expect(try await probe.read("s", "u") == "kept")
        await keePassXC.kill()
        try await keePassXC.start()
        #expect(try await probe.read("s", "u") == "kept")
    }

    @Test func `a secret of 8 MiB is kept`() async throws {
        let keePassXC = try await KeePassXC()
        let probe = try KeyringProbe(keePassXC.session)
        let answer = try await probe.ask("large", "s", "u", "password", "\(8 << 20)", within: .seconds(300))
        #expect(answer[0] == "same")
        #expect(keePassXC.isRunning)
    }
}
