public import LatchkeyHTTP
internal import LatchkeyJSON
internal import LatchkeyLog
public import LatchkeyOAuth
public import LatchkeySecrets
public import LatchkeySignIn
internal import LatchkeySystem

/// A client's metadata, from the address that is its client ID. It doesn't contain a secret.
public struct ClientDocument: Sendable, Hashable {
    /// The document's own address.
    public let clientID: String
    /// `redirect_uris`, unchanged.
    public let redirects: [String]
    /// `scope`: what may be requested.
    public let scopes: ScopeList
    /// Whether it is a web client, which may redirect to HTTPS alone.
    public let isWeb: Bool

    static let maximumByteCount = 64 << 10

    /// Reads the document of a client.
    ///
    /// Throws `.invalidClientMetadata`: no JSON object of at most 64 KiB, another `client_id` than its address, a list
    /// that is missing, tokens that are not bound to a key, a client that has to prove itself.
    public init(parsing body: borrowing Secret<MessageBody>, of clientID: String) throws(ATProtocolError) {
        let limits = JSONLimits(byteCount: Self.maximumByteCount, depth: 8, valueCount: 1024, memberCount: 128)
        guard let document = try? JSONDocument(body.duplicate(), limits: limits), document.root.kind == .object else {
            throw .client(.notJSON)
        }
        guard let id = document.member("client_id"),
            let text = try? document.publicText(id, limit: HTTPURL.maximumByteCount), text.hasSameOctets(as: clientID)
        else { throw .client(.otherClient) }
        redirects = try Self.list(document.member("redirect_uris"), in: document, .withoutRedirects)
        guard !redirects.isEmpty else { throw .client(.withoutRedirects) }
        let grants = try Self.list(document.member("grant_types"), in: document, .withoutCodeGrant)
        guard grants.contains("authorization_code"), grants.contains("refresh_token") else {
            throw .client(.withoutCodeGrant)
        }
        let responses = try Self.list(document.member("response_types"), in: document, .withoutCodeResponse)
        guard responses.contains("code") else { throw .client(.withoutCodeResponse) }
        guard let bound = document.member("dpop_bound_access_tokens"), (try? document.boolean(bound)) == true else {
            throw .client(.withoutBoundTokens)
        }
        if let method = document.member("token_endpoint_auth_method"), !document.isText(method, "none") {
            throw .client(.notPublic)
        }
        guard let scope = document.member("scope"),
            let list = try? document.publicText(scope, limit: ScopeList.maximumByteCount),
            let scopes = try? ScopeList(text: list), scopes.contains("atproto")
        else { throw .client(.withoutATProtoScope) }
        self.scopes = scopes
        // RFC 7591 section 2: web, unless it says something else.
        isWeb = document.member("application_type").map { !document.isText($0, "native") } ?? true
        self.clientID = clientID
    }

    private static func list(
        _ value: JSONValue?, in document: borrowing JSONDocument, _ problem: ATProtocolError.ClientProblem
    ) throws(ATProtocolError) -> [String] {
        guard let value, value.kind == .array else { throw .client(problem) }
        var texts: [String] = []
        for element in document.elements(of: value) {
            guard texts.count < 64, let text = try? document.publicText(element, limit: 2048) else {
                throw .client(problem)
            }
            texts.append(text)
        }
        return texts
    }

    /// Gets a client's document from its address.
    static func fetch(
        from url: HTTPURL, http: any HTTPTransport, reach: NetworkReach, log: RedactedLogger
    ) async throws(ATProtocolError) -> ClientDocument {
        try mapError({ (_: ATProtocolError) in ATProtocolError.client(.malformedAddress) }, of: reach.check(url))
        guard url.path != "/" else { throw .client(.malformedAddress) }
        let response = try await http.fetch(url, limit: maximumByteCount, log: log)
        guard response.status == 200 else {
            if response.status >= 500 { throw ATProtocolError(.refused(statusCode: response.status)) }
            throw .client(.notFound)
        }
        return try ClientDocument(parsing: response.body, of: url.text)
    }

    /// Throws unless the client may have its responses at `redirect`, and may request `scopes`.
    ///
    /// A loopback address fits with any port (RFC 8252 section 7.3); a private-use scheme must be the client id's host
    /// in reverse.
    func check(_ redirect: RedirectURI, _ scopes: ScopeList) throws(ATProtocolError) {
        let isListed = redirects.contains { listed in
            guard redirect.kind == .loopback else { return listed.hasSameOctets(as: redirect.text) }
            guard let known = try? RedirectURI(listed) else { return false }
            return known.kind == .loopback && known.loopbackAddress == redirect.loopbackAddress
                && known.path == redirect.path
        }
        guard isListed else { throw ATProtocolError(.invalidRedirectURI) }
        if isWeb, redirect.kind != .https { throw .client(.nativeRedirectOfWebClient) }
        if redirect.kind == .privateUse {
            guard redirect.scheme == Self.reversedHost(of: clientID) else {
                throw ATProtocolError(.invalidRedirectURI)
            }
        }
        guard scopes.contains("atproto") else { throw .client(.withoutATProtoScope) }
        guard scopes.scopes.allSatisfy(self.scopes.contains) else { throw .client(.scopeNotRegistered) }
    }

    private static func reversedHost(of clientID: String) -> String? {
        guard let url = try? HTTPURL(clientID) else { return nil }
        return url.host.split(separator: ".").reversed().joined(separator: ".")
    }
}

/// Our client on AT Protocol, and the address for responses.
public struct ATProtocolConfiguration: Sendable {
    /// How authorization servers get to know the client.
    public enum Client: Sendable, Hashable {
        /// By its id alone: for command lines and for development.
        case loopback
        /// A client with its document at this address, which is its ID. Each sign-in loads and checks the document
        /// first.
        case document(HTTPURL)
        /// By a document that was loaded before.
        case loaded(ClientDocument)
    }

    /// By its id alone unless told otherwise.
    public var client: Client
    /// One of the document's; a loopback address may leave its port open, except in two steps.
    public var redirect: RedirectURI
    /// The scopes to request, which must include `atproto`.
    public var scopes: ScopeList
    /// The provider's name for sessions in the store.
    public var provider: ProviderName
    /// Which servers requests may go to.
    public var reach: NetworkReach
    /// How long the response of an authorization that has begun in two steps may take (default: ten minutes).
    public var timeout: Duration

    /// Everything but the redirect address has a default: that of a command line, which requests what Bluesky's own
    /// applications do.
    public init(
        client: Client = .loopback, redirect: RedirectURI,
        scopes: ScopeList = ["atproto", "transition:generic"], provider: ProviderName = .bluesky,
        reach: NetworkReach = .publicInternet, timeout: Duration = .seconds(600)
    ) {
        self.client = client
        self.redirect = redirect
        self.scopes = scopes
        self.provider = provider
        self.reach = reach
        self.timeout = timeout
    }
}

/// The client that needs no document: for command lines and for development. Its id says all that there is to know.
package enum LoopbackClient {
    /// Returns `http://localhost?redirect_uri=…&scope=…` for a redirect on a loopback address, the port left out.
    ///
    /// Throws `.invalidRedirectURI` for any other redirect.
    package static func identifier(redirect: RedirectURI, scopes: ScopeList) throws(ATProtocolError) -> String {
        guard redirect.kind == .loopback, let address = redirect.loopbackAddress else {
            throw ATProtocolError(.invalidRedirectURI)
        }
        let text = "http://\(address.rawValue)\(redirect.path)"
        return
            "http://localhost?redirect_uri=\(PercentEncoding.encode(text))&scope=\(PercentEncoding.encode(scopes.text))"
    }
}
