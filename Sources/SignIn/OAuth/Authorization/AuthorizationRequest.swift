internal import LatchkeyHTTP

/// What will be requested of an authorization endpoint (RFC 6749 section 4.1.1). It holds no secret yet.
package struct AuthorizationRequest: Sendable {
    package let server: AuthorizationServerMetadata
    package let client: ClientConfiguration
    /// Where the response goes; the client's redirect with the listener's port in it.
    package let redirect: RedirectURI
    /// Of the key that the code and its tokens will be bound to (RFC 9449 section 10), if any.
    package let keyThumbprint: String?

    /// - Parameters:
    ///   - redirect: the client's own unless the listener chose the port of a loopback address.
    ///   - dpop: the signer of the key that the code and its tokens will be bound to.
    ///
    /// Throws `.invalidConfiguration`: `.redirectPort` when a loopback address has no port yet, `.redirect` when it is
    /// not the client's but for the port. Throws `.invalidMetadata(.withoutES256)` when the server doesn't take our
    /// proofs.
    package init(
        server: AuthorizationServerMetadata, client: ClientConfiguration, redirect: RedirectURI? = nil,
        dpop: DPoPProofSigner? = nil
    ) throws(OAuthError) {
        try self.init(server: server, client: client, redirect: redirect, keyThumbprint: dpop?.thumbprint)
    }

    /// The same by the thumbprint of a key, for an attempt that goes on in another process.
    package init(
        server: AuthorizationServerMetadata, client: ClientConfiguration, redirect: RedirectURI? = nil,
        keyThumbprint: String?
    ) throws(OAuthError) {
        let redirect = redirect ?? client.redirect
        guard !redirect.needsPort else { throw OAuthError(.invalidConfiguration(.redirectPort)) }
        let registered = client.redirect
        let isRegistered =
            redirect == registered || (registered.needsPort && redirect == registered.withPort(redirect.port ?? 0))
        guard isRegistered else { throw OAuthError(.invalidConfiguration(.redirect)) }
        guard keyThumbprint == nil || server.dpopAlgorithms?.contains("ES256") ?? true else {
            throw OAuthError(.invalidMetadata(.withoutES256))
        }
        self.keyThumbprint = keyThumbprint
        self.server = server
        self.client = client
        self.redirect = redirect
    }

    /// Microsoft's servers issue a refresh token for `offline_access` without consent. With `prompt=consent` they refuse
    /// people whose administrator has consented for the whole organization (AADSTS90094).
    private static let hostsWithoutConsentPrompt: Set<String> = [
        "login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
    ]

    /// Whether the person must be asked for consent again: strict servers ignore the scope `offline_access` otherwise,
    /// and issue no refresh token (OpenID Connect Core section 11). A `prompt` among the client's own parameters is sent
    /// instead.
    var promptsForConsent: Bool {
        client.scopes.contains("offline_access") && !client.extraParameters.contains { $0.name == "prompt" }
            && !Self.hostsWithoutConsentPrompt.contains(server.authorizationEndpoint.host)
    }

    /// Begins one attempt: a fresh code verifier, a fresh state, and a fresh nonce when `openid` is among the scopes.
    package func begin(random: RandomSource) throws(OAuthError) -> PendingAuthorization {
        try PendingAuthorization(self, random: random)
    }
}
