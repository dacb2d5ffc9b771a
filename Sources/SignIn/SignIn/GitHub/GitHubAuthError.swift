public import LatchkeyCredentials
public import LatchkeyHTTP
public import LatchkeyLog
public import LatchkeyOAuth

/// An error of a sign-in at GitHub, or of its use.
public enum GitHubAuthError: RedactedError, Hashable {
    /// The person gave up.
    case userCancelled
    /// The person, or GitHub for them, said no.
    case accessDenied
    /// The response's `state` is missing or another; no token was requested.
    case stateMismatch
    /// The response names another server.
    case issuerMismatch
    /// GitHub didn't return a token. Contains the status, and GitHub's `error` if known. The status may be 200, or 302
    /// for an error that came to the redirect address.
    case exchangeFailed(statusCode: Int, serverError: ServerErrorCode? = nil)
    /// No complete response arrived.
    case networkError(TransportError)
    /// The response can't be understood, or another user's session has the login.
    case invalidResponse
    /// The store refused. If that was after a refresh, the new tokens are lost.
    case store(StoreError)
    /// GitHub's API refused.
    case apiError(GitHubAPIError)
    /// The deadline passed, or the device code expired.
    case timedOut
    /// The task was cancelled, or a newer sign-in took over.
    case cancelled
    /// There is nothing to show the page with; the hint names what to use instead.
    case userAgentUnavailable(UserAgentError)
    /// No session exists.
    case notSignedIn
    /// There are several accounts and none is the current one.
    case noCurrentAccount
    /// The session has ended, or is another client's: the person must sign in again.
    case sessionEnded
    /// The request goes to another origin than GitHub's own; nothing was sent.
    case otherOrigin
    /// The configuration can't be used.
    case configuration(OAuthError)

    init(_ error: SignInError) {
        switch error.code {
        case .userAgent(let cause): self = Self.userAgent(cause)
        case .oauth(let cause): self = Self.oauth(cause)
        case .resource(let cause):
            if case .networkError(let network) = cause.code {
                self = .networkError(network)
            } else {
                self = .apiError(cause)
            }
        case .store(let cause), .tokensNotStored(let cause): self = .store(cause)
        case .notSignedIn: self = .notSignedIn
        case .noCurrentAccount: self = .noCurrentAccount
        case .sessionEnded, .refreshLost, .otherAuthority, .keyLost: self = .sessionEnded
        case .accountNameNeeded, .accountMismatch, .otherPerson, .tokenInAccount, .scopeMissing, .noIDToken,
            .otherResource, .stepFailed:
            self = .invalidResponse
        case .otherOrigin: self = .otherOrigin
        case .clientSecretMissing: self = .configuration(OAuthError(.invalidConfiguration(.clientSecret)))
        case .superseded, .cancelled: self = .cancelled
        }
    }

    private static func userAgent(_ error: UserAgentError) -> GitHubAuthError {
        switch error.code {
        case .userCancelled: .userCancelled
        case .timedOut, .pageNeverOpened: .timedOut
        case .onlyForeignResponses: .stateMismatch
        case .cancelled: .cancelled
        case .unavailable: .userAgentUnavailable(error)
        }
    }

    private static func oauth(_ error: OAuthError) -> GitHubAuthError {
        switch error.code {
        case .userCancelled: .userCancelled
        case .accessDenied: .accessDenied
        case .stateMismatch: .stateMismatch
        case .issuerMismatch: .issuerMismatch
        // GitHub sends these to the redirect address, before there is a code to exchange.
        case .authorizationFailed: .exchangeFailed(statusCode: 302, serverError: error.serverError)
        case .deviceCodeExpired: .timedOut
        case .exchangeFailed(let status), .revocationFailed(let status), .discoveryFailed(let status),
            .requestRefused(_, let status):
            .exchangeFailed(statusCode: status, serverError: error.serverError)
        case .sessionEnded: .sessionEnded
        case .invalidResponse: .invalidResponse
        case .networkError(let cause): .networkError(cause)
        case .invalidMetadata, .invalidConfiguration, .noRandomOctets, .noLibrary: .configuration(error)
        }
    }
}

// MARK: - Telling

extension GitHubAuthError {
    /// The explanation of the same error of another type; the code is GitHub's own if it belongs to a step of its
    /// sign-in.
    public var explanation: Explanation {
        switch self {
        case .userCancelled: Self.row("github.user-cancelled", UserAgentError.userCancelled)
        case .accessDenied: Self.row("github.access-denied", OAuthError(.accessDenied))
        case .stateMismatch: Self.row("github.state-mismatch", OAuthError(.stateMismatch))
        case .issuerMismatch: Self.row("github.issuer-mismatch", OAuthError(.issuerMismatch))
        case .exchangeFailed(let status, let error):
            Self.row(
                "github.exchange-failed", OAuthError(.exchangeFailed(statusCode: status), serverError: error))
        case .networkError(let error): error.explanation
        case .invalidResponse: Self.row("github.invalid-response", ResourceError(.invalidResponse))
        case .store(let error): error.explanation
        case .apiError(let error): error.explanation
        case .timedOut: Self.row("github.timed-out", UserAgentError.timedOut)
        case .cancelled: Self.row("github.cancelled", SignInError.cancelled)
        case .userAgentUnavailable(let error): error.explanation
        case .notSignedIn: Self.row("github.not-signed-in", SignInError(.notSignedIn))
        case .noCurrentAccount: Self.row("github.no-current-account", SignInError(.noCurrentAccount))
        case .sessionEnded: Self.row("github.session-ended", SignInError(.sessionEnded))
        case .otherOrigin: Self.row("github.other-origin", SignInError(.otherOrigin))
        case .configuration(let error): error.explanation
        }
    }

    private static func row(_ code: StaticString, _ error: some RedactedError) -> Explanation {
        let told = error.explanation
        return .init(told.kind, code, told.cause, hint: told.hint)
    }
}
