internal import Foundation
import LatchkeyProcess
internal import LatchkeyLog
internal import LatchkeySecrets
@testable internal import LatchkeyCommandLine
internal import Testing
internal import TestServices

@Suite struct OutputTests {
    // A user without a home, as in a container, has / there; it used to be //.local/share/latchkey.
    @Test func `paths below a home that is the root folder appear unchanged`() {
        #expect(Self.plain.dataDirectory == "/.local/share/latchkey")
        #expect(Self.plain.configurationDirectory == "/.config/latchkey")
        #expect(ProgramEnvironment(variables: [:], home: "/home/a").stateDirectory == "/home/a/.local/state/latchkey")
    }

    @Test func `progress shows count, total and time left after a second, at a terminal only`() throws {
        let (directory, elapsed) = (try TestDirectory(), Duration.seconds(10))
        let file = unsafe open(try directory.write("shown", ""), O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        func line(_ total: Int?, _ elapsed: Duration = elapsed, _ show: (ProgressLine) -> Void) throws -> String {
            ftruncate(file, 0)
            lseek(file, 0, SEEK_SET)
            show(ProgressLine("tool: copying", of: total, on: file) { elapsed })
            return String(decoding: try directory.read("shown"), as: UTF8.self)
        }
        #expect(try line(1000) { $0.show(250) }.hasPrefix("\rtool: copying 250 of 1000, 30 s left "))
        #expect(try line(1000) { $0.show(10) }.contains("10 of 1000, 17 min left "))
        #expect(try line(nil) { $0.show(fraction: 0.5) }.contains("50 %, 10 s left"))
        #expect(
            try line(1000, .milliseconds(999)) {
                $0.show(250); $0.end()
            }.isEmpty)
        #expect(try line(1000) { $0.end() } == "\r" + String(repeating: " ", count: 79) + "\r")
        #expect(try line(0) { $0.show(0) }.isEmpty)
        // Not a terminal: nothing.
        let written = try written { output in
            let progress = output.progress("copying", of: 2)
            progress.show(1)
            progress.end()
        }
        #expect(written.errors.isEmpty && written.output.isEmpty)
    }

