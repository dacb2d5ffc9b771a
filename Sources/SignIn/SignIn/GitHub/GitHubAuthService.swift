public import LatchkeyCredentials
public import LatchkeyHTTP
public import LatchkeyLog
public import LatchkeyOAuth

/// Signs people in at GitHub and keeps their tokens.
///
///     let store = GitHubCredentialStore(vault, leases: leases)
///     let service = try GitHubAuthService(config: GitHubOAuthConfig(clientID: "…"), store: store, context: context)
///     let user = try await service.signIn(presenting: browser)
///
/// It logs under `latchkey.github.auth`. No token, code, verifier or state is in its log or in its errors.
public actor GitHubAuthService {
    private let service: SignInService
    private let log: RedactedLogger

    /// Sends and reads nothing yet. Throws `.configuration` for a configuration that can't be used.
    ///
    /// - Parameters:
    ///   - config: which OAuth App signs in, and at which GitHub.
    ///   - store: keeps the tokens.
    ///   - context: the world that it runs in.
    ///   - makeClient: makes the client that asks GitHub whose token it is; it is lent the token.
    public init(
        config: GitHubOAuthConfig, store: GitHubCredentialStore, context: SignInContext,
        makeClient: GitHubClientFactory? = nil
    ) throws(GitHubAuthError) {
        var context = context
        context.log = context.log.category("latchkey.github.auth")
        let makeClient =
            makeClient ?? { [context] token in
                GitHubAPIClient(lent: token, endpoints: config.endpoints, http: context.http, log: context.log)
            }
        let provider = try mapError(GitHubAuthError.configuration, of: config.provider)
        log = context.log
        service = SignInService(provider: provider, sessions: store.sessions, context: context) {
            token, _ throws(SignInError) in
            let client = makeClient(token)
            return try await mappingError(SignInError.resource) { () async throws(GitHubAPIError) in
                let info = try await client.validateToken()
                return AccountIdentity(name: info.login, subject: info.id.map(String.init))
            }
        }
    }

    // MARK: - Signing in and out

    /// Signs a user in, asks GitHub for the login, stores the token under the login, and makes that login the current
    /// one.
    ///
    /// A new attempt cancels the one before it, which throws `.cancelled`. A token that can't be stored is revoked, if
    /// the OAuth App's secret is known.
    ///
    /// Throws `.userAgentUnavailable`, `.userCancelled`, `.accessDenied`, `.timedOut`, `.store`, or why GitHub gave no
    /// token (`.exchangeFailed`, `.networkError`) or no login (`.apiError`).
    ///
    /// - Parameters:
    ///   - agent: the user agent to sign in with.
    ///   - deadline: the time limit for the user (default: ten minutes from now).
    @discardableResult
    public func signIn(
        presenting agent: UserAgent, deadline: Deadline = .after(.seconds(600))
    ) async throws(GitHubAuthError) -> GHAuthInfo {
        GHAuthInfo(
            try await mapError(
                GitHubAuthError.init, awaiting: await service.signIn(presenting: agent, deadline: deadline)))
    }

    /// Revokes a login's token where that is possible, and deletes it in any case.
    ///
    /// - Parameter login: the current one unless told otherwise.
    @discardableResult
    public func signOut(login: String? = nil) async -> SignOutReport { await service.signOut(login) }

    // MARK: - Who is signed in

    /// Returns the current user, or `nil`: no account is signed in, or the store can't be read. ``account()`` tells
    /// which.
    public func currentUser() async -> GHAuthInfo? {
        do throws(GitHubAuthError) {
            return try await account()
        } catch {
            log.info("can't find out the current user: \(error)")
            return nil
        }
    }

    /// Returns the current user, or `nil` when no account is signed in. Throws `.store` for a store that is locked or can't
    /// be read.
    public func account() async throws(GitHubAuthError) -> GHAuthInfo? {
        try await mapError(GitHubAuthError.init, awaiting: await service.currentAccount().map(GHAuthInfo.init))
    }

    /// Returns all users with a token.
    ///
    /// Throws `.store` for a store that can't be read. No user is an empty list.
    public func accounts() async throws(GitHubAuthError) -> [GHAuthInfo] {
        try await mapError(GitHubAuthError.init, awaiting: await service.accounts().map(GHAuthInfo.init))
    }

    /// Makes a login the current one.
    ///
    /// Throws `.notSignedIn` if the login has no token, `.sessionEnded` if its session is another client's, and
    /// `.store`.
    public func use(login: String) async throws(GitHubAuthError) {
        try await mapError(GitHubAuthError.init, awaiting: await service.use(login))
    }

    // MARK: - Using the token

    /// Returns a login's token, refreshed first when it is about to end, as a GitHub App's does.
    ///
    /// Throws `.notSignedIn`, `.noCurrentAccount`, `.sessionEnded`, or why the refresh failed.
    public func accessToken(login: String? = nil) async throws(GitHubAuthError) -> Secret<AccessToken> {
        return try await mapError(GitHubAuthError.init, awaiting: await service.accessToken(for: login))
    }

    /// Sends a request to GitHub's API with a login's token.
    ///
    /// The response is returned whatever its status. Throws `.otherOrigin` for another server, where nothing is sent,
    /// and as ``accessToken(login:)``.
    public func send(
        _ request: consuming GuardedRequest, login: String? = nil, limits: TransferLimits = TransferLimits()
    ) async throws(GitHubAuthError) -> GuardedResponse {
        do throws(SignInError) {
            return try await service.send(request, account: login, limits: limits)
        } catch {
            throw GitHubAuthError(error)
        }
    }
}

/// The login of the user at GitHub, and its scopes.
public struct GHAuthInfo: Sendable, Hashable, Loggable {
    /// The name of the account, which its owner can change; of a token made elsewhere, the name it was saved under.
    public let login: String
    /// GitHub's number for the account, which stays when the login changes.
    public let id: Int64?
    /// The granted scopes, which may be fewer than the requested ones.
    public let scopes: ScopeList

    /// Creates the value for a separate ``GitHubClient``. The token is stored under `login`.
    public init(login: String, id: Int64? = nil, scopes: ScopeList = []) {
        self.login = login
        self.id = id
        self.scopes = scopes
    }

    init(_ summary: SessionSummary) {
        self.init(login: summary.account, id: summary.subject.flatMap(Int64.init), scopes: summary.scopes)
    }

    /// Safe: a public name and names of permissions.
    public var logMessage: LogMessage {
        let login = LoggableText(reviewed: "a login is public on GitHub", unredacted: login)
        return "\(login) with the scopes \(scopes)"
    }
}
