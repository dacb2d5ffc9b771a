public import LatchkeyCredentials
internal import LatchkeyHTTP
public import LatchkeyLog
public import LatchkeyOAuth

/// An error of a sign-in, a token, a request or a sign-out.
public struct SignInError: RedactedError, Hashable {
    /// The problem. An error inside keeps its own `codeName`, cause and hint.
    public enum Code: Sendable, Hashable {
        /// The browser or the terminal brought no response.
        case userAgent(UserAgentError)
        /// The server refused, its response is invalid, or none arrived (`.networkError`).
        case oauth(OAuthError)
        /// The service didn't say who signed in.
        case resource(ResourceError)
        /// The session could not be read or kept.
        case store(StoreError)
        /// No session exists.
        case notSignedIn
        /// There are several accounts and none is the current one.
        case noCurrentAccount
        /// The session has ended and can't be refreshed. It was deleted if the server refused to refresh it.
        case sessionEnded
        /// The same, because an earlier refresh was cut off between the server and the store.
        case refreshLost
        /// The server has refreshed the session, but the store couldn't save the new tokens. They are lost, and the old
        /// ones may be invalid.
        case tokensNotStored(StoreError)
        /// The server gives no account name; one must be chosen.
        case accountNameNeeded
        /// The tokens or the user information belong to a different account than the requested one, or than the ID
        /// token's.
        case accountMismatch
        /// Another user's session at the same server has the name that the caller chose; that session is unchanged. A
        /// name that the server chose gets a number instead, such as `alice-2`.
        case otherPerson
        /// The server's name for the user is one of the tokens that it issued, and the name would be stored in plain
        /// text.
        case tokenInAccount
        /// The session has no valid ID token: the server didn't issue one, or not at the last refresh.
        case noIDToken
        /// The server gave tokens without a scope that they are of no use without.
        case scopeMissing
        /// The request goes to an origin that the provider doesn't name.
        case otherOrigin
        /// The request goes to another server than the one that the session's tokens are for.
        case otherResource
        /// The provider wants a client secret, and there is none.
        case clientSecretMissing
        /// The key that the session's tokens are bound to is missing or different.
        case keyLost
        /// Another server or another client than the provider's current one issued the session.
        case otherAuthority
        /// A step that the caller does in place of a built-in one failed; what it threw is not repeated.
        case stepFailed(Step)
        /// A newer attempt took over.
        case superseded
        /// The task was cancelled.
        case cancelled
    }

    /// The steps that a caller may do.
    public enum Step: Sendable, Hashable, CaseIterable {
        /// Making the address that the person is sent to.
        case authorizationURL
        /// Exchanging the code for tokens.
        case login
        /// Refreshing the session.
        case refresh
    }

    /// The code that a program decides by. Cancellation is always `cancelled`, whichever part noticed it.
    public let code: Code

    package init(_ code: Code) {
        self.code = code
    }

    // Cancellation has one code, whichever part noticed it.

    package static func userAgent(_ error: UserAgentError) -> SignInError {
        SignInError(error.code == .cancelled ? .cancelled : .userAgent(error))
    }

    package static func oauth(_ error: OAuthError) -> SignInError {
        if case .networkError(let cause) = error.code, cause.code == .cancelled { return .cancelled }
        return SignInError(.oauth(error))
    }

    package static func resource(_ error: ResourceError) -> SignInError {
        if case .networkError(let cause) = error.code, cause.code == .cancelled { return .cancelled }
        return SignInError(.resource(error))
    }

    package static func store(_ error: StoreError) -> SignInError {
        SignInError(error.code == .cancelled ? .cancelled : .store(error))
    }

    package static let cancelled = SignInError(.cancelled)

    public var explanation: Explanation {
        switch code {
        case .userAgent(let error): error.explanation
        case .oauth(let error): error.explanation
        case .resource(let error): error.explanation
        case .store(let error): error.explanation
        case .notSignedIn:
            .init(.notFound, "sign-in.not-signed-in", "no account is signed in", hint: "\(Recovery.signIn)")
        case .noCurrentAccount:
            .init(
                .usage, "sign-in.no-current-account", "several accounts are signed in and none is the current one",
                hint: "\(Recovery.chooseAccount)")
        case .sessionEnded:
            .init(
                .refused, "sign-in.session-ended", "the session has ended and can't be refreshed",
                hint: "\(Recovery.signIn)")
        case .refreshLost:
            .init(
                .refused, "sign-in.refresh-lost",
                "the session has ended: an earlier refresh didn't complete, so its tokens weren't stored",
                hint: "\(Recovery.signIn)")
        case .tokensNotStored(let error):
            .init(
                error.kind, "sign-in.tokens-not-stored",
                "the server refreshed the session, but the new tokens could not be stored and are lost: \(error.cause)",
                hint: "make sure that the store can be written, then \(Recovery.signIn)")
        case .accountNameNeeded:
            .init(
                .usage, "sign-in.account-name-needed", "the server doesn't report which account signed in",
                hint: "\(Recovery.nameAccount)")
        case .accountMismatch:
            .init(
                .protocolError, "sign-in.account-mismatch",
                "the server's responses name a different account than the one that signed in")
        case .otherPerson:
            .init(
                .refused, "sign-in.other-person",
                "the account name belongs to a different person at the server than the one who signed in",
                hint: "sign out of the account first, or \(Recovery.nameAccount)")
        case .tokenInAccount:
            .init(
                .protocolError, "sign-in.token-in-account",
                "the server's name for the account is a token, which is a secret",
                hint: "don't use this server until its operator has fixed that")
        case .noIDToken:
            .init(
                .refused, "sign-in.no-id-token", "the session has no valid ID token",
                hint: "sign in with the scope openid")
        case .scopeMissing:
            .init(
                .protocolError, "sign-in.scope-missing",
                "the server's tokens lack a scope without which they are useless")
        case .otherOrigin:
            .init(
                .refused, "sign-in.other-origin",
                "the request goes to a server that isn't one of the provider's API origins",
                hint: "if that server may get the token, add its origin to the provider's API origins")
        case .otherResource:
            .init(
                .usage, "sign-in.other-resource",
                "the request goes to a different server than the one that the session's tokens are for",
                hint: "send the request to the account's own server, which forwards requests for others")
        case .clientSecretMissing:
            .init(
                .configuration, "sign-in.client-secret-missing",
                "the provider needs a client secret or key, and none is stored",
                hint: "\(Recovery.saveClientSecret)")
        case .keyLost:
            .init(
                .refused, "sign-in.key-lost", "the key that the session is bound to is missing or different",
                hint: "\(Recovery.signIn)")
        case .otherAuthority:
            .init(
                .configuration, "sign-in.other-authority",
                "the session belongs to a different server or client than the provider's current one",
                hint: "\(Recovery.signIn), which replaces it; if it is another program's, use another provider name")
        case .stepFailed(.authorizationURL):
            .init(
                .internalError, "sign-in.step-failed", "the program's own code for the authorization URL failed")
        case .stepFailed(.login):
            .init(.internalError, "sign-in.step-failed", "the program's own code that exchanges the response failed")
        case .stepFailed(.refresh):
            .init(.internalError, "sign-in.step-failed", "the program's own code that refreshes the session failed")
        case .superseded: .init(.interrupted, "sign-in.superseded", "a newer sign-in has replaced this one")
        case .cancelled: .init(.interrupted, "sign-in.cancelled", "the operation was interrupted")
        }
    }
}
