internal import LatchkeyHTTP
internal import LatchkeyOAuth
package import LatchkeySignIn
internal import LatchkeyStoreCommands
package import LatchkeyTerminal

extension SignInError: CommandError {
    package var exitStatus: ExitStatus {
        switch code {
        case .userAgent(let error): error.exitStatus
        case .oauth(let error): error.exitStatus
        case .resource(let error): error.exitStatus
        case .store(let error), .tokensNotStored(let error): error.exitStatus
        case .notSignedIn: .notFound
        case .noCurrentAccount, .accountNameNeeded, .otherResource: .usage
        case .sessionEnded, .refreshLost, .keyLost, .otherOrigin, .otherPerson: .refused
        case .accountMismatch, .tokenInAccount, .scopeMissing: .protocolError
        case .stepFailed: .internalError
        case .clientSecretMissing, .otherAuthority: .configuration
        case .superseded, .cancelled: .interrupted
        }
    }
}

extension ResourceError: CommandError {
    package var exitStatus: ExitStatus {
        switch code {
        case .unauthorized, .forbidden: .refused
        case .rateLimited: .tryAgain
        case .refused(let status): status >= 500 ? .unavailable : .protocolError
        case .invalidResponse: .protocolError
        case .networkError(let error): error.exitStatus
        }
    }
}

extension UserAgentError: CommandError {
    package var exitStatus: ExitStatus {
        switch code {
        case .userCancelled: .refused
        case .unavailable: .unavailable
        case .timedOut, .pageNeverOpened: .tryAgain
        case .onlyForeignResponses: .protocolError
        case .cancelled: .interrupted
        }
    }
}
