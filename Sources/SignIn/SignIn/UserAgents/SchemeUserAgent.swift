internal import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeyOAuth

/// Signs in with the person's own browser and a private-use scheme (RFC 8252 section 7.1). The desktop starts a program
/// with the browser's final address. That program passes the address to the waiting sign-in.
///
/// The browser gets a link to our listener, as with `BrowserUserAgent`.
package struct SchemeUserAgent: RedirectUserAgent {
    private let browsers: BrowserUserAgent
    private let folder: RedirectFolder
    private let log: RedactedLogger

    package init(_ way: BrowserUserAgent.Way, folder: RedirectFolder, log: RedactedLogger = .disabled) {
        browsers = BrowserUserAgent(way, log: log)
        self.folder = folder
        self.log = log
    }

    /// Starts waiting for the handler. Throws `.unavailable`: `.noPrivateScheme` for anything but a private-use scheme,
    /// or `.cannotWaitForHandler`.
    package func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        guard redirect.kind == .privateUse else { throw .unavailable(.noPrivateScheme) }
        let mailbox = try folder.mailbox(for: redirect.scheme)
        // Nothing but the start page is requested there.
        guard let start = try? RedirectURI.loopback(path: "/") else { throw .unavailable(.unsupportedRedirect) }
        log.debug("waiting for a response at \(redirect)")
        return SchemeAttempt(
            redirect: redirect, mailbox: mailbox, browser: try browsers.attempt(at: start), log: log)
    }
}

private final class SchemeAttempt: UserAgentAttempt {
    let redirect: RedirectURI
    private let mailbox: RedirectMailbox
    private let browser: BrowserAttempt
    private let log: RedactedLogger

    init(redirect: RedirectURI, mailbox: RedirectMailbox, browser: BrowserAttempt, log: RedactedLogger) {
        self.redirect = redirect
        self.mailbox = mailbox
        self.browser = browser
        self.log = log
    }

    deinit {
        mailbox.stop()
    }

    func present(
        _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
    ) async throws(UserAgentError) -> AuthorizationResponse {
        let (handler, redirect, log) = (browser.handler, redirect, log)
        do throws(SystemErrorNumber) {
            try mailbox.start(failed: { failure in
                handler.event.complete(.failed(.unavailable(.cannotWaitForHandler(number: failure.number))))
            }) { message in
                guard let response = try? AuthorizationResponse(pasted: message, redirect: redirect) else {
                    log.info("ignored an address from the handler that isn't a response")
                    return .foreign
                }
                guard gate.admit(response) == .admitted else {
                    log.info("ignored a response from the handler that belongs to another sign-in")
                    return .foreign
                }
                log.debug("got the response from the handler")
                handler.deliver(response)
                return .admitted
            }
        } catch {
            throw .unavailable(.cannotWaitForHandler(number: error.number))
        }
        return try await browser.present(url, gate: gate, deadline: deadline)
    }

    func finish(_ outcome: SignInOutcome) async {
        mailbox.stop()
        await browser.finish(outcome)
    }
}
