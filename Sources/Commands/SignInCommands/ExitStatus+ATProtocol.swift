package import LatchkeyATProtocol
internal import LatchkeySignIn
package import LatchkeyTerminal

extension ATProtocolError: CommandError {
    package var exitStatus: ExitStatus {
        switch code {
        case .invalidHandle, .invalidDID, .otherServer: .usage
        case .handleNotFound, .didNotFound, .noAuthorizationPending: .notFound
        case .handleAmbiguous, .handleMismatch, .invalidDocument, .invalidResourceMetadata, .requirementMissing,
            .subjectMismatch, .scopeMissing:
            .protocolError
        case .addressRefused, .authorizationCancelled, .keyLost: .refused
        case .invalidClientMetadata, .invalidRedirectURI: .configuration
        case .authorizationInProgress, .authorizationExpired: .tryAgain
        case .presenterFailed: .unavailable
        case .refused(let status): status == 429 ? .tryAgain : status >= 500 ? .unavailable : .protocolError
        case .network(let error): error.exitStatus
        case .signIn(let error): error.exitStatus
        case .cancelled: .interrupted
        }
    }
}
