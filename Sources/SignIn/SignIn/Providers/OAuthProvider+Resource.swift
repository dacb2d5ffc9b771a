public import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyLoopback
public import LatchkeyOAuth

extension OAuthProvider {
    /// The server of a resource that names it (RFC 9728), such as an MCP server. The session's tokens are for that
    /// resource, so they only go to its origin.
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
        let found = try await ResourceServer(of: address, issuer, scopes, context)
        return try mapError(
            SignInError.oauth, of: found.provider(name, clientID: clientID, redirect: redirect, proof: proof))
    }

    /// The same for a program without a client ID: the server registers a client (RFC 7591), once for all processes that
    /// share a store, which keeps it. Its redirect URI is a loopback address with a fixed port.
    ///
    /// Throws as the function above, `.oauth` with `.invalidMetadata(.withoutRegistration)` or
    /// `.requestRefused(.registration, …)`, and `.store`, with `busy` if another process takes longer than 30 s.
    ///
    /// - Parameters:
    ///   - address: the resource's address.
    ///   - name: chosen by the person.
    ///   - program: the program's name on the server's pages.
    ///   - store: the store for the client.
    ///   - issuer: the server, if the resource names several.
    ///   - scopes: by default those that the resource asks for.
    ///   - context: the network and the log.
    public static func resource(
        _ address: String, name: ProviderName, registeredAs program: String, in store: any CredentialStore,
        issuer: Issuer? = nil, scopes: ScopeList? = nil, context: SignInContext
    ) async throws(SignInError) -> OAuthProvider {
        let found = try await ResourceServer(of: address, issuer, scopes, context)
        let method = try mapError(
            SignInError.oauth,
            of: ClientAuthentication.methodToRegister(offered: found.metadata.clientAuthenticationMethods))
        let clients = StoredClients(store: store, provider: name, host: found.server.text, deadline: .standard)
        let lease = try await mapError(SignInError.store, awaiting: await clients.lease(context.leases))
        if let known = try await mapError(SignInError.store, awaiting: await clients.load()),
            let redirect = try? RedirectURI(known.redirect),
            let former = try? found.provider(
                name, clientID: known.clientID, redirect: redirect,
                proof: ClientProof(known.method ?? method)),
            known.serves(former)
        {
            let hasSecret = try await mapError(SignInError.store, awaiting: await clients.hasSecret(of: former))
            if hasSecret || former.proof == .none { return former }
        }
        let redirect = try mapError(SignInError.oauth, of: RedirectURI.loopback(authority: found.server.text))
            .withFreePort()
        let identity = try await found.register(
            ClientRegistration(name: program, redirects: [redirect], scopes: found.scopes, method: method), context)
        let provider = try mapError(
            SignInError.oauth,
            of: found.provider(
                name, clientID: identity.clientID, redirect: redirect, proof: ClientProof(identity.method)))
        try await mapError(SignInError.store, awaiting: await clients.save(identity, as: provider))
        context.log.info("registered a client at \(found.server)")
        lease.release()
        return provider
    }

    /// A machine's client, which gets tokens without a sign-in. ``SignInService`` requests a token at the first
    /// `accessToken()` or `send(_:)`. It requests the next one shortly before the end of the last one, once for all
    /// processes that share a store.
    ///
    /// Nothing is requested yet. Throws `.invalidConfiguration` for a client ID that no server takes.
    ///
    /// - Parameters:
    ///   - issuer: the server's name for itself.
    ///   - name: of your choice; also the name of the account.
    ///   - clientID: as the server gave it.
    ///   - grant: what the server gives tokens for.
    ///   - scopes: none by default.
    ///   - proof: the secret, or the private key, is stored under ``SignInService/clientSecretKey(of:)``. Public by
    ///     default, which servers refuse for `.clientCredentials` (RFC 6749 section 4.4).
    public static func machine(
        _ issuer: Issuer, name: ProviderName, clientID: String, grant: MachineGrant, scopes: ScopeList = [],
        proof: ClientProof = .none
    ) throws(OAuthError) -> OAuthProvider {
        var provider = try OAuthProvider.issuer(issuer, name: name, clientID: clientID, scopes: scopes, proof: proof)
        provider.machine = grant
        return provider
    }

    /// A resource's server must announce PKCE with S256.
    func check(_ metadata: AuthorizationServerMetadata) throws(OAuthError) {
        guard resource == nil || metadata.challengeMethods?.contains("S256") == true else {
            throw OAuthError(.invalidMetadata(.withoutS256))
        }
    }
}

