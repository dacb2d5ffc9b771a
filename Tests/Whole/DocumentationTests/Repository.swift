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
