public import LatchkeyOAuth

/// Which OAuth App signs in at which GitHub.
public struct GitHubOAuthConfig: Sendable, Hashable {
    /// From the app's settings at GitHub; no secret. 1 to 2,048 printable ASCII characters (RFC 6749 appendix A.1).
    public var clientID: String
    /// Names of permissions, such as `repo` and `read:org`.
    public var scopes: ScopeList
    /// Where responses come to: a loopback address, or a private-use scheme by explicit choice.
    /// `nil` for a loopback address of this GitHub's own, with whichever port is free.
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
