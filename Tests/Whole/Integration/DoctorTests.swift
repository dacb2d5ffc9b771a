import Foundation
import Testing
import TestServices

/// `latchkey doctor` where things are as they should be, and where they are not.
struct DoctorTests {
    private struct Finding: Decodable {
        let topic: String
        let state: String
        let text: String
        let hint: String?
    }

    private func doctor(
        _ environment: [String: String], _ arguments: [String] = [], expecting status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Finding] {
        // The bus has a hundredth of it to say whether there is a keyring; the machine may be busy.
        let run = try await BuiltProducts.latchkey().run(
            ["doctor", "--json", "--timeout", "600"] + arguments, environment: environment)
        #expect(run.status == status, "\(run.outputText)\(run.errorText)", sourceLocation: sourceLocation)
        // What is pasted into an issue names nobody.
        let home = try #require(environment["HOME"])
        #expect(!run.outputText.contains(home), sourceLocation: sourceLocation)
        // Nor is anybody sent to where they are.
        #expect(!run.outputText.contains("`latchkey doctor`"), sourceLocation: sourceLocation)
        return try JSONDecoder().decode([Finding].self, from: Data(run.output))
    }

    private func latchkey(
        _ arguments: [String], _ environment: [String: String], input: String = ""
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
    }

    private func texts(_ findings: [Finding], _ topic: String) -> [String] {
        findings.filter { $0.topic == topic }.map(\.text)
    }

