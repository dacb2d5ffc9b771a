import Foundation
import Testing

/// Tests/Evidence/Redaction.md lists every way out that a secret has, and the test that shows each closed.
@Suite struct RedactionPageTests {
    private static let page = "Tests/Evidence/Redaction.md"

    struct Row {
        let number: Int
        let closedBy: String
        let shownBy: String
    }

    private static func rows() throws -> [Row] {
        try Repository.lines(page).compactMap { line in
            guard let row = line.wholeMatch(of: /\| ([0-9]+) \| [^|]+ \| ([a-z]+) \| [^|]+ \| `([^`]+)` \|/),
                let number = Int(row.1)
            else { return nil }
            return Row(number: number, closedBy: String(row.2), shownBy: String(row.3))
        }
    }

    @Test func `the page has forty ways out or more, numbered, each with its protection`() throws {
        let rows = try Self.rows()
        #expect(rows.count >= 40 && rows.map(\.number) == Array(1...rows.count))
        #expect(Set(rows.map(\.closedBy)) == ["type", "check", "hardening", "document"])
        // Each line of the table was understood.
        #expect(try Repository.lines(Self.page).count { $0.hasPrefix("| ") } == rows.count + 1)
    }

    @Test func `a test that exists shows each way out closed`() throws {
        let cases = Set(try Repository.tests().map(\.path).filter { $0.contains("/Cases/") })
        let tests = try Repository.testNames()
        for row in try Self.rows() {
            if row.shownBy.hasPrefix("Cases/") {
                #expect(cases.contains("Whole/DoesNotCompile/\(row.shownBy)/compiles.swift"), "\(row.number)")
            } else {
                #expect(tests.contains(row.shownBy), "\(row.number): \(row.shownBy)")
            }
        }
    }

    @Test func `the table has every group of the code that must not compile`() throws {
        let cases = Repository.root.appendingPathComponent("Tests/Whole/DoesNotCompile/Cases").path
        let groups = try FileManager.default.contentsOfDirectory(atPath: cases).filter { !$0.hasPrefix(".") }
        #expect(Set(groups.map { "Cases/" + $0 }).isSubset(of: Set(try Self.rows().map(\.shownBy))))
    }
}
