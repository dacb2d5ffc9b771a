public import LatchkeyOAuth

extension OAuthProvider {
    /// Any OpenID or OAuth server that publishes its metadata (RFC 8414, OpenID Connect Discovery).
    ///
    /// Nothing is requested yet. Throws `.invalidConfiguration` for a client id that no server takes.
    ///
    /// - Parameters:
    ///   - issuer: the server's name for itself.
    ///   - name: chosen by the person.
    ///   - clientID: as the server gave it.
    ///   - scopes: `openid` requests an ID token; `offline_access` is what many servers want for a refresh token.
    ///   - redirect: `nil` for a loopback address of this server's own, at any free port.
    ///   - parameters: more of the authorization request, such as `audience`.
    ///   - proof: public unless told otherwise.
    ///   - usesDPoP: whether tokens are bound to a key (RFC 9449). A server that gives others then is refused.
    public static func issuer(
        _ issuer: Issuer, name: ProviderName, clientID: String, scopes: ScopeList = ["openid"],
        redirect: RedirectURI? = nil, parameters: [AuthorizationParameter] = [], proof: ClientProof = .none,
        usesDPoP: Bool = false
    ) throws(OAuthError) -> OAuthProvider {
        try OAuthProvider(
            name: name, server: .issuer(issuer), clientID: clientID, scopes: scopes, redirect: redirect,
            parameters: parameters, proof: proof, usesDPoP: usesDPoP)
    }
}
