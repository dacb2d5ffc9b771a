package import LatchkeyHTTP
package import LatchkeyLog

/// A resource that says which servers give tokens for it (RFC 9728).
package struct ProtectedResource: Sendable, Hashable {
    /// The resource's name for itself, sent unchanged (RFC 8707 section 2).
    package let identifier: String
    /// At most 16. Empty if the resource names none.
    package let servers: [Issuer]
    /// The scopes to ask for: those of its challenge, otherwise those that its metadata lists.
    package let scopes: ScopeList
    /// The addresses that its servers may have: a resource at a public address may not lead into a private network.
    package let reach: AddressReach

    private static let limits = TransferLimits(maximumBodyByteCount: 256 << 10, timeout: .seconds(30))
    private static let maximumServerCount = 16

    /// The identifier that a person's text is, without a slash that means nothing.
    ///
    /// Throws `.invalidConfiguration(.resource)` for anything but an HTTPS or loopback URL without query, fragment and
    /// user name.
    package static func identifier(_ text: String) throws(OAuthError) -> String {
        let url = try url(text)
        return url.path == "/" ? url.origin : url.origin + url.path
    }

    private static func url(_ text: String) throws(OAuthError) -> HTTPURL {
        let url = try mapError({ (_: InvalidValue) in OAuthError(.invalidConfiguration(.resource)) }, of: HTTPURL(text))
        guard url.isConfidential, url.query == nil else { throw OAuthError(.invalidConfiguration(.resource)) }
        return url
    }

    /// Sends the resource a request without a token. Then requests the resource's metadata: at the address in its
    /// challenge, otherwise at the well-known addresses.
    ///
    /// Throws `.invalidConfiguration(.resource)`; `.invalidMetadata`: `.notFound` for a resource without metadata,
    /// `.otherResource` for metadata of another one, `.elsewhere` for metadata at another origin and for a server in
    /// plain text; `.discoveryFailed`; `.networkError`.
    package static func discover(
        _ text: String, over http: any HTTPTransport, log: RedactedLogger = .disabled
    ) async throws(OAuthError) -> ProtectedResource {
        let asked = try identifier(text)
        let url = try url(asked)
        let (challenge, isPrivate) = try await challenge(at: url, http, log)
        for address in try addresses(of: url, challenge?.resourceMetadata) {
            let response = try await http.response(
                to: GuardedRequest(.get, address, fields: EndpointFields.json), limits: limits, log: log)
            switch response.status {
            case 200...299:
                guard response.field("Content-Type").map(AuthorizationServerMetadata.isJSON) ?? true else { continue }
                return try ProtectedResource(
                    parsing: response.body, for: asked, at: url, challenge?.scopes,
                    reach: isPrivate ? .anywhere : .publicInternet)
            case 300...399: throw OAuthError(.invalidMetadata(.redirected))
            case 400...499: continue
            default: throw OAuthError(.discoveryFailed(statusCode: response.status))
            }
        }
        throw OAuthError(.invalidMetadata(.notFound))
    }

    /// The challenge of a resource that got no token, `nil` for a resource that gives none, and whether its address is a
    /// private one, which later responses over the same connection don't say.
    private static func challenge(
        at url: HTTPURL, _ http: any HTTPTransport, _ log: RedactedLogger
    ) async throws(OAuthError) -> (AuthenticateChallenge?, isPrivate: Bool) {
        let response = try await http.response(
            to: GuardedRequest(.get, url, fields: EndpointFields.json), limits: limits, log: log)
        let challenges = response.status == 401 ? AuthenticateChallenge.all(of: response) : []
        return (
            challenges.first { $0.scheme == "bearer" || $0.scheme == "dpop" }, response.isFromPrivateAddress
        )
    }

    /// Where the metadata is (RFC 9728 sections 3.1 and 5.1).
    private static func addresses(of url: HTTPURL, _ named: String?) throws(OAuthError) -> [HTTPURL] {
        if let named {
            guard let address = try? HTTPURL(named), address.origin == url.origin else {
                throw OAuthError(.invalidMetadata(.elsewhere))
            }
            return [address]
        }
        let wellKnown = url.origin + "/.well-known/oauth-protected-resource"
        let texts = url.path == "/" ? [wellKnown] : [wellKnown + url.path, wellKnown]
        return texts.compactMap { try? HTTPURL($0) }
    }

    private init(
        parsing body: borrowing Secret<MessageBody>, for asked: String, at url: HTTPURL, _ wanted: ScopeList?,
        reach: AddressReach
    ) throws(OAuthError) {
        let reader = MetadataReader(
            document: try AuthorizationServerMetadata.document(body), permitsClear: url.isLoopback)
        guard let named = try reader.text("resource"),
            named.hasSameOctets(as: asked) || (url.path == "/" && named.hasSameOctets(as: asked + "/"))
        else { throw OAuthError(.invalidMetadata(.otherResource)) }
        var servers: [Issuer] = []
        for text in try reader.list("authorization_servers") ?? [] {
            guard let issuer = try? Issuer(text), url.isLoopback || issuer.url.scheme == .https,
                servers.count < Self.maximumServerCount
            else { throw OAuthError(.invalidMetadata(.elsewhere)) }
            servers.append(issuer)
        }
        identifier = named
        self.servers = servers
        // A list that is too long to be requested is as good as none.
        let supported = try reader.list("scopes_supported").flatMap { try? ScopeList($0) }
        scopes = wanted ?? supported ?? []
        self.reach = reach
    }

    /// The scopes that a response says its token lacks (RFC 6750 section 3.1); `nil` if it says nothing of scopes.
    package static func missingScopes(
        in response: borrowing GuardedResponse, of token: ScopeList
    ) -> ScopeList? {
        let challenges = AuthenticateChallenge.all(of: response)
        guard response.status == 403, let wanted = challenges.first(where: { $0.saysInsufficientScope })?.scopes
        else { return nil }
        return try? ScopeList(wanted.scopes.filter { !token.contains($0) })
    }
}
