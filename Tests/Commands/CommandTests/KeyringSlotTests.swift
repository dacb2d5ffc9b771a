internal import Foundation
internal import Testing
internal import TestServices

/// A vault whose key the desktop's keyring keeps, with a real gnome-keyring on a bus of the test's own.
@Suite struct KeyringSlotTests {
    private let session: PrivateSession
    private let keyFile: [String: String]

    init() async throws {
        session = try await PrivateSession(.unlocked)
        keyFile = ["LATCHKEY_KEY_FILE": session.directory / "key"]
    }

    private func latchkey(
        _ arguments: String..., with extra: [String: String] = [:], input: String = ""
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["--store", "vault"] + arguments, environment: session.environment.merging(extra) { $1 },
            input: Array(input.utf8))
    }

    /// Makes a vault with a secret in it.
    private func makeVault(_ arguments: String..., with extra: [String: String] = [:]) async throws {
        let environment = session.environment.merging(extra) { $1 }
        let program = try BuiltProducts.latchkey()
        try await program.run(["vault", "init"] + arguments, environment: environment).successful("vault init")
        try await latchkey("set", "example.org", "alice", with: extra, input: "hunter2").successful("set")
    }

    private func get(with extra: [String: String] = [:]) async throws -> ProgramRun {
        try await latchkey("get", "example.org", "alice", with: extra)
    }

    /// The labels and accounts of the keys in the keyring, as another program finds them.
    private func items() async throws -> [(label: String, account: String)] {
        let found = try await session.secretTool(["search", "--all", "--unlock", "service", "latchkey vault"])
        let lines = (found.outputText + found.errorText).split(separator: "\n")
        func values(_ name: String) -> [String] {
            lines.filter { $0.hasPrefix(name + " = ") }.map { String($0.dropFirst(name.count + 3)) }
        }
        return Array(zip(values("label"), values("attribute.username"))).map { (label: $0.0, account: $0.1) }
    }

    @Test func `a vault opens with the key that the keyring keeps, and with nothing else`() async throws {
        try await makeVault("--secret-service")
        #expect(try await get().outputText == "hunter2")
        let slots = try await latchkey("vault", "slots")
        #expect(slots.outputText.contains("keyring  secret-service"), "\(slots.outputText)\(slots.errorText)")
        let items = try await items()
        #expect(items.map(\.label) == ["Key of the vault " + session.directory / "data/latchkey/vault"])
        try await session.restartDaemon()
        #expect(try await get().outputText == "hunter2")
    }

    @Test func `a slot for the keyring is added, replaced and removed together with its item`() async throws {
        try await makeVault(with: keyFile)
        #expect(try await get().status == 77)
        try await latchkey("vault", "add-slot", "desktop", "--secret-service", with: keyFile).successful("add-slot")
        #expect(try await get().outputText == "hunter2")
        let first = try await items()
        #expect(first.count == 1)

        try await latchkey("vault", "add-slot", "desktop", "--replace", "desktop", "--secret-service").successful("add")
        #expect(try await get().outputText == "hunter2")
        let second = try await items()
        #expect(second.count == 1 && second[0].account != first[0].account)

        let taken = try await latchkey("vault", "add-slot", "desktop", "--secret-service")
        #expect(taken.status == 73)
        #expect(try await items().map(\.account) == second.map(\.account))

        try await latchkey("vault", "remove-slot", "desktop").successful("remove-slot")
        #expect(try await items().isEmpty)
        #expect(try await get().status == 77)
        #expect(try await get(with: keyFile).outputText == "hunter2")
    }

    @Test func `an export whose key the keyring keeps is imported with it`() async throws {
        try await makeVault(with: keyFile)
        try FileManager.default.createDirectory(
            atPath: session.directory / "backup", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let backup = session.directory / "backup/vault"
        let export = try await latchkey("vault", "export", backup, "--secret-service", with: keyFile)
        #expect(export.outputText.contains("1 credential, all verified"), "\(export.errorText)")
        #expect(export.errorText.contains("stored a key in the desktop's keyring"))
        let items = try await items()
        #expect(items.map(\.label) == ["Key of the vault \(backup)"])

        // One that fails leaves no key behind.
        let again = try await latchkey("vault", "export", backup, "--secret-service", with: keyFile)
        #expect(again.status == 73)
        let unwritable = try await latchkey(
            "vault", "export", session.directory / "key/vault", "--secret-service", with: keyFile)
        #expect(unwritable.status != 0)
        #expect(try await self.items().map(\.account) == items.map(\.account))

        let second = ["LATCHKEY_KEY_FILE": session.directory / "second-key"]
        let vault = ["--vault", session.directory / "second/vault"]
        try await BuiltProducts.latchkey().run(
            ["vault", "init"] + vault, environment: session.environment.merging(second) { $1 }
        ).successful("init")
        let run = try await BuiltProducts.latchkey().run(
            ["vault", "import", backup] + vault, environment: session.environment.merging(second) { $1 })
        #expect(run.outputText.contains("1 added, 0 replaced, 0 kept"), "\(run.errorText)")
        try await session.lock()
        let locked = try await BuiltProducts.latchkey().run(
            ["vault", "import", backup] + vault, environment: session.environment.merging(second) { $1 })
        #expect(locked.status == 77 && locked.errorText.contains("[store.locked"), "\(locked.errorText)")
    }

    @Test func `a locked keyring, a missing item, a wrong one and no bus are distinguished`() async throws {
        try await makeVault("--secret-service")
        let vault = session.directory / "data/latchkey/vault"
        let before = try Data(contentsOf: URL(fileURLWithPath: vault))
        func expect(_ words: String, _ code: String, with extra: [String: String] = [:]) async throws {
            let run = try await get(with: extra)
            #expect(run.status == 77, "\(run.errorText)")
            #expect(run.errorText.contains(words) && run.errorText.contains("[\(code)"), "\(run.errorText)")
            #expect(run.errorText.contains("latchkey: hint: "), "\(run.errorText)")
        }
        try await session.lock()
        try await expect("locked", "store.locked")
        try await session.restartDaemon()
        let nowhere = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=" + session.directory / "nobody"]
        try await expect("the desktop's keyring has the vault's key", "store.locked", with: nowhere)

        let account = try #require(try await items().first?.account)
        let attributes = ["service", "latchkey vault", "username", account]
        try await session.secretTool(["clear"] + attributes).successful("clear")
        try await expect("the keyring doesn't contain the vault's key", "store.locked")
        let other = try await session.secretTool(
            ["store", "--label=other"] + attributes + ["latchkey:kind", "private-key"],
            input: Array("no key".utf8))
        #expect(other.status == 0)
        try await expect("doesn't have 32 bytes", "store.wrong-key")
        #expect(try Data(contentsOf: URL(fileURLWithPath: vault)) == before)
    }

    @Test func `a keyring that can't be used adds no slot`() async throws {
        try await makeVault(with: keyFile)
        try await session.lock()
        let locked = try await latchkey("vault", "add-slot", "desktop", "--secret-service", with: keyFile)
        #expect(locked.status == 77)
        await session.killBus()
        let gone = try await latchkey("vault", "add-slot", "desktop", "--secret-service", with: keyFile)
        #expect(gone.status == 69, "\(gone.errorText)")
        let slots = try await latchkey("vault", "slots", with: keyFile)
        #expect(!slots.outputText.contains("desktop"))
    }

    @Test func `a slot is removed without its keyring too, with a note`() async throws {
        try await makeVault(with: keyFile)
        try await latchkey("vault", "add-slot", "desktop", "--secret-service", with: keyFile).successful("add-slot")
        await session.killBus()
        let removed = try await latchkey("vault", "remove-slot", "desktop", with: keyFile)
        #expect(removed.status == 0)
        #expect(removed.errorText.contains("can't delete the removed slot's key from the keyring: no session bus"))
    }

    @Test func `if the keyring is locked, Latchkey asks for the passphrase of a vault that has one`() async throws {
        try await makeVault("--secret-service")
        let pass = try session.directory.write("pass", "correct horse")
        let shell = try Program("/bin/sh")
        let program = try BuiltProducts.latchkey().path
        try await shell.run(
            ["-c", "exec \(program) --store vault vault add-slot person --new-passphrase-fd 3 3< \(pass)"],
            environment: session.environment
        ).successful("add-slot")
        try await session.lock()
        let terminal = try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            ["--store", "vault", "get", "example.org", "alice"], environment: session.environment, terminal: terminal)
        try await terminal.waitForQuestion("Passphrase of the vault", from: running)
        terminal.type("correct horse\r")
        let run = try await running.finish()
        #expect(run.outputText == "hunter2", "\(run.errorText)")
        // With nobody to ask, it says what is wrong with the keyring.
        let alone = try await get()
        #expect(alone.status == 77 && alone.errorText.contains("keyring"), "\(alone.errorText)")
    }

    @Test func `a kill while a slot is added or removed leaves a sound vault whose slots open`() async throws {
        try await makeVault(with: keyFile)
        let environment = session.environment.merging(keyFile) { $1 }
        for round in 0..<12 {
            let change = round % 2 == 0 ? ["add-slot", "desktop", "--secret-service"] : ["remove-slot", "desktop"]
            let running = try BuiltProducts.latchkey().start(
                ["--store", "vault", "vault"] + change, environment: environment)
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...120)))
            running.kill()
            _ = try await running.finish()
            try await latchkey("vault", "verify", with: keyFile).successful("verify")
            let slots = try await latchkey("vault", "slots", with: keyFile).successful("slots")
            let read = try await get()
            if slots.outputText.contains("desktop") {
                #expect(read.outputText == "hunter2", "round \(round): \(read.errorText)")
            } else {
                #expect(read.status == 77)
            }
        }
        // What was left behind is in nobody's way.
        _ = try await latchkey("vault", "remove-slot", "desktop", with: keyFile)
        try await latchkey("vault", "add-slot", "desktop", "--secret-service", with: keyFile).successful("add-slot")
        #expect(try await get().outputText == "hunter2")
    }
}