extension OAuthProvider.ClientProof {
    fileprivate init(_ method: ClientAuthentication.Method) { self = method == .none ? .none : .secret(method) }
}

/// A resource, and the server that gives tokens for it.
private struct ResourceServer {
    let resource: ProtectedResource
    let server: Issuer
    let metadata: AuthorizationServerMetadata
    let scopes: ScopeList

    init(
        of address: String, _ issuer: Issuer?, _ scopes: ScopeList?, _ context: SignInContext
    ) async throws(SignInError) {
        (resource, server, metadata, self.scopes) = try await mappingError(SignInError.oauth) {
            () async throws(OAuthError) in
            let found = try await ProtectedResource.discover(address, over: context.http, log: context.log)
            guard let server = issuer ?? found.servers.first, found.servers.contains(server),
                issuer != nil || found.servers.count == 1
            else { throw OAuthError(.invalidMetadata(found.servers.isEmpty ? .notFound : .elsewhere)) }
            let metadata = try await AuthorizationServerMetadata.discover(
                server, over: context.http.reaching(found.reach), log: context.log)
            let wanted = if let scopes { scopes } else { try metadata.withRefreshToken(found.scopes) }
            return (found, server, metadata, wanted)
        }
    }

    func provider(
        _ name: ProviderName, clientID: String, redirect: RedirectURI?, proof: OAuthProvider.ClientProof
    ) throws(OAuthError) -> OAuthProvider {
        var provider = try OAuthProvider.issuer(
            server, name: name, clientID: clientID, scopes: scopes, redirect: redirect, proof: proof)
        provider.resource = resource.identifier
        try provider.check(metadata)
        return provider
    }

    func register(
        _ client: ClientRegistration, _ context: SignInContext
    ) async throws(SignInError) -> ClientIdentity {
        try await mappingError(SignInError.oauth) { () async throws(OAuthError) in
            let http = context.http.reaching(resource.reach)
            guard let endpoint = RegistrationEndpoint(server: metadata, http: http, log: context.log) else {
                throw OAuthError(.invalidMetadata(.withoutRegistration))
            }
            return try await endpoint.register(client)
        }
    }
}

extension AuthorizationServerMetadata {
    /// The scopes, with `offline_access` if the server lists it.
    package func withRefreshToken(_ scopes: ScopeList) throws(OAuthError) -> ScopeList {
        try ScopeList(scopes.scopes + (self.scopes?.contains("offline_access") == true ? ["offline_access"] : []))
    }
}

extension RedirectURI {
    /// The ports of redirect addresses that are registered. No program gets one of them by chance: the kernel gives
    /// outgoing connections ports below (`net.ipv4.ip_local_port_range`).
    private static let registeredPorts: ClosedRange<UInt16> = 61_000...65_535

    /// A loopback address with a port that is free now. Some servers compare the whole address, against RFC 8252 section
    /// 7.3, and show the person a page instead of a response; so the port is fixed from the start.
    package func withFreePort() -> RedirectURI {
        guard needsPort else { return self }
        let family: LoopbackServer.Family = loopbackAddress == .ipv6 ? .ipv6 : .ipv4
        for _ in 0..<20 {
            let port = UInt16.random(in: Self.registeredPorts)
            let trial = try? LoopbackServer(LoopbackServer.Configuration(family: family, port: port)) { _ in
                LoopbackResponse(status: 404)
            }
            guard let trial else { continue }
            trial.stop()
            return withPort(port)
        }
        return self
    }
}
