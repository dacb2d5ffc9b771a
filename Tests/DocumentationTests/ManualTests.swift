import Foundation
import TestServices
import Testing

struct ManualTests {
    private static let page = "Docs/man/latchkey.1"

    @Test func `the manual page is clean mdoc`() async throws {
        let file = Repository.root.appendingPathComponent(Self.page).path
        let run = try await Program("mandoc").run(["-T", "lint", "-W", "warning", file])
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    }

    @Test func `the manual page and --help name the same commands`() async throws {
        let help = try await BuiltProducts.latchkey().run(["--help"]).successful("latchkey --help").outputText
        let listed = help.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0 != "commands:" }.dropFirst().prefix { $0.hasPrefix("  ") }
            .map { line in String(line.dropFirst(2).prefix(upTo: line.dropFirst(2).firstRange(of: "  ")!.lowerBound)) }
        try #require(listed.count > 8)
        let words = try Repository.lines(Self.page).filter { $0.hasPrefix(".It Cm ") }.map { line in
            line.split(separator: " ").dropFirst(2)
                .prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }.joined(separator: " ")
        }
        #expect(Set(words) == Set(listed))
    }

    @Test func `the manual page explains each option that every command takes, and each exit status`() async throws {
        let help = try await BuiltProducts.latchkey().run(["--help"]).successful("latchkey --help").outputText
        let page = try Repository.text(Self.page)
        let options = help.matches(of: #/(?m)^  --([a-z-]+)/#).map { String($0.output.1) }
        try #require(options.contains("store"))
        for option in options where option != "help" && option != "version" {
            #expect(page.contains(".It Fl -\(option)"), "\(option)")
        }
        let statuses = help.matches(of: #/(?m)^  ([0-9]+)  /#).map { String($0.output.1) }
        try #require(statuses.contains("77"))
        for status in statuses { #expect(page.contains("\n.It \(status)\n"), "\(status)") }
    }
}
