package import LatchkeyLog

/// The statuses that Latchkey's programs end with; the numbers from 64 on are those of sysexits(3).
package enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
    case success = 0
    /// There is no such credential, account or provider.
    case notFound = 1
    /// `request`: the server responded with another status than 2xx that isn't one of the kinds below. The number is
    /// that of curl's `--fail`.
    case otherStatus = 22
    /// The command line is wrong.
    case usage = 64
    /// What was given or stored is damaged, or not what it has to be.
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
    /// `run`: there is no such program.
    case programNotFound = 127
    /// Ended by SIGHUP: the terminal is gone.
    case hungUp = 129
    /// Interrupted with Ctrl-C.
    case interrupted = 130
    /// Ended by SIGTERM.
    case terminated = 143

    /// What `--help` says about it.
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
        case .programNotFound: "run: there is no such program"
        case .hungUp: "the terminal was closed"
        case .interrupted: "interrupted"
        case .terminated: "told to end"
        }
    }
}

/// An error that a command can end with.
package protocol CommandError: RedactedError {
    var exitStatus: ExitStatus { get }
}

/// An error of another module, with the status that this command gives it.
package struct CommandFailure: CommandError {
    package let codeName: StaticString
    package let cause: LogMessage
    package let hint: LogMessage?
    package let exitStatus: ExitStatus
    package let logMessage: LogMessage

    /// Wraps an error; what it says stays the same.
    package init(_ error: some RedactedError, _ exitStatus: ExitStatus) {
        self.init(error, exitStatus, hint: error.hint)
    }

    /// Wraps an error with a better hint.
    package init(_ error: some RedactedError, _ exitStatus: ExitStatus, hint: LogMessage?) {
        codeName = error.codeName
        cause = error.cause
        self.hint = hint
        logMessage = error.logMessage
        self.exitStatus = exitStatus
    }

    /// Makes an error of the command's own.
    package init(_ exitStatus: ExitStatus, _ codeName: StaticString, _ cause: LogMessage, hint: LogMessage? = nil) {
        self.codeName = codeName
        self.cause = cause
        self.hint = hint
        self.exitStatus = exitStatus
        logMessage = "\(cause) [\(codeName)]"
    }
}
