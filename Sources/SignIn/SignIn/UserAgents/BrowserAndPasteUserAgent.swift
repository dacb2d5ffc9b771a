internal import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeyOAuth

/// Signs in with whatever browser the person has: one here is started, a listener waits at the loopback address, and
/// the terminal shows the page's address and takes the one that the browser ends at. The first valid response wins.
///
/// For sessions whose browser may run on another machine: there the listener is reached through a forwarded port, or
/// not at all.
package struct BrowserAndPasteUserAgent: RedirectUserAgent {
    private let way: BrowserUserAgent.Way?
    private let terminal: any PromptTerminal
    private let log: RedactedLogger

    /// - Parameter way: how the page is opened; `nil` starts nothing.
    package init(_ way: BrowserUserAgent.Way?, terminal: any PromptTerminal, log: RedactedLogger = .disabled) {
        self.way = way
        self.terminal = terminal
        self.log = log
    }

    /// Starts listening. Throws `.unavailable`: `.unsupportedRedirect` for anything but a loopback address, or
    /// `.cannotListen`.
    package func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        let receiver = try LoopbackReceiver.listen(at: redirect, log: log)
        return BrowserAndPasteAttempt(
            receiver: receiver, opener: way?.opener(receiver.handler, log), terminal: terminal, log: log)
    }
}

private final class BrowserAndPasteAttempt: UserAgentAttempt {
    private let receiver: LoopbackReceiver
    private let opener: BrowserUserAgent.Opener?
    private let terminal: any PromptTerminal
    private let log: RedactedLogger

    var redirect: RedirectURI { receiver.redirect }

    init(
        receiver: LoopbackReceiver, opener: BrowserUserAgent.Opener?, terminal: any PromptTerminal, log: RedactedLogger
    ) {
        self.receiver = receiver
        self.opener = opener
        self.terminal = terminal
        self.log = log
    }

    func present(
        _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
    ) async throws(UserAgentError) -> AuthorizationResponse {
        let (handler, log, link) = (receiver.handler, log, receiver.startLink)
        let dialog = PasteDialog(redirect: redirect, terminal: terminal, log: log)
        try await mapError(
            { (error: PromptTerminalError) in UserAgentError(terminal: error) }, awaiting: await dialog.show(url))
        handler.expect(url, gate: gate)
        let opening = opener.map { opener in
            Task {
                if let error = await failure(UserAgentError.self, awaiting: try await opener(link)) {
                    // The address at the terminal is still good.
                    log.info("no browser was opened: \(error)")
                }
            }
        }
        let asking = Task {
            do throws(PromptTerminalError) {
                handler.deliver(try await dialog.response(gate: gate, deadline: deadline))
            } catch {
                // A task that was cancelled has nothing to say: the browser's response was first.
                if !Task.isCancelled { handler.event.complete(.failed(UserAgentError(terminal: error))) }
            }
        }
        do throws(UserAgentError) {
            let response = try await receiver.response(until: deadline)
            // Restores the terminal before other output.
            asking.cancel()
            await asking.value
            return response
        } catch {
            opening?.cancel()
            asking.cancel()
            await asking.value
            throw error
        }
    }

    func finish(_ outcome: SignInOutcome) async {
        await receiver.finish(outcome)
    }
}
