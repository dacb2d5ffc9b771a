import Foundation
import Testing

/// Tests/Evidence/Sinks.md names every place where the bytes of a secret are touched or a string gets into a log.
@Suite struct SinksTests {
    static let page = "Tests/Evidence/Sinks.md"

    /// The rows of the table under a heading, cell by cell, without the backquotes.
    static func rows(under heading: String) throws -> [[String]] {
        let lines = try Repository.lines(page)
        let start = try #require(lines.firstIndex(of: "## " + heading), "\(page) has no section \(heading)")
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        return section.filter { $0.hasPrefix("| `") }.map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ").map { $0.filter { $0 != "`" } }
        }
    }

    /// What a person must do to the table, line by line.
    static func corrections(
        _ rows: [[String]], _ found: [String: Int], why: Bool
    ) -> [String] {
        var listed: [String: (count: Int, why: String)] = [:]
        var corrections: [String] = []
        for row in rows {
            if listed[row[0]] != nil { corrections.append("remove the second row of \(row[0])") }
            listed[row[0]] = (Int(row[1]) ?? 0, row.count > 2 ? row[2] : "")
            if why && (row.count < 3 || row[2].count < 10) { corrections.append("say why in the row of \(row[0])") }
        }
        for (path, count) in found.sorted(by: { $0.key < $1.key }) {
            let ending = why ? " \(listed[path]?.why ?? "why the bytes are safe there") |" : ""
            let row = "| `\(path)` | \(count) |" + ending
            switch listed[path]?.count {
            case nil: corrections.append("add the row:      \(row)")
            case count: break
            default: corrections.append("change the row to: \(row)")
            }
        }
        for path in listed.keys.sorted() where found[path] == nil { corrections.append("remove the row of \(path)") }
        return corrections
    }

    @Test func `every use of withExposedBytes and lentBytes is listed with its reason`() throws {
        var found: [String: Int] = [:]
        for (path, code) in try Repository.sources(with: "withExposedBytes|lentBytes") {
            let count = code.matches(of: /(func |var )?(withExposedBytes|lentBytes)/).count { $0.output.1 == nil }
            if count > 0 { found[path] = count }
        }
        let corrections = Self.corrections(try Self.rows(under: "Exposed bytes"), found, why: true)
        #expect(corrections.isEmpty, "\(Self.page): \(corrections.joined(separator: "\n"))")
    }

    @Test func `every use of LoggableText is listed, and gives a reason`() throws {
        var found: [String: Int] = [:]
        for (path, code) in try Repository.sources(with: "LoggableText") {
            let uses = code.matches(of: /LoggableText\(\s*reviewed:\s+("([^"]*)")?/)
            if uses.isEmpty { continue }
            found[path] = uses.count
            for use in uses {
                #expect((use.output.2?.count ?? 0) >= 10, "Sources/\(path): a reason is no literal, or too short")
            }
        }
        let corrections = Self.corrections(try Self.rows(under: "Reviewed text"), found, why: false)
        #expect(corrections.isEmpty, "\(Self.page): \(corrections.joined(separator: "\n"))")
    }

    @Test func `every sink is listed with the reason it gives`() throws {
        var found: [[String]] = []
        for (path, code) in try Repository.sources(with: "SecretSink") {
            for sink in code.matches(of: /(?:struct|class|enum|extension|actor) (\w+)[^{\n]*:[^{\n]*SecretSink/) {
                let rest = code[sink.range.upperBound...]
                let reason = try #require(
                    rest.firstMatch(of: /static var reason: StaticString \{\s*"([^"]*)"/), "\(path) gives no reason")
                found.append([String(sink.output.1), path, String(reason.output.1)])
            }
        }
        let listed = try Self.rows(under: "Sinks")
        for sink in found where !listed.contains(sink) {
            Issue.record("\(Self.page): add the row: | `\(sink[0])` | `\(sink[1])` | \(sink[2]) |")
        }
        for sink in listed where !found.contains(sink) { Issue.record("\(Self.page): remove the row of \(sink[0])") }
        #expect(found.count >= 4)
    }

    @Test func `the correction names the row to add, to change or to remove`() {
        let rows = [["A.swift", "1", "a good reason"], ["B.swift", "2", "a good reason"], ["C.swift", "1", "short"]]
        let corrections = Self.corrections(rows, ["A.swift": 1, "B.swift": 3, "D.swift": 1], why: true)
        #expect(
            corrections == [
                "say why in the row of C.swift", "change the row to: | `B.swift` | 3 | a good reason |",
                "add the row:      | `D.swift` | 1 | why the bytes are safe there |", "remove the row of C.swift",
            ])
    }
}
