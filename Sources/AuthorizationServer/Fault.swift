/// The places of the server that a fault can sit at, and that the record counts.
public enum AuthorizationServerEndpoint: Sendable, Hashable, CaseIterable {
    case metadata, keySet, authorization, pushedAuthorization, deviceAuthorization, registration, token, revocation,
        userInfo
    /// Where a 307 points: no client should ever come here.
    case stray
}

/// Something the server does wrong because a test asked for it.
public enum AuthorizationServerFault: Sendable, Hashable {
    // MARK: In the redirect back to the client
    case wrongState
    case missingState
    case wrongIssuer
    case missingIssuer
    /// The response's parameters, twice.
    case repeatedParameters
    /// The person says no: `access_denied`.
    case denied

    // MARK: In the metadata
    case metadataNamesAnotherIssuer
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
    /// What was requested is done, and no response comes before this is switched off.
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
    case missingAccessToken
    /// AT Protocol's tokens are for another account, or for nobody in particular.
    case wrongSubject
    case missingSubject
    /// The person grants the first of the requested scopes, and no other.
    case grantsOneScope
    /// Tokens without the scope `atproto`.
    case withoutATProtoScope
    /// The access token stands in `scope` once more, where clients expect ordinary text.
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
    case missingIDToken
    /// The ID token is about another person than the one who signed in.
    case foreignIDToken
    /// The ID token is signed with a key that isn't in the key set.
    case forgedIDToken
    /// The ID token says that it is signed with HS256, for which a public key might be taken for a secret.
    case symmetricIDToken
    /// Each request of a device gets `slow_down`.
    case slowDown
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

/// What the server saw, without any secret: counts and findings.
public struct AuthorizationServerRecord: Sendable, Hashable {
    /// Requests by endpoint, refused ones included.
    public internal(set) var requests: [AuthorizationServerEndpoint: Int] = [:]
    public internal(set) var codesIssued = 0
    public internal(set) var denials = 0
    public internal(set) var codesExchanged = 0
    public internal(set) var refreshes = 0
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
    /// DPoP proofs that were good, and those that were not, by what was wrong with them.
    public internal(set) var proofs = 0
    public internal(set) var proofProblems: [DPoPProofProblem: Int] = [:]
    /// Whether anything came with `Authorization` or a body where a 307 pointed.
    public internal(set) var strayCredentials = false
    /// Whether each authorization request had a `state` and a `nonce`, and which scopes it requested.
    public internal(set) var lastRequestHadState = false
    public internal(set) var lastRequestHadNonce = false
    public internal(set) var lastScopes: [String] = []

    public enum ClientAuthentication: Sendable, Hashable, CaseIterable { case none, basic, post }

    public init() {}
}
