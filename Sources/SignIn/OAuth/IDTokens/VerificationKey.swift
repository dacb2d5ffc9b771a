internal import LatchkeyJSON
internal import LatchkeyLibCrypto
internal import LatchkeySecrets

/// A public key of a server's set (RFC 7517), of a kind that ID tokens are signed with here.
struct VerificationKey: Sendable, Hashable {
    enum Material: Sendable, Hashable {
        /// x and y, 32 bytes each.
        case p256([UInt8])
        case rsa(modulus: [UInt8], exponent: [UInt8])
    }

    let identifier: String?
    let material: Material

    var algorithm: SignatureAlgorithm {
        switch material {
        case .p256: .es256
        case .rsa: .rs256
        }
    }

    func accepts(_ signature: [UInt8], of message: Span<UInt8>) -> Bool {
        switch material {
        case .p256(let point): P256.isValid(signature, of: message, publicKey: point)
        case .rsa(let modulus, let exponent):
            RSASignature.isValid(signature, of: message, modulus: modulus, exponent: exponent)
        }
    }
}

/// The algorithms that are accepted (RFC 7518 section 3.1). No symmetric one is, and not `none`: a public key can then
/// never be taken for a shared secret.
enum SignatureAlgorithm: String, Sendable {
    case es256 = "ES256"
    case rs256 = "RS256"
}

/// A server's public keys (RFC 7517 section 5).
struct KeySet: Sendable {
    let keys: [VerificationKey]

    static let maximumKeyCount = 32
    static let limits = JSONLimits(byteCount: 256 << 10, depth: 6, valueCount: 4096, memberCount: 64)

    /// Reads a set. Keys that aren't for ES256 or RS256 signatures, or are malformed, are left out; private and
    /// symmetric ones too. Throws `.invalidResponse(.keySet)` for what is no set, or too large.
    init(parsing body: borrowing Secret<MessageBody>) throws(OAuthError) {
        guard let document = try? JSONDocument(body.duplicate(), limits: Self.limits),
            document.root.kind == .object, let member = document.member("keys"), member.kind == .array
        else { throw OAuthError(.invalidResponse(.keySet)) }
        let elements = document.elements(of: member)
        guard elements.count <= Self.maximumKeyCount else { throw OAuthError(.invalidResponse(.keySet)) }
        var keys: [VerificationKey] = []
        for element in elements {
            if let key = Self.key(element, in: document) { keys.append(key) }
        }
        self.keys = keys
    }

    /// 32 bytes. RFC 7518 section 6.2.1.2 wants them all; some servers (rhonabwy 1.1.11, and so glewlwyd) leave zeros
    /// at the start out, as one key in 128 has in one of its two. No other point can be meant.
    private static func coordinate(_ bytes: [UInt8]) -> [UInt8]? {
        guard (1...32).contains(bytes.count) else { return nil }
        return [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
    }

    private static func key(_ value: JSONValue, in document: borrowing JSONDocument) -> VerificationKey? {
        func text(_ name: StaticString, limit: Int) -> String? {
            document.member(name, of: value).flatMap { try? document.publicText($0, limit: limit) }
        }
        // A member that is there must fit: `use` and `alg` say what a key is for (RFC 7517 sections 4.2 and 4.4).
        guard document.member("d", of: value) == nil, document.member("k", of: value) == nil,
            document.member("use", of: value).map({ document.isText($0, "sig") }) ?? true
        else { return nil }
        let material: VerificationKey.Material
        switch text("kty", limit: 16) {
        case "EC":
            guard text("crv", limit: 16) == "P-256",
                let x = text("x", limit: 64).flatMap(Base64URL.decode).flatMap(coordinate),
                let y = text("y", limit: 64).flatMap(Base64URL.decode).flatMap(coordinate)
            else { return nil }
            material = .p256(x + y)
        case "RSA":
            guard let modulus = text("n", limit: 2048).flatMap(Base64URL.decode),
                let exponent = text("e", limit: 16).flatMap(Base64URL.decode)
            else { return nil }
            material = .rsa(modulus: modulus, exponent: exponent)
        default: return nil
        }
        let key = VerificationKey(identifier: text("kid", limit: 256), material: material)
        if let algorithm = document.member("alg", of: value) {
            guard (try? document.publicText(algorithm, limit: 16)) == key.algorithm.rawValue else { return nil }
        }
        return key
    }
}
