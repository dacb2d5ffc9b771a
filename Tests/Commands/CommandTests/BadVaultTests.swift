internal import Foundation
internal import Testing
internal import TestServices

/// Files that are no vault that this program can open: from a newer one, from another program, from someone hostile.
@Suite struct BadVaultTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        try directory.write("key", try Self.golden("golden.key-file"))
        environment = try directory.environment().merging(["LATCHKEY_KEY_FILE": directory / "key"]) { $1 }
    }

    private static func golden(_ name: String) throws -> [UInt8] {
        let tests = TestData.tests
        return [UInt8](try Data(contentsOf: tests.appendingPathComponent("Stores/VaultTests/Fixtures/" + name)))
    }

    /// Puts a file in the vault's place, and returns what reading and writing say, which must be the same.
    private func refusal(of file: [UInt8]) async throws -> ProgramRun {
        try directory.makeFolder("data/latchkey")
        try directory.write("data/latchkey/vault", file)
        let program = try BuiltProducts.latchkey()
        let read = try await program.run(["--store", "vault", "get", "example.org", "ada"], environment: environment)
        let written = try await program.run(
            ["--store", "vault", "set", "example.org", "ada"], environment: environment, input: [1])
        #expect(written.status == read.status && written.errorText == read.errorText)
        #expect(read.errorText.contains("\nlatchkey: hint: "))
        #expect(try directory.read("data/latchkey/vault") == file)
        return read
    }

    @Test func `a vault of a newer format asks for a newer program`() async throws {
        let run = try await refusal(of: try Self.golden("newer.vault"))
        #expect(run.status == 69)
        #expect(run.errorText.contains("the vault has format 4; this Latchkey supports 2 and 3"))
        #expect(run.errorText.contains("use a newer Latchkey"))
    }

    @Test func `the error for a vault of the earlier format says what to do`() async throws {
        let run = try await refusal(of: try Self.golden("older.vault"))
        #expect(run.errorText.contains("the vault has format 1; this Latchkey supports 2 and 3"))
        #expect(
            run.errorText.contains("use the version of Latchkey that created it, or create a new vault at another path")
        )
    }

    @Test func `a slot that asks for more work than is allowed is refused without doing it`() async throws {
        let run = try await refusal(of: try Self.golden("hostile.vault"))
        #expect(run.status == 65)
        #expect(run.errorText.contains("a key slot requires more memory or passes than Latchkey allows"))
    }

    @Test func `another program's database isn't a vault`() async throws {
        try await Program("sqlite3").run([directory / "other", "CREATE TABLE t(x); INSERT INTO t VALUES (1);"])
            .successful("sqlite3")
        let run = try await refusal(of: try directory.read("other"))
        #expect(run.status == 65)
        #expect(run.errorText.contains("the file isn't a vault"), "\(run.errorText)")
    }

    @Test(arguments: [1, 4095, 4096, 8192, 10_000]) func `a file of another kind isn't a vault`(_ count: Int)
        async throws
    {
        let run = try await refusal(of: (0..<count).map { _ in UInt8.random(in: 0...255) })
        #expect(run.status == 65)
        #expect(run.errorText.contains("the file isn't a vault"), "\(run.errorText)")
    }
}
