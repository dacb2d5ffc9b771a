internal import Glibc
public import LatchkeyLog

extension Secret where Purpose: SecretPurpose {
    /// Asks the person at this process's terminal for a secret, and waits for the answer.
    ///
    /// The terminal is `/dev/tty`, so that standard input and output stay free for data. It shows nothing of the answer.
    /// The answer goes byte by byte into guarded memory. Backspace, Ctrl-U and Ctrl-D work; a control character other than
    /// a tab discards the answer, and the terminal asks again. The terminal gets its former settings back at the end, and
    /// also when a signal stops or ends the process.
    ///
    /// The call blocks its thread until the person answers. A process asks one question at a time.
    ///
    /// Throws a ``PromptError`` if there is no terminal, if the person answers with Ctrl-C or Ctrl-D, or if the answer
    /// is too long. An empty answer isn't an error.
    ///
    /// - Parameters:
    ///   - question: the question, without a colon at its end.
    ///   - limit: the most bytes that the answer may have (default: 1 MiB); its line break isn't part of it.
    public init(reading question: LogMessage, limit: Int = 1 << 20) throws(PromptError) {
        self = try SecretPrompt(isAllowed: true).ask(question, as: Purpose.self, limit: limit)
    }
}

/// Asks a person for a secret on the terminal, without echo.
///
/// The terminal is `/dev/tty`, so that standard input and output stay free for data. The answer goes byte by byte into
/// guarded memory, because a canonical terminal would cut a paste at 4,096 bytes. Backspace, Ctrl-U and Ctrl-D work, and
/// arrow keys do nothing. Another control character discards the answer, and the prompt asks again; a tab is part of the
/// answer. Ctrl-C restores the terminal and throws `interrupted`. A signal restores the terminal too; then it ends the
/// process or, if the program handles the signal, the question.
package struct SecretPrompt: Sendable {
    package let path: String
    package let isAllowed: Bool
    private let keepsEchoOff: Bool

    /// - Parameters:
    ///   - isAllowed: `false` for `--no-prompt`: every question throws `forbidden`.
    ///   - keepsEchoOff: whether the echo stays off after a question for a secret, until `restoreTerminal`: while a
    ///     vault opens, a person types the next secret already.
    package init(path: String = "/dev/tty", isAllowed: Bool, keepsEchoOff: Bool = false) {
        self.path = path
        self.isAllowed = isAllowed
        self.keepsEchoOff = keepsEchoOff
    }

    /// Restores the terminal's settings from before the first question. Call this before the program ends, and before
    /// another program uses the terminal.
    package static func restoreTerminal() { TerminalRescue.disarm() }

    /// Whether a question has read Ctrl-C as a key.
    package static var hasReadInterrupt: Bool { TerminalRescue.hasReadInterrupt }

    /// Makes Ctrl-C between two questions print what it prints during a question.
    ///
    /// - Parameter text: returns the line for an error.
    package static func sayWhenInterrupted(_ text: (PromptError) -> String) {
        TerminalRescue.setFarewell(text(PromptError(problem: .interrupted, question: "")))
    }

    /// Whether questions are allowed and a terminal exists.
    package var isPossible: Bool {
        guard isAllowed else { return false }
        return (try? TerminalDevice(path: path, question: "")) != nil
    }

    /// Asks and returns the answer without its line break. Throws `tooLong` above `limit` bytes.
    ///
    /// - Parameters:
    ///   - isShown: whether the terminal shows the answer, because it isn't secret.
    ///   - stopping: called ten times a second; returns the reason to give up, or `nil`.
    package func ask<Purpose: SecretPurpose>(
        _ question: LogMessage, as purpose: Purpose.Type, limit: Int = 1 << 20, isShown: Bool = false,
        stopping: () -> PromptError.Problem? = { nil }
    ) throws(PromptError) -> Secret<Purpose> {
        guard isAllowed else { throw PromptError(problem: .forbidden, question: question) }
        let device = try TerminalDevice(path: path, question: question)
        let staysQuiet = keepsEchoOff && (!isShown || TerminalRescue.isArmed)
        try device.enterSecretMode(question: question)
        defer { if staysQuiet { TerminalRescue.keepEchoOff() } else { TerminalRescue.disarm() } }
        device.write(wrapping: "\(question.text): ")
        defer { device.write("\n") }
        var line = SecretLine(limit: limit)
        // The first byte of a character that may be a control character, until the second one comes.
        var lead: UInt8?
        while true {
            let byte: UInt8
            switch device.readByte(within: .milliseconds(100)) {
            case .byte(let value): byte = value
            case .nothing:
                if TerminalRescue.isNeeded { throw PromptError(problem: .interrupted, question: question) }
                if let problem = stopping() { throw PromptError(problem: problem, question: question) }
                continue
            case .end: throw PromptError(problem: .dismissed, question: question)
            case .failed(let number): throw PromptError(problem: .failed(number: number), question: question)
            }
            let (before, columns) = (line.byteCount, isShown ? line.columnCount : 0)
            switch line.take(byte) {
            case .more:
                guard isShown else { continue }
                if line.byteCount <= before { lead = nil }
                // A terminal puts the bytes of a character together, and would obey a control character.
                if line.byteCount > before, byte >= 0x20 {
                    // U+0080 to U+009F are control characters, too.
                    let isControl = lead != nil && byte < 0xA0
                    let shown = byte == 0xC2 || isControl ? [] : (lead.map { [$0] } ?? []) + [byte]
                    lead = byte == 0xC2 ? byte : nil
                    _ = try? DescriptorBytes.write(shown.span, to: device.descriptor)
                }
                for _ in 0..<max(0, columns - line.columnCount) { device.write("\u{8} \u{8}") }
            case .finished: return line.finish(as: purpose)
            case .unfit:
                line = SecretLine(limit: limit)
                lead = nil
                device.write(wrapping: "\nControl characters can't be in an answer; begin again.\n\(question.text): ")
            case .interrupted:
                TerminalRescue.noteKey()
                throw PromptError(problem: .interrupted, question: question)
            case .dismissed: throw PromptError(problem: .dismissed, question: question)
            case .tooLong: throw PromptError(problem: .tooLong(limit: limit), question: question)
            }
        }
    }

    /// Writes a line on the terminal, for the person alone.
    package func show(_ line: LogMessage) throws(PromptError) {
        guard isAllowed else { throw PromptError(problem: .forbidden, question: line) }
        try TerminalDevice(path: path, question: line).write(wrapping: "\(line.text)\n")
    }

    /// Opens the terminal for a secret that the person has to see.
    ///
    /// - Parameter indentation: the number of spaces before the secret.
    package func screen(indentedBy indentation: Int = 0) throws(PromptError) -> TerminalSecretSink {
        let question: LogMessage = "a line for the person"
        guard isAllowed else { throw PromptError(problem: .forbidden, question: question) }
        let device = try TerminalDevice(path: path, question: question)
        device.write(String(repeating: " ", count: indentation))
        return TerminalSecretSink(device: device)
    }

    /// Writes a line over the previous status line, and leaves it open. Does nothing without a terminal.
    ///
    /// - Parameter short: the text for a terminal that is too narrow for the line.
    package func showStatus(_ line: LogMessage, orShort short: LogMessage? = nil) {
        guard isAllowed, let device = try? TerminalDevice(path: path, question: line) else { return }
        device.write(status: line.text.count < device.width ? line.text : (short ?? line).text)
    }

    /// Ends the line that `showStatus` left open.
    package func endStatus() {
        guard isAllowed, let device = try? TerminalDevice(path: path, question: "") else { return }
        device.write(status: "")
        device.write("\r")
    }

    /// Asks twice and returns the answer when both are the same; otherwise throws `different`.
    package func askTwice<Purpose: SecretPurpose>(
        _ question: LogMessage, again: LogMessage, as purpose: Purpose.Type, limit: Int = 1 << 20
    ) throws(PromptError) -> Secret<Purpose> {
        let first = try ask(question, as: purpose, limit: limit)
        let second = try ask(again, as: purpose, limit: limit)
        guard first.matches(second) else { throw PromptError(problem: .different, question: question) }
        return first
    }
}

