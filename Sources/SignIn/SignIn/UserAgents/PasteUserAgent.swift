internal import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

/// Signs in with a browser on any machine: shows the address of the page on the terminal, and asks for the address that
/// the browser ends at.
package struct PasteUserAgent: RedirectUserAgent {
    private let terminal: any PromptTerminal
    private let log: RedactedLogger

    package init(terminal: any PromptTerminal, log: RedactedLogger = .disabled) {
        self.terminal = terminal
        self.log = log
    }

    /// A loopback address without a port gets one at random: no process listens there, and the browser shows the address of
    /// the page that it can't load.
    package func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        let redirect = redirect.needsPort ? redirect.withPort(try Self.port()) : redirect
        return PasteAttempt(redirect: redirect, terminal: terminal, log: log)
    }

    /// One of the dynamic ports (RFC 6335 section 6).
    private static func port() throws(UserAgentError) -> UInt16 {
        return try mappingError({ (error: RandomOctetsError) in
            UserAgentError.unavailable(.noRandomOctets(number: error.number))
        }) { () throws(RandomOctetsError) in
            let octets = try RandomOctets.array(2)
            return 49_152 + (UInt16(octets[0]) << 8 | UInt16(octets[1])) % 16_384
        }
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
