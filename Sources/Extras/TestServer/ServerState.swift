/// What the server remembers. Secrets are looked up by their keyed hashes.
struct ServerState: Sendable {
    /// Set once the port is known.
    var origin = ""
    /// Of the account's own server, where there is one.
    var resourceOrigin = ""
    var faults: Set<AuthorizationServerFault> = []
    var record = AuthorizationServerRecord()
    /// Every secret that came in or went out.
    var seen: [[UInt8]: KeptSecret] = [:]

    /// Authorization requests that wait for a person.
    var pending: [[UInt8]: AuthorizationRequest] = [:]
    var pushed: [[UInt8]: PushedAuthorization] = [:]
    var devices: [[UInt8]: DeviceGrant] = [:]
    var registered: [RegisteredClient] = []
    var codes: [[UInt8]: CodeGrant] = [:]
    var tokens: [[UInt8]: TokenGrant] = [:]
    /// The identifiers of all proofs so far, and the nonces that are good, oldest first.
    var proofIdentifiers: Set<String> = []
    var dpopNonces: [Door: [String]] = [:]
    private var familyCount = 0

    /// A new family: the tokens that descend from one consent.
    mutating func newFamily() -> Int {
        familyCount += 1
        return familyCount
    }

    /// Ends all tokens of a family (RFC 6749 section 10.4, RFC 7009 section 2.1).
    mutating func revoke(family: Int) {
        for (digest, token) in tokens where token.family == family { tokens[digest]?.isRevoked = true }
    }
}

/// A valid authorization request.
struct AuthorizationRequest: Sendable {
    let shape: Shape
    let clientID: String
    let redirectURI: String
    let scopes: [String]
    let state: KeptSecret?
    /// Of unreserved characters; goes into the ID token.
    let nonce: KeptSecret?
    /// `nil` only where GitHub's shape permits it.
    let challenge: String?
    /// `dpop_jkt`: the key that the code is bound to.
    var keyThumbprint: String?
}

/// What a code stands for. It stays after its use, so that a second use is noticed.
struct CodeGrant: Sendable {
    let request: AuthorizationRequest
    let family: Int
    let expiry: ContinuousClock.Instant
    var isUsed = false
}

/// What a token stands for. It stays after rotation, so that a replay is noticed.
struct TokenGrant: Sendable {
    enum Kind: Sendable { case access, refresh }

    let kind: Kind
    let clientID: String
    let scopes: [String]
    let family: Int
    /// The key that the token is bound to.
    let keyThumbprint: String?
    var expiry: ContinuousClock.Instant?
    var isRotated = false
    var isRevoked = false

    var isValid: Bool { !isRevoked && !isRotated && expiry.map { ContinuousClock.now < $0 } ?? true }
}
