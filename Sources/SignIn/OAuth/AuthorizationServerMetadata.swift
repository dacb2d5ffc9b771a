package import LatchkeyCrypto
public import LatchkeyHTTP
internal import LatchkeyJSON
public import LatchkeyLog

/// The metadata of an authorization server: read from the server (RFC 8414, OpenID Connect Discovery) or configured.
///
/// Every endpoint is HTTPS or on a loopback address.
public struct AuthorizationServerMetadata: Sendable, Hashable {
    /// The issuer; `nil` for a server that is configured endpoint by endpoint and doesn't name itself.
    package let issuer: Issuer?
    package let authorizationEndpoint: HTTPURL
    package let tokenEndpoint: HTTPURL
    package let revocationEndpoint: HTTPURL?
    package let userinfoEndpoint: HTTPURL?
    package let deviceAuthorizationEndpoint: HTTPURL?
    package let pushedAuthorizationRequestEndpoint: HTTPURL?
    package let registrationEndpoint: HTTPURL?
    package let keySetEndpoint: HTTPURL?
    /// Whether each response must carry `iss` (RFC 9207 section 3).
    package let announcesIssuerInResponses: Bool
    /// The methods that the token endpoint accepts; `nil` if the server doesn't report them.
    package let clientAuthenticationMethods: Set<ClientAuthentication.Method>?
    /// Whether granted scopes come separated by commas (GitHub) rather than by spaces.
    package let separatesScopesByComma: Bool
    /// The algorithms for DPoP proofs (RFC 9449 section 5.1); `nil` if the server doesn't report them.
    package var dpopAlgorithms: Set<String>?
    /// Whether authorization requests must be pushed (RFC 9126 section 5).
    package var requiresPushedRequests = false
    /// The scopes, grants and PKCE methods that the server names; `nil` when it doesn't say (RFC 8414 section 2).
    package var scopes: Set<String>?
    package var grantTypes: Set<String>?
    package var challengeMethods: Set<String>?
    /// The algorithms that ID tokens may be signed with: what the server announces, as far as we have it (OpenID
    /// Connect Discovery section 3). ES256 and RS256 where the server doesn't say.
    package var idTokenAlgorithms: Set<SignatureAlgorithm> = [.es256, .rs256]
    /// Whether a client id may be the address of a document about the client, which the server reads.
    package var readsClientDocuments = false

    /// The addresses that the endpoints may have. A server that was discovered at a public address may not lead to a
    /// private network: it could make this program send requests there.
    package var endpointReach = AddressReach.anywhere

    /// The transport to the endpoints.
    package func transport(_ http: any HTTPTransport) -> any HTTPTransport {
        endpointReach == .anywhere ? http : http.reaching(endpointReach)
    }

    /// Describes a server without discovery. `clientAuthenticationMethods` is `nil` if they are unknown;
    /// `separatesScopesByComma` is for servers that grant scopes as GitHub does.
    ///
    /// Throws `.invalidMetadata`: `.endpointNotConfidential` for an endpoint that is neither HTTPS nor loopback,
    /// `.reservedParameter` when the authorization endpoint's own query sets a parameter that is ours.
    public init(
        issuer: Issuer? = nil, authorizationEndpoint: HTTPURL, tokenEndpoint: HTTPURL,
        revocationEndpoint: HTTPURL? = nil, userinfoEndpoint: HTTPURL? = nil,
        deviceAuthorizationEndpoint: HTTPURL? = nil, pushedAuthorizationRequestEndpoint: HTTPURL? = nil,
        registrationEndpoint: HTTPURL? = nil, keySetEndpoint: HTTPURL? = nil, announcesIssuerInResponses: Bool = false,
        clientAuthenticationMethods: Set<ClientAuthentication.Method>? = nil, separatesScopesByComma: Bool = false
    ) throws(OAuthError) {
        let endpoints = [
            authorizationEndpoint, tokenEndpoint, revocationEndpoint, userinfoEndpoint, deviceAuthorizationEndpoint,
            pushedAuthorizationRequestEndpoint, registrationEndpoint, keySetEndpoint,
        ]
        guard endpoints.allSatisfy({ $0?.isConfidential ?? true }) else {
            throw OAuthError(.invalidMetadata(.endpointNotConfidential))
        }
        let ownNames = (authorizationEndpoint.query ?? "").split(separator: "&").map {
            String($0.prefix { $0 != "=" })
        }
        guard !ownNames.contains(where: { $0.contains("%") || AuthorizationParameter.reserved.contains($0) }) else {
            throw OAuthError(.invalidMetadata(.reservedParameter))
        }
        self.issuer = issuer
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.userinfoEndpoint = userinfoEndpoint
        self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
        self.pushedAuthorizationRequestEndpoint = pushedAuthorizationRequestEndpoint
        self.registrationEndpoint = registrationEndpoint
        self.keySetEndpoint = keySetEndpoint
        self.announcesIssuerInResponses = announcesIssuerInResponses
        self.clientAuthenticationMethods = clientAuthenticationMethods
        self.separatesScopesByComma = separatesScopesByComma
    }
}

