internal import LatchkeyLog
internal import LatchkeyCommandLine

extension RedactedError {
    /// The error in one line, for standard error of a tool that shows or logs it.
    var line: LogMessage {
        let cause = cause.worded
        // A helper never asks: what it can't say is how to let it.
        let hint = hint?.wording { $0 == .allowPrompt ? "unlock it, or log in to the desktop" : "\($0)" }
        return hint.map { "\(cause); \($0.worded)" } ?? cause
    }
}

/// What a helper does that says an error in one line on standard error and ends with its status.
@Sendable func reportInOneLine(_ error: any RedactedError, _ output: TerminalOutput) -> ExitStatus {
    output.note(error.line)
    return ExitStatus(error)
}
