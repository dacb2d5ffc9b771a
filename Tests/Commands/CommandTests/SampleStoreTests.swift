import Foundation
import Testing
import TestServices

/// A third store is a folder (Tests/Stores/SampleStore) and one line: options, settings, doctor and texts come from it.
@Suite struct SampleStoreTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try directory.environment()
    }

    private func run(
        _ arguments: [String], input: String = "", with more: [String: String] = [:]
    ) async throws -> ProgramRun {
        try await BuiltProducts.program("sample-store").run(
            arguments, environment: environment.merging(more) { _, new in new }, input: Array(input.utf8))
    }

    @Test func `help names its option, its variable and the store itself`() async throws {
        let help = try await run(["help", "options"]).outputText
        #expect(help.contains("--shelf FOLDER"))
        #expect(help.contains("the shelf's folder; means --store shelf"))
        #expect(help.contains("store to use: secret-service or vault or shelf"))
        let variables = try await run(["help", "environment"]).outputText
        #expect(variables.contains(/\n  LATCHKEY_SHELF +same as --shelf\n/), "\(variables)")
    }

    @Test func `an option, a variable and the configuration file set the store's place`() async throws {
        let shelf = directory / "shelf"
        let saved = try await run(["set", "example.org", "ada", "--shelf", shelf], input: "s3cret")
        #expect(saved.status == 0, "\(saved.errorText)")
        #expect(try await run(["get", "example.org", "ada", "--shelf", shelf]).outputText == "s3cret")
        let byVariable = try await run(["get", "example.org", "ada"], with: ["LATCHKEY_SHELF": shelf])
        #expect(byVariable.outputText == "s3cret", "\(byVariable.errorText)")

        let folder = directory / "settings"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("shelf = \(shelf)\n".utf8).write(to: URL(fileURLWithPath: folder + "/config"))
        let byFile = try await run(["list", "--json"], with: ["LATCHKEY_CONFIG": folder])
        #expect(byFile.status == 0 && byFile.outputText.contains("example.org"), "\(byFile.errorText)")
    }

    @Test func `places of two stores are a contradiction, and the error for a missing place says so`() async throws {
        let both = try await run(["list", "--shelf", directory / "shelf", "--vault", directory / "vault"])
        #expect(both.status == 64 && both.errorText.contains("a vault and a shelf are both set"))
        let other = try await run(["list", "--store", "vault", "--shelf", directory / "shelf"])
        #expect(other.status == 64 && other.errorText.contains("a shelf is set, but --store names another store"))
        let nowhere = try await run(["list", "--store", "shelf"])
        #expect(nowhere.status == 69 && nowhere.errorText.contains("no shelf is named"), "\(nowhere.errorText)")
    }

    @Test func `list --stale lists secrets unchanged for a number of days`() async throws {
        let shelf = directory / "shelf"
        for account in ["old", "new"] {
            #expect(try await run(["set", "example.org", account, "--shelf", shelf], input: "s3cret").status == 0)
        }
        let old = try #require(
            try FileManager.default.contentsOfDirectory(atPath: shelf).first {
                $0.contains(Data("old".utf8).base64EncodedString())
            })
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -400 * 86_400)], ofItemAtPath: shelf + "/" + old)
        let stale = try await run(["list", "--stale", "365", "--shelf", shelf]).outputText
        #expect(stale.contains(" old ") && !stale.contains(" new "), "\(stale)")
        #expect(try await run(["list", "--stale", "500", "--shelf", shelf]).outputText.isEmpty)
        #expect(try await run(["list", "--shelf", shelf]).outputText.contains(" new "))
    }

    @Test func `the doctor examines the store, and problems of the store in use set the exit status`() async throws {
        let shelf = directory / "shelf"
        try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: true)
        let good = try await run(["doctor", "--verbose", "--shelf", shelf])
        #expect(good.outputText.contains("a folder at"), "\(good.outputText)\(good.errorText)")
        let file = directory / "file"
        try Data().write(to: URL(fileURLWithPath: file))
        let bad = try await run(["doctor", "--verbose", "--shelf", file])
        #expect(bad.status != 0 && bad.outputText.contains("is no folder"), "\(bad.outputText)")
        #expect(bad.outputText.contains("name another place"))
    }

    @Test func `credentials move between the sample store and a vault`() async throws {
        let (shelf, key) = (directory / "shelf", directory / "key")
        let more = ["LATCHKEY_SHELF": shelf, "LATCHKEY_KEY_FILE": key, "LATCHKEY_STORE": "shelf"]
        #expect(try await run(["set", "example.org", "ada"], input: "s3cret", with: more).status == 0)
        let vault = try await run(["vault", "init", "--key-file", key], with: ["LATCHKEY_SHELF": shelf])
        #expect(vault.status == 0, "\(vault.errorText)")
        let moved = try await run(["move", "--from", "shelf", "--to", "vault"], with: more)
        #expect(moved.status == 0, "\(moved.errorText)")
        // It is empty now, and still the one that `set` saves in.
        let note =
            "latchkey: shelf is still the store in use; to change that, set LATCHKEY_STORE=vault"
        #expect(moved.errorText == note + "\n")
        #expect(try await run(["get", "example.org", "ada", "--store", "vault"], with: more).outputText == "s3cret")
        #expect(try await run(["list", "--json"], with: more).outputText.contains("[]"))

        // One that isn't used is emptied without a word, and so is one that is only looked at.
        let back = try await run(["move", "--from", "vault", "--to", "shelf"], with: more)
        #expect(back.status == 0 && back.errorText.isEmpty, "\(back.errorText)")
        let rehearsed = try await run(["move", "--from", "shelf", "--to", "vault", "--dry-run"], with: more)
        #expect(rehearsed.status == 0 && rehearsed.errorText.isEmpty, "\(rehearsed.errorText)")
        let folder = directory / "settings"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("store = shelf\nshelf = \(shelf)\n".utf8).write(to: URL(fileURLWithPath: folder + "/config"))
        let configured = try await run(
            ["move", "--from", "shelf", "--to", "vault"],
            with: ["LATCHKEY_KEY_FILE": key, "LATCHKEY_CONFIG": folder])
        #expect(configured.errorText.contains("to change that, run `latchkey config set store vault`"))
    }
}
