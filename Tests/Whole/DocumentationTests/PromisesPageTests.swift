import Foundation
import LatchkeyCommands
import Testing

/// Docs/Reference/promises.md and Docs/Changes.md: what they promise is held somewhere.
struct PromisesPageTests {
    private static let page = "Docs/Reference/promises.md"
    private static let changes = "Docs/Changes.md"

    @Test func `the newest heading of the changes is the program's version, and each says what breaks`() throws {
        let text = try Repository.text(Self.changes)
        let versions = text.components(separatedBy: "\n## ").dropFirst()
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
        let text = try Repository.text(Self.changes)
        let manifest = try Repository.text("Package.swift")
        let products = manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.output.1) }
        #expect(products.count >= 7)
        for product in products { #expect(text.contains("`\(product)`"), "\(product)") }
    }

    @Test func `the formats that are promised are frozen`() throws {
        let text = try Repository.text(Self.page)
        let fixtures = "Tests/Stores/VaultTests/Fixtures"
        #expect(text.contains("`\(fixtures)`"))
        let frozen = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appendingPathComponent(fixtures).path)
        #expect(frozen.count { $0.hasSuffix(".vault") } >= 10)
        #expect(try Repository.text("Docs/Formats/session-v1.md").contains("```json\n"))
        let formats = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appendingPathComponent("Docs/Formats").path)
        for format in formats { #expect(text.contains("Formats/\(format)"), "\(format)") }
    }

    @Test func `the versions that are named are those of the other pages`() throws {
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
