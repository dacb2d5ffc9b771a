import Foundation
import Testing

struct LinkTests {
    @Test func `every link between documents leads to a file, and to a heading where it names one`() throws {
        var followed = 0
        // The site's own pages have DocC's links; SiteTests follows them.
        let others =
            try ["CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "SUPPORT.md"]
            + Repository.names(in: "Tests/Evidence").map { "Tests/Evidence/" + $0 }
        for document in try Repository.documents() + others where !document.hasPrefix("Docs/Site/") {
            let folder = Repository.root.appendingPathComponent(document).deletingLastPathComponent()
            for link in try Repository.text(document).matches(of: /\]\(([^)\s]+)\)/) {
                let target = String(link.output.1)
                if target.hasPrefix("https://") { continue }
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                let file =
                    parts[0].isEmpty
                    ? Repository.root.appendingPathComponent(document) : folder.appendingPathComponent(parts[0])
                let exists = FileManager.default.fileExists(atPath: file.path)
                #expect(exists, "\(document) links to \(target)")
                if exists, parts.count == 2 {
                    let anchors = try anchors(of: String(contentsOf: file, encoding: .utf8))
                    #expect(anchors.contains(parts[1]), "\(document) links to \(target)")
                }
                followed += 1
            }
        }
        #expect(followed >= 5)
    }

    @Test func `each page is in the folder of its kind`() throws {
        #expect(try Repository.names(in: "Docs").filter { $0.hasSuffix(".md") } == ["Architecture.md"])
        let folders = ["Decisions", "Examples", "Explanation", "HowTo", "Reference", "Site", "Tutorials", "man"]
        #expect(try Repository.names(in: "Docs") == (["Architecture.md"] + folders).sorted())
    }

    /// Headings as they become anchors: lower case, spaces to hyphens, punctuation dropped.
    private func anchors(of text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" }
            })
    }

    @Test func `every decision is numbered once and says context, choice and what was refused`() throws {
        let decisions = try Repository.documents().filter { $0.hasPrefix("Docs/Decisions/") }
        let numbers = decisions.compactMap { Int($0.split(separator: "/").last?.prefix(4) ?? "") }
        #expect(numbers == Array(1...decisions.count))
        for decision in decisions {
            let text = try Repository.text(decision)
            for part in ["**Context.**", "**Choice.**", "**Refused.**"] {
                #expect(text.contains(part), "\(decision) has no \(part)")
            }
        }
    }
}
