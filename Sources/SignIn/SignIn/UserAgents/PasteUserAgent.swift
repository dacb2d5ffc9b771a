internal import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeyOAuth

/// Signs in with a browser on any machine: shows the address of the page on the terminal, and asks for the address that
/// the browser ends at.
package struct PasteUserAgent: RedirectUserAgent {
    private let terminal: any PromptTerminal
    private let log: RedactedLogger

    package init(terminal: any PromptTerminal, log: RedactedLogger = .disabled) {
        self.terminal = terminal
        self.log = log
    }

    /// A loopback address without a port gets a random one. No process listens there, so the browser shows the address
    /// of the page that it can't load.
    package func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        // One of the dynamic ports (RFC 6335 section 6).
        let redirect = redirect.needsPort ? redirect.withPort(.random(in: 49_152...65_535)) : redirect
        return PasteAttempt(redirect: redirect, terminal: terminal, log: log)
    }
}

/// One sign-in by paste.
final class PasteAttempt: UserAgentAttempt {
    let redirect: RedirectURI
    private let terminal: any PromptTerminal
    private let log: RedactedLogger

    init(redirect: RedirectURI, terminal: any PromptTerminal, log: RedactedLogger) {
        self.redirect = redirect
        self.terminal = terminal
        self.log = log
    }

    func present(
        _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
    ) async throws(UserAgentError) -> AuthorizationResponse {
        let dialog = PasteDialog(redirect: redirect, terminal: terminal, log: log)
        return try await mappingError({ (error: PromptTerminalError) in UserAgentError(terminal: error) }) {
            () async throws(PromptTerminalError) in
            try await dialog.show(url)
            return try await dialog.response(gate: gate, deadline: deadline)
        }
    }

    func finish(_ outcome: SignInOutcome) async {
        // The terminal's owner says how it ended.
    }
}

/// Shows the address of the authorization page at a terminal, and asks for the address that the browser ends at.
struct PasteDialog: Sendable {
    let redirect: RedirectURI
    let terminal: any PromptTerminal
    let log: RedactedLogger

    func show(_ url: borrowing AuthorizationURL) async throws(PromptTerminalError) {
        try await terminal.show("Open this address in a browser, on any machine, and sign in there:")
        try await terminal.show("")
        try await terminal.show(url)
        try await terminal.show("")
        try await terminal.show(
            "The browser then goes to an address that starts with \(redirect) and may say that it can't be reached.")
        try await terminal.show("Copy that whole address and paste it here.")
        try await terminal.show(
            "If the browser shows an error page instead, compare the client ID and the redirect URI with those at the server."
        )
    }

    /// Asks until an address is this sign-in's response. A query alone is not: its path tells whose response it is
    /// (RFC 9700 section 4.4.2.2).
    func response(
        gate: AuthorizationResponseGate, deadline: Deadline
    ) async throws(PromptTerminalError) -> AuthorizationResponse {
        // A terminal without a person may answer at once, without end.
        for _ in 0..<100 {
            if Task.isCancelled { throw .cancelled }
            if deadline.hasPassed { throw .timedOut }
            let text: Secret<MessageBody>
            do throws(PromptTerminalError) {
                text = try await terminal.ask(
                    "Address (it stays hidden)", limit: AuthorizationResponse.maximumByteCount, deadline: deadline)
            } catch .tooLong {
                try await terminal.show("The response is too long.")
                continue
            }
            if text.isEmpty { continue }
            guard let response = try? AuthorizationResponse(pasted: text, redirect: redirect) else {
                log.info("the pasted text isn't a response")
                try await terminal.show(
                    "Copy the whole address from the browser. The address starts with \(redirect).")
                continue
            }
            switch gate.admit(response) {
            case .admitted:
                log.debug("the response was pasted")
                return response
            case .foreign:
                log.info("ignored a pasted response with another state")
                try await terminal.show("That address belongs to another sign-in. Use the one shown above.")
            case .repeated:
                // Another way was faster and will cancel this task.
                continue
            }
        }
        throw .dismissed
    }
}

extension UserAgentError {
    init(terminal error: PromptTerminalError) {
        self =
            switch error {
            case .unavailable: .unavailable(.noTerminal)
            case .dismissed, .tooLong: .userCancelled
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            }
    }
}
