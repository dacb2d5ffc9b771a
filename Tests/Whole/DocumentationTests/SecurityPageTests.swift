import Foundation
import Testing

/// Docs/Evidence/Attacks.md says what was attacked, what stopped it, and the test that is the attack.
@Suite struct SecurityPageTests {
    @Test func `each attack is a test that exists`() throws {
        let rows = try Repository.lines("Docs/Evidence/Attacks.md").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count >= 15)
        let folder = Repository.root.appendingPathComponent("Tests").path
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let code = try names.filter { $0.hasSuffix(".swift") }.map { try Repository.text("Tests/" + $0) }.joined()
        for row in rows {
            let cells = row.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            try #require(cells.count == 3, "\(row)")
            let tests = cells[2].matches(of: /`([^`]+)`/).map { String($0.1) }
            #expect(!tests.isEmpty && !cells[1].isEmpty, "\(row)")
            for test in tests { #expect(code.contains("func `\(test)`("), "\(test)") }
        }
    }
}