    @Test func `the commands that messages name get the vault that the command line named`() throws {
        let path = LoggableText(reviewed: "a path of this test", unredacted: "/v")
        let written = try written { output in
            let named = output.naming(vault: path)
            named.note("run `latchkey vault rekey`, or `latchkey vault verify --vault x`; `latchkey list` is another")
            named.report(CommandFailure(.usage, "usage.x", "wrong", hint: "unlock it with `latchkey vault unlock`"))
            named.note("run `latchkey list --store secret-service`")
            output.note("run `latchkey vault rekey`")
        }
        #expect(
            written.errors == """
                tool: run `latchkey vault rekey --vault /v`, or `latchkey vault verify --vault x`; `latchkey list --vault /v` is another
                tool: error: wrong [usage.x]
                tool: hint: unlock it with `latchkey vault unlock --vault /v`
                tool: run `latchkey list --store secret-service`
                tool: run `latchkey vault rekey`

                """)
    }

    private static let plain = ProgramEnvironment(variables: [:], home: "/")

    /// Returns what `body` writes to standard output and standard error.
    private func written(
        _ environment: ProgramEnvironment = plain, withholding secrets: LiveSecrets? = nil,
        _ body: (TerminalOutput) throws -> Void
    ) throws -> (output: String, errors: String) {
        let directory = try TestDirectory()
        let files = [try directory.write("1", ""), try directory.write("2", "")]
        let descriptors = files.map { unsafe open($0, O_WRONLY | O_APPEND | O_CLOEXEC) }
        defer { descriptors.forEach { close($0) } }
        try body(
            TerminalOutput(
                program: "tool", environment: environment, standardOutput: descriptors[0],
                standardError: descriptors[1], withholding: secrets))
        return (
            String(decoding: try directory.read("1"), as: UTF8.self),
            String(decoding: try directory.read("2"), as: UTF8.self)
        )
    }

    @Test func `an error has its code, and its hint in a separate line`() throws {
        let said = try written { output in
            output.report(CommandFailure(.usage, "a.code", "it went wrong", hint: "try again"))
            output.report(CommandFailure(.usage, "b.code", "without a hint"))
        }
        #expect(said.output.isEmpty)
        #expect(
            said.errors == """
                tool: error: it went wrong [a.code]
                tool: hint: try again
                tool: error: without a hint [b.code]

                """)
    }

    @Test func `a message that contains a secret is withheld and counted, with its code`() throws {
        let live = LiveSecrets()
        let watched = live.watch(Secret<AccessToken>(copying: Array("q7XwK2mVb9RtYpLz".utf8).span))
        let leak = LoggableText(reviewed: "a planted leak", unredacted: "it said q7XwK2mVb9RtYpLz")
        let said = try written(withholding: live) { output in
            output.report(CommandFailure(.usage, "a.code", "failed: \(leak)", hint: "see \(leak)"))
            output.warn("ordinary", hint: "\(leak)")
            output.note("\(leak)")
        }
        let withheld = "this message was withheld: a secret that is in use stood in it"
        #expect(
            said.errors == """
                tool: error: \(withheld) [a.code]
                tool: hint: \(withheld)
                tool: warning: ordinary
                tool: hint: \(withheld)
                tool: \(withheld)

                """)
        #expect(live.withheldTextCount == 4)
        _ = consume watched
    }

    @Test func `output has no colour if standard error isn't a terminal`() throws {
        let said = try written(ProgramEnvironment(variables: ["TERM": "xterm-256color"], home: "/")) {
            $0.report(CommandFailure(.usage, "a.code", "it went wrong"))
        }
        #expect(!said.errors.contains("\u{1B}"))
    }

    @Test(arguments: [([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false)])
    func `a terminal gets colour unless it is turned off`(_ variables: [String: String], _ coloured: Bool) async throws
    {
        let terminal = try PseudoTerminal()
        let descriptor = unsafe open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(descriptor) }
        TerminalOutput(
            program: "tool", environment: ProgramEnvironment(variables: variables, home: "/"), standardError: descriptor
        ).report(CommandFailure(.usage, "a.code", "it went wrong"))
        try await terminal.waitUntilShown("[a.code]")
        #expect(terminal.shown.contains("\u{1B}[1;31merror:") == coloured)
    }

    @Test func `a secret is written byte for byte with nothing added`() throws {
        let bytes: [UInt8] = [0x68, 0x00, 0xFF, 0x0A]
        let directory = try TestDirectory()
        let file = try directory.write("out", "")
        let descriptor = unsafe open(file, O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let output = TerminalOutput(program: "tool", environment: Self.plain, standardOutput: descriptor)
        try output.write(secret: Secret<Password>(copying: bytes.span))
        #expect(try directory.read("out") == bytes)
    }

    @Test(arguments: [
        ("plain\ttext\n", nil), ("é€😀\\", nil), ("\u{1B}[2J", "\\u{1b}[2J"), ("a\rb", "a\\u{d}b"),
        ("\u{7F}\0", "\\u{7f}\\u{0}"),
        ("\u{85}\u{9C}", "\\u{85}\\u{9c}"), ("\u{2066}\u{200F}", "\\u{2066}\\u{200f}"),
    ])
    func `terminal control sequences are escaped`(text: String, shown: String?) throws {
        guard let escaped = Secret<Password>(copying: Array(text.utf8).span).escapedForTerminal() else {
            #expect(shown == nil)
            return
        }
        let isShown = escaped.matches(Secret<Password>(copying: Array((shown ?? "nothing").utf8).span))
        #expect(isShown)
    }

    @Test func `octets that aren't UTF-8 are escaped one by one`() throws {
        // C1 in eight bits, a character cut short, one in a longer form, a surrogate, and one past the end.
        let bytes: [UInt8] = [0x9B, 0x41, 0xE2, 0x82, 0xC0, 0x80, 0xED, 0xA0, 0x80, 0xF4, 0x90, 0x80, 0x80, 0x42, 0xC3]
        let shown = "\\x{9b}A" + bytes[2...12].map { "\\x{\(String($0, radix: 16))}" }.joined() + "B\\x{c3}"
        guard let escaped = Secret<Password>(copying: bytes.span).escapedForTerminal() else {
            Issue.record("nothing was escaped")
            return
        }
        let isShown = escaped.matches(Secret<Password>(copying: Array(shown.utf8).span))
        #expect(isShown)
    }

    @Test func `a full disk under standard output is an error`() throws {
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let output = TerminalOutput(program: "tool", environment: Self.plain, standardOutput: full)
        let line = #expect(throws: CommandFailure.self) { try output.write("a line") }
        let secret = #expect(throws: CommandFailure.self) {
            try output.write(secret: Secret<Password>(copying: [1, 2, 3].span))
        }
        for error in [line, secret] {
            let error = try #require(error)
            #expect(
                error.logMessage.text
                    == "can't write to standard output: no space left on device [output.cannot-write]")
            #expect(ExitStatus(error) == .cannotWrite)
        }
    }

    // MARK: - For programs

    @Test func `messages are objects, one a line, for a program that asked for JSON`() throws {
        let name = LoggableText(reviewed: "test", unredacted: "a \"b\"\n\u{1B}")
        let said = try written { plain in
            let output = plain.inJSON()
            output.report(CommandFailure(.usage, "a.code", "it \(name) failed", hint: "\(Recovery.diagnose)"))
            output.report(CommandFailure(.usage, "b.code", "without a hint"))
            output.warn("mind", hint: "this")
            output.note("done")
            try output.tell("done", json: .object([("done", .bool(true))]))
            try output.write("a line", json: .array([]))
            try plain.tell("said", json: .null)
        }
        #expect(
            said.errors == """
                {"level": "error", "code": "a.code", "message": "it a \\"b\\"\\\\u{a}\\\\u{1b} failed", "hint": "run `latchkey doctor` for more"}
                {"level": "error", "code": "b.code", "message": "without a hint"}
                {"level": "warning", "message": "mind", "hint": "this"}
                {"level": "note", "message": "done"}
                tool: said

                """)
        #expect(said.output == "{\n  \"done\": true\n}\n[]\n")
        for line in said.errors.split(separator: "\n").dropLast() {
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: String])
        }
    }

    @Test func `a message that contains a secret is withheld from programs too`() throws {
        let live = LiveSecrets()
        let watched = live.watch(Secret<AccessToken>(copying: Array("q7XwK2mVb9RtYpLz".utf8).span))
        let leak = LoggableText(reviewed: "a planted leak", unredacted: "it said q7XwK2mVb9RtYpLz")
        let said = try written(withholding: live) { output in
            output.inJSON().report(CommandFailure(.usage, "a.code", "failed: \(leak)", hint: "see \(leak)"))
            output.inJSON().note("\(leak)")
        }
        #expect(!said.errors.contains("q7XwK2mVb9RtYpLz") && said.errors.contains("\"a.code\""))
        #expect(live.withheldTextCount == 3)
        _ = consume watched
    }

    @Test func `a candidate that can't be one line is left out`() throws {
        let said = try written { output in
            for word in ["plain", "with spaces", "", "two\nlines", "tab\tbed", "é"] {
                try output.write(candidate: LoggableText(reviewed: "test words", unredacted: word), meaning: "x")
            }
        }
        #expect(said.output == "plain\tx\nwith spaces\tx\né\tx\n")
    }

    // MARK: - Tables and JSON

    private static func wide(wrapping: Bool) -> TextTable {
        var table = TextTable("NAME", "LABEL", wrapping: wrapping)
        table.append("a", "a short one")
        table.append("abcdefghijklmnopqrstuvwxyz", "a label of several words that is much too wide")
        return table
    }

    @Test func `a table fits a width: the widest columns are cut, or the last one is wrapped`() {
        #expect(
            Self.wide(wrapping: false).text(width: 30) == """
                NAME            LABEL
                a               a short one
                abcdefghijklm…  a label of se…

                """)
        #expect(
            Self.wide(wrapping: true).text(width: 40) == """
                NAME                 LABEL
                a                    a short one
                abcdefghijklmnopqr…  a label of several
                                     words that is much
                                     too wide

                """)
        for width in [30, 40, 79, 80, 200] {
            for line in Self.wide(wrapping: false).text(width: width).split(separator: "\n") {
                #expect(line.count <= width, "\(width)")
            }
        }
        // Narrower than what can be read is not tried.
        #expect(Self.wide(wrapping: false).text(width: 5) == Self.wide(wrapping: false).text(width: 11))
        #expect(Self.wide(wrapping: false).text(width: 200) == Self.wide(wrapping: false).text())
    }

    @Test(arguments: [([:], 40), (["COLUMNS": "30"], 30), (["COLUMNS": "none"], 40), (["COLUMNS": "0"], 40)])
    func `the width is the terminal's, or the value of COLUMNS`(_ variables: [String: String], _ width: Int)
        async throws
    {
        let terminal = try PseudoTerminal()
        let descriptor = unsafe open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(descriptor) }
        var size = winsize(ws_row: 10, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0)
        #expect(unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0)
        try TerminalOutput(
            program: "tool", environment: ProgramEnvironment(variables: variables, home: "/"),
            standardOutput: descriptor
        ).write(Self.wide(wrapping: false))
        let expected = Self.wide(wrapping: false).text(width: width).replacingOccurrences(of: "\n", with: "\r\n")
        try await terminal.waitUntilShown(expected)
    }

    @Test func `the least important columns are cut and then removed before another cell is cut`() throws {
        var table = TextTable("NAME", "KIND", "LABEL", dropping: ["LABEL", "KIND"])
        table.append("a name", "password", "a label of words")
        #expect(table.text() == "NAME    KIND      LABEL\na name  password  a label of words\n")
        #expect(table.text(width: 30) == "NAME    KIND      LABEL\na name  password  a label of …\n")
        #expect(table.text(width: 26) == "NAME    KIND      LABEL\na name  password  a label…\n")
        #expect(table.text(width: 25) == "NAME    KIND\na name  password\n")
        #expect(table.text(width: 15) == "NAME\na name\n")
        #expect(table.text(width: 5) == "NAME\na na…\n")
        // Which ones are there is decided with the heading.
        var next = table.continued()
        next.append("b", "k", "l")
        #expect(next.text(width: 24) == "b       k\n")
        next.append("c", "a kind that is wide", "l")
        #expect(next.text(width: 24) == "b       k\nc       a kind that is …\n")
    }

    @Test func `a table's columns are as wide as their longest cell`() throws {
        var table = TextTable("A", "LONG", "B")
        table.append("x", "y", "z")
        table.append("longer", "é", "")
        let said = try written { try $0.write(table) }
        #expect(said.output == "A       LONG  B\nx       y     z\nlonger  é\n")
    }

    @Test func `a continued table keeps its columns and has no second heading`() throws {
        var table = TextTable("A", "LONG")
        let said = try written {
            for cell: LoggableText in ["wide", "x", "wider still"].map({
                LoggableText(reviewed: "test", unredacted: $0)
            }) {
                table.append("\(cell)", "y")
                try $0.write(table)
                table = table.continued().continued()
            }
            try $0.write(table)
        }
        #expect(said.output == "A     LONG\nwide  y\nx     y\nwider still  y\n")
        #expect(TextTable("A").continued().text() == "")
    }

    @Test func `an array that is written in parts is the one that is written at once`() throws {
        for parts in [[], [[]], [[1]], [[1, 2], [], [3]]] as [[[Int64]]] {
            let elements = { (numbers: [Int64]) in numbers.map { JSONOutput.object([("n", .number($0))]) } }
            let inParts = try written {
                var array = JSONArrayOutput($0)
                for part in parts { try array.write(elements(part)) }
                try array.end()
            }
            let atOnce = try written { try $0.write(.array(elements(parts.flatMap { $0 }))) }
            #expect(inParts.output == atOnce.output)
        }
    }

    @Test func `a table without rows is nothing`() throws {
        let said = try written { try $0.write(TextTable("A", "B")) }
        #expect(said.output.isEmpty)
    }

    @Test func `a name can't move the cursor or forge a row`() throws {
        var table = TextTable("NAME")
        table.append("\(LoggableText(reviewed: "test", unredacted: "a\u{1B}[2J\nb\u{9B}1m\u{202E}"))")
        let said = try written { try $0.write(table) }
        #expect(said.output == "NAME\na\\u{1b}[2J\\u{a}b\\u{9b}1m\\u{202e}\n")
    }

    @Test func `JSON reads back unchanged`() throws {
        let name = "a\"\\\n\u{1B}\u{9B}\u{202E}é🔑\u{E0041}"
        let said = try written {
            try $0.write(
                .array([
                    .object([
                        ("name", .text(LoggableText(reviewed: "test", unredacted: name))), ("count", .number(-3)),
                        ("on", .bool(true)), ("none", .null), ("empty", .array([])), ("message", .message("text")),
                    ])
                ]))
        }
        let parsed = try JSONSerialization.jsonObject(with: Data(said.output.utf8)) as? [[String: Any]]
        let first = try #require(parsed?.first)
        #expect(first["name"] as? String == name)
        #expect(first["count"] as? Int == -3)
        #expect(first["on"] as? Bool == true)
        #expect(first["none"] is NSNull)
        #expect((first["empty"] as? [Any])?.isEmpty == true)
        #expect(first["message"] as? String == "text")
        #expect(!said.output.unicodeScalars.contains { (0x7F...0x9F).contains($0.value) || $0.value == 0x1B })
    }
}
