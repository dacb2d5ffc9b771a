public import LatchkeyOAuth

extension OAuthProvider {
    /// Any OpenID or OAuth server that publishes its metadata.
    ///
    /// - Parameters:
    ///   - name: chosen by the person.
    ///   - scopes: `openid` requests an ID token; `offline_access` is what many servers want for a refresh token.
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
