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
        /// The deadline passed, and the program that was started never requested the page, as a browser would.
        case pageNeverOpened
        /// The deadline passed, and all that came were responses with another state.
        case onlyForeignResponses
        /// The task was cancelled.
        case cancelled
    }

    /// What is missing.
    public enum Reason: Sendable, Hashable {
        /// There is neither a browser nor a terminal.
        case noWay
        /// The redirect is of a private-use scheme whose handler isn't installed, and there is no terminal to paste at.
        case noHandler
        /// Neither `BROWSER` nor a display.
        case noDisplay
        /// No browser could be started; the number is the errno of the last one.
        case noBrowser(number: Int32)
        /// Every browser ended with an error before it requested the page; the number is the last one's exit status.
        case browserFailed(status: Int32)
        /// `BROWSER` can't be understood.
        case malformedBrowser
        /// A private window was asked for, and no browser is known to have one.
        case noPrivateWindow
        /// The loopback address can't be listened on.
        case cannotListen(ListeningProblem)
        /// The folder in which handlers are waited for can't be used; the number is the errno.
        case cannotWaitForHandler(number: Int32)
        /// The response is to come by the desktop's handler, and the redirect has no private-use scheme.
        case noPrivateScheme
        /// This agent can't bring a response back from such a redirect address.
        case unsupportedRedirect
        /// There is no terminal to ask on.
        case noTerminal
        /// The kernel gave no random octets; the number is the errno.
        case noRandomOctets(number: Int32)
        /// The authorization page could not be fetched or did not lead back.
        case pageFailed
    }

    /// Why a loopback address can't be listened on: its port is in use, needs privileges, or the like.
    public struct ListeningProblem: Sendable, Hashable {
        let error: LoopbackError
    }

    /// What a program decides by; cause and hint are for people.
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

    public var codeName: StaticString {
        switch code {
        case .userCancelled: "sign-in.user-cancelled"
        case .unavailable: "sign-in.user-agent-unavailable"
        case .timedOut: "sign-in.timed-out"
        case .pageNeverOpened: "sign-in.page-never-opened"
        case .onlyForeignResponses: "sign-in.only-foreign-answers"
        case .cancelled: "sign-in.cancelled"
        }
    }

    public var cause: LogMessage {
        switch code {
        case .userCancelled: "the sign-in was cancelled"
        case .unavailable(let reason): reason.logMessage
        case .timedOut: "nobody answered the sign-in page in time"
        case .pageNeverOpened: "a browser was to open the sign-in page, and none did in time"
        case .onlyForeignResponses: "what came belongs to another sign-in: its state is missing or another"
        case .cancelled: "the sign-in was interrupted"
        }
    }

    public var hint: LogMessage? {
        switch code {
        case .userCancelled, .cancelled: nil
        case .onlyForeignResponses: "start the sign-in again, and answer only the page it opens"
        case .timedOut: "start the sign-in again, or \(Recovery.allowMoreTime)"
        case .pageNeverOpened:
            "see that BROWSER, or else the desktop's default browser, is one that opens pages; or \(Recovery.paste)"
        case .unavailable(let reason): reason.hint
        }
    }
}

extension UserAgentError.Reason {
    // Safe: words of ours and numbers of the system.
    package var logMessage: LogMessage {
        switch self {
        case .noWay: "there is neither a display to show a browser on nor a terminal to ask at"
        case .noHandler: "nothing here takes responses for the scheme of the redirect address"
        case .noDisplay: "there is no display to show a browser on"
        case .noBrowser(let number): "no browser could be started (errno \(number))"
        case .browserFailed(let status): "the browser ended with status \(status) before it showed the page"
        case .malformedBrowser: "the variable BROWSER can't be understood"
        case .noPrivateWindow: "no browser here is known to open private windows when asked"
        case .cannotListen(let problem): problem.error.cause
        case .cannotWaitForHandler(let number):
            "the folder where the scheme's handler brings its response can't be used (errno \(number))"
        case .noPrivateScheme: "the redirect address has no private-use scheme that the desktop could hand over"
        case .unsupportedRedirect: "this way to sign in can't take a response at that redirect address"
        case .noTerminal: "there is no terminal to ask on"
        case .noRandomOctets(let number): "the system gave no random octets (errno \(number))"
        case .pageFailed: "the sign-in page could not be followed to its end"
        }
    }

    var hint: LogMessage? {
        switch self {
        case .noWay:
            "run it at a terminal (`ssh -t`, `podman run -it`) or a desktop, or set BROWSER; \(Recovery.copySession)"
        case .noHandler: "\(Recovery.installHandler)"
        case .noDisplay, .noBrowser, .browserFailed:
            "\(Recovery.paste), or set BROWSER"
        case .malformedBrowser: "set BROWSER to a command such as firefox, or \(Recovery.paste)"
        case .noPrivateWindow:
            "set BROWSER to firefox, chromium or another known one, or \(Recovery.paste)"
        case .cannotListen(let problem): problem.error.hint ?? "\(Recovery.paste)"
        case .cannotWaitForHandler: "set XDG_RUNTIME_DIR to a directory of your own, or \(Recovery.paste)"
        case .noPrivateScheme:
            "\(Recovery.chooseRedirect)"
        case .unsupportedRedirect: "\(Recovery.paste), or use a redirect such as http://127.0.0.1/callback"
        case .noTerminal: "run it at a terminal (`ssh -t`, `podman run -it`), or \(Recovery.browser)"
        case .noRandomOctets, .pageFailed: nil
        }
    }
}
