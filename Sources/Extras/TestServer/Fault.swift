/// The endpoints of the server, for faults and for the counts of the record.
public enum AuthorizationServerEndpoint: Sendable, Hashable, CaseIterable {
    /// The metadata (RFC 8414, OpenID Connect Discovery).
    case metadata
    /// The public keys (RFC 7517).
    case keySet
    /// The authorization endpoint (RFC 6749 section 3.1).
    case authorization
    /// The endpoint for pushed requests (RFC 9126).
    case pushedAuthorization
    /// The device authorization endpoint (RFC 8628 section 3.1).
    case deviceAuthorization
    /// The registration endpoint (RFC 7591).
    case registration
    /// The token endpoint (RFC 6749 section 3.2).
    case token
    /// The revocation endpoint (RFC 7009), and GitHub's.
    case revocation
    /// User information (OpenID Connect Core section 5.3), and other resources of the account.
    case userInfo
    /// Where a 307 points: no client should ever come here.
    case stray
}

/// Something the server does wrong because a test asked for it.
public enum AuthorizationServerFault: Sendable, Hashable {
    // MARK: In the redirect back to the client
    /// `state` is another than the request's. A sign-in waits on for the right one, unless its person gives up.
    case wrongState
    /// `state` is missing.
    case missingState
    /// `iss` is another server (RFC 9207).
    case wrongIssuer
    /// `iss` is missing, although the metadata announces it.
    case missingIssuer
    /// The response's parameters, twice.
    case repeatedParameters
    /// The person says no: `access_denied`.
    case denied

    // MARK: In the metadata
    /// `issuer` differs from the requested issuer (RFC 8414 section 3.3).
    case metadataNamesAnotherIssuer
    /// PKCE with `plain` alone.
    case metadataWithoutS256
    /// DPoP proofs with EdDSA alone.
    case metadataWithoutES256
    /// One member is left out.
    case metadataWithout(String)

    // MARK: In an endpoint's response
    /// Status 200 with an OAuth error, as GitHub does it.
    case errorWithStatus200(AuthorizationServerEndpoint)
    /// This status, with an OAuth error for 400.
    case status(Int, AuthorizationServerEndpoint)
    /// This long before the response.
    case slow(Duration, AuthorizationServerEndpoint)
    /// No response, and nothing is done for the request, before this is switched off.
    case held(AuthorizationServerEndpoint)
    /// The server completes the request, but responds only after the fault is switched off.
    case heldResponse(AuthorizationServerEndpoint)
    /// Half of the JSON, with the right length: well-formed HTTP.
    case truncatedJSON(AuthorizationServerEndpoint)
    /// The whole body, of an announced one that is longer; then the connection closes.
    case cutConnection(AuthorizationServerEndpoint)
    /// No response: the connection closes.
    case noResponse(AuthorizationServerEndpoint)
    /// A 307 to a place that notices what is sent there.
    case temporaryRedirect(AuthorizationServerEndpoint)
    /// This many bytes of white space.
    case hugeBody(byteCount: Int, AuthorizationServerEndpoint)
    /// A `token_type` that no client knows.
    case unknownTokenType
    /// The response has no `access_token`.
    case missingAccessToken
    /// AT Protocol's tokens are for another account.
    case wrongSubject
    /// AT Protocol's tokens come without `sub`.
    case missingSubject
    /// The person only grants the first requested scope.
    case grantsOneScope
    /// Tokens without the scope `atproto`.
    case withoutATProtoScope
    /// `scope` contains the access token, where clients expect ordinary text.
    case accessTokenInScope
    /// The person is called what the access token is.
    case accessTokenAsName
    /// The ID token carries another request's nonce.
    case wrongNonce
    /// Tokens that anyone can use, although a proof was sent.
    case bearerInsteadOfDPoP
    /// The nonce of the last response alone is good, and each response has a new one.
    case dpopNonceChurn
    /// No nonce is ever good, and each response has a new one.
    case unendingDPoPNonces
    /// The response has no ID token, although `openid` was requested.
    case missingIDToken
    /// The ID token is about another person than the one who signed in.
    case foreignIDToken
    /// The ID token is signed with a key that isn't in the key set.
    case forgedIDToken
    /// The key set is empty, as a server may show it while it changes keys.
    case emptyKeySet
    /// The ID token's header has HS256, but the signature is ES256's: a client that ignores the header accepts the
    /// token.
    case symmetricIDToken
    /// Each request of a device gets `slow_down`.
    case slowDown
    /// Each request of a device gets `expired_token`.
    case deviceCodeExpired

    /// The endpoint whose whole response it replaces or delays.
    var endpoint: AuthorizationServerEndpoint? {
        switch self {
        case .errorWithStatus200(let endpoint), .status(_, let endpoint), .slow(_, let endpoint),
            .held(let endpoint), .heldResponse(let endpoint), .truncatedJSON(let endpoint),
            .cutConnection(let endpoint), .noResponse(let endpoint),
            .temporaryRedirect(let endpoint), .hugeBody(_, let endpoint):
            endpoint
        default: nil
        }
    }
}

/// The server's observations, without secrets: counts and findings.
public struct AuthorizationServerRecord: Sendable, Hashable {
    /// Requests by endpoint, refused ones included.
    public internal(set) var requests: [AuthorizationServerEndpoint: Int] = [:]
    /// Authorization codes that were given out.
    public internal(set) var codesIssued = 0
    /// Times that the person, or a fault for them, said no.
    public internal(set) var denials = 0
    /// Codes that were exchanged for tokens.
    public internal(set) var codesExchanged = 0
    /// Refresh tokens that were exchanged.
    public internal(set) var refreshes = 0
    /// Tokens that were revoked by request.
    public internal(set) var revocations = 0
    /// Token requests whose verifier fits the challenge.
    public internal(set) var matchingVerifiers = 0
    /// Token requests whose verifier is missing, malformed, or fits another challenge.
    public internal(set) var wrongVerifiers = 0
    /// A code or a rotated refresh token that came a second time.
    public internal(set) var replays = 0
    /// Token requests by how the client said who it is.
    public internal(set) var clientAuthentication: [ClientAuthentication: Int] = [:]
    /// Questions of a device before their time.
    public internal(set) var hurriedQuestions = 0
    /// Clients that registered.
    public internal(set) var registrations = 0
    /// DPoP proofs that were good.
    public internal(set) var proofs = 0
    /// DPoP proofs that weren't, by what was wrong with them.
    public internal(set) var proofProblems: [DPoPProofProblem: Int] = [:]
    /// Whether anything came with `Authorization` or a body where a 307 pointed.
    public internal(set) var strayCredentials = false
    /// Whether the last authorization request had a `state`.
    public internal(set) var lastRequestHadState = false
    /// Whether the last authorization request had a `nonce`.
    public internal(set) var lastRequestHadNonce = false
    /// The scopes of the last authorization request, in its order.
    public internal(set) var lastScopes: [String] = []

    /// How a client says who it is (RFC 6749 section 2.3).
    public enum ClientAuthentication: Sendable, Hashable, CaseIterable {
        /// By its client id alone.
        case none
        /// By a secret in an `Authorization: Basic` field.
        case basic
        /// By a secret in the form.
        case post
    }

    /// An empty record: nothing was seen.
    public init() {}
}