/// A line of secret bytes while it is typed.
struct SecretLine: ~Copyable {
    enum Outcome { case more, finished, unfit, interrupted, dismissed, tooLong }

    /// Where in the sequence of an arrow key, or of a mark around pasted text (ECMA-48 section 5.4). They are ignored.
    private enum Place { case text, afterEscape, inSequence }

    private var builder: SecretBuilder
    private var place = Place.text

    init(limit: Int) {
        builder = SecretBuilder(limit: limit)
    }

    var byteCount: Int { builder.byteCount }

    /// How many columns the line has on a terminal, if each of its characters has one.
    var columnCount: Int {
        builder.withExposedBytes { bytes in
            bytes.indices.count { index in
                guard bytes[index] >= 0x20, bytes[index] & 0xC0 != 0x80 else { return false }
                // Half a character, or a control character, isn't shown.
                return bytes[index] != 0xC2 || index + 1 < bytes.count && bytes[index + 1] >= 0xA0
            }
        }
    }

    /// Takes the next byte as the keyboard sent it.
    mutating func take(_ byte: UInt8) -> Outcome {
        let former = place
        place = .text
        switch (former, byte) {
        case (.afterEscape, UInt8(ascii: "[")), (.afterEscape, UInt8(ascii: "O")), (.inSequence, 0x20..<0x40):
            place = .inSequence
            return .more
        case (.inSequence, 0x40..<0x7F): return .more
        case (.afterEscape, 0x20...): return .unfit
        default: break
        }
        switch byte {
        case 0x0A, 0x0D: return .finished
        case 0x03, 0x1C: return .interrupted
        case 0x04 where builder.byteCount == 0: return .dismissed
        case 0x04: return .finished
        case 0x15: builder.removeAll()
        case 0x08, 0x7F: removeLastCharacter()
        case 0x1B: place = .afterEscape
        // A secret with other control characters can be piped in. A tab may be pasted.
        case 0..<0x20 where byte != 0x09: return .unfit
        default:
            do {
                try builder.append(byte)
            } catch {
                return .tooLong
            }
        }
        return .more
    }

