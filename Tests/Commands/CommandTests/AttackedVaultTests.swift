internal import Foundation
internal import Testing
internal import TestServices

/// Someone who can write the vault's file, and has no key, changes its rows: through the program that was built.
///
/// The writer is a program in Python that knows the format's document and nothing of this code.
@Suite struct AttackedVaultTests {
    private static let script = TestData.tests
        .appendingPathComponent("Stores/VaultTests/attack_vault.py").path
    private static let names = ["a", "b", "c", "d", "e"]

    private let directory: TestDirectory
    private let environment: [String: String]
    private var vault: String { directory / "data/latchkey/vault" }

    init() async throws {
        directory = try TestDirectory()
        environment = try directory.environment().merging(["LATCHKEY_KEY_FILE": directory / "key"]) { $1 }
        try await latchkey("vault", "init", "--key-file", directory / "key").successful("init")
        for name in Self.names { try await save("old \(name)", name) }
    }

    private func latchkey(_ arguments: String..., input: [UInt8] = []) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            arguments, environment: environment, input: input, folder: directory.path)
    }

    private func save(_ text: String, _ name: String) async throws {
        try await latchkey("set", "--store", "vault", "example.org", name, input: Array(text.utf8)).successful("set")
    }

    private func attack(_ arguments: String...) async throws {
        try await Program("/usr/bin/python3").run([Self.script, vault] + arguments).successful("attack")
    }

    private func contents() throws -> [UInt8] { try directory.read("data/latchkey/vault") }

    /// Runs an attack against a vault in which `a` was saved anew and `e` deleted after a copy was made.
    private func attacked(by kind: String) async throws {
        try directory.write("old", contents())
        try await save("new a", "a")
        try await latchkey("delete", "--store", "vault", "example.org", "e").successful("delete")
        if ["replay", "reinsert"].contains(kind) {
            try await attack(kind, directory / "old")
        } else {
            try await attack(kind)
        }
    }

    @Test(arguments: ["replay", "reinsert", "delete", "double", "move"])
    func `every command refuses a restored, removed, doubled or moved row, and changes nothing`(
        _ kind: String
    ) async throws {
        try await attacked(by: kind)
        let before = try contents()
        // Another vault, to import from and to.
        try await latchkey("vault", "init", "--vault", directory / "other/vault").successful("init")
        let other = try directory.read("other/vault")
        let commands = [
            ["get", "--store", "vault", "example.org", "a"], ["get", "--store", "vault", "example.org", "e"],
            ["set", "--store", "vault", "example.org", "f"], ["delete", "--store", "vault", "example.org", "b"],
            ["list", "--store", "vault"], ["vault", "rekey"], ["vault", "slots"],
            ["vault", "export", directory / "export", "--key-file", directory / "key"],
            ["vault", "import", directory / "other/vault", "--key-file", directory / "key"],
            ["vault", "import", vault, "--vault", directory / "other/vault", "--key-file", directory / "key"],
            ["copy", "--from", "vault", "--to", "secret-service"],
            ["move", "--from", "vault", "--to", "secret-service"],
        ]
        for command in commands {
            let run = try await BuiltProducts.latchkey().run(
                command, environment: environment, input: [0x78], folder: directory.path)
            #expect(run.status == 65, "\(command): \(run.status) \(run.errorText)")
            #expect(run.output.isEmpty, "\(command)")
            #expect(run.errorText.contains("latchkey vault verify"), "\(command): \(run.errorText)")
            #expect(try contents() == before, "\(command)")
            #expect(try directory.read("other/vault") == other, "\(command)")
        }
        #expect(!FileManager.default.fileExists(atPath: directory / "export"))
    }

    @Test(arguments: ["unlink", "emptyindex", "swaplinks"])
    func `verify reports a changed index, its option makes the index anew, and before that it hinders no command`(
        _ kind: String
    ) async throws {
        try await attack(kind)
        let before = try contents()
        let found = try await latchkey("vault", "verify")
        #expect(found.status == 65)
        #expect(
            found.outputText
                == "the index of attributes isn't the latest, so searches may miss items\n")
        #expect(found.errorText.contains("latchkey vault verify --accept"))
        #expect(try await latchkey("vault", "rekey").status == 65)
        #expect(try contents() == before)
        #expect(try await latchkey("get", "--store", "vault", "example.org", "a").outputText == "old a")
        try await latchkey("list", "--store", "vault").successful("list")
        try await save("new a", "a")

        let accepted = try await latchkey("vault", "verify", "--accept")
        #expect(accepted.status == 0, "\(accepted.errorText)")
        #expect(accepted.outputText.hasPrefix("rebuilt: the index of attributes\n"), "\(accepted.outputText)")
        #expect(!accepted.errorText.contains("is lost"), "\(accepted.errorText)")
        try await latchkey("vault", "rekey").successful("rekey")
        for name in Self.names.dropFirst() { try await latchkey("delete", "example.org", name).successful("delete") }
        #expect(try await latchkey("vault", "verify").status == 0)
        #expect(try await latchkey("get", "--store", "vault", "example.org", "a").outputText == "new a")
    }

    @Test(arguments: [
        ("replay", "at least one item is not the one that was saved last", "accepted: "),
        ("reinsert", "example.org/e was deleted before but is in the vault again", "dropped: "),
        ("delete", "4 items belong in the vault, and 3 are there", "accepted: "),
        ("double", "is there more than once", "dropped: "), ("move", "was moved to where it isn't found", "restored: "),
        ("damage", "is damaged or forged", "dropped: "),
    ])
    func `verify reports the problem, and its deliberate option makes the vault work again`(
        _ kind: String, _ problem: String, _ done: String
    ) async throws {
        try await attacked(by: kind)
        let before = try contents()
        let found = try await latchkey("vault", "verify")
        #expect(found.status == 65 && found.outputText.contains(problem), "\(found.outputText)")
        #expect(found.errorText.contains("latchkey vault verify --accept"))
        #expect(try contents() == before)

        let accepted = try await latchkey("vault", "verify", "--accept")
        #expect(accepted.status == 0, "\(accepted.errorText)")
        #expect(accepted.outputText.contains(done), "\(accepted.outputText)")
        let isLost = ["replay", "delete", "damage"].contains(kind)
        #expect(
            accepted.errorText.contains("are lost, unless a backup contains them") == isLost, "\(accepted.errorText)")
        let again = try await latchkey("vault", "verify", "--accept")
        #expect(again.status == 0 && again.errorText.contains("nothing to accept"))

        try await latchkey("vault", "rekey").successful("rekey")
        try await latchkey("vault", "export", directory / "export", "--key-file", directory / "key")
            .successful("export")
        try await latchkey("vault", "import", directory / "export", "--key-file", directory / "key")
            .successful("import")
        let read = try await latchkey("get", "--store", "vault", "example.org", "a")
        if kind == "replay" { #expect(read.outputText == "old a") }
        if ["reinsert", "double", "move"].contains(kind) {
            #expect(read.outputText == "new a")
            #expect(try await latchkey("get", "--store", "vault", "example.org", "e").status == 1)
            #expect(try await latchkey("list", "--store", "vault").outputText.split(separator: "\n").count == 5)
        }
    }

    @Test func `above 10,000 items a read continues, while commands that walk or copy all items notice the attack`()
        async throws
    {
        try await BuiltProducts.program("vault-writer").run(["fill", vault, directory / "key", "8", "10001"])
            .successful("fill")
        try await attack("delete")
        let before = try contents()
        try await latchkey("vault", "init", "--vault", directory / "other/vault").successful("init")
        let other = try directory.read("other/vault")
        try directory.write("git", Array("https://ada:pass@example.org\n".utf8))
        let key = ["--key-file", directory / "key"]
        let commands = [
            ["vault", "verify"], ["vault", "rekey"], ["vault", "export", directory / "export"] + key,
            ["vault", "import", directory / "other/vault"] + key,
            ["vault", "import", vault, "--vault", directory / "other/vault"] + key,
            ["copy", "--from", "vault", "--to", "secret-service"],
            ["move", "--from", "vault", "--to", "secret-service"],
            ["import", "--from", "git", "--store", "vault", directory / "git"],
        ]
        for command in commands {
            let run = try await BuiltProducts.latchkey().run(command, environment: environment, folder: directory.path)
            #expect(run.status == 65, "\(command): \(run.status) \(run.errorText)")
            #expect(try contents() == before, "\(command)")
            #expect(try directory.read("other/vault") == other, "\(command)")
        }
        // Docs/Explanation/threats.md says that this isn't protected.
        let names = Self.names.dropLast()
        var found = 0
        for name in names where try await latchkey("get", "--store", "vault", "example.org", name).status == 0 {
            found += 1
        }
        #expect(found >= names.count - 1)
    }

    @Test func `a stranger's vault for a slot's holder doesn't open`() async throws {
        try await attack("forge")
        let before = try contents()
        for command in [["get", "example.org", "ada"], ["set", "example.org", "ada"]] {
            let run = try await BuiltProducts.latchkey().run(
                command + ["--store", "vault"], environment: environment, input: [0x78], folder: directory.path)
            #expect(run.status == 77 && run.output.isEmpty, "\(run.errorText)")
        }
        #expect(try contents() == before)
    }
}
