internal import LatchkeyJSON
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets

/// What an account's own server says of itself as a protected resource (RFC 9728): which server authorizes for it.
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
