internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets

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
        while true {
            if Task.isCancelled { throw .cancelled }
            if deadline.hasPassed { throw .timedOut }
            let text: Secret<MessageBody>
            do throws(PromptTerminalError) {
                text = try await terminal.ask(
                    "Address (it stays hidden)", limit: AuthorizationResponse.maximumByteCount, deadline: deadline)
            } catch .tooLong {
                try await terminal.show("That is too long for a response.")
                continue
            }
            if text.isEmpty { continue }
            guard let response = try? AuthorizationResponse(pasted: text, redirect: redirect) else {
                log.info("what was pasted is not a response")
                try await terminal.show(
                    "That is not the whole address the browser ended at, which starts with \(redirect)?")
                continue
            }
            switch gate.admit(response) {
            case .admitted:
                log.debug("the response was pasted")
                return response
            case .foreign:
                log.info("a response with another state was pasted; it is ignored")
                try await terminal.show("That address belongs to another sign-in. Use the one shown above.")
            case .repeated:
                // Another way was first, and is about to cancel this task.
                continue
            }
        }
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
