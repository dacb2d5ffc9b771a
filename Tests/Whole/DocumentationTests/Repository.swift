import Foundation

/// The files of this checkout, found from this file's own place.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    static func lines(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path).sorted()
    }

    /// The text of each Swift file below a folder, by its path from there. Each is read once.
    private static func code(in folder: String) throws -> [(path: String, code: String)] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { ($0, try text("\(folder)/\($0)")) }
    }

    /// The code of Sources, without comments.
    static func sources() throws -> [(path: String, code: String)] { try allSources.get() }

    /// The files in which a pattern is found.
    static func sources(with pattern: String) throws -> [(path: String, code: String)] {
        try sources().filter { try !matches(of: pattern, in: $0.code).isEmpty }
    }

    /// Where a pattern is found in a file, and its groups. `Regex` takes longer for all files.
    static func matches(
        of pattern: String, in code: String
    ) throws -> [(place: Range<String.Index>, groups: [String])] {
        let found = try NSRegularExpression(pattern: pattern).matches(
            in: code, range: NSRange(code.startIndex..., in: code))
        return found.map { match in
            let ranges = (0..<match.numberOfRanges).map { Range(match.range(at: $0), in: code) }
            return (ranges[0]!, ranges.dropFirst().map { $0.map { String(code[$0]) } ?? "" })
        }
    }

    private static let allSources = Result {
        try code(in: "Sources").map { path, text in
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return (path, lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n"))
        }
    }

    /// Tests, and those of the example for adopters.
    static func tests() throws -> [(path: String, code: String)] { try allTests.get() }
    private static let allTests = Result {
        try code(in: "Tests") + code(in: "Docs/Examples/AuditedLogs/Tests")
    }

    /// The names of all tests, as they are written between backticks.
    static func testNames() throws -> Set<String> { try allTestNames.get() }
    private static let allTestNames = Result {
        Set(try tests().flatMap { try matches(of: #"func `([^`]+)`\("#, in: $0.code).map { $0.groups[0] } })
    }

    /// README.md and every Markdown file under Docs, as paths from the root.
    static func documents() throws -> [String] {
        let docs = FileManager.default.enumerator(atPath: root.appendingPathComponent("Docs").path)
        let found = (docs?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") }.map { "Docs/" + $0 }
        return ["README.md"] + found.sorted()
    }

    /// The blocks between ``` lines that are marked with a language.
    static func blocks(_ language: String, in path: String) throws -> [String] {
        var blocks: [String] = []
        var block: [String]?
        for line in try lines(path) {
            if let open = block {
                if line == "```" {
                    blocks.append(open.joined(separator: "\n"))
                    block = nil
                } else {
                    block?.append(line)
                }
            } else if line == "```" + language {
                block = []
            }
        }
        return blocks
    }
}
