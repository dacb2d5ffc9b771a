internal import Foundation
internal import LatchkeyLog
internal import LatchkeySecrets
@testable internal import LatchkeyCommandLine
@testable internal import LatchkeyProcess
internal import Testing
internal import TestServices

/// One after another: a process asks one question at a time.
@Suite(.serialized) struct SecretPromptTests {
    /// What came of a question: whether the answer was the expected one, or the problem.
    private enum Outcome: Sendable, Equatable {
        case answered(asExpected: Bool)
        case problem(PromptError.Problem)
    }

    /// Asks on a terminal, types `keys` once the question is there, and compares the answer with `expected`.
    private func ask(
        typing keys: String, expecting expected: String = "", limit: Int = 1 << 20, isShown: Bool = false
    ) async throws -> (outcome: Outcome, screen: String, echoesAfterwards: Bool) {
        let terminal = try PseudoTerminal()
        let prompt = SecretPrompt(path: terminal.path, isAllowed: true)
        async let outcome = Self.answer(prompt, expected, limit: limit, isShown: isShown)
        try await terminal.waitUntilShown("Secret: ")
        terminal.type(keys)
        let result = await outcome
        try await terminal.waitUntilShown("\r\n")
        return (result, terminal.shown, terminal.echoes)
    }

    /// Asks on a thread of its own, since a question blocks.
    private static func answer(
        _ prompt: SecretPrompt, _ expected: String, limit: Int, isShown: Bool
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(PromptError) {
                    let answer = try prompt.ask("Secret", as: Password.self, limit: limit, isShown: isShown)
                    continuation.resume(returning: .answered(asExpected: answer.matches(Array(expected.utf8).span)))
                } catch {
                    continuation.resume(returning: .problem(error.problem))
                }
            }
        }
    }

    @Test func `an answer loses its line break and is never shown`() async throws {
        let asked = try await ask(typing: "hunter2 é\r", expecting: "hunter2 é")
        #expect(asked.outcome == .answered(asExpected: true))
        #expect(asked.screen == "Secret: \r\n")
        #expect(asked.echoesAfterwards)
    }

    @Test func `what may be shown is shown in its characters, and a control character isn't`() async throws {
        let asked = try await ask(typing: "aé\u{7F}ü\u{9B}b\u{15}ñ¿\r", expecting: "ñ¿", isShown: true)
        #expect(asked.outcome == .answered(asExpected: true))
        let (one, gone) = ("\u{8} \u{8}", String(repeating: "\u{8} \u{8}", count: 3))
        #expect(asked.screen == "Secret: aé\(one)üb\(gone)ñ¿\r\n")
    }

    @Test func `an empty answer is an answer`() async throws {
        let asked = try await ask(typing: "\n")
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `a paste of more than 4096 bytes arrives whole`() async throws {
        let long = String(decoding: (0..<20_000).map { UInt8(0x21 + $0 % 90) }, as: UTF8.self)
        let asked = try await ask(typing: long + "\r", expecting: long)
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `backspace removes one character and control-U all`() async throws {
        let asked = try await ask(
            typing: "wrong\u{15}aé\u{7F}b\u{8}c\n", expecting: "ac")
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `backspace at the beginning does nothing`() async throws {
        let asked = try await ask(typing: "\u{7F}\u{8}a\n", expecting: "a")
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `control-C restores the terminal and interrupts`() async throws {
        let asked = try await ask(typing: "half\u{3}")
        #expect(asked.outcome == .problem(.interrupted))
        #expect(asked.echoesAfterwards)
        #expect(ExitStatus(PromptError(problem: .interrupted, question: "Secret")) == .interrupted)
    }

    @Test func `control-D dismisses an empty answer and ends another`() async throws {
        #expect(try await ask(typing: "\u{4}").outcome == .problem(.dismissed))
        #expect(try await ask(typing: "a\u{4}", expecting: "a").outcome == .answered(asExpected: true))
    }

    @Test func `an answer past the limit is refused`() async throws {
        let asked = try await ask(typing: "12345", limit: 4)
        #expect(asked.outcome == .problem(.tooLong(limit: 4)))
        #expect(asked.echoesAfterwards)
    }

    @Test func `without a terminal, or without permission, the prompt doesn't ask`() throws {
        let missing = SecretPrompt(path: "/nonexistent/tty", isAllowed: true)
        #expect(throws: PromptError(problem: .noTerminal(number: ENOENT), question: "Secret")) {
            _ = try missing.ask("Secret", as: Password.self)
        }
        let forbidden = SecretPrompt(path: "/dev/tty", isAllowed: false)
        #expect(throws: PromptError(problem: .forbidden, question: "Secret")) {
            _ = try forbidden.ask("Secret", as: Password.self)
        }
    }

    @Test(arguments: [
        ("hunter2\r", "7 bytes\nask: done\n"), ("\r", "0 bytes\nask: done\n"),
        ("\u{3}", "ask: PromptError: interrupted [prompt.interrupted]\n"),
        ("\u{4}", #"ask: PromptError: no answer to "Password of the database" [prompt.dismissed] -> try again\#n"#),
        ("123456789", "ask: PromptError: the answer is longer than 8 bytes [prompt.too-long]\n"),
    ])
    func `a program asks a person for a secret`(_ typed: String, _ printed: String) async throws {
        let terminal = try PseudoTerminal()
        let program = try BuiltProducts.program("library-probe").start(["ask"], terminal: terminal)
        try await terminal.waitForQuestion("Password of the database: ", from: program)
        terminal.type(typed)
        #expect(try await program.finish().outputText == printed)
        #expect(!terminal.shown.contains("hunter2"))
        #expect(terminal.echoes)
    }

    @Test func `a program without a terminal can't ask`() async throws {
        let run = try await BuiltProducts.program("library-probe").run(["ask"])
        #expect(run.outputText.hasPrefix(#"ask: PromptError: no terminal to ask for "Password of the database": "#))
    }

    @Test func `a file isn't a terminal`() throws {
        let directory = try TestDirectory()
        let file = try directory.write("tty", "")
        #expect(throws: PromptError(problem: .failed(number: ENOTTY), question: "Secret")) {
            _ = try SecretPrompt(path: file, isAllowed: true).ask("Secret", as: Password.self)
        }
        #expect(try directory.read("tty").isEmpty)
    }

    /// A connection that broke while a question was open was told as "there is no terminal" in one run of many: the read
    /// failed with EIO before the hang-up was known. The memory of a process fails so each time, at its first page.
    @Test func `a terminal that fails during a hang-up has ended`() throws {
        let device = try TerminalDevice(path: "/proc/self/mem", question: "")
        let reading = device.readByte(within: .seconds(60))
        guard case .end = reading else {
            Issue.record("\(reading)")
            return
        }
    }

    /// A countdown that is longer than the line would scroll the code away that it stands below.
    @Test(arguments: [UInt16(40), 80]) func `a line that is written over stays below the terminal's width`(
        _ columns: UInt16
    ) async throws {
        let terminal = try PseudoTerminal()
        terminal.resize(columns: columns, rows: 10)
        let prompt = SecretPrompt(path: terminal.path, isAllowed: true)
        for seconds in ["59", "58"] {
            let count = LoggableText(reviewed: "test", unredacted: seconds)
            prompt.showStatus(
                "9:\(count) is what is left of the time that the code is good for. Control-C gives up, as always.")
        }
        prompt.endStatus()
        try await terminal.waitUntilShown("9:58")
        let lines = terminal.shown.split(separator: "\r")
        #expect(lines.count >= 2 && lines.allSatisfy { $0.count < columns }, "\(lines)")
        // No control sequence, which a terminal may not know.
        #expect(!terminal.shown.contains("\u{1B}"))
    }

}
