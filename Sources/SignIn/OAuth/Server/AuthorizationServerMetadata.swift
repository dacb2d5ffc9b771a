package import LatchkeyCrypto
public import LatchkeyHTTP

/// What we know of an authorization server: read from its metadata (RFC 8414, OpenID Connect Discovery) or configured.
///
/// Every endpoint is HTTPS or on a loopback address.
public struct AuthorizationServerMetadata: Sendable, Hashable {
    /// `nil` for a server that is configured endpoint by endpoint and has no name for itself.
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
    /// What the server takes at the token endpoint; `nil` when it doesn't say.
    package let clientAuthenticationMethods: Set<ClientAuthentication.Method>?
    /// Whether granted scopes come separated by commas (GitHub) rather than by spaces.
    package let separatesScopesByComma: Bool
    /// What DPoP proofs may be signed with (RFC 9449 section 5.1); `nil` when the server doesn't say.
    package var dpopAlgorithms: Set<String>?
    /// Whether authorization requests must be pushed (RFC 9126 section 5).
    package var requiresPushedRequests = false
    /// The scopes, grants and PKCE methods that the server names; `nil` when it doesn't say (RFC 8414 section 2).
    package var scopes: Set<String>?
    package var grantTypes: Set<String>?
    package var challengeMethods: Set<String>?
    /// The algorithms that ID tokens may be signed with: what the server announces, as far as we have it (OpenID Connect
    /// Discovery section 3). ES256 and RS256 where the server doesn't say.
    package var idTokenAlgorithms: Set<SignatureAlgorithm> = [.es256, .rs256]
    /// Whether a client id may be the address of a document about the client, which the server reads.
    package var readsClientDocuments = false

    /// Which addresses its endpoints may be at. A server that was discovered at a public address has no business on a
    /// private network: it could have us ask whatever is there.
    package var endpointReach = AddressReach.anywhere

    /// The transport to the endpoints.
    package func transport(_ http: any HTTPTransport) -> any HTTPTransport {
        endpointReach == .anywhere ? http : http.reaching(endpointReach)
    }

    /// Describes a server without discovery.
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
