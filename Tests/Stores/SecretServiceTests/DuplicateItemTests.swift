import Testing
import TestServices

/// Several items under one key, as other programs leave them behind on a real gnome-keyring.
struct DuplicateItemTests {
    private let session: PrivateSession
    private let probe: KeyringProbe

    init() async throws {
        session = try await PrivateSession(.unlocked)
        probe = try KeyringProbe(session)
    }

    private let item = ["service", "s", "username", "u"]
    private let keyrings = ["application", "Python keyring library"]
    private let schema = ["xdg:schema", "org.freedesktop.Secret.Generic"]
    private let rust = ["application", "rust-keyring", "target", "default"]

    private func store(_ secret: String, _ more: [String], label: String = "Foreign") async throws {
        let names = (item + more).indices.filter { $0 % 2 == 0 }
        let attributes = Dictionary(uniqueKeysWithValues: names.map { ((item + more)[$0], (item + more)[$0 + 1]) })
        try await session.createItem(label, attributes, secret)
    }

    /// What a program finds that searches for these attributes too.
    private func lookup(_ more: [String] = []) async throws -> String {
        try await session.secretTool(["lookup"] + item + more).outputText
    }

    /// All secrets under the key, in alphabetical order.
    private func secrets() async throws -> [String] {
        try await session.secretTool(["search", "--all"] + item).outputText
            .split(separator: "\n").filter { $0.hasPrefix("secret = ") }.map { String($0.dropFirst(9)) }.sorted()
    }

    // MARK: - Finding them

    @Test func `duplicates are found with their labels and programs, the one that is read first`() async throws {
        try await probe.save("s", "single", "x")
        try await probe.save("s", "u", "older")
        try await store("other", keyrings + ["target", "elsewhere"], label: "Another's")
        try await store("newer", keyrings, label: "Theirs")
        let found = "s/u: Theirs (Python keyring library), Password for 'u' on 's' (-)"
        #expect(try await probe.ask("duplicates") == [found])
        #expect(try await probe.ask("duplicates", "s") == [found])
        #expect(try await probe.ask("duplicates", "t") == [""])
        #expect(try await secrets() == ["newer", "older", "other"])
    }

    @Test func `a single item needs no repair`() async throws {
        try await probe.save("s", "u", "x")
        #expect(try await probe.ask("duplicates") == [""])
        for account in ["u", "nobody"] {
            #expect(
                try await probe.ask("repair", "s", account, "password") == ["deleted 0", "left 0", "differing 0"])
        }
        #expect(try await probe.read("s", "u") == "x")
    }

    /// Who renames or moves has read one of them, and the other one was deleted unread.
    @Test(arguments: [
        ["rename", "s", "u", "--to", "v"], ["move", "--from", "secret-service", "--to", "vault", "s"],
    ])
    func `items with other secrets stay when one of them is renamed or moved`(_ words: [String]) async throws {
        try await store("older", keyrings)
        try await store("newer", schema)
        let environment = session.environment.merging(["LATCHKEY_KEY_FILE": session.directory / "key"]) { $1 }
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", session.directory / "key"], environment: environment
        ).successful("vault init")
        let store = words[0] == "rename" ? ["--store", "secret-service"] : []
        let run = try await BuiltProducts.latchkey().run(words + store, environment: environment)
        #expect(run.status == 73 && run.errorText.contains("with another secret"), "\(run.errorText)")
        #expect(try await secrets() == ["newer", "older"])
    }

    // MARK: - Repairing them

    @Test func `of items with one secret the item that all programs find stays`() async throws {
        try await probe.save("s", "u", "same")
        try await store("same", [])
        try await store("same", keyrings)
        try await store("same", keyrings + schema)
        #expect(try await probe.ask("repair", "s", "u", "password") == ["deleted 3", "left 0", "differing 0"])
        #expect(try await secrets() == ["same"])
        for more in [[], keyrings, keyrings + schema] { #expect(try await lookup(more) == "same") }
        #expect(try await probe.ask("duplicates") == [""])
        #expect(try await probe.read("s", "u") == "same")
    }

    @Test func `items with different secrets stay`() async throws {
        try await store("older", keyrings)
        try await store("newer", ["target", "default"])
        #expect(try await probe.read("s", "u") == "newer")
        #expect(try await probe.ask("repair", "s", "u", "password") == ["deleted 0", "left 1", "differing 1"])
        #expect(try await secrets() == ["newer", "older"])
        #expect(try await lookup(keyrings) == "older")
        #expect(try await lookup(["target", "default"]) == "newer")
    }

    @Test func `a repair without losses never lets an older secret be read`() async throws {
        try await store("same", keyrings)
        try await store("different", rust)
        // The narrow one is read; the first one covers it, but then the different one would be read.
        try await store("same", [])
        #expect(try await probe.read("s", "u") == "same")
        #expect(try await probe.ask("repair", "s", "u", "password") == ["deleted 0", "left 2", "differing 1"])
        #expect(try await probe.read("s", "u") == "same")
    }

    @Test func `a locked keyring is repaired when it is open`() async throws {
        try await probe.save("s", "u", "same")
        try await store("same", keyrings)
        try await session.lock()
        _ = try await probe.ask("prompting", "no")
        #expect(try await probe.ask("duplicates")[1] == "store.locked")
        #expect(try await probe.ask("repair", "s", "u", "password")[1] == "store.locked")
        try await session.restartDaemon()
        #expect(try await probe.ask("repair", "s", "u", "password")[0] == "deleted 1")
    }
}