    @Test func `the doctor finds no problem in a sound desktop, and leaves nothing of its round trip`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await latchkey(
            ["set", "--store", "secret-service", "secret-project", "ada.lovelace"], session.environment,
            input: "hunter2"
        ).successful("set")
        let findings = try await doctor(session.environment)
        #expect(!findings.contains { $0.state == "PROBLEM" })
        #expect(texts(findings, "choice").first == "secret-service (the first one that works)")
        #expect(texts(findings, "choice").contains { $0.hasPrefix("not vault: no vault") })
        let keyring = try #require(texts(findings, "keyring").first)
        #expect(keyring.hasPrefix("gnome-keyring-d, process ") && keyring.contains("encrypted"))
        #expect(keyring.contains("collections: 2, locked: 0, aliases: default, ") && keyring.contains("session;"))
        #expect(texts(findings, "collection") == ["open, items: 1"])
        #expect(texts(findings, "round trip").first?.contains("saved, read and deleted a test secret") == true)
        #expect(texts(findings, "hardening").first?.contains("core dumps off") == true)
        // No name of a service or an account, and nothing was remembered or left.
        let table = try await latchkey(["doctor", "--verbose"], session.environment)
        #expect(!table.outputText.contains("secret-project") && !table.outputText.contains("ada"))
        #expect(!FileManager.default.fileExists(atPath: session.directory / "state/latchkey/store"))
        let list = try await latchkey(["list", "--store", "secret-service"], session.environment)
        #expect(list.outputText.split(separator: "\n").count == 2)
    }

    /// Saves warned, and the doctor found nothing.
    @Test func `a state directory that can't be used is noted, because lost saves go unseen`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        (environment["LATCHKEY_STORE"], environment["LATCHKEY_KEY_FILE"]) = ("vault", directory / "key")
        try await latchkey(["vault", "init", "--key-file", directory / "key"], environment).successful("vault init")
        #expect(try await texts(doctor(environment), "rollback") == [])
        try directory.write("file", "")
        environment["XDG_STATE_HOME"] = directory / "file"
        let found = try await texts(doctor(environment), "rollback")
        #expect(found.first?.contains("can't detect that the vault was restored") == true, "\(found)")
    }

    // A new desktop's keyring runs, and has no collection. "Start a keyring" was no help there.
    @Test func `a keyring without a collection differs from a missing keyring`() async throws {
        let session = try await PrivateSession(.none)
        try await session.startDaemon(password: nil)
        let list = try await latchkey(["list", "--timeout", "600"], session.environment)
        #expect(list.status == 69 && list.errorText.contains("lacks a default collection"))
        #expect(list.errorText.contains("hint: create one by adding --create-collection to `latchkey set`"))
        let choice = try await doctor(session.environment, expecting: 69).first { $0.topic == "choice" }
        #expect(choice?.hint?.contains("--create-collection") == true)

        let directory = try TestDirectory()
        let none = try await latchkey(["list"], directory.environment())
        #expect(none.errorText.hasSuffix("/latchkey/vault.key`\n"))
    }

    @Test func `each measure of protection is reported`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        try await latchkey(["vault", "init", "--key-file", directory / "key"], environment).successful("init")
        #expect(
            texts(try await doctor(environment), "hardening") == [
                "process hardened: standard descriptors open, core dumps off, not dumpable, backtraces off,"
                    + " debug variables removed, freed memory overwritten, functions bound,"
                    + " no new privileges"
            ])
    }

    @Test func `the doctor reports that the kernel locks no memory, and how to fix that`() async throws {
        let directory = try TestDirectory()
        let limiting = """
            ulimit -l 0
            [ "$(id -u)" = 0 ] && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$0" "$@"
            exec "$0" "$@"
            """
        let run = try await Program("/bin/sh").run(
            ["-c", limiting, BuiltProducts.latchkey().path, "doctor", "--json"], environment: directory.environment())
        let findings = try JSONDecoder().decode([Finding].self, from: Data(run.output))
        let memory = try #require(findings.first { $0.topic == "memory" })
        #expect(memory.state == "note" && memory.text.contains("may reach swap"))
        #expect(memory.hint?.contains("ulimit -l") == true, "\(memory)")
    }

    @Test(arguments: [
        ("core", "core dumps off (operation not permitted)"), ("dumpable", "not dumpable (operation not permitted)"),
        ("backtrace", "backtraces off (operation not permitted)"),
        ("variables", "debug variables removed (operation not permitted)"),
        ("privileges", "no new privileges (operation not permitted)"),
    ])
    func `the doctor reports a protection that failed, with the system's number`(
        _ measure: String, _ words: String
    ) async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        try await latchkey(["vault", "init", "--key-file", directory / "key"], environment).successful("init")
        environment["LD_PRELOAD"] = try await SystemCallTests.library("refuse_hardening")
        environment["LATCHKEY_TEST_REFUSE"] = measure
        // Every command's log says so.
        let list = try await latchkey(["list", "--store", "vault", "--log-level", "debug"], environment)
        #expect(list.status == 0 && list.errorText.contains("; refused: \(words)"), "\(list.errorText)")
        let finding = try #require(try await doctor(environment, expecting: 77).first { $0.topic == "hardening" })
        #expect(finding.state == "PROBLEM" && finding.text.contains("; refused: \(words)"), "\(finding.text)")
        #expect(finding.text.components(separatedBy: ", ").count >= 5, "the others are applied all the same")
        #expect(finding.hint?.contains("limits") == true)
    }

    @Test func `a keyring that hangs takes no time of the vault's`() async throws {
        let session = try await PrivateSession(.unlocked)
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = session.directory / "key"
        try await latchkey(["vault", "init", "--key-file", session.directory / "key"], environment).successful("init")
        environment["LATCHKEY_STORE"] = "secret-service"
        session.suspendDaemon()
        defer { session.resumeDaemon() }
        let run = try await latchkey(["doctor", "--json", "--timeout", "5"], environment)
        let findings = texts(try JSONDecoder().decode([Finding].self, from: Data(run.output)), "stores")
        #expect(findings.contains { $0.contains("credentials in secret-service") }, "\(findings)")
        #expect(!findings.contains { $0.contains("credentials in vault") }, "\(findings)")
    }

    @Test func `the doctor names the keyring's process, whichever program it runs`() async throws {
        let session = try await PrivateSession(.unlocked)
        let keyring = try #require(texts(try await doctor(session.environment), "keyring").first)
        let process = try #require(session.daemonPID)
        // The kernel's name of a process has 15 bytes.
        #expect(keyring.hasPrefix("gnome-keyring-d, process \(process), collections: 2"), "\(keyring)")
        let other = try await PrivateSession(.none)
        let service = try await StandInService(on: other)
        let standIn = try #require(texts(try await doctor(other.environment), "keyring").first)
        #expect(standIn.hasPrefix("python3") && standIn.contains(", collections: 1"), "\(standIn)")
        await service.stop()
    }

    @Test func `a locked keyring is a problem if Latchkey uses it`() async throws {
        let session = try await PrivateSession(.locked)
        let used = try await doctor(session.environment, ["--store", "secret-service"], expecting: 77)
        #expect(texts(used, "keyring").first?.contains("locked: 1, aliases: default") == true)
        let collection = try #require(used.first { $0.topic == "collection" })
        #expect(collection.state == "PROBLEM" && collection.text == "locked")
        #expect(collection.hint?.contains("gnome-keyring-daemon --replace --unlock") == true)
        // A shell is all that there is without a display.
        let get = try await BuiltProducts.latchkey().run(
            ["get", "a", "b", "--store", "secret-service"], environment: session.environment)
        let hint = "latchkey: hint: unlock gnome-keyring in bash: `read -rsp Password: P; printf"
        #expect(get.status == 77 && get.errorText.contains(hint), "\(get.errorText)")
        // It is left locked, and nobody was asked.
        #expect(
            try await doctor(session.environment, ["--store", "secret-service"], expecting: 77).count == used.count)
    }

    @Test func `a bus without a keyring is a problem only if Latchkey uses the keyring`() async throws {
        let session = try await PrivateSession(.none)
        let used = try await doctor(session.environment, ["--store", "secret-service"], expecting: 69)
        #expect(used.contains { $0.topic == "keyring" && $0.state == "PROBLEM" && $0.hint != nil })
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = session.directory / "key"
        try await latchkey(["vault", "init", "--key-file", session.directory / "key"], environment).successful("init")
        let findings = try await doctor(environment)
        #expect(findings.contains { $0.topic == "keyring" && $0.state == "note" })
        #expect(texts(findings, "choice").first == "vault (the first one that works)")
        #expect(texts(findings, "integrity") == ["0 credentials, all intact"])
        #expect(texts(findings, "round trip").count == 1)
    }

    @Test func `a provider's file that no command reads is a problem`() async throws {
        let directory = try TestDirectory()
        try directory.makeFolder("config/latchkey/providers")
        try directory.write("config/latchkey/providers/work.json", "{")
        let findings = try await doctor(directory.environment(), expecting: 78)
        #expect(texts(findings, "providers") == ["the file of the provider work is malformed [provider.malformed]"])
    }

    @Test func `a missing store is a problem, and the doctor says how to get one`() async throws {
        let directory = try TestDirectory()
        let findings = try await doctor(try directory.environment(), expecting: 69)
        let choice = try #require(findings.first { $0.topic == "choice" })
        #expect(choice.state == "PROBLEM")
        #expect(choice.hint?.contains("latchkey vault init") == true)
    }

    @Test func `a vault that others may read, or that was changed, is a problem with a remedy`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        try await latchkey(["vault", "init", "--key-file", directory / "key"], environment).successful("init")
        try await latchkey(["set", "example.org", "ada"], environment, input: "hunter2").successful("set")
        let vault = directory / "data/latchkey/vault"
        #expect(unsafe chmod(vault, 0o644) == 0)
        let open = try await doctor(environment, expecting: 77)
        #expect(open.contains { $0.topic == "vault" && $0.state == "PROBLEM" && $0.hint?.contains("chmod") == true })
        #expect(unsafe chmod(vault, 0o600) == 0)
        #expect(try await doctor(environment).allSatisfy { $0.state != "PROBLEM" })
        // Its key is remembered; without that the rest is still told, nobody is asked, and it isn't as it should be.
        environment["LATCHKEY_KEY_FILE"] = nil
        #expect(try await doctor(environment).allSatisfy { $0.state != "PROBLEM" })
        try FileManager.default.removeItem(atPath: directory / "state/latchkey/key-files")
        let keyless = try await doctor(environment, expecting: 77)
        let integrity = try #require(keyless.first { $0.topic == "integrity" })
        #expect(integrity.state == "PROBLEM" && integrity.hint?.contains("LATCHKEY_KEY_FILE") == true)
        #expect(keyless.contains { $0.topic == "hardening" })
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: vault)))
        bytes[bytes.count - 100] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: vault))
        #expect(unsafe chmod(vault, 0o600) == 0)
        let damaged = try await doctor(environment, expecting: 65)
        #expect(damaged.contains { $0.state == "PROBLEM" && $0.hint != nil })
    }

    @Test func `a key file that is gone is a problem where nobody can type the vault's passphrase`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_STORE"] = "vault"
        let key = directory / "home/key"
        try await latchkey(["vault", "init", "--key-file", key], environment).successful("init")
        let phrase = "correct horse battery staple"
        try await PassphraseVault.addSlot("second", phrase.utf8, to: directory / "data/latchkey/vault", keyFile: key)
        #expect(try await doctor(environment).allSatisfy { $0.state != "PROBLEM" })
        try FileManager.default.removeItem(atPath: key)
        let integrity = try #require(
            try await doctor(environment, expecting: 77).first { $0.topic == "integrity" })
        #expect(integrity.state == "PROBLEM", "\(integrity)")
        #expect(integrity.text.contains("the vault's key file ~/key doesn't exist"), "\(integrity)")
        // At a terminal people are asked for the passphrase.
        let terminal = try PseudoTerminal()
        let asked = try await BuiltProducts.latchkey().start(
            ["doctor", "--timeout", "600"], environment: environment, terminal: terminal
        ).finish()
        #expect(asked.status == 0 && asked.outputText.contains("doesn't exist [store.locked]"), "\(asked.outputText)")
        // But not for the one of a file.
        environment["LATCHKEY_PASSPHRASE_FILE"] = try directory.write("empty", "", mode: 0o600)
        let unasked = try await BuiltProducts.latchkey().start(
            ["doctor", "--timeout", "600"], environment: environment, terminal: terminal
        ).finish()
        #expect(unasked.status == 77 && unasked.outputText.contains("PROBLEM  integrity"), "\(unasked.outputText)")
        // What it says to do is about the vault that it was asked about.
        environment["LATCHKEY_PASSPHRASE_FILE"] = nil
        try await PassphraseVault.make(phrase.utf8, at: directory / "home/my other", in: environment)
        let other = try await doctor(environment, ["--vault", directory / "home/my other"])
        #expect(other.contains { $0.hint == "run `latchkey vault verify --vault ~/'my other'`" }, "\(other)")
    }

    @Test func `the doctor reports other programs' duplicates, and repairs them on request`() async throws {
        let session = try await PrivateSession(.unlocked)
        var environment = session.environment
        environment["LATCHKEY_STORE"] = "secret-service"
        let item = ["service", "example.org", "username", "ada"]
        try await session.secretTool(["store", "--label=One"] + item, input: Array("same".utf8)).successful("store")
        try await session.secretTool(
            ["store", "--label=Two"] + item + ["application", "other"], input: Array("same".utf8)
        ).successful("store")
        let findings = try await doctor(environment)
        let duplicates = try #require(findings.first { $0.topic == "duplicates" })
        #expect(duplicates.text.hasPrefix("1 credential is stored in several items"))
        #expect(duplicates.hint?.contains("latchkey doctor --repair-duplicates") == true)
        let repaired = try await doctor(environment, ["--repair-duplicates"])
        #expect(texts(repaired, "duplicates") == ["no duplicates"])
        #expect(try await latchkey(["get", "example.org", "ada"], environment).outputText == "same")
        // The one that every program's search finds has stayed.
        #expect(try await session.secretTool(["lookup"] + item + ["application", "other"]).outputText == "same")
        // What another program stores under the same name with another secret isn't for Latchkey to delete.
        try await session.secretTool(
            ["store", "--label=Three"] + item + ["application", "third"], input: Array("different".utf8)
        ).successful("store")
        let left = try await doctor(environment, ["--repair-duplicates"]).first { $0.topic == "duplicates" }
        #expect(left?.text.hasPrefix("1 credential is stored in several items") == true)
        #expect(
            left?.hint?.contains("compare them in your keyring application") == true, "\(String(describing: left))")
    }
}
