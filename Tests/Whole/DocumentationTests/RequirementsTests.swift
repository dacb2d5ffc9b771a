import Foundation
import Testing

/// Tests/Evidence/Requirements.md says which tests show what the sign-in, the vault and the logs must do. A row whose test was
/// renamed or removed fails.
@Suite struct RequirementsTests {
    private static let page = "Tests/Evidence/Requirements.md"

    private static func rows() throws -> [(name: String, tests: [String])] {
        try Repository.lines(page).compactMap { line in
            guard let row = line.wholeMatch(of: /\| ([A-Z][0-9]+) \| [^|]+ \| ([^|]+) \|/) else { return nil }
            return (String(row.1), row.2.matches(of: /`([^`]+)`/).map { String($0.1) })
        }
    }

    @Test func `each statement has one row, in order`() throws {
        let expected =
            (1...15).map { "A\($0)" } + (1...6).map { "B\($0)" } + (1...12).map { "C\($0)" } + (1...13).map { "D\($0)" }
            + (1...11).map { "E\($0)" } + (1...37).map { "V\($0)" } + (1...6).map { "S\($0)" }
            + (1...11).map { "X\($0)" } + (1...17).map { "R\($0)" }
        #expect(try Self.rows().map(\.name) == expected)
    }

    @Test func `every row is shown by tests that exist`() throws {
        let tests = try Repository.testNames()
        for row in try Self.rows() {
            #expect(!row.tests.isEmpty, "\(row.name)")
            for test in row.tests { #expect(tests.contains(test), "\(row.name): \(test)") }
        }
    }

    /// A15: a test that skips shows nothing, and nothing here needs the live GitHub.
    @Test func `no test is skipped`() throws {
        for (path, code) in try Repository.tests() {
            let skips = #"\.(disabled|enabled)\((if:|"|\))|Test\.cancel\(|XCTSkip\("#
            #expect(try Repository.matches(of: skips, in: code).isEmpty, "\(path)")
        }
    }
}
