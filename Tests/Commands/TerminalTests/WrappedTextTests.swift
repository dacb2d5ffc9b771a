internal import Testing

@testable internal import LatchkeyCommandLine
@testable internal import LatchkeyProcess

struct WrappedTextTests {
    @Test func `text breaks at spaces, and a word that is too wide stays whole`() {
        #expect(WrappedText.lines("a bc def", width: 4) == ["a bc", "def"])
        #expect(WrappedText.lines("https://example.org a", width: 4) == ["https://example.org", "a"])
        #expect(WrappedText.lines("    https://example.org a b", width: 8) == ["    https://example.org", "    a b"])
        #expect(WrappedText.lines("", width: 4) == [""])
        #expect(WrappedText.paragraphs("one\ntwo\n\nthree four", width: 10) == "one two\n\nthree four")
    }

    @Test func `a wrapped command is still one command to the shell, and no line ends inside quotes`() {
        let command = "tool send 'a b c' --to me"
        #expect(WrappedText.command(command, width: 80) == command)
        #expect(WrappedText.command(command, width: 14) == "tool send \\\n      'a b c' \\\n      --to me")
    }

    private static let grammar = CommandGrammar(
        program: "tool", summary: "does things", version: "1",
        globalOptions: [.value("--store", "STORE", help: "where the things are that it does everything with")],
        commands: [
            CommandDefinition(
                ["get"], summary: "get one thing or another", operands: [.required("THING", help: "which of them")],
                details: """
                    These lines are as long as the
                    source has them, which is shorter than a wide terminal is, but together they make a line that
                    nobody reads with ease.
                    """, examples: ["tool get something --store somewhere"])
        ],
        introduction: """
            tool does things, and more than you think.

              get one      tool get something --store somewhere
            """)

    private static func help(_ words: String..., width: Int?) throws -> String {
        switch try grammar.parse(words.map { Array($0.utf8) }) {
        case .help(let text), .introduction(let text): text.text(width: width)
        default: "no help"
        }
    }

    @Test func `help fits the width, and no text is lost`() throws {
        for words in [[], ["--help"], ["get", "--help"]] {
            guard case .help(let help) = try Self.grammar.parse(words.map { Array($0.utf8) }) else { continue }
            for width in [32, 40, 80] {
                let text = help.text(width: width)
                let lines = text.split(separator: "\n")
                #expect(lines.allSatisfy { $0.count <= width || !$0.dropFirst(6).contains(" ") }, "\(text)")
                func all(_ text: String) -> [Substring] { text.split { $0.isWhitespace || $0 == "\\" } }
                #expect(all(text) == all(help.text))
            }
        }
    }

    @Test func `a right column that would be too narrow moves below the left column`() throws {
        let wide = try Self.help("help", "options", width: 61)
        #expect(wide.contains("  --store STORE  where the things are that it does everything\n                 with\n"))
        let narrow = try Self.help("help", "options", width: 40)
        #expect(narrow.contains("  --store STORE\n      where the things are that it does\n      everything with\n"))
        let widest = try Self.help("get", "--help", width: 300).split(separator: "\n").map(\.count).max() ?? 0
        #expect((80...100).contains(widest))
        #expect(
            try Self.help("get", "--help", width: 80).contains(
                "These lines are as long as the source has them, which is shorter"))
        #expect(
            try Self.help(width: 30).hasPrefix(
                "tool does things, and more\nthan you think.\n\n  get one\n      tool get"))
    }
}
