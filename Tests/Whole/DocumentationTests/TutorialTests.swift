import Foundation
import Testing

/// The tutorials that begin a project: each page holds a whole package, and `Tests/tutorials` builds and tests it from
/// the page alone. Here the page is compared with the package below Docs/Examples.
@Suite struct TutorialTests {
    /// The page of a package, by its name below Docs/Examples.
    private static let pages = [
        "CommandLineTool": "Docs/Tutorials/command-line-tool.md", "Server": "Docs/Tutorials/server.md",
        "AppTests": "Docs/Tutorials/app-tests.md", "OwnStore": "Docs/Tutorials/own-store.md",
        "ATProtocolAccounts": "Docs/Tutorials/at-protocol.md",
    ]

    /// The blocks under a file's name in bold.
    private static func files(on page: String) throws -> [String: String] {
        var files: [String: String] = [:]
        var name: String?
        var lines: [String]?
        for line in try Repository.lines(page) {
            if let open = lines {
                if line == "```", let file = name {
                    files[file] = open.joined(separator: "\n") + "\n"
                    (name, lines) = (nil, nil)
                } else {
                    lines?.append(line)
                }
            } else if let found = line.wholeMatch(of: /\*\*`([^`]+)`\*\*/) {
                name = String(found.output.1)
            } else if line == "```swift", name != nil {
                lines = []
            }
        }
        return files
    }

    private static func files(in folder: String) throws -> [String: String] {
        let root = Repository.root.appendingPathComponent("Docs/Examples/" + folder).path
        let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return try Dictionary(
            uniqueKeysWithValues: names.filter { $0.hasSuffix(".swift") && !$0.hasPrefix(".build") }.map {
                ($0, try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8))
            })
    }

    @Test(arguments: pages)
    func `a page shows its package whole, file by file`(_ folder: String, _ page: String) throws {
        let (shown, there) = (try Self.files(on: page), try Self.files(in: folder))
        #expect(Set(shown.keys) == Set(there.keys), "\(page)")
        for (name, text) in there { #expect(shown[name] == text, "\(page): \(name) is another one in Docs/Examples") }
        #expect(try Repository.text(page).contains("](../Examples/\(folder))"), "\(page) links to no package")
    }

    @Test(arguments: pages)
    func `a tutorial is small`(_ folder: String, _ page: String) throws {
        let files = try Self.files(in: folder)
        let lines = files.filter { $0.key.hasPrefix("Sources/") }.values.map { $0.split(separator: "\n").count }
        #expect((1...150).contains(lines.reduce(0, +)), "\(page)")
        #expect(files.keys.contains { $0.hasPrefix("Tests/") }, "\(page) has no test")
    }

    @Test func `each adapter is on its page, and has at most 80 lines`() throws {
        let page = "Docs/HowTo/adapters.md"
        let (shown, there) = (try Self.files(on: page), try Self.files(in: "Adapters"))
        let sources = there.filter { $0.key.hasPrefix("Sources/") }
        #expect(sources.count >= 5 && Set(shown.keys) == Set(sources.keys), "\(page)")
        for (name, text) in sources {
            #expect(shown[name] == text, "\(page): \(name) is another one in Docs/Examples")
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 81, "\(name)")
        }
        #expect(try Repository.text(".ci/run").contains("--package-path Docs/Examples/Adapters "))
    }

    @Test func `every package below Docs/Examples has a page, and every tutorial's page is built`() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appendingPathComponent("Docs/Examples").path)
        // Docs/HowTo/audit-logs.md and Docs/HowTo/adapters.md are about these.
        #expect(Set(folders).subtracting(Self.pages.keys) == ["AuditedLogs", "Adapters"])
        // Tests/tutorials takes the pages that hold a manifest.
        for page in Self.pages.values { #expect(try Repository.lines(page).contains("**`Package.swift`**"), "\(page)") }
        #expect(try Repository.text(".ci/run").contains("\nTests/tutorials\n"))
    }
}
