public import LatchkeyHTTP
internal import LatchkeyJSON
public import LatchkeyLog
public import LatchkeyOAuth

/// An error response of GitHub's API.
public typealias GitHubAPIError = ResourceError

/// A client of GitHub's API that holds one access token.
public protocol GitHubClient: Sendable {
    /// Asks GitHub whose token it is (`GET /user`).
    ///
    /// Throws `unauthorized` for a token that GitHub doesn't accept.
    func validateToken() async throws(GitHubAPIError) -> GHAuthInfo
}

/// Makes a client from a token that it is lent: to keep it, the client duplicates it.
public typealias GitHubClientFactory = @Sendable (borrowing Secret<AccessToken>) -> any GitHubClient

/// The default client of a ``GitHubAuthService``.
public final class GitHubAPIClient: GitHubClient {
    private let token: Secret<AccessToken>
    private let endpoints: GitHubEndpoints
    private let http: any HTTPTransport
    private let log: RedactedLogger

    /// Keeps a duplicate of the token as long as the client lives. Sends nothing yet.
    public init(
        lent token: borrowing Secret<AccessToken>, endpoints: GitHubEndpoints = .gitHub, http: any HTTPTransport,
        log: RedactedLogger = .disabled
    ) {
        self.token = token.duplicate()
        self.endpoints = endpoints
        self.http = http
        self.log = log
    }

    public func validateToken() async throws(GitHubAPIError) -> GHAuthInfo {
        guard let url = try? endpoints.resource("/user"),
            let accept = HeaderField("Accept", "application/vnd.github+json")
        else { throw ResourceError(.invalidResponse) }
        var request = GuardedRequest(.get, url, fields: [accept])
        try mapError({ (_: OAuthError) in ResourceError(.unauthorized) }, of: request.authorize(bearer: token))
        let response: GuardedResponse
        do throws(TransportError) {
            response = try await http.send(request)
        } catch {
            throw ResourceError(.networkError(error))
        }
        let status = response.status
        log.debug("GET \(url): status \(status)")
        if let error = ResourceError(response) { throw error }
        let scopes = response.field("X-OAuth-Scopes").flatMap { try? ScopeList(text: $0, separatedByComma: true) }
        guard let document = try? JSONDocument(response.body.duplicate()), let member = document.member("login"),
            let login = try? document.publicText(member, limit: 255), !login.isEmpty
        else { throw ResourceError(.invalidResponse) }
        let id = document.member("id").flatMap { try? document.integer($0) }
        return GHAuthInfo(login: login, id: id, scopes: scopes ?? [])
    }
}

/// Which OAuth App signs in at which GitHub.
public struct GitHubOAuthConfig: Sendable, Hashable {
    /// From the app's settings at GitHub; no secret. 1 to 2,048 printable ASCII characters (RFC 6749 appendix A.1).
    public var clientID: String
    /// Names of permissions, such as `repo` and `read:org`.
    public var scopes: ScopeList
    /// The redirect URI: a loopback address, or a private-use scheme by explicit choice. `nil` is a loopback address of
    /// this GitHub instance with any free port.
    public var redirect: RedirectURI?
    /// github.com's unless told otherwise; ``GitHubEndpoints/enterprise(host:)`` has those of an Enterprise Server.
    public var endpoints: GitHubEndpoints

    /// Nothing is checked before a ``GitHubAuthService`` is made with it.
    ///
    /// - Parameters:
    ///   - clientID: the OAuth App's; its secret, where there is one, is read from the store (see
    ///     ``GitHubCredentialStore/saveClientSecret(_:clientID:)``).
    ///   - scopes: what is requested.
    ///   - redirect: where responses come to; `nil` for a loopback address of this GitHub's own.
    ///   - endpoints: github.com's unless told otherwise.
    public init(
        clientID: String, scopes: ScopeList = ["repo"], redirect: RedirectURI? = nil,
        endpoints: GitHubEndpoints = .gitHub
    ) {
        self.clientID = clientID
        self.scopes = scopes
        self.redirect = redirect
        self.endpoints = endpoints
    }

    /// A client id that GitHub doesn't know, for tests against other servers.
    public static let placeholder = GitHubOAuthConfig(clientID: "placeholder")

    var provider: OAuthProvider {
        get throws(OAuthError) {
            try OAuthProvider.gitHub(clientID: clientID, scopes: scopes, redirect: redirect, endpoints: endpoints)
        }
    }
}
