import Testing
import TestServices

/// Copying and moving between a real keyring and a vault, and a view of both.
struct TransferTests {
    private let session: PrivateSession
    private let environment: [String: String]
    private let binary: [UInt8] = (0...255).map { UInt8($0) }

    init() async throws {
        session = try await PrivateSession(.unlocked)
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = session.directory / "key"
        self.environment = environment
        try await latchkey(["vault", "init", "--key-file", session.directory / "key"]).successful("init")
    }

    @discardableResult
    private func latchkey(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramRun {
        // A store that nobody named is probed, and the bus has a hundredth of the timeout; the machine may be busy.
        try await BuiltProducts.latchkey().run(
            arguments + ["--timeout", "600"], environment: environment, input: input)
    }

    private let keyring = ["--store", "secret-service"]
    private let vault = ["--store", "vault"]

    @Test func `bytes, labels and kinds move unchanged from the keyring to the vault and back`() async throws {
        try await latchkey(["set", "a", "text"] + keyring, input: Array("hunter2".utf8)).successful("set")
        try await latchkey(["set", "a", "bytes", "--label", "My label"] + keyring, input: binary).successful("set")
        try await latchkey(["set", "--allow-empty", "b", "other"] + keyring, input: []).successful("set")
        let move = ["move", "--from", "secret-service", "--to", "vault"]
        let plan = try await latchkey(move + ["--dry-run"])
        #expect(plan.status == 0 && plan.outputText.contains("  would move\n"))
        #expect(try await latchkey(["list"] + vault).outputText.isEmpty)
        #expect(try await latchkey(move).successful("move").outputText.contains("  moved\n"))
        #expect(try await latchkey(["list"] + keyring).outputText.isEmpty)
        #expect(try await latchkey(["get", "a", "bytes"] + vault).output == binary)
        #expect(try await latchkey(["list"] + vault).outputText.contains("My label"))
        let wouldBe = try await latchkey(
            ["copy", "--from", "vault", "--to", "secret-service", "a", "bytes", "--dry-run"])
        #expect(wouldBe.outputText.contains("  would copy\n"), "\(wouldBe.outputText)\(wouldBe.errorText)")
        let back = try await latchkey(["copy", "--from", "vault", "--to", "secret-service", "a", "bytes", "--json"])
        #expect(back.outputText.contains(#""result": "copied""#))
        #expect(try await session.secretTool(["lookup", "service", "a", "username", "bytes"]).output == binary)
        #expect(try await latchkey(["get", "a", "text"] + keyring).status == 1)
    }

    @Test func `a move that is killed at any moment loses nothing and can be continued`() async throws {
        let count = 12
        for number in 0..<count {
            try await latchkey(["set", "many", "n\(number)"] + keyring, input: Array("secret \(number)".utf8))
                .successful("set")
        }
        var moved: Set<String> = []
        for round in 1...6 {
            let run = try BuiltProducts.latchkey().start(
                ["move", "--from", "secret-service", "--to", "vault"], environment: environment)
            run.closeInput()
            try await Task.sleep(for: .milliseconds(40 * round))
            run.kill()
            _ = try? await run.finish(within: .seconds(10))
            let here = try await accounts(keyring)
            let there = try await accounts(vault)
            for number in 0..<count {
                let name = "n\(number)"
                #expect(here.contains(name) || there.contains(name), "round \(round)")
                // A move changes an item where it arrives, and where it is in both stores.
                let isNew = there.contains(name) && moved.insert(name).inserted
                var places = isNew ? [vault] : []
                if here.contains(name), there.contains(name) { places = [keyring, vault] }
                for place in places {
                    let read = try await latchkey(["get", "many", name] + place)
                    #expect(read.status == 0 && read.outputText == "secret \(number)", "round \(round), \(place)")
                }
            }
        }
        let rest = try await latchkey(["move", "--from", "secret-service", "--to", "vault"])
        #expect([0, 1].contains(rest.status), "\(rest.errorText)")
        let left = try await latchkey(["list"] + keyring)
        #expect(left.status == 0 && left.outputText.isEmpty, "\(left.outputText)\(left.errorText)")
        // What was killed may have left its test of a move.
        #expect(try await accounts(vault).count == count)
        for number in 0..<count {
            #expect(try await latchkey(["get", "many", "n\(number)"] + vault).outputText == "secret \(number)")
        }
    }

    /// The accounts of the service `many` that a store has.
    private func accounts(_ store: [String]) async throws -> [String] {
        let run = try await latchkey(["list"] + store).successful("list")
        return run.outputText.split(separator: "\n").filter { $0.hasPrefix("many ") }.map {
            String($0.split(separator: " ")[1])
        }
    }

    @Test func `with --all-stores a credential is read, changed and deleted in its own store`() async throws {
        let all = ["--all-stores"]
        try await latchkey(["set", "night", "ada"] + vault, input: Array("one".utf8)).successful("set")
        let read = try await latchkey(["get", "night", "ada", "--log-level", "info"] + all)
        #expect(read.outputText == "one" && read.errorText.contains("night/ada is stored in vault"))
        try await latchkey(["set", "night", "ada"] + all, input: Array("two".utf8)).successful("set")
        #expect(try await latchkey(["get", "night", "ada"] + vault).outputText == "two")
        #expect(try await latchkey(["get", "night", "ada"] + keyring).status == 1)
        // A new one goes to the chosen store; the list says where each one is.
        try await latchkey(["set", "day", "ada"] + all, input: Array("three".utf8)).successful("set")
        #expect(try await latchkey(["get", "day", "ada"] + keyring).outputText == "three")
        let list = try await latchkey(["list"] + all)
        #expect(list.outputText.contains("secret-service default") && list.outputText.contains("vault "))
        // The same secret twice is one credential; two secrets are an error that names both stores.
        try await latchkey(["copy", "--from", "vault", "--to", "secret-service", "night"]).successful("copy")
        #expect(try await latchkey(["get", "night", "ada"] + all).outputText == "two")
        try await latchkey(["set", "night", "ada"] + keyring, input: Array("four".utf8)).successful("set")
        let twice = try await latchkey(["get", "night", "ada"] + all)
        #expect(twice.status == 64 && twice.output.isEmpty)
        #expect(twice.errorText.contains("in secret-service default and in vault"))
        try await latchkey(["copy", "--from", "secret-service", "--to", "vault", "--replace"]).successful("copy")
        try await latchkey(["delete", "night", "ada"] + all).successful("delete")
        #expect(try await latchkey(["get", "night", "ada"] + vault).status == 1)
        #expect(try await latchkey(["get", "night", "ada"] + keyring).status == 1)
    }

    /// Its secrets may be there, and a new one isn't to go to another store.
    @Test func `with --all-stores, a chosen store that is missing is an error for what isn't elsewhere`() async throws {
        try await latchkey(["set", "day", "ada"] + keyring, input: Array("two".utf8)).successful("set")
        let all = ["--all-stores", "--vault", session.directory / "nowhere"]
        let new = try await latchkey(["set", "new", "ada"] + all, input: Array("x".utf8))
        #expect(new.status == 69 && new.errorText.contains("no vault at "), "\(new.errorText)")
        #expect(try await latchkey(["get", "new", "ada"] + keyring).status == 1)
        #expect(try await latchkey(["get", "day", "ada"] + all).outputText == "two")
    }

    @Test func `with --all-stores and without the keyring, the vault's credentials work, and absence isn't claimed`()
        async throws
    {
        let all = ["--all-stores"]
        try await latchkey(["set", "night", "ada"] + vault, input: Array("one".utf8)).successful("set")
        try await latchkey(["set", "day", "ada"] + keyring, input: Array("two".utf8)).successful("set")
        await session.stopDaemon()
        #expect(try await latchkey(["get", "night", "ada"] + all + keyring).outputText == "one")
        let missing = try await latchkey(["get", "day", "ada"] + all + keyring)
        #expect(missing.status == 69 && missing.errorText.contains("one store couldn't be searched"))
        let new = try await latchkey(["set", "new", "ada"] + all + keyring, input: Array("x".utf8))
        #expect(new.status == 69)
        // The list shows what can be seen, and says that it isn't all.
        let list = try await latchkey(["list"] + all + vault)
        #expect(list.status == 69 && list.outputText.contains("night"))
        #expect(list.errorText.contains("not every store could be listed: secret-service default"))
        #expect(!list.outputText.contains("new"))
    }
}
