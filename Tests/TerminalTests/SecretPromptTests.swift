internal import Foundation
internal import RedactedLog
internal import Secrets
@testable internal import Terminal
internal import TestServices
internal import Testing

@Suite struct SecretPromptTests {
    /// What came of a question: whether the answer was the expected one, or the problem.
    private enum Outcome: Sendable, Equatable {
        case answered(asExpected: Bool)
        case problem(PromptError.Problem)
    }

    /// Asks on a terminal, types `keys` once the question is there, and compares the answer with `expected`.
    private func ask(
        typing keys: [UInt8], expecting expected: [UInt8] = [], limit: Int = 1 << 20
    ) async throws -> (outcome: Outcome, screen: String, echoesAfterwards: Bool) {
        let terminal = try PseudoTerminal()
        let prompt = SecretPrompt(path: terminal.path, isAllowed: true)
        // Holds the terminal open, so that its mode outlives the question.
        let holder = unsafe open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(holder) }
        async let outcome = Self.answer(prompt, expected, limit: limit)
        _ = try await terminal.read(until: "Secret: ")
        terminal.type(keys)
        return (await outcome, terminal.readRest(), terminal.echoes)
    }

    /// Asks on a thread of its own, since a question blocks.
    private static func answer(_ prompt: SecretPrompt, _ expected: [UInt8], limit: Int) async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(PromptError) {
                    let answer = try prompt.ask("Secret", as: Password.self, limit: limit)
                    continuation.resume(returning: .answered(asExpected: answer.matches(expected.span)))
                } catch {
                    continuation.resume(returning: .problem(error.problem))
                }
            }
        }
    }

    @Test func `an answer is taken without its line break and never shown`() async throws {
        let asked = try await ask(typing: Array("hunter2 é\r".utf8), expecting: Array("hunter2 é".utf8))
        #expect(asked.outcome == .answered(asExpected: true))
        #expect(asked.screen == "\r\n")
        #expect(asked.echoesAfterwards)
    }

    @Test func `an empty answer is an answer`() async throws {
        let asked = try await ask(typing: [0x0A])
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `a paste of more than 4096 bytes arrives whole`() async throws {
        let long = (0..<20_000).map { UInt8(0x21 + $0 % 90) }
        let asked = try await ask(typing: long + [0x0D], expecting: long)
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `backspace takes off one character and control-U all`() async throws {
        let asked = try await ask(
            typing: Array("wrong\u{15}".utf8) + Array("aé\u{7F}b\u{8}".utf8) + Array("c\n".utf8),
            expecting: Array("ac".utf8))
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `backspace at the beginning does nothing`() async throws {
        let asked = try await ask(typing: [0x7F, 0x08, 0x61, 0x0A], expecting: [0x61])
        #expect(asked.outcome == .answered(asExpected: true))
    }

    @Test func `control-C puts the terminal back and interrupts`() async throws {
        let asked = try await ask(typing: Array("half".utf8) + [0x03])
        #expect(asked.outcome == .problem(.interrupted))
        #expect(asked.echoesAfterwards)
        #expect(PromptError(problem: .interrupted, question: "Secret").exitStatus == .interrupted)
    }

    @Test func `control-D dismisses an empty answer and ends another`() async throws {
        #expect(try await ask(typing: [0x04]).outcome == .problem(.dismissed))
        #expect(try await ask(typing: [0x61, 0x04], expecting: [0x61]).outcome == .answered(asExpected: true))
    }

    @Test func `an answer past the limit is refused`() async throws {
        let asked = try await ask(typing: Array("12345".utf8), limit: 4)
        #expect(asked.outcome == .problem(.tooLong(limit: 4)))
        #expect(asked.echoesAfterwards)
    }

    @Test func `without a terminal, and where it is forbidden, nobody is asked`() throws {
        let missing = SecretPrompt(path: "/nonexistent/tty", isAllowed: true)
        #expect(throws: PromptError(problem: .noTerminal(number: ENOENT), question: "Secret")) {
            _ = try missing.ask("Secret", as: Password.self)
        }
        let forbidden = SecretPrompt(path: "/dev/tty", isAllowed: false)
        #expect(throws: PromptError(problem: .forbidden, question: "Secret")) {
            _ = try forbidden.ask("Secret", as: Password.self)
        }
    }

    @Test func `a file is no terminal`() throws {
        let directory = try TestDirectory()
        let file = try directory.write("tty", "")
        #expect(throws: PromptError(problem: .failed(number: ENOTTY), question: "Secret")) {
            _ = try SecretPrompt(path: file, isAllowed: true).ask("Secret", as: Password.self)
        }
        #expect(try directory.read("tty").isEmpty)
    }
}
