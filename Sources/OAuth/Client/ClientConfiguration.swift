/// What a server knows of us: the client id, what we ask for, and where answers go. No secret is in it.
public struct ClientConfiguration: Sendable, Hashable {
    /// 1 to 2,048 printable ASCII characters (RFC 6749 appendix A.1).
    public let clientID: String
    public let redirect: RedirectURI
    public var scopes: ScopeList
    /// Sent with each authorization request, such as `access_type=offline` for Google.
    public let extraParameters: [AuthorizationParameter]

    public init(
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
