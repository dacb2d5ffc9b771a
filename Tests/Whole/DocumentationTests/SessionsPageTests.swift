import Foundation
import Testing
import TestServices

/// Docs/HowTo/sessions.md: what it has people type is what the programs take, and what they say is what it says.
///
/// OverSSHTests runs the same over a real ssh.
struct SessionsPageTests {
    private static let page = "Docs/HowTo/sessions.md"

    /// What stands behind `latchkey` in the page's commands.
    private static func commands() throws -> [[String]] {
        try Repository.blocks("sh", in: page).flatMap { $0.split(separator: "\n") }.map { line in
            let words = line.split(separator: " ").map(String.init)
            let start = try #require(words.firstIndex(of: "latchkey"), "\(line)")
            #expect(words[0] == "ssh" && words[start - 1] == "box")
            return Array(words[(start + 1)...])
        }
    }

    @Test func `the programs accept the page's commands`() async throws {
        let directory = try TestDirectory()
        let environment = try directory.environment()
        func run(_ arguments: [String]) async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(arguments, environment: environment)
        }
        let commands = try Self.commands()
        #expect(commands.count == 6)
        for command in commands {
            let run = try await run(command)
            // Nobody is known there yet: that is all that is wrong with them.
            let isAccounts = command == ["accounts"]
            #expect(run.status == (isAccounts ? 0 : 1), "\(command): \(run.errorText)")
            #expect(isAccounts || run.errorText.contains("[provider.not-found]"), "\(command): \(run.errorText)")
            let misspelt = try await self.misspelt(command, environment)
            #expect(misspelt.status == 64, "this check notices nothing: \(command)")
        }
    }

    private func misspelt(_ command: [String], _ environment: [String: String]) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            [command[0], "--misspelt"] + command.dropFirst(), environment: environment)
    }

    @Test func `a key file that the configuration names opens the vault, as the page says`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("init")
        #expect(try Repository.text(Self.page).contains("`~/.config/latchkey/config`, as `key-file = PATH`"))
        environment["LATCHKEY_KEY_FILE"] = nil
        #expect(try Repository.text(Self.page).contains("A vault that was made with `--key-file` needs nothing"))
        #expect(try await latchkey.run(["list"], environment: environment).status == 0)
        try FileManager.default.moveItem(atPath: directory / "key", toPath: directory / "moved")
        #expect(try await latchkey.run(["list"], environment: environment).status == 77)
        try directory.makeFolder("config/latchkey")
        try directory.write("config/latchkey/config", "key-file = \(directory / "moved")\n")
        #expect(try await latchkey.run(["list"], environment: environment).status == 0)
    }
}
