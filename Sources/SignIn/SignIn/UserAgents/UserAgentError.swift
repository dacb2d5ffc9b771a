public import LatchkeyLog
internal import LatchkeyLoopback

/// Why a user agent brought no response.
public struct UserAgentError: RedactedError, Hashable {
    /// Why no authorization response came. A server that denies access sends one (RFC 6749 section 4.1.2.1).
    public enum Code: Sendable, Hashable {
        /// The person gave up.
        case userCancelled
        /// There is nothing to show the page with; the hint names what to use instead.
        case unavailable(Reason)
        /// The deadline passed.
        case timedOut
        /// The deadline passed, and the started program never requested the page, as a browser would.
        case pageNeverOpened
        /// All that came were responses with another state. ``SignInService`` throws `.oauth` with `.stateMismatch`
        /// instead.
        case onlyForeignResponses
        /// The task was cancelled.
        case cancelled
    }

    /// The reason why a method is unavailable.
    public enum Reason: Sendable, Hashable {
        /// There is neither a browser nor a terminal.
        case noWay
        /// The redirect has a private-use scheme whose handler isn't installed, and there is no terminal to paste at.
        case noHandler
        /// Neither `BROWSER` nor a display.
        case noDisplay
        /// No browser could be started; the number is the errno of the last attempt.
        case noBrowser(number: Int32)
        /// Every browser ended with an error before it requested the page; the number is the last one's exit status.
        case browserFailed(status: Int32)
        /// `BROWSER` can't be understood.
        case malformedBrowser
        /// A private window was requested, but none of the browsers is known to have one.
        case noPrivateWindow
        /// The loopback address can't be listened on.
        case cannotListen(ListeningProblem)
        /// The folder for responses from handlers can't be used; the number is the errno.
        case cannotWaitForHandler(number: Int32)
        /// The response should come from the desktop's handler, but the redirect lacks a private-use scheme.
        case noPrivateScheme
        /// This agent can't bring a response back from such a redirect address.
        case unsupportedRedirect
        /// There is no terminal to ask at.
        case noTerminal
        /// The kernel returned no random bytes; the number is the errno.
        case noRandomOctets(number: Int32)
        /// The authorization page could not be fetched or did not lead back.
        case pageFailed
    }

    /// Why a loopback address can't be listened on: its port is in use, needs privileges, or the like.
    public struct ListeningProblem: Sendable, Hashable {
        let error: LoopbackError
    }

    /// The code that a program decides by; cause and hint are for people.
    public let code: Code

    /// For an ``AuthorizationPresenter`` or a ``UserAgent/Opener`` of the caller's own to throw.
    public init(_ code: Code) {
        self.code = code
    }

    package static func unavailable(_ reason: Reason) -> UserAgentError { UserAgentError(.unavailable(reason)) }
    package static let userCancelled = UserAgentError(.userCancelled)
    package static let timedOut = UserAgentError(.timedOut)
    package static let pageNeverOpened = UserAgentError(.pageNeverOpened)
    package static let onlyForeignResponses = UserAgentError(.onlyForeignResponses)
    package static let cancelled = UserAgentError(.cancelled)

    public var explanation: Explanation {
        switch code {
        case .userCancelled: .init(.refused, "sign-in.user-cancelled", "the sign-in was cancelled")
        case .unavailable(let reason):
            .init(.unavailable, "sign-in.user-agent-unavailable", reason.logMessage, hint: reason.hint)
        case .timedOut:
            .init(
                .tryAgain, "sign-in.timed-out", "the sign-in page got no answer in time",
                hint: "start the sign-in again, or \(Recovery.allowMoreTime)")
        case .pageNeverOpened:
            .init(
                .tryAgain, "sign-in.page-never-opened",
                "the browser was started but did not open the sign-in page in time",
                hint: "set BROWSER, or the desktop's default browser, to one that opens pages; or \(Recovery.paste)")
        case .onlyForeignResponses:
            .init(
                .protocolError, "sign-in.only-foreign-answers",
                "all responses belong to another sign-in: their state is missing or different",
                hint: "start the sign-in again, and answer only the page that it opens")
        case .cancelled: .init(.interrupted, "sign-in.cancelled", "the sign-in was interrupted")
        }
    }
}

extension UserAgentError.Reason {
    // Safe: fixed words and numbers of the system.
    package var logMessage: LogMessage {
        switch self {
        case .noWay: "this process has neither a display for a browser nor a terminal"
        case .noHandler: "no handler is installed for the scheme of the redirect address"
        case .noDisplay: "no display for a browser"
        case .noBrowser(let number): "can't start a browser: \(SystemErrorNumber(number))"
        case .browserFailed(let status): "the browser ended with status \(status) before it showed the page"
        case .malformedBrowser: "the variable BROWSER is malformed"
        case .noPrivateWindow: "none of the installed browsers is known to open private windows"
        case .cannotListen(let problem): problem.error.cause
        case .cannotWaitForHandler(let number):
            "can't use the directory for the scheme handler's response: \(SystemErrorNumber(number))"
        case .noPrivateScheme: "the redirect URI lacks a private-use scheme"
        case .unsupportedRedirect: "this way to sign in can't receive a response at that redirect address"
        case .noTerminal: "no terminal to ask on"
        case .noRandomOctets(let number): "the system returned no random bytes: \(SystemErrorNumber(number))"
        case .pageFailed: "the sign-in page did not lead back to the redirect address"
        }
    }

    var hint: LogMessage? {
        switch self {
        case .noWay:
            "run the command at a terminal (`ssh -t`, `podman run -it`), set BROWSER, or \(Recovery.device)"
        case .noHandler: "\(Recovery.installHandler)"
        case .noDisplay, .noBrowser, .browserFailed: "\(Recovery.paste), or set BROWSER"
        case .malformedBrowser: "set BROWSER to a command such as firefox, or \(Recovery.paste)"
        case .noPrivateWindow: "set BROWSER to firefox, chromium or another known browser, or \(Recovery.paste)"
        case .cannotListen(let problem): problem.error.hint ?? "\(Recovery.paste)"
        case .cannotWaitForHandler: "set XDG_RUNTIME_DIR to a directory of your own, or \(Recovery.paste)"
        case .noPrivateScheme: "\(Recovery.chooseRedirect)"
        case .unsupportedRedirect: "\(Recovery.paste), or use a redirect such as http://127.0.0.1/callback"
        case .noTerminal: "run the command at a terminal (`ssh -t`, `podman run -it`), or \(Recovery.browser)"
        case .pageFailed: "compare the client ID and the redirect URI with those that the server registered"
        case .noRandomOctets: nil
        }
    }
}
