internal import LatchkeyHTTP
internal import LatchkeyJSON
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets

extension NetworkReach {
    /// Throws `.requirementMissing` for the first thing that AT Protocol's profile requires of an authorization server
    /// and that this one lacks, `.addressRefused` for an endpoint at an address that no request may go to.
    func check(_ server: AuthorizationServerMetadata) throws(ATProtocolError) {
        func require(_ holds: Bool, _ requirement: ATProtocolError.Requirement) throws(ATProtocolError) {
            guard holds else { throw ATProtocolError(.requirementMissing(requirement)) }
        }
        try require(server.pushedAuthorizationRequestEndpoint != nil, .pushedRequests)
        try require(server.requiresPushedRequests, .pushedRequestsRequired)
        try require(server.dpopAlgorithms?.contains("ES256") ?? false, .es256Proofs)
        try require(server.scopes?.contains("atproto") ?? false, .atprotoScope)
        try require(server.readsClientDocuments, .clientDocuments)
        try require(server.announcesIssuerInResponses, .issuerInResponses)
        try require(server.challengeMethods?.contains("S256") ?? false, .s256Challenge)
        try require(server.grantTypes?.contains("authorization_code") ?? false, .codeGrant)
        try require(server.grantTypes?.contains("refresh_token") ?? false, .refreshGrant)
        try require(server.clientAuthenticationMethods?.contains(.none) ?? false, .publicClients)
        let endpoints = [
            server.authorizationEndpoint, server.tokenEndpoint, server.pushedAuthorizationRequestEndpoint,
            server.revocationEndpoint,
        ]
        for case let endpoint? in endpoints { try check(endpoint) }
    }
}

/// The metadata of an account's server as a protected resource (RFC 9728): the server that authorizes for it.
struct ResourceMetadata: Sendable, Hashable {
    let authorizationServer: Issuer

    static let maximumByteCount = 64 << 10

    /// Requests the document at the server's well-known address.
    ///
    /// Throws `.invalidResourceMetadata`, `.refused`, `.network`, `.addressRefused` for an authorization server at an
    /// address that no request may go to.
    static func fetch(
        from server: HTTPURL, http: any HTTPTransport, reach: NetworkReach, log: RedactedLogger
    ) async throws(ATProtocolError) -> ResourceMetadata {
        guard let url = try? HTTPURL(server.origin + "/.well-known/oauth-protected-resource") else {
            throw ATProtocolError(.addressRefused)
        }
        try reach.check(url)
        let response = try await http.fetch(url, limit: maximumByteCount, log: log)
        switch response.status {
        case 200: break
        case 300...399: throw problem(.redirected)
        case 404, 410: throw problem(.notFound)
        default: throw ATProtocolError(.refused(statusCode: response.status))
        }
        let metadata = try ResourceMetadata(parsing: response.body, of: server)
        guard let issuer = try? HTTPURL(metadata.authorizationServer.text) else {
            throw problem(.malformedAuthorizationServer)
        }
        try reach.check(issuer)
        return metadata
    }

    private static func problem(_ problem: ATProtocolError.ResourceProblem) -> ATProtocolError {
        ATProtocolError(.invalidResourceMetadata(problem))
    }

    /// Reads the metadata, whose `resource` must be exactly the server's origin (RFC 9728 section 3.3), and which must
    /// name one authorization server by its origin.
    init(parsing body: borrowing Secret<MessageBody>, of server: HTTPURL) throws(ATProtocolError) {
        let limits = JSONLimits(byteCount: Self.maximumByteCount, depth: 8, valueCount: 1024, memberCount: 64)
        guard let document = try? JSONDocument(body.duplicate(), limits: limits), document.root.kind == .object else {
            throw Self.problem(.notJSON)
        }
        guard let resource = document.member("resource"),
            let text = try? document.publicText(resource, limit: HTTPURL.maximumByteCount),
            text.hasSameOctets(as: server.origin)
        else { throw Self.problem(.otherResource) }
        guard let list = document.member("authorization_servers") else {
            throw Self.problem(.withoutAuthorizationServer)
        }
        let servers = document.elements(of: list)
        guard let first = servers.first else { throw Self.problem(.withoutAuthorizationServer) }
        guard servers.count == 1 else { throw Self.problem(.severalAuthorizationServers) }
        guard let name = try? document.publicText(first, limit: HTTPURL.maximumByteCount),
            let url = try? HTTPURL(name), name.hasSameOctets(as: url.origin), let issuer = try? Issuer(name)
        else { throw Self.problem(.malformedAuthorizationServer) }
        authorizationServer = issuer
    }
}
