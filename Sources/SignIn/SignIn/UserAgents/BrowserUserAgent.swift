internal import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeyOAuth
internal import LatchkeyProcess

/// Signs in with the person's own browser and a listener on a loopback address (RFC 8252).
///
/// The browser gets a link to the listener, which works once and leads to the authorization page. So no command line
/// contains `state` or another part of the sign-in. The browser runs in a separate session, without descriptors of
/// ours.
package struct BrowserUserAgent: RedirectUserAgent {
    package typealias Opener = UserAgent.Opener

    /// How the page is opened.
    package enum Way: Sendable {
        /// The person's browser is started.
        case programs(BrowserChoice)
        /// Another way: an adopter's own, or a `PageFollower` in place of browser and person. It gets the link to the
        /// listener, and is cancelled if the sign-in fails before it returns.
        case opener(Opener)

        /// - Parameter handler: learns of the browser's request.
        func opener(_ handler: RedirectHandler, _ log: RedactedLogger) -> Opener {
            switch self {
            case .opener(let opener): return opener
            case .programs(let browsers):
                let programs = BrowserPrograms(browsers: browsers, opened: handler.opened, log: log)
                return { link throws(UserAgentError) in try await programs.open(link) }
            }
        }
    }

    private let way: Way
    private let log: RedactedLogger

    /// How long a browser that brought the response may take to request the last page before the listener closes.
    package var lastPageTimeout = Duration.seconds(2)

    package init(_ way: Way, log: RedactedLogger = .disabled) {
        self.way = way
        self.log = log
    }

    /// Starts listening. Throws `.unavailable`: `.unsupportedRedirect` for anything but a loopback address, or
    /// `.cannotListen`.
    package func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        try attempt(at: redirect)
    }

    func attempt(at redirect: RedirectURI) throws(UserAgentError) -> BrowserAttempt {
        let receiver = try LoopbackReceiver.listen(at: redirect, log: log)
        return BrowserAttempt(
            receiver: receiver, timeout: lastPageTimeout, opener: way.opener(receiver.handler, log))
    }
}

/// One sign-in with a browser.
final class BrowserAttempt: UserAgentAttempt {
    private let receiver: LoopbackReceiver
    private let timeout: Duration
    private let opener: BrowserUserAgent.Opener

    var redirect: RedirectURI { receiver.redirect }
    var handler: RedirectHandler { receiver.handler }

    init(receiver: LoopbackReceiver, timeout: Duration, opener: @escaping BrowserUserAgent.Opener) {
        self.receiver = receiver
        self.timeout = timeout
        self.opener = opener
    }

    func present(
        _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
    ) async throws(UserAgentError) -> AuthorizationResponse {
        receiver.handler.expect(url, gate: gate)
        let opening = Task { [opener, handler = receiver.handler, link = receiver.startLink] in
            if let error = await failure(UserAgentError.self, awaiting: try await opener(link)) {
                // If the browser showed a page about another sign-in, that page is the likely reason to give up.
                handler.event.complete(.failed(handler.hasSeenForeign ? .onlyForeignResponses : error))
            }
        }
        do throws(UserAgentError) {
            // The opener goes on: it may be what fetches the last page.
            return try await receiver.response(until: deadline, needsBrowser: true)
        } catch {
            opening.cancel()
            throw error
        }
    }

    func finish(_ outcome: SignInOutcome) async {
        await receiver.finish(outcome, timeout: timeout)
    }
}

/// Starts browsers in order until one of them requests the page.
struct BrowserPrograms: Sendable {
    let browsers: BrowserChoice
    let opened: Pending<Bool>
    let log: RedactedLogger

    /// Returns once a browser has the link. One that ends without an error has passed it on to another process, so its
    /// end says nothing.
    func open(_ link: String) async throws(UserAgentError) {
        var error = UserAgentError.unavailable(.noDisplay)
        for (index, command) in browsers.commands(for: link).enumerated() {
            let program: DetachedProgram
            do throws(SystemErrorNumber) {
                program = try DetachedProgram(command, environment: browsers.environment)
            } catch let failure {
                log.info("can't start browser \(index + 1): \(failure)")
                error = .unavailable(.noBrowser(number: failure.number))
                continue
            }
            log.debug("browser \(index + 1) was started as process \(program.processID)")
            switch await program.ending() {
            case nil: return
            case _ where opened.present != nil: return
            case .exited(0):
                log.info("browser \(index + 1) ended before the page was requested: another process may request it")
                return
            case .exited(let status):
                log.info("browser \(index + 1) ended with status \(status) before it requested the page")
                error = .unavailable(.browserFailed(status: status))
            case .signalled(let number):
                log.info("browser \(index + 1) was ended by signal \(number) before it requested the page")
                error = .unavailable(.browserFailed(status: 128 + number))
            }
        }
        throw error
    }
}
