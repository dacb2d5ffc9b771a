import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// Runs every command that a page shows in a `console` block, in the page's order, and compares what the terminal shows.
///
/// Each page has a home of its own, which it knows as /home/ada, and one shell command after the other at a terminal of
/// 100 columns. Of two times or dates none differs; `…` is any text within a line, and alone on a line any lines. A
/// page that needs more than a vault says so in comments, which readers don't see:
///
///     <!-- with: keyring -->           a session bus with GNOME Keyring
///     <!-- with: server -->            https://login.example.org is a server, and BROWSER a program that says yes
///     <!-- with: database -->          db.example.org is PostgreSQL, with a database `secrets` and an owner `admin`
///     <!-- with: checkout -->          ~/latchkey is a checkout, with programs that were built
///     <!-- typed: one | two -->        what the person types in the next block, a question each; `\0` is nothing
///
/// `LATCHKEY_RECORD=1` writes into the pages what the terminal shows, and fails; read the changes before they count.
@Suite struct PageCommandTests {
    @Test(arguments: try Page.all())
    func `a page's commands do what the page shows`(_ page: Page) async throws {
        let session = try await PageSession(page)
        var shownByStep: [(step: Page.Block.Step, shown: String)] = []
        for block in page.blocks {
            for step in block.steps(typed: block.typed) {
                let shown = try await session.run(step.command, typing: step.typed)
                #expect(
                    Page.matches(shown, step.output),
                    "\(page.path):\(step.line): \(step.command)\nshown:\n\(shown)\nexpected:\n\(step.output)")
                shownByStep.append((step, shown))
            }
        }
        if TestData.isRecording { try page.record(shownByStep) }
    }

    @Test func `the test finds each page, and notices other output`() throws {
        #expect(try Page.all().count >= 8)
        #expect(Page.matches("a 2026-11-23T06:01:27Z c\n", "a 2025-01-02T03:04:05Z c\n"))
        #expect(Page.matches("a\nb\nc\n", "a\n…\nc\n"))
        #expect(Page.matches("a\nc\n", "a\n…\nc\n"))
        #expect(Page.matches("a x c\n", "a … c\n"))
        #expect(!Page.matches("a\nb\n", "a\n"))
        #expect(!Page.matches("a\nb\nc\n", "a\n…\nd\n"))
        #expect(!Page.matches("", "a\n"))
    }
}

struct Page: Sendable, CustomTestStringConvertible {
    struct Block: Sendable {
        var line: Int
        var text: String
        var typed: [String]

        struct Step {
            var line: Int
            var command: String
            var output = ""
            var typed: [String] = []
        }

        /// `$` begins a command; the lines after one that ends in a backslash belong to it. What was typed goes to the
        /// first command that is still running when it is wanted, which is the block's last.
        func steps(typed: [String]) -> [Step] {
            var steps: [Step] = []
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if line.hasPrefix("$ ") {
                    steps.append(Step(line: self.line + index, command: String(line.dropFirst(2))))
                } else if let last = steps.indices.last {
                    if steps[last].command.hasSuffix("\\"), steps[last].output.isEmpty {
                        steps[last].command += "\n" + line
                    } else {
                        steps[last].output += line + "\n"
                    }
                }
            }
            if let last = steps.indices.last { steps[last].typed = typed }
            return steps
        }
    }

    let path: String
    let needs: Set<String>
    let blocks: [Block]

    var testDescription: String { path }

    /// The pages with a `console` block.
    static func all() throws -> [Page] {
        let root = TestData.package
        let docs = try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent("Docs").path)
        return try (["README.md"] + docs.filter { $0.hasSuffix(".md") }.map { "Docs/" + $0 }.sorted())
            .map { path in
                try Page(path, String(contentsOf: root.appendingPathComponent(path), encoding: .utf8))
            }.filter { !$0.blocks.isEmpty }
    }

    init(_ path: String, _ text: String) throws {
        var needs: Set<String> = []
        var blocks: [Block] = []
        var (typed, open) = ([String](), false)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("<!-- "), line.hasSuffix(" -->") {
                let words = line.dropFirst(5).dropLast(4)
                if words.hasPrefix("with: ") { needs.insert(String(words.dropFirst(6))) }
                if words.hasPrefix("typed: ") {
                    typed = words.dropFirst(7).components(separatedBy: " | ").map { $0 == "\\0" ? "" : $0 }
                }
            }
            if line == "```console" {
                blocks.append(Block(line: index + 2, text: "", typed: typed))
                (typed, open) = ([], true)
            } else if line == "```" {
                open = false
            } else if open {
                blocks[blocks.count - 1].text += (blocks[blocks.count - 1].text.isEmpty ? "" : "\n") + line
            }
        }
        self.path = path
        self.needs = needs
        self.blocks = blocks
    }

    /// Writes the page anew where the terminal shows something else; lines that match stay, with their `…`.
    func record(_ shownByStep: [(step: Block.Step, shown: String)]) throws {
        let file = TestData.package.appendingPathComponent(path)
        var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        for (step, shown) in shownByStep.reversed() where !Self.matches(shown, step.output) {
            let start = step.line - 1 + step.command.components(separatedBy: "\n").count
            let end = start + step.output.components(separatedBy: "\n").count - 1
            let plain = Self.plain(shown).joined(separator: "\n")
            lines.replaceSubrange(
                start..<end, with: TestData.recorded(plain, over: step.output) { Self.matches($0, $1) })
        }
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    }

    static func matches(_ shown: String, _ expected: String) -> Bool {
        matches(lines(shown)[...], lines(expected)[...])
    }

    private static func lines(_ text: String) -> [String] {
        plain(text.replacing(/\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?/, with: "DATE"))
    }

    /// The lines that aren't empty, as they are at last: a bar that shows progress is written over. On a busy machine a
    /// sign-in takes so long that it gives advice, which no page shows.
    private static func plain(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { $0.split(separator: "\r").last.map(String.init) }
            .filter { !$0.hasPrefix("latchkey: no response yet. ") }
    }

    private static func matches(_ shown: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return shown.isEmpty }
        if first == "…" {
            return (shown.startIndex...shown.endIndex).contains { matches(shown[$0...], expected.dropFirst()) }
        }
        guard let line = shown.first, matchesLine(line, first) else { return false }
        return matches(shown.dropFirst(), expected.dropFirst())
    }

    private static func matchesLine(_ line: String, _ pattern: String) -> Bool {
        let pieces = pattern.components(separatedBy: "…").map(NSRegularExpression.escapedPattern)
        return line.range(of: "^" + pieces.joined(separator: ".*") + "$", options: .regularExpression) != nil
    }
}

