public import LatchkeyCredentials
internal import LatchkeyHTTP
public import LatchkeyLog
public import LatchkeyOAuth

/// Why a sign-in, a token, a request or a sign-out did not come about.
public struct SignInError: RedactedError, Hashable {
    /// What went wrong. An error inside keeps its own `codeName`, cause and hint.
    public enum Code: Sendable, Hashable {
        /// The browser or the terminal brought no response.
        case userAgent(UserAgentError)
        /// The server, or what it said.
        case oauth(OAuthError)
        /// The service didn't say who signed in.
        case resource(ResourceError)
        /// The session could not be read or kept.
        case store(StoreError)
        /// There is no session.
        case notSignedIn
        /// There are several accounts and none is the current one.
        case noCurrentAccount
        /// The session can't be refreshed any more; it was deleted.
        case sessionEnded
        /// The same, because an earlier refresh was cut off between the server and the store.
        case refreshLost
        /// The server has refreshed the session, and the store could not keep the new tokens: they are lost, and the
        /// old ones may be spent.
        case tokensNotStored(StoreError)
        /// The server gives no account name; one must be chosen.
        case accountNameNeeded
        /// The tokens, or the user information, are another account's than was asked for, or than the ID token.
        case accountMismatch
        /// The name is that of another person's session at the same server, which was left as it is.
        case otherPerson
        /// The server calls the person by one of the tokens that it gave, and the name would be kept in the clear.
        case tokenInAccount
        /// The server gave tokens without a scope that they are of no use without.
        case scopeMissing
        /// The request goes to an origin that the provider doesn't name.
        case otherOrigin
        /// The request goes to another server than the one that the session's tokens are for.
        case otherResource
        /// The provider wants a client secret, and there is none.
        case clientSecretMissing
        /// The key that the session's tokens are bound to is gone, or is another.
        case keyLost
        /// The session was given by another server or to another client than the provider now names.
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

    /// What a program decides by. Cancellation is `cancelled`, whichever part noticed it.
    public let code: Code

    package init(_ code: Code) {
        self.code = code
    }

    // Cancellation is the same thing whoever noticed it.

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

    public var codeName: StaticString {
        switch code {
        case .userAgent(let error): error.codeName
        case .oauth(let error): error.codeName
        case .resource(let error): error.codeName
        case .store(let error): error.codeName
        case .notSignedIn: "sign-in.not-signed-in"
        case .noCurrentAccount: "sign-in.no-current-account"
        case .sessionEnded: "sign-in.session-ended"
        case .refreshLost: "sign-in.refresh-lost"
        case .tokensNotStored: "sign-in.tokens-not-stored"
        case .accountNameNeeded: "sign-in.account-name-needed"
        case .accountMismatch: "sign-in.account-mismatch"
        case .otherPerson: "sign-in.other-person"
        case .tokenInAccount: "sign-in.token-in-account"
        case .scopeMissing: "sign-in.scope-missing"
        case .otherOrigin: "sign-in.other-origin"
        case .otherResource: "sign-in.other-resource"
        case .clientSecretMissing: "sign-in.client-secret-missing"
        case .keyLost: "sign-in.key-lost"
        case .otherAuthority: "sign-in.other-authority"
        case .stepFailed: "sign-in.step-failed"
        case .superseded: "sign-in.superseded"
        case .cancelled: "sign-in.cancelled"
        }
    }

    public var cause: LogMessage {
        switch code {
        case .userAgent(let error): error.cause
        case .oauth(let error): error.cause
        case .resource(let error): error.cause
        case .store(let error): error.cause
        case .notSignedIn: "nobody is signed in"
        case .noCurrentAccount: "there are several accounts, and none of them is the current one"
        case .sessionEnded: "the session has ended and can't be refreshed"
        case .refreshLost: "the session has ended: an earlier refresh was cut off before its tokens could be stored"
        case .tokensNotStored(let error):
            "the server has refreshed the session, but the new tokens could not be stored and are lost: \(error.cause)"
        case .accountNameNeeded: "this server does not say who signs in"
        case .accountMismatch: "the server's responses are about another person than the one who signs in"
        case .otherPerson: "the account is another person's at that server than the one who signed in"
        case .tokenInAccount: "the server calls the person by a token, which is a secret and no name"
        case .scopeMissing: "the server gave tokens without the scope that they are of no use without"
        case .otherOrigin: "the request goes to an origin that the provider's tokens must not be sent to"
        case .otherResource: "the request goes to another server than the one that the session's tokens are for"
        case .clientSecretMissing: "the provider needs a client secret, and none is kept"
        case .keyLost: "the key that the session is bound to is gone, or is another"
        case .otherAuthority: "the session belongs to another server or client than the provider names now"
        case .stepFailed(.authorizationURL): "the program's own way to make the authorization URL failed"
        case .stepFailed(.login): "the program's own way to exchange the response failed"
        case .stepFailed(.refresh): "the program's own way to refresh the session failed"
        case .superseded: "a newer sign-in took over"
        case .cancelled: "it was interrupted"
        }
    }

    public var hint: LogMessage? {
        switch code {
        case .userAgent(let error): error.hint
        case .oauth(let error): error.hint
        case .resource(let error): error.hint
        case .store(let error): error.hint
        case .notSignedIn: "\(Recovery.signIn)"
        case .noCurrentAccount: "\(Recovery.chooseAccount)"
        case .sessionEnded, .otherAuthority, .keyLost: "sign in again"
        case .refreshLost:
            "sign in again; SIGTERM ends a program when its refresh is stored, SIGKILL in the middle of it"
        case .tokensNotStored: "see that the store can be written, then sign in again"
        case .accountNameNeeded: "\(Recovery.nameAccount)"
        case .clientSecretMissing: "\(Recovery.saveClientSecret)"
        case .otherPerson: "sign out of the account first, or \(Recovery.nameAccount)"
        case .tokenInAccount: "don't use this server before whoever runs it has mended that"
        case .otherOrigin: "name the origin among the provider's own, if its server is to have the token"
        case .otherResource: "ask the account's own server; it passes on what is for others"
        case .accountMismatch, .scopeMissing, .stepFailed, .superseded, .cancelled: nil
        }
    }
}
