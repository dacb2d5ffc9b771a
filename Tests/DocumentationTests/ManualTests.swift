import Foundation
import Testing
import TestServices

/// The manual: latchkey(1), a page for each group of commands, and latchkey(5) for files.
struct ManualTests {
    private static let folder = "Docs/man"
    private static let main = "latchkey.1"

    /// The names of the pages.
    private static func pages() throws -> [String] {
        let folder = Repository.root.appendingPathComponent(folder)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func text(_ page: String) throws -> String { try Repository.text("\(Self.folder)/\(page)") }

    @Test(arguments: try pages()) func `a manual page is clean mdoc, and named as its file`(_ page: String) async throws
    {
        let file = Repository.root.appendingPathComponent("\(Self.folder)/\(page)").path
        let run = try await Program("mandoc").run(["-T", "lint", "-W", "warning", file])
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
        let name = try #require(page.wholeMatch(of: /([a-z-]+)\.([15])/)).output
        #expect(try text(page).contains("\n.Dt \(name.1.uppercased()) \(name.2)\n.Os\n.Sh NAME\n.Nm \(name.1)\n"))
    }

    /// The commands that a page explains.
    private func explained(_ page: String) throws -> [String] {
        try Repository.lines("\(Self.folder)/\(page)").filter { $0.hasPrefix(".It Cm ") }.map { line in
            line.split(separator: " ").dropFirst(2)
                .prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }.joined(separator: " ")
        }
    }

    @Test func `each command that --help lists is on one page, and no other`() async throws {
        var pages: [String: Set<String>] = [:]
        for page in try Self.pages() where page.hasSuffix(".1") {
            for command in try explained(page) { pages[command, default: []].insert(page) }
        }
        #expect(Set(pages.keys) == Set(try await commands()))
        #expect(pages.values.allSatisfy { $0.count == 1 }, "\(pages.filter { $0.value.count > 1 })")
    }

    @Test func `the page of a command names each of its options`() async throws {
        var count = 0
        for page in try Self.pages() where page.hasSuffix(".1") {
            let text = try text(page)
            for command in Set(try explained(page)) {
                let words = command.split(separator: " ").map(String.init) + ["--help"]
                let help = try await BuiltProducts.latchkey().run(words).successful(command).outputText
                let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
                    .drop { $0 != "options:" }.dropFirst().prefix { $0.hasPrefix("  ") }
                for option in lines.map({ $0.dropFirst(4).prefix { $0.isLowercase || $0 == "-" } }) {
                    #expect(text.contains("Fl -\(option)"), "\(page): \(command) --\(option)")
                    count += 1
                }
            }
        }
        #expect(count > 10)
    }

    @Test func `a page that another leads to is there`() throws {
        let pages = Set(try Self.pages())
        var count = 0
        for page in pages {
            for found in try text(page).matches(of: #/\.(?:It )?Xr (latchkey[a-z-]*) ([0-9])/#) {
                #expect(pages.contains("\(found.output.1).\(found.output.2)"), "\(page): \(found.output.0)")
                count += 1
            }
        }
        #expect(count > 10)
        let main = try text(Self.main)
        for page in pages where page != Self.main {
            #expect(main.contains(".It Xr \(page.dropLast(2)) \(page.suffix(1))\n"), "\(page)")
        }
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
        let page = try text(Self.main)
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
