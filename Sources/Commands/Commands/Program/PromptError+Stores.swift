internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyCommandLine

extension StoreError {
    /// What a question to the person means for the store that needed the answer.
    init(prompt error: PromptError, otherwise: LogMessage) {
        let code: Code =
            switch error.problem {
            case .forbidden, .noTerminal, .failed: .locked
            case .dismissed: .promptDismissed
            case .interrupted: .cancelled
            case .tooLong, .different: .wrongKey
            case .timedOut: .timedOut
            }
        self.init(code, error.cause, hint: error.hint(otherwise: otherwise))
    }
}

extension PromptError {
    /// - Parameter otherwise: how to give the answer where nobody can be asked.
    func hint(otherwise: LogMessage) -> LogMessage? {
        switch problem {
        case .forbidden: "run the command without --no-prompt, or \(otherwise)"
        case .noTerminal: "run the command in a terminal, or \(otherwise)"
        default: hint
        }
    }
}

extension CommandFailure {
    /// - Parameter otherwise: how to give the answer where nobody can be asked.
    init(_ error: PromptError, otherwise: LogMessage) {
        self.init(error, hint: error.hint(otherwise: otherwise))
    }
}
