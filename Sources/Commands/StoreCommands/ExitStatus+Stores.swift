package import LatchkeyCredentials
package import LatchkeyLog
internal import LatchkeySecretService
package import LatchkeyStoreSelection
package import LatchkeyTerminal

extension StoreError: CommandError {
    package var exitStatus: ExitStatus {
        switch code {
        case .unavailable, .unsupported: .unavailable
        case .locked, .promptDismissed, .permissionDenied, .wrongKey, .rolledBack: .refused
        case .timedOut, .busy: .tryAgain
        case .cancelled: .interrupted
        case .corrupted, .tooLarge: .badData
        case .conflict, .cannotWrite: .cannotWrite
        case .ambiguous: .usage
        case .protocolViolation: .protocolError
        }
    }
}

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
        case .forbidden: "run it without --no-prompt, or \(otherwise)"
        case .noTerminal: "run it in a terminal, or \(otherwise)"
        default: hint
        }
    }
}

extension CommandFailure {
    /// - Parameter otherwise: how to give the answer where nobody can be asked.
    init(_ error: PromptError, otherwise: LogMessage) {
        self.init(error, error.exitStatus, hint: error.hint(otherwise: otherwise))
    }
}

extension InvalidValue: CommandError {
    package var exitStatus: ExitStatus { .usage }
}

extension StoreSelectionError: CommandError {
    package var exitStatus: ExitStatus {
        switch problem {
        case .unknownName(.argument), .notPersistent: .usage
        case .unknownName: .configuration
        case .noneWorks: .unavailable
        case .store(let error): error.exitStatus
        }
    }
}
