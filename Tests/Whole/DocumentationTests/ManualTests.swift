import Foundation
import LatchkeyCommands
import Testing
import TestServices

/// The manual: latchkey(1), a page for each group of commands, and latchkey(5) for files. What the help says is in it by
/// Scripts/manual.
struct ManualTests {
    private static let folder = "Docs/man"
    private static let main = "latchkey.1"
    private static let script = Repository.root.appendingPathComponent("Scripts/manual").path

    /// The names of the pages.
    private static func pages() throws -> [String] {
        let folder = Repository.root.appendingPathComponent(folder)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func text(_ page: String) throws -> String { try Repository.text("\(Self.folder)/\(page)") }

    /// The pages that the script writes, of a program.
    private static func written(of program: String, in directory: TestDirectory) async throws -> ProgramRun {
        try await Program(script).run([program, directory.makeFolder("man")])
    }

    private static func lint(_ file: String) async throws -> ProgramRun {
        try await Program("mandoc").run(["-T", "lint", "-W", "warning", file])
    }

    /// The words that a reader of a page sees, with a space between them.
    private static func shown(_ file: String) async throws -> String {
        let run = try await Program("mandoc").run(["-T", "utf8", "-O", "width=1000", file]).successful("mandoc")
        // Bold is a letter over itself, an underlined one a line below it.
        return words(run.outputText.replacing(#/.\u{8}/#, with: ""))
    }

    private static func words(_ text: some StringProtocol) -> String {
        text.split { $0.isWhitespace }.joined(separator: " ")
    }

    @Test(arguments: try pages()) func `a manual page is clean mdoc, with the name of its file`(_ page: String)
        async throws
    {
        let run = try await Self.lint(Repository.root.appendingPathComponent("\(Self.folder)/\(page)").path)
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
        let name = try #require(page.wholeMatch(of: /([a-z-]+)\.([15])/)).output
        #expect(
            try text(page).contains(
                "\n.Dt \(name.1.uppercased()) \(name.2)\n.Os Latchkey \(LatchkeyGrammar.version)\n.Sh NAME\n.Nm \(name.1)\n"
            ))
    }

    @Test func `the pages of commands are what Scripts/manual now makes from the help`() async throws {
        let directory = try TestDirectory()
        _ = try await Self.written(of: BuiltProducts.latchkey().path, in: directory).successful("Scripts/manual")
        for page in try Self.pages() where page.hasSuffix(".1") {
            let written = String(decoding: try directory.read("man/\(page)"), as: UTF8.self)
            let isFresh = try text(page) == written
            #expect(isFresh, "\(Self.folder)/\(page) isn't what the help says now: run swift build && Scripts/manual")
        }
    }

    /// The program's help, with each row on one line.
    private static func help(_ words: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            words.flatMap { $0.split(separator: " ").map(String.init) }, environment: ["COLUMNS": "10000"]
        ).successful("help")
    }

    /// What stands in a help, as a page has it: its tables' rows, its examples and its paragraphs.
    private static func parts(of help: String) -> [String] {
        help.split(separator: "\n\n").flatMap { (block) -> [String] in
            let lines = block.split(separator: "\n")
            guard lines.contains(where: { $0.hasPrefix("  ") }) else { return [words(block)] }
            return lines.filter { $0.hasPrefix("  ") }.map { words($0.replacing("…", with: " ...")) }
        }
    }

    @Test func `each command is on one page, with all that its help says`() async throws {
        var shown: [String: String] = [:]
        for page in try Self.pages() where page.hasSuffix(".1") {
            shown[page] = try await Self.shown(Repository.root.appendingPathComponent("\(Self.folder)/\(page)").path)
        }
        let overview = try await Self.help("help", "commands")
        try #require(overview.listedCommands.count > 30)
        for command in overview.listedCommands {
            let help = try await Self.help("help", command).outputText
            let pages = try Self.pages().filter { try text($0).contains("\n.Ss latchkey \(command)\n") }
            let page = try #require(pages.first, "\(command)")
            #expect(pages.count == 1, "\(command): \(pages)")
            let usage = try #require(help.firstMatch(of: /\nusage: ((?:.|\n)+?)\n\n/)?.output.1).replacing(
                /…|\.\.\./, with: " ...")
            #expect(page == Self.main || shown[page]?.contains(Self.words(usage)) == true, "\(page): \(usage)")
            // The first is the summary, and the last leads to the other options; latchkey(1) has examples of its own.
            let parts = Self.parts(of: help).dropFirst(2).dropLast()
            for part in parts where page != Self.main || !part.contains("latchkey \(command)") {
                let isExample = part == "latchkey \(command)"
                #expect(isExample || shown[page]?.contains(part) == true, "\(page), \(command): \(part)")
            }
        }
        // What holds for all of them.
        var rows: [String] = []
        for page in ["exit-status", "environment", "options"] {
            rows += Self.parts(of: try await Self.help("help", page).outputText)
        }
        #expect(rows.count > 40)
        for row in rows { #expect(shown[Self.main]?.contains(row) == true, "\(row)") }
    }

    /// A program whose help is this one, whichever command it is asked for.
    private func program(_ help: String, topics: [String], in directory: TestDirectory) throws -> String {
        let tables = topics + ["latchkey itself", "options of every command"]
        try directory.write(
            "overview", tables.map { "\($0):\n  \($0.filter(\.isLetter))  does\n" }.joined(separator: "\n"))
        try directory.write(
            "environment", "environment:\n  A_B, C  d\n\nfiles:\n  $HOME/.e  f\n\nexit statuses:\n  0  g\n")
        try directory.write("help", help)
        return try directory.write(
            "program",
            """
            #!/bin/sh
            case $* in
            --version) echo latchkey 1.2.3 ;;
            'help commands') cat '\(directory.path)/overview' ;;
            'help environment') cat '\(directory.path)/environment' ;;
            'help exit-status' | 'help options') ;;
            *) sed "s/COMMAND/${*% --help}/" '\(directory.path)/help' ;;
            esac

            """, mode: 0o755)
    }

    private static let topics = [
        "secrets", "stores", "sign-ins", "programs", "helpers of other tools", "providers", "vault",
        "the served keyring",
    ]

    @Test func `a help's dots, quotes, backslashes and mdoc words stay unchanged`() async throws {
        let paragraph = """
            .Sh isn't a macro, 'nor is this; (--all, ARG) and ARG: \\fB and \\n, "so" ^~`. A tab \\t, No Ns Ar.
            'Another' line. .netrc begins one, and -- stands alone. See latchkey vault, or (latchkey stores).
            """
        let help = """
            latchkey COMMAND: says .things 'here'

            usage: latchkey COMMAND [OPTIONS] ARG [No] REST...

              ARG  .Pp or "quoted" \\e

            options:
              --all               'all' of --all
              --in NAME="A b"|@…  . alone

            examples:
              .latchkey 'x' "y" \\z  ~/-- a-b ^
              latchkey COMMAND

            \(paragraph)

            the end
            """
        let directory = try TestDirectory()
        let run = try await Self.written(
            of: program(help, topics: Self.topics, in: directory), in: directory)
        #expect(run.status == 0, "\(run.errorText)")
        for page in try Self.pages() where page.hasSuffix(".1") && page != Self.main {
            let file = directory / "man/\(page)"
            #expect(try await Self.lint(file).outputText == "")
            let shown = try await Self.shown(file)
            for part in [
                Self.words(paragraph), "Says .things 'here'.", "[OPTIONS] ARG [No] REST ...",
                #"ARG .Pp or "quoted" \e"#, #"--all 'all' of --all --in NAME="A b"|@ ... . alone"#,
                #": .latchkey 'x' "y" \z ~/-- a-b ^"#,
            ] {
                #expect(shown.contains(part), "\(page): \(part)\n\(shown)")
            }
            #expect(!shown.contains("the end"))
        }
    }

    @Test func `an unknown topic and a missing program end the script`() async throws {
        let directory = try TestDirectory()
        let odd = try program("", topics: Self.topics + ["new things"], in: directory)
        let run = try await Self.written(of: odd, in: directory)
        #expect(run.status == 1 && run.errorText.hasPrefix("Scripts/manual: no page is for one of: "))
        #expect(run.errorText.contains("new things"))
        let none = try await Self.written(of: directory / "none", in: directory)
        #expect(none.status == 1 && none.errorText.hasSuffix("/none: swift build makes it\n"), "\(none.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory / "man").isEmpty)
    }

    @Test func `a page that another page links to exists`() throws {
        let pages = Set(try Self.pages())
        var count = 0
        for page in pages {
            for found in try text(page).matches(of: #/\.(?:It )?Xr (latchkey[a-z-]*) ([0-9])/#) {
                #expect(pages.contains("\(found.output.1).\(found.output.2)"), "\(page): \(found.output.0)")
                count += 1
            }
        }
        #expect(count > 10)
        let main = try text(Self.main)
        for page in pages where page != Self.main {
            #expect(main.contains(".It Xr \(page.dropLast(2)) \(page.suffix(1))\n"), "\(page)")
        }
    }
}
