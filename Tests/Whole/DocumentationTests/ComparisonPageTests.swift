import Foundation
import Testing

/// Docs/Explanation/comparison.md: nothing stands there that nobody has seen, and what it says of us is so.
struct ComparisonPageTests {
    private static let page = "Docs/Explanation/comparison.md"

    /// The cells of the tables under a heading, row by row, without the line below the first one.
    private func table(_ heading: String) throws -> [[String]] {
        let lines = try Repository.lines(Self.page).drop { $0 != "## " + heading }.dropFirst()
        return lines.prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private static let headings = ["Libraries that keep secrets", "Programs at a terminal", "Signing in"]

    @Test(arguments: headings) func `each cell gives its evidence`(_ heading: String) throws {
        let rows = try table(heading)
        #expect(rows.count > 10)
        let columns = try #require(rows.first).count
        for row in rows.dropFirst() {
            // What is so by a tool's nature nobody needs to see.
            for (index, cell) in row.enumerated().dropFirst()
            where !["no", "?", "no such case", "no tasks"].contains(cell) && !cell.hasPrefix("**") {
                #expect(cell.contains(#/ \((?:[trsd]|\?)\)$/#), "\(row[0]): \(cell)")
                if index == 1 { #expect(!cell.contains(#/ \([rs]\)$/#), "\(row[0]): \(cell)") }
            }
            #expect(row.count == columns, "\(row)")
        }
    }

    @Test func `every source has its repository and commit, or another place`() throws {
        let seen = try table("How it was seen")
        #expect(seen.count == 16)
        for row in seen.dropFirst(2) {
            #expect(row[3].contains(/@[0-9a-f]{7}: |Debian's source: |its manual/), "\(row[0])")
        }
    }

    @Test func `the page's statements on our limits and helpers hold`() throws {
        let text = try Repository.text(Self.page)
        #expect(text.contains("16 MiB in a vault, 8 MiB in a keyring"))
        #expect(
            try Repository.text("Sources/Stores/Vault/Sealing/Sealing.swift")
                .contains("maximumSecretByteCount = 16 << 20"))
        #expect(
            try Repository.text("Sources/Stores/SecretService/SecretServiceStore.swift")
                .contains("maximumSecretByteCount = 8 << 20"))
        #expect(text.ranges(of: "| license | Apache 2.0 (t) |").count == Self.headings.count)
    }
}
