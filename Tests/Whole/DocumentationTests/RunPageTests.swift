import Foundation
import Testing
import TestServices

/// The page on `latchkey run` beside what is tested.
@Suite struct RunPageTests {
    /// The cells of each table of the page, row by row.
    private func tables() throws -> [[[String]]] {
        var tables: [[[String]]] = []
        var isInTable = false
        for line in try Repository.text("Docs/HowTo/run.md").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("|") {
                if !isInTable { tables.append([]) }
                let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                tables[tables.count - 1].append(cells.map { $0.trimmingCharacters(in: .whitespaces) })
            }
            isInTable = line.hasPrefix("|")
        }
        return tables
    }

    /// Tests/Commands/CommandTests/MaskFormTests.swift has a test for each cell.
    @Test func `the table of masked forms is the one that is tested`() async throws {
        let script = Repository.root.appendingPathComponent("Tests/Commands/CommandTests/mask_forms.py").path
        let list = try await Program("python3").run([script, "list"]).successful("python3").output
        let names = try JSONDecoder().decode([[String]].self, from: Data(list))
        let table = try #require(try tables().first { $0[0].first == "form" })
        #expect(Array(table[0][2...]) == names[1])
        #expect(
            table[2...].map { [$0[0]] + $0[2...] }
                == names[0].map { form in
                    [form] + names[1].map { form == "verbatim" && $0 != "each line" ? "line by line" : "yes" }
                })
    }
}
