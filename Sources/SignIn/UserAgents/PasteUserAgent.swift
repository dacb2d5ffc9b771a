internal import Credentials
public import OAuth
public import RedactedLog
internal import Secrets
internal import Sodium

/// Signs in with a browser on any machine: shows the address of the page on the terminal, and asks for the address that
/// the browser ends at.
public struct PasteUserAgent: UserAgent {
    private let terminal: any PromptTerminal
    private let log: Logger

    public init(terminal: any PromptTerminal, log: Logger = .disabled) {
        self.terminal = terminal
        self.log = log
    }

    /// A loopback address without a port gets one at random: nobody listens there, and the browser shows the address of
    /// the page that it can't load.
    public func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        let redirect = redirect.needsPort ? redirect.withPort(try Self.port()) : redirect
        return PasteAttempt(redirect: redirect, terminal: terminal, log: log)
    }

    /// One of the dynamic ports (RFC 6335 section 6).
    private static func port() throws(UserAgentError) -> UInt16 {
        do throws(RandomOctetsError) {
            let octets = try RandomOctets.array(2)
            return 49_152 + (UInt16(octets[0]) << 8 | UInt16(octets[1])) % 16_384
        } catch {
            throw .unavailable(.noRandomOctets(number: error.number))
        }
    }
}

/// One sign-in by paste.
final class PasteAttempt: UserAgentAttempt {
    let redirect: RedirectURI
    private let terminal: any PromptTerminal
    private let log: Logger

    init(redirect: RedirectURI, terminal: any PromptTerminal, log: Logger) {
        self.redirect = redirect
        self.terminal = terminal
        self.log = log
    }

    func present(
        _ url: consuming AuthorizationURL, gate: AnswerGate, deadline: Deadline
    ) async throws(UserAgentError) -> RedirectAnswer {
        do throws(PromptTerminalError) {
            try await terminal.show("Open this address in a browser, on any machine, and sign in there:")
            try await terminal.show("")
            try await terminal.show(url)
            try await terminal.show("")
            try await terminal.show(
                "The browser then goes to an address that starts with \(redirect) and may say that it can't be reached."
            )
            try await terminal.show("Copy that whole address and paste it here.")
            return try await answer(gate: gate, deadline: deadline)
        } catch {
            switch error {
            case .unavailable: throw .unavailable(.noTerminal)
            case .dismissed, .tooLong: throw .userCancelled
            case .timedOut: throw .timedOut
            case .cancelled: throw .cancelled
            }
        }
    }

    /// Asks until an address is the answer to this sign-in.
    private func answer(gate: AnswerGate, deadline: Deadline) async throws(PromptTerminalError) -> RedirectAnswer {
        while true {
            if Task.isCancelled { throw .cancelled }
            if deadline.hasPassed { throw .timedOut }
            let text: Secret<MessageBody>
            do throws(PromptTerminalError) {
                text = try await terminal.ask(
                    "Address (it stays hidden)", limit: RedirectAnswer.maximumByteCount, deadline: deadline)
            } catch .tooLong {
                try await terminal.show("That is too long for an answer.")
                continue
            }
            if text.isEmpty { continue }
            guard let answer = Self.answer(in: text, redirect: redirect) else {
                log.info("what was pasted is no answer")
                try await terminal.show("That is not the address the browser ended at; it starts with \(redirect)")
                continue
            }
            switch gate.admit(answer) {
            case .admitted:
                log.debug("the answer was pasted")
                return answer
            case .foreign:
                log.info("an answer with another state was pasted; it is ignored")
                try await terminal.show("That address belongs to another sign-in. Use the one shown above.")
            case .repeated:
                throw .cancelled
            }
        }
    }

    /// Reads the whole address, or its query alone.
    private static func answer(in text: borrowing Secret<MessageBody>, redirect: RedirectURI) -> RedirectAnswer? {
        text.withExposedBytes { bytes -> RedirectAnswer? in
            if let answer = try? RedirectAnswer(pasted: bytes, redirect: redirect) { return answer }
            var start = 0
            var end = bytes.count
            while start < end, bytes[start] <= 0x20 { start += 1 }
            while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
            if start < end, bytes[start] == UInt8(ascii: "?") { start += 1 }
            // An address has a colon behind its scheme; in a query it is percent-encoded, or behind the equals sign.
            for index in start..<end {
                if bytes[index] == UInt8(ascii: "=") { break }
                if bytes[index] == UInt8(ascii: ":") { return nil }
            }
            return try? RedirectAnswer(query: bytes.extracting(start..<end))
        }
    }

    func finish(_ outcome: SignInOutcome) async {
        // The terminal's owner says how it ended.
    }
}
