internal import LatchkeyJSON
public import LatchkeyHTTP
public import LatchkeyLog
internal import LatchkeyOAuth
public import LatchkeySecrets
internal import LatchkeySystem

/// What GitHub's API responded instead of what was requested.
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

/// The client that a ``GitHubAuthService`` makes unless it is given another.
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
        let response = try await get("/user")
        let scopes = response.field("X-OAuth-Scopes").flatMap { try? ScopeList(text: $0, separatedByComma: true) }
        guard let document = try? JSONDocument(response.body.duplicate()), let member = document.member("login"),
            let login = try? document.publicText(member, limit: 255), !login.isEmpty
        else { throw ResourceError(.invalidResponse) }
        let id = document.member("id").flatMap { try? document.integer($0) }
        return GHAuthInfo(login: login, id: id, scopes: scopes ?? [])
    }

    private func get(_ path: String) async throws(GitHubAPIError) -> GuardedResponse {
        guard let url = try? endpoints.resource(path), let accept = HeaderField("Accept", "application/vnd.github+json")
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
        return response
    }
}
