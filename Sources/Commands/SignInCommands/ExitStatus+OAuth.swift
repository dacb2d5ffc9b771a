package import LatchkeyHTTP
package import LatchkeyOAuth
package import LatchkeyTerminal

extension OAuthError: CommandError {
    package var exitStatus: ExitStatus {
        switch code {
        case .userCancelled, .accessDenied, .sessionEnded: .refused
        case .networkError(let error): error.exitStatus
        case .deviceCodeExpired: .tryAgain
        case .exchangeFailed(let status), .revocationFailed(let status), .discoveryFailed(let status),
            .requestRefused(_, let status):
            switch status {
            case 300...399: .protocolError
            case 429, 503: .tryAgain
            case 500...: .unavailable
            default: .refused
            }
        case .stateMismatch, .issuerMismatch, .authorizationFailed, .invalidResponse, .invalidMetadata: .protocolError
        case .invalidConfiguration: .configuration
        case .noRandomOctets: .internalError
        }
    }
}

extension TransportError: CommandError {
    package var exitStatus: ExitStatus {
        switch code {
        case .cannotResolveHost, .cannotConnect, .proxyRefused, .connectionLost, .other: .unavailable
        case .certificateRefused, .addressRefused: .refused
        case .certificateAuthoritiesUnreadable, .notConfidential: .configuration
        case .timedOut: .tryAgain
        case .cancelled: .interrupted
        case .handshakeFailed, .bodyTooLarge, .malformedResponse: .protocolError
        case .malformedRequest: .badData
        }
    }
}
