public import LatchkeyLog

/// What a sign-out did. The session is deleted even when the server can't be reached.
public struct SignOutReport: Sendable, Hashable, Loggable {
    /// Whether the tokens are still good at the server (RFC 7009, or the provider's own way).
    public enum Revocation: Sendable, Hashable {
        /// The server no longer accepts the tokens.
        case revoked
        /// The server has no way to revoke them; they end by themselves, or on a page of the service.
        case unsupported
        /// There was no session.
        case notNeeded
        /// The server didn't do it, or could not be reached: the tokens may still be good.
        case failed(SignInError)
    }

    /// Whether the session is still in the store.
    public enum Deletion: Sendable, Hashable {
        /// It was there, and is gone.
        case deleted
        /// There was no session.
        case absent
        /// It may still be there.
        case failed(SignInError)
    }

    /// `nil` when no account was signed in, or it could not be told who.
    public let account: String?
    /// `.notNeeded` also where the sign-out ended before the server was told.
    public let revocation: Revocation
    /// `.failed` when the store refused, when it can't be told which account is meant, or when the task was cancelled
    /// before the server was told.
    public let deletion: Deletion

    package init(account: String?, revocation: Revocation, deletion: Deletion) {
        self.account = account
        self.revocation = revocation
        self.deletion = deletion
    }

    /// Whether there is no session here any more.
    public var isSignedOut: Bool {
        switch deletion {
        case .deleted, .absent: true
        case .failed: false
        }
    }

    /// Safe: words of ours and errors that hold no secret.
    public var logMessage: LogMessage {
        let revocation: LogMessage =
            switch revocation {
            case .revoked: "the tokens were revoked"
            case .unsupported: "the server can't revoke tokens"
            case .notNeeded: "there was nothing to revoke"
            case .failed(let error): "the tokens were not revoked: \(error)"
            }
        let deletion: LogMessage =
            switch deletion {
            case .deleted: "the session was deleted"
            case .absent: "there was no session"
            case .failed(let error): "the session was not deleted: \(error)"
            }
        return "\(revocation); \(deletion)"
    }
}
