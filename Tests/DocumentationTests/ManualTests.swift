import Foundation
import Testing
import TestServices

struct ManualTests {
    private static let page = "Docs/man/latchkey.1"

    @Test func `the manual page is clean mdoc`() async throws {
        let file = Repository.root.appendingPathComponent(Self.page).path
        let run = try await Program("mandoc").run(["-T", "lint", "-W", "warning", file])
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    }

    @Test func `the manual page and --help name the same commands`() async throws {
        let listed = try await commands()
        let words = try Repository.lines(Self.page).filter { $0.hasPrefix(".It Cm ") }.map { line in
            line.split(separator: " ").dropFirst(2)
                .prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }.joined(separator: " ")
        }
        #expect(Set(words) == Set(listed))
    }

    @Test func `the manual page names each option of each command`() async throws {
        let page = try Repository.text(Self.page)
        var count = 0
        for command in try await commands() {
            let words = command.split(separator: " ").map(String.init) + ["--help"]
            let help = try await BuiltProducts.latchkey().run(words).successful(command).outputText
            let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
                .drop { $0 != "options:" }.dropFirst().prefix { $0.hasPrefix("  ") }
            for option in lines.map({ $0.dropFirst(4).prefix { $0.isLowercase || $0 == "-" } }) {
                #expect(page.contains("Fl -\(option)"), "\(command) --\(option)")
                count += 1
            }
        }
        #expect(count > 10)
    }

    /// The commands that `latchkey --help` lists.
    private func commands() async throws -> [String] {
        let help = try await BuiltProducts.latchkey().run(["--help"]).successful("latchkey --help")
        let commands = help.listedCommands
        try #require(commands.count > 30)
        return commands
    }

    @Test func `the manual page explains each option that every command takes, and each exit status`() async throws {
        let help = try await BuiltProducts.latchkey().run(["--help"]).successful("latchkey --help").outputText
        let page = try Repository.text(Self.page)
        let options = help.matches(of: #/(?m)^  --([a-z-]+)/#).map { String($0.output.1) }
        try #require(options.contains("store"))
        for option in options where option != "help" && option != "version" {
            #expect(page.contains(".It Fl -\(option)"), "\(option)")
        }
        let list = try await BuiltProducts.latchkey().run(["help", "exit-status"]).successful("help").outputText
        let statuses = list.matches(of: #/(?m)^  ([0-9]+)  /#).map { String($0.output.1) }
        try #require(statuses.contains("77"))
        for status in statuses { #expect(page.contains("\n.It \(status)\n"), "\(status)") }
    }
}