/// A person's terminal, home and session, for one page.
final class PageSession: Sendable {
    private let desktop: PrivateSession?
    private let server: LoopbackAuthorizationServer?
    private let database: PostgreSQLServer?
    private let directory: TestDirectory
    private let environment: [String: String]
    private let home: String

    private static let site = "https://login.example.org"
    private static let host = "db.example.org"
    private var address: String? { database.map { "127.0.0.1:\($0.port)" } }

    init(_ page: Page) async throws {
        desktop = page.needs.contains("keyring") ? try await PrivateSession(.unlocked) : nil
        server = page.needs.contains("server") ? try LoopbackAuthorizationServer() : nil
        database = page.needs.contains("database") ? try await PostgreSQLServer(isDurable: false) : nil
        directory = try desktop?.directory ?? TestDirectory()
        var environment = try desktop?.environment ?? directory.environment()
        for variable in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            environment[variable] = nil
        }
        home = try #require(environment["HOME"])
        if page.needs.contains("checkout") {
            let checkout = URL(fileURLWithPath: home).appendingPathComponent("latchkey")
            let root = TestData.package
            let files = FileManager.default
            try files.createDirectory(at: checkout.appendingPathComponent(".build"), withIntermediateDirectories: true)
            for (link, target) in [
                (".build/release", try BuiltProducts.folder()),
                ("Docs", root.appendingPathComponent("Docs").path),
            ] {
                try files.createSymbolicLink(
                    atPath: checkout.appendingPathComponent(link).path, withDestinationPath: target)
            }
        }
        environment["PATH"] = try BuiltProducts.searchPath()
        environment["NO_COLOR"] = "1"
        environment["TERM"] = "xterm"
        environment["SHELL"] = "/bin/bash"
        environment["COLUMNS"] = "100"
        environment["BROWSER"] = try directory.write(
            "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700
        )
        self.environment = environment
    }

    /// Runs one command as the terminal's only program, and returns what the terminal showed, without what was typed.
    func run(_ command: String, typing lines: [String]) async throws -> String {
        var command = command
        if let server { command = command.replacingOccurrences(of: Self.site, with: server.issuer) }
        if let address { command = command.replacingOccurrences(of: Self.host, with: address) }
        let terminal = try PseudoTerminal()
        let running = try Program("/bin/bash").start(
            ["-c", "exec < /dev/tty > /dev/tty 2>&1; cd; " + command], environment: environment, terminal: terminal)
        var asked = 0
        for line in lines {
            try await running.wait(for: "question \(asked + 1) of \(command); shown: \(terminal.shown)") {
                let shown = terminal.shown
                return !shown.hasSuffix("\n") && shown.hasSuffix(" ") && shown.count > asked
            }
            asked = terminal.shown.count
            terminal.type(line + "\n")
        }
        _ = try await running.finish()
        // What is written after the program's last byte arrives before this.
        let end = "the terminal's end"
        _ = try await Program("/bin/sh").start(
            ["-c", "echo \"\(end)\" > /dev/tty"], environment: environment, terminal: terminal
        ).finish()
        try await terminal.waitUntilShown(end)
        var shown = terminal.shown.replacingOccurrences(of: "\r\n", with: "\n")
            .replacingOccurrences(of: end + "\n", with: "")
        if let server { shown = shown.replacingOccurrences(of: server.issuer, with: Self.site) }
        if let address { shown = shown.replacingOccurrences(of: address, with: Self.host) }
        return shown.replacingOccurrences(of: home, with: "/home/ada")
    }
}
