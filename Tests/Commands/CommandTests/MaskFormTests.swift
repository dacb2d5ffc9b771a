import Foundation
import LatchkeySecrets
import LatchkeyCommands
import Testing
import TestServices

/// What `run --mask` promises: the table of its page, each cell by the program and by random secrets.
///
/// The page promised base64, percent-encoding and JSON, and the program showed base64 with line breaks, secrets without
/// their last line break, JSON of several lines, and every encoding of a secret above 4,096 bytes. The forms are written
/// by a program that knows nothing of ours.
@Suite struct MaskFormTests {
    private static let script = TestData.folder().appendingPathComponent("mask_forms.py").path

    private static let forms = [
        "verbatim", "base64", "base64 with line breaks", "hexadecimal", "hexadecimal with separators",
        "percent-encoding", "JSON",
    ]
    private static let parts = ["whole", "each line"]

    private static let secrets = [
        "it(\"s!p&ss+wo\\rd/1 \u{FC}=%41~\u{1F600}\u{20AC}\t1\n",
        "-----BEGIN KEY-----\r\nMIIB\\=a/b+c\r\nabc\r\n\u{FC}ber \"den\" Berg\r\n-----END KEY-----\r\n",
        (0..<120).map { "line \($0) of a secret above four thousand bytes: \($0 * 7919 % 9973)" }.joined(
            separator: "\n"),
        String(repeating: "0123456789abcdefghijklmnopqrstuvwxyz?/+\u{FC}", count: 120) + "\n",
    ]

    @Test func `the test covers each form that the program writes`() async throws {
        let list = try await Program("python3").run([Self.script, "list"]).successful("python3").output
        #expect(try JSONDecoder().decode([[String]].self, from: Data(list)) == [Self.forms, Self.parts])
    }

    /// A secret in a vault, and a program that has it in the variable A.
    @Test func `a secret is replaced in each form of the page's table`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("vault init")
        let cells = Self.forms.flatMap { form in Self.parts.map { (form: form, part: $0) } }
        for (number, secret) in Self.secrets.enumerated() {
            try await latchkey.run(
                ["set", "example.org", "ada\(number)"], environment: environment, input: Array(secret.utf8)
            ).successful("set")
            let run = try await latchkey.run(
                ["run", "--mask", "--env", "A=example.org/ada\(number)", "--", "python3", Self.script, "all"],
                environment: environment
            ).successful("run")
            let outputs = run.output.split(separator: 0, omittingEmptySubsequences: false)
            #expect(outputs.count == cells.count, "\(number): \(run.outputText)")
            for (cell, output) in zip(cells, outputs) {
                let (form, part) = cell
                let shown = String(decoding: output, as: UTF8.self)
                let texts = shown.matches(of: /([0-9]+) ([0-9]+) <([^>]*)>\n/)
                let name = "\(number), \(form), \(part)"
                #expect(texts.isEmpty == (form == "verbatim" && part != "each line"), "\(name): \(shown)")
                for text in texts {
                    let more = try #require(Int(text.output.1)) + (try #require(Int(text.output.2)))
                    expectMasked(String(text.output.3), more, name)
                }
                // Nothing else was written.
                #expect(texts.reduce(0) { $0 + $1.output.0.utf8.count } == output.count, "\(name): \(shown)")
            }
        }
    }

    private func expectMasked(_ text: String, _ more: Int, _ comment: @autoclosure () -> String) {
        #expect(text.contains("***"), "\(comment()): \(text)")
        #expect(text.replacing("***", with: "").utf8.count <= more, "\(comment()): \(text)")
    }

    // MARK: - By chance

    private struct Sample: Decodable {
        let secret: Data
        let form: String
        let part: String
        let text: String
        let before: Int
        let after: Int
    }

    private static let rounds = runsLong ? 200 : 5

    @Test func `random secrets are replaced in every form, wherever the text is cut`() async throws {
        let seed = Int.random(in: 0..<1 << 30)
        let run = try await Program("python3").run([Self.script, "hunt", "\(Self.rounds)", "\(seed)"])
            .successful("python3")
        var count = 0
        for line in run.outputText.split(separator: "\n") {
            let sample = try JSONDecoder().decode(Sample.self, from: Data(line.utf8))
            var mask = SecretMask()
            let isTaken = mask.add(Secret<Password>(copying: Array(sample.secret).span))
            #expect(isTaken)
            var text = MaskedText()
            var rest = Array("|\(sample.text)|".utf8)[...]
            var output: [UInt8] = []
            let longest = max(200, rest.count / 4)
            while !rest.isEmpty {
                let piece = Array(rest.prefix(Int.random(in: 1...longest)))
                output += text.take(Secret<MessageBody>(copying: piece.span), mask)
                rest = rest.dropFirst(piece.count)
            }
            output += text.finish(mask)
            let shown = String(decoding: output, as: UTF8.self)
            #expect(shown.hasPrefix("|") && shown.hasSuffix("|"))
            expectMasked(
                String(shown.dropFirst().dropLast()), sample.before + sample.after, "\(line.prefix(3000)), seed \(seed)"
            )
            count += 1
        }
        #expect(count >= 30 * Self.rounds)
        if Self.rounds > 5 { print("\(count) texts") }
    }

    /// Each place of such a text was compared with each line of the secret: half a megabyte took longer than any job has.
    @Test(.timeLimit(.minutes(5)))
    func `a text that nearly is each line of a secret again and again takes no longer`() throws {
        let lines = (0..<4000).map { "        \"a name that they share \($0)\": \($0 * 7919 % 9973)" }
        var mask = SecretMask()
        let isTaken = mask.add(Secret<Password>(copying: lines.joined(separator: "\n").utf8.span))
        #expect(isTaken)
        let near =
            String(repeating: "        \"a name that they share", count: 10_000)
            + String(repeating: " ", count: 100_000)
        var text = MaskedText()
        var shown: [UInt8] = []
        for piece in [near, lines[17], near] {
            shown += text.take(Secret<MessageBody>(copying: piece.utf8.span), mask)
        }
        shown += text.finish(mask)
        #expect(String(decoding: shown, as: UTF8.self) == near + "        ***" + near)
    }

    /// Each backslash may be one, or the start of an escape: as many ways to read them as there are subsets.
    @Test(.timeLimit(.minutes(5))) func `a text of nothing but escapes takes no longer`() throws {
        for (secret, piece) in [("\\", "\\"), ("%", "%25"), ("+ ", "+")] {
            var mask = SecretMask()
            let isTaken = mask.add(Secret<Password>(copying: (String(repeating: secret, count: 100) + "end").utf8.span))
            #expect(isTaken)
            let near = String(repeating: piece, count: 200) + "x"
            var text = MaskedText()
            let shown = text.take(Secret<MessageBody>(copying: near.utf8.span), mask) + text.finish(mask)
            #expect(String(decoding: shown, as: UTF8.self) == near)
        }
    }

    /// Text that has nothing to do with a secret comes out as it is, and at once.
    @Test func `other text is neither replaced nor held back`() throws {
        var mask = SecretMask()
        for secret in Self.secrets {
            let isTaken = mask.add(Secret<Password>(copying: Array(secret.utf8).span))
            #expect(isTaken)
        }
        let folder = TestData.folder()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".py") {
            let page = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
            var text = MaskedText()
            let shown = text.take(Secret<MessageBody>(copying: page.span), mask)
            #expect(shown.count >= page.count - 4 && page.starts(with: shown), "\(name)")
            #expect(text.finish(mask) == Array(page[shown.count...]))
        }
    }
}
