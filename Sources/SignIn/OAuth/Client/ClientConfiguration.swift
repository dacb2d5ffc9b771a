internal import LatchkeySystem

/// What a server knows of us: the client id, what we request, and where responses go. No secret is in it.
package struct ClientConfiguration: Sendable, Hashable {
    /// 1 to 2,048 printable ASCII characters (RFC 6749 appendix A.1).
    package let clientID: String
    package let redirect: RedirectURI
    package var scopes: ScopeList
    /// Sent with each authorization request, such as `access_type=offline` for Google.
    package let extraParameters: [AuthorizationParameter]

    package init(
        clientID: String, redirect: RedirectURI, scopes: ScopeList = [], extraParameters: [AuthorizationParameter] = []
    ) throws(OAuthError) {
        guard (1...2048).contains(clientID.utf8.count), clientID.utf8.allSatisfy({ ASCII.isVisible($0) }) else {
            throw OAuthError(.invalidConfiguration(.clientID))
        }
        self.clientID = clientID
        self.redirect = redirect
        self.scopes = scopes
        self.extraParameters = extraParameters
    }
}
