internal import Foundation
internal import Testing
internal import TestServices

/// A session at a shell as a file shows it:
///
///     # What it is about.
///     $ printf hunter2 | latchkey set example.org alice
///     $ latchkey get example.org bob
///     ! latchkey: error: there is no secret for example.org/bob in vault DIR/data/latchkey/vault …
///     ? 1
///
/// `$` starts a command for /bin/sh, `>` is a line of its standard output, `>|` one without a line break, `!` a line
/// of its standard error, `?` its exit status (0 when left out). In output DIR stands for the test's directory and
/// SERVER, SECURE, NOBODY and DATABASE for the variables of these names (see `MetadataServer`); `…` matches any text within a
/// line.
struct Transcript: Sendable, CustomTestStringConvertible {
    struct Step: Sendable {
        var line: Int
        var command: String
        var output = ""
        var errorOutput = ""
        var status: Int32 = 0
    }

    let name: String
    let steps: [Step]

    var testDescription: String { name }

    /// Whether a command names one of the servers.
    var needsServers: Bool { steps.contains { $0.command.contains("$SERVER") || $0.command.contains("$SECURE") } }

    /// Whether a command names the database: `$DATABASE` is the address of PostgreSQL, with a database `secrets` and an
    /// owner `admin`.
    var needsDatabase: Bool { steps.contains { $0.command.contains("$DATABASE") } }

    static let folder = TestData.folder().appendingPathComponent("Transcripts")

    /// All transcripts whose file begins with `prefix`; none at all is an error.
    static func all(_ prefix: String = "") throws -> [Transcript] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix(prefix) && $0.hasSuffix(".txt") }.sorted()
        guard !names.isEmpty else { throw Malformed(description: "there are no transcripts in \(folder.path)") }
        return try names.map { try Transcript(name: $0) }
    }

    init(name: String) throws {
        let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
        try self.init(name: name, text: text)
    }

    init(name: String, text: String) throws {
        var steps: [Step] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let rest = { (count: Int) in String(line.dropFirst(count)) }
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("$ ") {
                steps.append(Step(line: index + 1, command: rest(2)))
                continue
            }
            guard var step = steps.popLast() else {
                throw Malformed(description: "\(name):\(index + 1) stands before the first command")
            }
            if line.hasPrefix(">| ") {
                step.output += rest(3)
            } else if line == ">" || line.hasPrefix("> ") {
                step.output += rest(2) + "\n"
            } else if line == "!" || line.hasPrefix("! ") {
                step.errorOutput += rest(2) + "\n"
            } else if line.hasPrefix("? "), let status = Int32(rest(2)) {
                step.status = status
            } else {
                throw Malformed(description: "\(name):\(index + 1) starts with none of $ > >| ! ? #")
            }
            steps.append(step)
        }
        guard !steps.isEmpty else { throw Malformed(description: "\(name) has no command") }
        self.name = name
        self.steps = steps
    }

    /// Writes the file anew where an answer isn't what it expects; lines that match stay, with their `…`.
    func record(_ answers: [Step]) throws {
        let file = Self.folder.appendingPathComponent(name)
        var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        for (step, answer) in zip(steps, answers).reversed() {
            guard
                !Self.matches(answer.output, step.output) || !Self.matches(answer.errorOutput, step.errorOutput)
                    || answer.status != step.status
            else { continue }
            var end = step.line
            while end < lines.count, lines[end].hasPrefix(">") || lines[end].hasPrefix("!") || lines[end].hasPrefix("?")
            {
                end += 1
            }
            var answered: [String] = []
            for (sign, shown, expected) in [
                (">", answer.output, step.output), ("!", answer.errorOutput, step.errorOutput),
            ] {
                var recorded = TestData.recorded(shown, over: expected) { Self.matchesLine($0[...], $1[...]) }
                recorded = recorded.map {
                    $0.replacing(/20\d\d-\d\d-\d\dT[0-9:.]+Z/, with: "20…Z")
                        .replacing(/http:\/\/127.0.0.1\/\w+\/callback/, with: "http://127.0.0.1/…/callback")
                }
                let last = recorded.removeLast()
                answered += recorded.map { $0.isEmpty ? sign : "\(sign) \($0)" } + (last.isEmpty ? [] : [">| " + last])
            }
            if answer.status != 0 { answered.append("? \(answer.status)") }
            lines.replaceSubrange(step.line..<end, with: answered)
        }
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    }

    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    /// Whether text is what a transcript expects, line by line.
    static func matches(_ text: String, _ expected: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let patterns = expected.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count == patterns.count && zip(lines, patterns).allSatisfy(matchesLine)
    }

    private static func matchesLine(_ line: Substring, _ pattern: Substring) -> Bool {
        let pieces = pattern.components(separatedBy: "…")
        guard pieces.count > 1 else { return line == pattern }
        guard line.hasPrefix(pieces[0]) else { return false }
        var rest = line.dropFirst(pieces[0].count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let found = rest.range(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(pieces[pieces.count - 1])
    }
}
