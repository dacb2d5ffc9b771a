public import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
public import LatchkeySecrets

/// Stores GitHub's tokens in any ``CredentialStore``: one item for each login, one for the name of the current login,
/// and the OAuth App's secret if there is one.
public struct GitHubCredentialStore: Sendable {
    let sessions: SessionStore

    /// Reads and writes nothing yet.
    ///
    /// - Parameters:
    ///   - store: where the items are.
    ///   - provider: another name for each Enterprise host keeps their logins apart.
    ///   - leases: where this user's processes agree on who writes.
    public init(_ store: any CredentialStore, provider: ProviderName = .gitHub, leases: LeaseDirectory) {
        sessions = SessionStore(store: store, provider: provider.text, leases: leases)
    }

    /// Returns the token of a login, or `nil`. The token isn't refreshed; see
    /// ``GitHubAuthService/accessToken(login:)``.
    ///
    /// Throws what the store throws, and `corrupted` if the item isn't a session.
    public func token(for login: String) async throws(StoreError) -> Secret<AccessToken>? {
        guard let session = try await sessions.load(login) else { return nil }
        return session.accessToken.duplicate()
    }

    /// Keeps a token that was made elsewhere, such as one from GitHub's settings, under a login.
    ///
    /// Throws what the store throws, `busy` when another process holds the login's lease for 30 s, and `unsupported`
    /// for a token that no request can carry: an empty one, or one with a space or a line break.
    public func save(
        _ token: borrowing Secret<AccessToken>, for login: String, config: GitHubOAuthConfig,
        now: UnixTime = .now()
    ) async throws(StoreError) {
        guard token.isToken else {
            throw StoreError(.unsupported, "the token is empty, too long, or has characters that no token has")
        }
        let lease = try await sessions.lease(login, deadline: .standard)
        try await sessions.save(
            StoredSession(
                authority: config.endpoints.issuer?.text ?? config.endpoints.token.text, clientID: config.clientID,
                account: login, subject: nil, scopes: [], issued: now, expiry: nil,
                accessToken: token.duplicate(), refreshToken: nil))
        lease.release()
    }

    /// Deletes the token of a login without revoking it, and returns whether there was one.
    ///
    /// Throws what the store throws.
    @discardableResult
    public func deleteToken(for login: String) async throws(StoreError) -> Bool {
        try await sessions.delete(login)
    }

    /// Returns all logins with a token, in order.
    ///
    /// Throws what the store throws.
    public func logins() async throws(StoreError) -> [String] { try await sessions.accounts() }

    /// Returns the login that was made the current one, or `nil`.
    ///
    /// Throws what the store throws.
    public func currentAccount() async throws(StoreError) -> String? { try await sessions.currentAccount() }

    /// Names the current login, without a look at whether it has a token; ``GitHubAuthService/use(login:)`` looks.
    ///
    /// Throws what the store throws.
    public func setCurrentAccount(_ login: String) async throws(StoreError) {
        try await sessions.setCurrentAccount(login)
    }

    /// Keeps an OAuth App's secret, which GitHub's web flow wants even with PKCE.
    ///
    /// Throws what the store throws.
    public func saveClientSecret(
        _ secret: borrowing Secret<ClientSecret>, clientID: String
    ) async throws(StoreError) {
        try await sessions.store.save(secret, for: try sessions.key(clientID, kind: .clientSecret))
    }
}