// MARK: - Discovery

extension AuthorizationServerMetadata {
    static let maximumByteCount = 256 << 10

    /// Requests a server's metadata: at the address of RFC 8414 first, then at OpenID Connect's.
    ///
    /// Throws `.issuerMismatch` unless the document names exactly `issuer` (RFC 8414 section 3.3), `.invalidMetadata`
    /// for a document that can't be used, `.discoveryFailed` when the server responds with an error at both,
    /// `.networkError`.
    ///
    /// The endpoints of a server at a public address get requests at public addresses alone, as far as the transport
    /// can tell them: any other is `.networkError(.addressRefused)`.
    package static func discover(
        _ issuer: Issuer, over http: any HTTPTransport, timeout: Duration = .seconds(30),
        log: RedactedLogger = .disabled
    ) async throws(OAuthError) -> AuthorizationServerMetadata {
        var failure = OAuthError(.invalidMetadata(.notFound))
        // The first connection tells where the server is; the next may be the same one.
        var isPrivate: Bool?
        let start = ContinuousClock.now
        for url in try wellKnownURLs(of: issuer) {
            // The limit is that of all addresses.
            let limits = TransferLimits(
                maximumBodyByteCount: maximumByteCount,
                timeout: max(timeout - start.duration(to: .now), .milliseconds(1)))
            let response = try await mapError(
                { (error: OAuthError) in
                    error.code == .invalidResponse(.tooLarge) ? OAuthError(.invalidMetadata(.tooLarge)) : error
                },
                awaiting: await http.response(
                    to: GuardedRequest(.get, url, fields: EndpointFields.json), limits: limits, log: log))
            if isPrivate == nil { isPrivate = response.isFromPrivateAddress }
            switch response.status {
            case 200...299:
                // A site may return a web page for every address. The metadata may still be at the next address.
                guard response.field("Content-Type").map(isJSON) ?? true else {
                    failure = OAuthError(.invalidMetadata(.webPage))
                    continue
                }
                var metadata = try AuthorizationServerMetadata(parsing: response.body, expecting: issuer)
                metadata.endpointReach = isPrivate == true ? .anywhere : .publicInternet
                return metadata
            case 300...399: failure = OAuthError(.invalidMetadata(.redirected))
            case 404, 410: break
            default: failure = OAuthError(.discoveryFailed(statusCode: response.status))
            }
        }
        throw failure
    }

    static func isJSON(_ mediaType: String) -> Bool {
        let type = mediaType.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
    }

    /// RFC 8414 sections 3.1 and 5 put the well-known part between host and path; OpenID Connect Discovery section 4.1
    /// puts it at the end.
    static func wellKnownURLs(of issuer: Issuer) throws(OAuthError) -> [HTTPURL] {
        let path = issuer.url.path.hasSuffix("/") ? String(issuer.url.path.dropLast()) : issuer.url.path
        let places =
            ["/.well-known/oauth-authorization-server\(path)"]
            + (path.isEmpty ? [] : ["/.well-known/openid-configuration\(path)"])
            + ["\(path)/.well-known/openid-configuration"]
        return try mappingError({ (_: InvalidValue) in OAuthError(.invalidConfiguration(.issuer)) }) {
            () throws(InvalidValue) in
            try places.map { (place) throws(InvalidValue) in try HTTPURL(issuer.url.origin + place) }
        }
    }

