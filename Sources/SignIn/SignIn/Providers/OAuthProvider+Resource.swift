internal import LatchkeyHTTP
public import LatchkeyOAuth
internal import LatchkeySystem

extension OAuthProvider {
    /// The server of a resource that names it (RFC 9728), such as an MCP server. The session's tokens are for that
    /// resource, and are sent to its origin and nowhere else.
    ///
    /// Asks the resource, without a token, and its server. Throws `.oauth` with `.invalidConfiguration(.resource)` for
    /// anything but an HTTPS or loopback URL; with `.invalidMetadata` for a resource that doesn't name a server, or
    /// several without `issuer` among them, for metadata of another resource, and for a server without S256;
    /// `.networkError`.
    ///
    /// - Parameters:
    ///   - address: the resource's address.
    ///   - name: chosen by the person.
    ///   - clientID: as the server gave it, or the address of a client metadata document.
    ///   - issuer: the server, if the resource names several.
    ///   - scopes: by default those that the resource asks for.
    ///   - redirect: by default a loopback address at any free port.
    ///   - proof: public by default.
    ///   - context: the network and the log.
    public static func resource(
        _ address: String, name: ProviderName, clientID: String, issuer: Issuer? = nil, scopes: ScopeList? = nil,
        redirect: RedirectURI? = nil, proof: ClientProof = .none, context: SignInContext
    ) async throws(SignInError) -> OAuthProvider {
        try await mappingError(SignInError.oauth) { () async throws(OAuthError) in
            let found = try await ProtectedResource.discover(address, over: context.http, log: context.log)
            guard let server = issuer ?? found.servers.first, found.servers.contains(server),
                issuer != nil || found.servers.count == 1
            else { throw OAuthError(.invalidMetadata(found.servers.isEmpty ? .notFound : .elsewhere)) }
            let metadata = try await AuthorizationServerMetadata.discover(
                server, over: context.http.reaching(found.reach), log: context.log)
            let wanted = if let scopes { scopes } else { try metadata.withRefreshToken(found.scopes) }
            var provider = try OAuthProvider.issuer(
                server, name: name, clientID: clientID, scopes: wanted, redirect: redirect, proof: proof)
            provider.resource = found.identifier
            try provider.check(metadata)
            return provider
        }
    }

    /// A resource's server must announce PKCE with S256.
    func check(_ metadata: AuthorizationServerMetadata) throws(OAuthError) {
        guard resource == nil || metadata.challengeMethods?.contains("S256") == true else {
            throw OAuthError(.invalidMetadata(.withoutS256))
        }
    }
}

extension AuthorizationServerMetadata {
    /// The scopes, with `offline_access` if the server lists it.
    package func withRefreshToken(_ scopes: ScopeList) throws(OAuthError) -> ScopeList {
        try ScopeList(scopes.scopes + (self.scopes?.contains("offline_access") == true ? ["offline_access"] : []))
    }
}
