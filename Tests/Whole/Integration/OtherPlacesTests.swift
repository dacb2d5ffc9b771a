import Foundation
import Testing
import TestServices

/// A credential that is in the keyring and in a vault: it is said when it comes about, and found afterwards.
struct OtherPlacesTests {
    private let session: PrivateSession
    private let environment: [String: String]
    private let keyring = ["--store", "secret-service"]
    private let vault = ["--store", "vault"]
    // The other store is given a tenth of it: on a busy machine that shall be enough.
    private let patient = ["--timeout", "600"]

    init() async throws {
        session = try await PrivateSession(.unlocked)
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = session.directory / "key"
        self.environment = environment
        try await latchkey(["vault", "init", "--key-file", session.directory / "key"]).successful("init")
    }

    @discardableResult
    private func latchkey(
        _ arguments: [String], _ changes: [String: String?] = [:], input: String = ""
    ) async throws -> ProgramRun {
        var environment = environment
        for (name, value) in changes { environment[name] = value }
        return try await BuiltProducts.latchkey().run(
            arguments + patient, environment: environment, input: Array(input.utf8))
    }

    /// Saves, and returns what was said on standard error.
    private func set(_ store: [String], _ secret: String, _ changes: [String: String?] = [:]) async throws -> String {
        let run = try await latchkey(["set", "example.org", "ada"] + store, changes, input: secret)
        #expect(run.status == 0 && run.output.isEmpty, "\(run.errorText)")
        let stored = "latchkey: stored the secret for example.org/ada in "
        return run.errorText.split(separator: "\n").filter { !$0.hasPrefix(stored) }.joined(separator: "\n")
    }

    private func doctor(_ arguments: [String] = []) async throws -> ProgramRun {
        try await latchkey(["doctor", "--verbose"] + arguments)
    }

    private func lines(_ run: ProgramRun, about topic: String) -> [String] {
        run.outputText.split(separator: "\n").map(String.init).filter { $0.contains("  \(topic)  ") }
    }