    consuming func finish<Purpose: SecretPurpose>(as purpose: Purpose.Type) -> Secret<Purpose> {
        builder.finish(as: purpose)
    }

    /// Takes off one character of UTF-8: its continuation bytes, then its first byte.
    private mutating func removeLastCharacter() {
        while builder.byteCount > 0 {
            let isContinuation = builder.withExposedBytes { $0[$0.count - 1] & 0xC0 == 0x80 }
            builder.removeLast()
            if !isContinuation { return }
        }
    }
}

/// The reason why a person couldn't be asked, or didn't answer. The codes of its explanation begin with `prompt.`.
public struct PromptError: RedactedError, Hashable {
    package enum Problem: Sendable, Hashable {
        /// The program forbids questions.
        case forbidden
        /// There is no terminal. `number` is the errno of open(2).
        case noTerminal(number: Int32)
        /// The person ended the input without an answer.
        case dismissed
        /// The person pressed Ctrl-C, or a signal asked the program to end.
        case interrupted
        /// The answer is longer than `limit` bytes.
        case tooLong(limit: Int)
        /// Two answers differ that have to be equal.
        case different
        /// The terminal failed. `number` is an errno.
        case failed(number: Int32)
        /// The person didn't answer in time.
        case timedOut
    }

    package let problem: Problem
    /// The question.
    package let question: LogMessage

    package init(problem: Problem, question: LogMessage) {
        self.problem = problem
        self.question = question
    }

    public var explanation: Explanation {
        switch problem {
        case .forbidden:
            .init(
                .refused, "prompt.forbidden", "can't ask for \"\(question)\": questions are forbidden",
                hint: "\(Recovery.allowPrompt)")
        case .noTerminal(let number):
            .init(
                .refused, "prompt.no-terminal", "no terminal to ask for \"\(question)\": \(SystemErrorNumber(number))",
                hint: "run the program in a terminal")
        case .dismissed:
            .init(.refused, "prompt.dismissed", "no answer to \"\(question)\"", hint: "try again")
        case .interrupted: .init(.interrupted, "prompt.interrupted", "interrupted")
        case .tooLong(let limit): .init(.badData, "prompt.too-long", "the answer is longer than \(limit) bytes")
        case .different: .init(.badData, "prompt.different", "the two answers differ", hint: "try again")
        case .failed(let number):
            .init(.unavailable, "prompt.failed", "can't use the terminal: \(SystemErrorNumber(number))")
        case .timedOut:
            .init(
                .tryAgain, "prompt.timed-out", "no answer to \"\(question)\" in time", hint: "try again")
        }
    }
}

extension SecretPrompt {
    /// Asks a question. Only `y` and `yes` consent.
    ///
    /// - Parameter isShown: whether the terminal shows the answer.
    package func confirm(_ question: LogMessage, isShown: Bool = true) throws(PromptError) -> Bool {
        // No secret, and not to be noticed as one.
        let answer = try ask("\(question) [y/N]", as: MessageBody.self, limit: 64, isShown: isShown)
        return ["y", "Y", "yes", "Yes", "YES"].contains { answer.matches($0.utf8.span) }
    }
}

/// Shows a secret to the person at the terminal, on a line of its own: an authorization URL that has to be opened on
/// another machine, or a passphrase that is proposed. `SecretPrompt` makes it.
package struct TerminalSecretSink: SecretSink, ~Copyable {
    package static var reason: StaticString { "the person has to carry it to a browser elsewhere, or to remember it" }

    private let device: TerminalDevice

    init(device: consuming TerminalDevice) {
        self.device = device
    }

    /// Writes the bytes. Control characters among them throw `failed`, since they would act on the terminal.
    package mutating func receive(_ bytes: Span<UInt8>) throws(PromptError) {
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7F {
            throw PromptError(problem: .failed(number: EILSEQ), question: "a line for the person")
        }
        var sink = FileDescriptorSecretSink(descriptor: device.descriptor)
        try mapError(
            { (error: FileDescriptorSecretSink.WriteFailure) in
                PromptError(problem: .failed(number: error.number), question: "a line for the person")
            },
            of: sink.receive(bytes))
        device.write("\n")
    }
}
