package import LatchkeyLog

/// The statuses that Latchkey's programs end with; the numbers from 64 on are those of sysexits(3).
package enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
    case success = 0
    /// The credential, account or provider doesn't exist.
    case notFound = 1
    /// `request`: the server responded with another status than 2xx that isn't one of the kinds below. The number is
    /// that of curl's `--fail`.
    case otherStatus = 22
    /// The command line is wrong.
    case usage = 64
    /// The input or the stored data is damaged or has another form.
    case badData = 65
    /// The store or the server can't be reached.
    case unavailable = 69
    /// A mistake in Latchkey.
    case internalError = 70
    /// The output, the vault or a file can't be written.
    case cannotWrite = 73
    /// Timed out or busy: the same call may work later.
    case tryAgain = 75
    /// The server broke the protocol.
    case protocolError = 76
    /// Refused, locked or dismissed.
    case refused = 77
    /// The configuration is wrong.
    case configuration = 78
    /// `run`: the program can't be started.
    case programNotStarted = 126
    /// `run`: the program doesn't exist.
    case programNotFound = 127
    /// Ended by SIGHUP: the terminal is gone.
    case hungUp = 129
    /// Interrupted with Ctrl-C.
    case interrupted = 130
    /// Ended by SIGTERM.
    case terminated = 143

    /// The description in `--help`.
    var meaning: StaticString {
        switch self {
        case .success: "done"
        case .notFound: "not found"
        case .otherStatus: "request: the response has another status than 2xx, such as 404"
        case .usage: "wrong usage"
        case .badData: "bad or damaged data"
        case .unavailable: "store or server unavailable"
        case .internalError: "internal error"
        case .cannotWrite: "cannot write"
        case .tryAgain: "timed out or busy: try again"
        case .protocolError: "the server broke the protocol"
        case .refused: "refused, locked or dismissed"
        case .configuration: "wrong configuration"
        case .programNotStarted: "run: the program can't be started"
        case .programNotFound: "run: the program doesn't exist"
        case .hungUp: "the terminal was closed"
        case .interrupted: "interrupted"
        case .terminated: "ended by SIGTERM"
        }
    }
}

extension ExitStatus {
    /// The status for an error: the only place that decides one.
    package init(_ error: any RedactedError) {
        if let status = (error as? CommandFailure)?.exitStatus {
            self = status
            return
        }
        self =
            switch error.kind {
            case .notFound: .notFound
            case .usage: .usage
            case .badData: .badData
            case .unavailable: .unavailable
            case .internalError: .internalError
            case .cannotWrite: .cannotWrite
            case .tryAgain: .tryAgain
            case .protocolError: .protocolError
            case .refused: .refused
            case .configuration: .configuration
            case .interrupted: .interrupted
            }
    }
}

/// A command's own error, or the error of another module with a kind or a hint that fits the command.
package struct CommandFailure: RedactedError {
    package let explanation: Explanation
    package let logMessage: LogMessage
    /// The status in place of the kind's own.
    fileprivate let exitStatus: ExitStatus?

    /// Wraps an error whose texts stay the same.
    package init(_ error: some RedactedError, _ kind: Explanation.Kind) {
        explanation = .init(kind, error.codeName, error.cause, hint: error.hint)
        logMessage = error.logMessage
        exitStatus = nil
    }

    /// Wraps an error with a better hint.
    package init(_ error: some RedactedError, hint: LogMessage?) {
        explanation = .init(error.kind, error.codeName, error.cause, hint: hint)
        logMessage = error.logMessage
        exitStatus = nil
    }

    /// Wraps an error with a better cause and hint.
    package init(_ error: some RedactedError, _ cause: LogMessage, hint: LogMessage?) {
        self.init(error.kind, error.codeName, cause, hint: hint)
    }

    /// Makes an error of the command's own.
    ///
    /// - Parameter exitStatus: the status for a command whose statuses aren't those of kinds: `run`, `request`.
    package init(
        _ kind: Explanation.Kind, _ code: StaticString, _ cause: LogMessage, hint: LogMessage? = nil,
        exitStatus: ExitStatus? = nil
    ) {
        explanation = .init(kind, code, cause, hint: hint)
        logMessage = "\(cause) [\(code)]"
        self.exitStatus = exitStatus
    }
}