    @Test func `saving a credential that another store has prints a warning and succeeds`() async throws {
        #expect(try await set(keyring, "one") == "")
        let second = try await set(vault, "two")
        #expect(
            second.contains(
                "latchkey: warning: example.org/ada is also in secret-service default, with another secret"))
        #expect(
            second.contains(
                "latchkey: hint: to delete that copy, run `latchkey delete --store secret-service example.org ada`"))
        let third = try await set(keyring, "two")
        let path = session.directory / "data/latchkey/vault"
        #expect(third.contains("warning: example.org/ada is also in vault \(path), with the same secret"))
        // Both saves were made; where nobody looks into every store, each is what it was given.
        #expect(try await latchkey(["get", "example.org", "ada"] + vault).outputText == "two")
        // What the hint says ends it.
        try await latchkey(["delete", "example.org", "ada"] + keyring).successful("delete")
        #expect(try await set(vault, "three") == "")
    }

    @Test func `a change in one of two equal copies prints a warning too`() async throws {
        let all = ["--all-stores"]
        _ = try await set(keyring, "one")
        _ = try await set(vault, "one")
        #expect(try await set(keyring + all, "two").contains("example.org/ada is also in vault"))
    }

    @Test func `the check leaves a store alone if it would have to prompt or start anything`() async throws {
        _ = try await set(vault, "one")
        // A vault that would ask for its passphrase, with Argon2 to come; one whose key is nowhere.
        let noKey: [String: String?] = ["LATCHKEY_KEY_FILE": nil]
        try FileManager.default.removeItem(atPath: session.directory / "state/latchkey/key-files")
        #expect(try await set(keyring, "two", noKey) == "")
        let passphrase = session.directory / "passphrase"
        try session.directory.write("passphrase", Array("wrong".utf8))
        #expect(
            try await set(keyring, "two", ["LATCHKEY_KEY_FILE": nil, "LATCHKEY_PASSPHRASE_FILE": passphrase]) == "")
        // A keyring that is locked.
        try await session.lock()
        #expect(try await set(vault, "three") == "")
        // One that the bus would start, and must not for this.
        await session.stopDaemon()
        try await session.activateDaemonOnDemand()
        #expect(try await set(vault, "four") == "")
        #expect(try await !session.hasOwner())
        // No bus at all.
        #expect(try await set(vault, "five", ["DBUS_SESSION_BUS_ADDRESS": nil]) == "")
        #expect(try await latchkey(["get", "example.org", "ada"] + vault).outputText == "five")
    }

    @Test func `a silent keyring neither fails a save nor delays it for long`() async throws {
        session.suspendDaemon()
        defer { session.resumeDaemon() }
        let run = try await BuiltProducts.latchkey().run(
            ["set", "example.org", "ada", "--timeout", "50", "--log-level", "info"] + vault, environment: environment,
            input: Array("one".utf8))
        #expect(run.status == 0 && !run.errorText.contains("warning"), "\(run.errorText)")
        #expect(run.errorText.contains("can't search secret-service default"))
        #expect(run.errorText.contains("[store.timed-out]"), "\(run.errorText)")
    }

    @Test func `a secret outside the chosen store is missing there, and the hint names its store`() async throws {
        _ = try await set(vault, "one")
        for (command, name) in [("get", "example.org/ada"), ("delete", "example.org/ada"), ("get", "example.org")] {
            let run = try await latchkey([command] + name.split(separator: "/").map(String.init) + keyring)
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errorText.contains("no secret for \"\(name)\" in secret-service default"))
            #expect(run.errorText.contains("hint: vault "))
            #expect(run.errorText.contains("has the secret: use --store vault or --all-stores"))
        }
        #expect(try await latchkey(["get", "example.org", "ada"] + vault).outputText == "one")
        let nowhere = try await latchkey(["get", "example.org", "bob"] + keyring)
        #expect(nowhere.errorText.contains("hint: run `latchkey list`"))
    }

    @Test func `the doctor counts duplicates without names, and says how to fix them`() async throws {
        let sound = try await doctor()
        #expect(lines(sound, about: "stores").first?.contains("every credential is in one store only") == true)
        _ = try await set(keyring, "one")
        _ = try await set(vault, "one")
        try await latchkey(["set", "other.example", "bob"] + vault, input: "a").successful("set")
        try await latchkey(["set", "other.example", "bob"] + keyring, input: "b").successful("set")
        try await latchkey(["set", "other.example", "carol"] + keyring, input: "c").successful("set")
        let found = try await doctor()
        let line = try #require(lines(found, about: "stores").first)
        #expect(line.hasPrefix("note") && line.contains("credentials in several stores: 2, with different secrets: 1"))
        #expect(found.status == 0)
        #expect(
            found.outputText.contains("to fix it: "))
        for name in ["example", "ada", "bob", "carol"] {
            #expect(!found.outputText.contains(name), "\(name)")
        }
        // Where commands look into every store, that credential can't be used any more.
        let all = try await doctor(["--all-stores"])
        #expect(all.status == 64 && lines(all, about: "stores").first?.hasPrefix("PROBLEM") == true)
        // The remedy works: one is joined, of the other one place is given up.
        try await latchkey(["move", "--from", "vault", "--to", "secret-service", "example.org"]).successful("move")
        try await latchkey(["delete", "other.example", "bob"] + vault).successful("delete")
        #expect(
            lines(try await doctor(), about: "stores").first?.contains("every credential is in one store only") == true)
    }

    @Test func `the doctor names a store that it couldn't compare`() async throws {
        _ = try await set(keyring, "one")
        try await session.lock()
        let locked = try await doctor(vault)
        let line = try #require(lines(locked, about: "stores").first)
        #expect(line.contains("can't compare the credentials in secret-service") && line.contains("[store.locked]"))
        #expect(locked.status == 0)
    }

    @Test func `with --all-stores, accounts lists the sessions of each store`() async throws {
        try await latchkey(["provider", "add", "github", "--client-id", "abc"]).successful("provider add")
        let attributes = ["service", "latchkey:github", "latchkey:kind", "session", "username"]
        for account in ["ada", "bob"] {
            // No session that Latchkey made, which the list says.
            try await session.secretTool(
                ["store", "--label=Session"] + attributes + [account], input: Array("x".utf8)
            ).successful("store")
        }
        let copy = ["copy", "--from", "secret-service", "--to", "vault", "latchkey:github", "ada"]
        try await latchkey(copy).successful("copy")
        for provider in [[], ["github"]] {
            let one = try await latchkey(["accounts"] + provider + keyring)
            #expect(one.status == 0 && !one.outputText.contains("STORE"), "\(one.errorText)")
            #expect(one.outputText.split(separator: "\n").count == 3)
            let all = try await latchkey(["accounts"] + provider + ["--all-stores"])
            #expect(all.status == 0, "\(all.errorText)")
            let rows = all.outputText.split(separator: "\n").dropFirst()
            #expect(rows.count == 3 && rows.allSatisfy { $0.contains("unreadable") }, "\(all.outputText)")
            #expect(rows.count { $0.contains("ada") && $0.contains("vault \(session.directory.path)") } == 1)
            #expect(rows.count { $0.contains("secret-service default") } == 2)
        }
        // What can't be seen may be there all the same.
        await session.stopDaemon()
        let rest = try await latchkey(["accounts", "github", "--all-stores"] + vault)
        #expect(rest.status == 69 && rest.outputText.contains("ada") && !rest.outputText.contains("bob"))
        #expect(rest.errorText.contains("not every store could be listed: secret-service default"))
    }
}
