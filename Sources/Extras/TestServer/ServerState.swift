internal import LatchkeyLog

/// The server's data. The server finds secrets by their keyed hashes.
struct ServerState: Sendable {
    /// Set once the port is known.
    var origin = ""
    /// The origin of the account's own server, if there is one.
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
    /// The identifiers of all proofs so far. Then the valid nonces, oldest first.
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

/// The grant of a code. It stays after its use, so that a second use is noticed.
struct CodeGrant: Sendable {
    let request: AuthorizationRequest
    let family: Int
    let expiry: ContinuousClock.Instant
    var isUsed = false
}

/// The grant of a token. It stays after rotation, so that a replay is noticed.
struct TokenGrant: Sendable {
    enum Kind: Sendable { case access, refresh }

    let kind: Kind
    let clientID: String
    let scopes: [String]
    let family: Int
    /// Whether it wasn't narrowed to scopes without the `openid` that its consent has.
    let opensUserInfo: Bool
    /// The key that the token is bound to.
    let keyThumbprint: String?
    var expiry: ContinuousClock.Instant?
    var isRotated = false
    var isRevoked = false

    var isValid: Bool { !isRevoked && !isRotated && expiry.map { ContinuousClock.now < $0 } ?? true }
}

/// A secret that several places of the server refer to.
final class KeptSecret: Sendable {
    /// The kind of secret, such as "access_token".
    let name: String
    let value: Secret<MessageBody>

    init(_ name: String, _ value: consuming Secret<MessageBody>) {
        self.name = name
        self.value = value
    }

    /// The bytes as text, for values that aren't secret.
    func publicText() -> String? { value.withExposedBytes { $0.publicText() } }

    /// Whether it is 1 to 256 of RFC 3986's unreserved characters.
    var isUnreserved: Bool {
        value.withExposedBytes { bytes in
            (1...256).contains(bytes.count) && bytes.indices.allSatisfy { ASCII.isUnreserved(bytes[$0]) }
        }
    }

    /// The base64url text of 32 random octets behind a prefix.
    static func random(_ name: String, prefix: String = "") -> KeptSecret {
        var text = SecretText()
        text.add(prefix)
        text.add(KeptSecret(name, Secret.ofRandomOctets(byteCount: 32).base64URLEncoded()))
        return KeptSecret(name, text.finish())
    }
}

/// The key for looking up a secret: its keyed hash, so that tables don't contain secrets and lookups don't leak timing.
struct SecretIndex: Sendable {
    private let key = KeptSecret.random("index")

    func digest(_ secret: KeptSecret) -> [UInt8] {
        secret.value.withExposedBytes { bytes in key.value.withExposedBytes { KeyedHash.digest(bytes, key: $0) } }
    }
}

extension Secret where Purpose: SecretPurpose {
    /// A server for tests has nothing to say to its client when the system gives no random octets.
    static func ofRandomOctets(byteCount: Int) -> Secret {
        do throws(RandomSourceError) {
            return try random(byteCount: byteCount)
        } catch {
            preconditionFailure("\(error.logMessage)")
        }
    }
}

/// Puts together responses that hold secrets: JSON, forms, the `Location` of a redirect. Never through `String`.
struct SecretText: ~Copyable {
    private var builder = SecretBuilder()

    init() {}

    /// Adds text that isn't secret, unchanged.
    mutating func add(_ text: String) {
        must { (builder) throws(SecretBuilder.LimitExceeded) in try builder.append(publicText: text) }
    }

    /// Adds a secret unchanged: ours are base64url.
    mutating func add(_ secret: KeptSecret) {
        must { (builder) throws(SecretBuilder.LimitExceeded) in try builder.append(secret.value) }
    }

    /// Text with everything but RFC 3986's unreserved characters escaped.
    mutating func addEscaped(_ text: String) {
        let bytes = Array(text.utf8)
        addEscaped(bytes.span)
    }

    mutating func addEscaped(_ secret: KeptSecret) {
        secret.value.withExposedBytes { addEscaped($0) }
    }

    /// A JSON string in quotes.
    mutating func addQuoted(_ text: String) {
        add(JSONText.quote(text))
    }

    consuming func finish() -> Secret<MessageBody> {
        builder.finish(as: MessageBody.self)
    }

    private mutating func addEscaped(_ bytes: Span<UInt8>) {
        must { (builder) throws(SecretBuilder.LimitExceeded) in
            try PercentEncoding.encode(bytes) { (byte) throws(SecretBuilder.LimitExceeded) in try builder.append(byte) }
        }
    }

    private mutating func must(_ body: (inout SecretBuilder) throws(SecretBuilder.LimitExceeded) -> Void) {
        if failure(SecretBuilder.LimitExceeded.self, of: try body(&builder)) != nil {
            preconditionFailure("a builder without a limit refused bytes")
        }
    }
}

/// JSON without secrets.
extension JSONText {
    static func list(_ items: [String]) -> String { "[" + items.map(quote).joined(separator: ",") + "]" }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { quote($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
    }
}
