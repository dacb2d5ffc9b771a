import Foundation
import LatchkeyCommands
import TestServices
import Testing

/// Docs/Reference/changes.md: something holds each promise.
struct PromisesPageTests {
    private static let page = "Docs/Reference/changes.md"

    @Test func `the newest heading of the changes is the program's version, and each says what breaks`() throws {
        let text = try Repository.text(Self.page)
        let versions = text.components(separatedBy: "\n## ").dropFirst().filter { !$0.hasPrefix("Promises\n") }
        #expect(!versions.isEmpty)
        for (index, section) in versions.enumerated() {
            let version = try #require(
                section.firstMatch(of: /^([0-9]+\.[0-9]+\.[0-9]+), (?:not released yet|[0-9-]{10})\n/))
            if index == 0 { #expect(version.output.1 == "\(LatchkeyGrammar.version)") }
            for part in ["### Adds\n", "### Breaks, and how to move\n"] {
                #expect(section.contains("\n\(part)"), "\(version.output.1) doesn't say \(part)")
            }
        }
    }

    @Test func `each product is among the libraries that a first release has`() throws {
        let text = try Repository.text(Self.page)
        let manifest = try Repository.text("Package.swift")
        let products = manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.output.1) }
        #expect(products.count >= 7)
        for product in products { #expect(text.contains("`\(product)`"), "\(product)") }
    }

    @Test func `the promised formats are frozen`() throws {
        let text = try Repository.text(Self.page)
        let fixtures = "Tests/Stores/VaultTests/Fixtures"
        #expect(text.contains("`\(fixtures)`"))
        let frozen = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appendingPathComponent(fixtures).path)
        #expect(frozen.count { $0.hasSuffix(".vault") } >= 10)
        #expect(try Repository.text("Docs/Reference/session-format.md").contains("```json\n"))
        for format in ["vault-format.md", "session-format.md"] { #expect(text.contains("(\(format))"), "\(format)") }
    }

    @Test func `the versions on the page are those of the other pages`() throws {
        let text = try Repository.text(Self.page)
        for (page, words) in [
            ("README.md", "Debian 12 with a Swift 6.3 toolchain"), ("Docs/HowTo/install.md", "tested on Debian 12"),
        ] {
            #expect(try Repository.text(page).contains(words), "\(page)")
        }
        #expect(text.contains("Debian 12 on x86-64") && text.contains("a Swift 6.3 toolchain"))
        // Those of the keyrings are what Debian 12 installs for the tests.
        #expect(try Repository.text("Scripts/install").contains("gnome-keyring keepassxc"))
    }
}

/// Tests/Evidence/Attacks.md says what was attacked, what stopped it, and the test that is the attack.
@Suite struct SecurityPageTests {
    @Test func `each attack is a test that exists`() throws {
        let rows = try Repository.lines("Tests/Evidence/Attacks.md").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count >= 15)
        let names = try Repository.testNames()
        for row in rows {
            let cells = row.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            try #require(cells.count == 3, "\(row)")
            let tests = cells[2].matches(of: /`([^`]+)`/).map { String($0.1) }
            #expect(!tests.isEmpty && !cells[1].isEmpty, "\(row)")
            for test in tests { #expect(names.contains(test), "\(test)") }
        }
    }
}

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
