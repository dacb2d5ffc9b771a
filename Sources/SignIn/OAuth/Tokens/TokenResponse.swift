public import LatchkeySecrets

/// What a token endpoint gave (RFC 6749 section 5.1).
public struct TokenResponse: ~Copyable, Sendable {
    /// How a token is used (RFC 6749 section 7.1).
    public enum TokenType: Sendable, Hashable, CaseIterable {
        /// By whoever has it (RFC 6750).
        case bearer
        /// With a proof of the key that it is bound to (RFC 9449).
        case dpop
    }

    package let type: TokenType
    package let accessToken: Secret<AccessToken>
    /// The token to refresh with: the new one, or after a refresh without a new one the old one; `nil` when there is
    /// none.
    package let refreshToken: Secret<RefreshToken>?
    /// Checked (issuer, audience, expiry, nonce) and kept only when `openid` was requested.
    package let idToken: Secret<IDToken>?
    /// The `sub` of the ID token: who signed in, in the server's own terms.
    package let subject: String?
    /// How long the access token lives from the response on, in seconds; `nil` when the server doesn't say.
    package let expiresInSeconds: Int64?
    /// How long the refresh token lives, in seconds; GitHub says so.
    package let refreshTokenExpiresInSeconds: Int64?
    /// What was granted; `nil` when the server doesn't say, which means what was requested (RFC 6749 section 5.1).
    package let grantedScopes: ScopeList?
    /// The response's own `sub`, which AT Protocol's servers send: whose tokens these are, in the word of the server
    /// alone.
    package internal(set) var namedSubject: String?
    /// How the server took Basic credentials; keep it with the session for `ClientAuthentication.secretBasic(_:form:)`.
    package internal(set) var acceptedBasicForm: ClientAuthentication.BasicForm?

    /// Tokens that a caller's own server gave; nobody has checked who they are for.
    ///
    /// - Parameters:
    ///   - accessToken: what requests are sent with.
    ///   - refreshToken: `nil` after a refresh: the old one stays.
    ///   - expiresInSeconds: how long the access token lives from now on.
    ///   - grantedScopes: `nil`: what was requested.
    ///   - type: what the server calls them; where a key was requested, bearer tokens are refused.
    public init(
        accessToken: consuming Secret<AccessToken>, refreshToken: consuming Secret<RefreshToken>? = nil,
        expiresInSeconds: Int64? = nil, grantedScopes: ScopeList? = nil, type: TokenType = .bearer
    ) {
        self.init(
            accessToken: accessToken, refreshToken: refreshToken, idToken: nil, subject: nil,
            expiresInSeconds: expiresInSeconds, refreshTokenExpiresInSeconds: nil, grantedScopes: grantedScopes,
            type: type)
    }

    init(
        accessToken: consuming Secret<AccessToken>, refreshToken: consuming Secret<RefreshToken>?,
        idToken: consuming Secret<IDToken>?, subject: String?, expiresInSeconds: Int64?,
        refreshTokenExpiresInSeconds: Int64?, grantedScopes: ScopeList?, type: TokenType
    ) {
        self.type = type
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.subject = subject
        self.expiresInSeconds = expiresInSeconds
        self.refreshTokenExpiresInSeconds = refreshTokenExpiresInSeconds
        self.grantedScopes = grantedScopes
    }
}