    /// Reads a metadata document.
    ///
    /// Throws `.issuerMismatch`, or `.invalidMetadata` if the document isn't a JSON object; if an endpoint is missing,
    /// malformed or not confidential (plain HTTP on loopback counts as confidential only for an issuer on loopback); if
    /// the PKCE methods lack S256; or if the response types lack `code`. Methods that the document doesn't list are
    /// unknown, not absent: S256 is sent in any case.
    package init(parsing body: borrowing Secret<MessageBody>, expecting issuer: Issuer) throws(OAuthError) {
        let reader = MetadataReader(document: try Self.document(body), permitsClear: issuer.url.isLoopback)
        guard let named = try reader.text("issuer"), named.hasSameOctets(as: issuer.text) else {
            var error = OAuthError(.issuerMismatch)
            error.foundIssuer = try? reader.text("issuer").map { try Issuer($0) }
            throw error
        }
        guard try reader.list("code_challenge_methods_supported").map({ $0.contains("S256") }) ?? true else {
            throw OAuthError(.invalidMetadata(.withoutS256))
        }
        guard try reader.list("response_types_supported").map({ $0.contains("code") }) ?? true else {
            throw OAuthError(.invalidMetadata(.withoutCodeFlow))
        }
        guard let authorization = try reader.endpoint("authorization_endpoint"),
            let token = try reader.endpoint("token_endpoint")
        else { throw OAuthError(.invalidMetadata(.missingEndpoint)) }
        let methods = try reader.list("token_endpoint_auth_methods_supported")
        try self.init(
            issuer: issuer, authorizationEndpoint: authorization, tokenEndpoint: token,
            revocationEndpoint: try reader.endpoint("revocation_endpoint"),
            userinfoEndpoint: try reader.endpoint("userinfo_endpoint"),
            deviceAuthorizationEndpoint: try reader.endpoint("device_authorization_endpoint"),
            pushedAuthorizationRequestEndpoint: try reader.endpoint("pushed_authorization_request_endpoint"),
            registrationEndpoint: try reader.endpoint("registration_endpoint"),
            keySetEndpoint: try reader.endpoint("jwks_uri"),
            announcesIssuerInResponses: try reader.flag("authorization_response_iss_parameter_supported"),
            clientAuthenticationMethods: methods.map {
                Set($0.compactMap(ClientAuthentication.Method.init(rawValue:)))
            })
        dpopAlgorithms = try reader.list("dpop_signing_alg_values_supported").map { Set($0) }
        requiresPushedRequests = try reader.flag("require_pushed_authorization_requests")
        scopes = try reader.list("scopes_supported").map { Set($0) }
        grantTypes = try reader.list("grant_types_supported").map { Set($0) }
        challengeMethods = try reader.list("code_challenge_methods_supported").map { Set($0) }
        if let names = try reader.list("id_token_signing_alg_values_supported") {
            idTokenAlgorithms = Set(names.compactMap(SignatureAlgorithm.init))
        }
        readsClientDocuments = try reader.flag("client_id_metadata_document_supported")
    }

    static func document(_ body: borrowing Secret<MessageBody>) throws(OAuthError) -> JSONDocument {
        let document = try mapError(
            { (error: JSONError) in OAuthError(.invalidMetadata(error.problem == .tooLarge ? .tooLarge : .notJSON)) },
            of: JSONDocument(body.duplicate()))
        guard document.root.kind == .object else { throw OAuthError(.invalidMetadata(.notJSON)) }
        return document
    }
}

/// Reads members of a metadata document, which contains no secret.
struct MetadataReader: ~Copyable {
    let document: JSONDocument
    /// Whether endpoints may be plain HTTP on loopback: only if the issuer is on loopback. Another server could make
    /// this program post a code to any listener on this machine.
    let permitsClear: Bool

    /// Returns a string, or `nil` when the member is absent or `null`.
    borrowing func text(_ name: StaticString) throws(OAuthError) -> String? {
        guard let member = document.member(name) else { return nil }
        return try mapError(
            { (_: JSONError) in OAuthError(.invalidMetadata(.notJSON)) },
            of: document.publicText(member, limit: HTTPURL.maximumByteCount))
    }

    /// Returns an address, or `nil` when the member is absent, `null` or empty, as some servers write it.
    borrowing func endpoint(_ name: StaticString) throws(OAuthError) -> HTTPURL? {
        guard let text = try text(name), !text.isEmpty else { return nil }
        let url = try mapError(
            { (_: InvalidValue) in OAuthError(.invalidMetadata(.malformedEndpoint)) }, of: HTTPURL(text))
        guard url.scheme == .https || (permitsClear && url.isLoopback) else {
            throw OAuthError(.invalidMetadata(.endpointNotConfidential))
        }
        return url
    }

    borrowing func list(_ name: StaticString) throws(OAuthError) -> [String]? {
        guard let member = document.member(name) else { return nil }
        guard member.kind == .array else { throw OAuthError(.invalidMetadata(.notJSON)) }
        return try mapError(
            { (_: JSONError) in OAuthError(.invalidMetadata(.notJSON)) },
            of: document.publicTexts(member, limit: 256))
    }

    borrowing func flag(_ name: StaticString) throws(OAuthError) -> Bool {
        guard let member = document.member(name) else { return false }
        guard let flag = try? document.boolean(member) else { throw OAuthError(.invalidMetadata(.notJSON)) }
        return flag
    }
}

/// A server's name for itself: an HTTPS or loopback URL without query and fragment, compared byte for byte
/// (RFC 8414 section 2, RFC 9207 section 2.4).
public struct Issuer: Sendable, Hashable, Loggable {
    /// As written: ASCII, as URLs are, so that equal texts have the same octets.
    public let text: String
    package let url: HTTPURL

    /// Throws `.invalidConfiguration(.issuer)` for anything else.
    public init(_ text: String) throws(OAuthError) {
        url = try mapError({ (_: InvalidValue) in OAuthError(.invalidConfiguration(.issuer)) }, of: HTTPURL(text))
        guard url.isConfidential, url.query == nil else { throw OAuthError(.invalidConfiguration(.issuer)) }
        self.text = text
    }

    /// Safe: the configured name of a server, without a query.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "the configured name of a server, without a query", unredacted: text))"
    }
}
