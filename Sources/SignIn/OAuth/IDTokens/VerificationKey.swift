internal import LatchkeyCrypto
internal import LatchkeyJSON
internal import LatchkeySecrets

/// A public key of a server's set (RFC 7517), of a kind that ID tokens are signed with here.
struct VerificationKey: Sendable, Hashable {
    let identifier: String?
    /// The one algorithm that the key is for, where the set says so (RFC 7517 section 4.4).
    let algorithm: SignatureAlgorithm?
    let key: PublicKey

    func fits(_ wanted: SignatureAlgorithm) -> Bool { key.fits(wanted) && (algorithm ?? wanted) == wanted }
}

/// A server's public keys (RFC 7517 section 5).
struct KeySet: Sendable {
    let keys: [VerificationKey]

    static let maximumKeyCount = 32
    static let limits = JSONLimits(byteCount: 256 << 10, depth: 6, valueCount: 4096, memberCount: 64)

    /// Reads a set. Keys that aren't for signatures by a `SignatureAlgorithm`, or are malformed, are left out; private
    /// and symmetric ones too. Throws `.invalidResponse(.keySet)` for anything but a set, and for one that is too large.
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

    /// As many bytes as the curve has. RFC 7518 section 6.2.1.2 wants them all; some servers (rhonabwy 1.1.11, and so
    /// glewlwyd) leave zeros at the start out, as one key of P-256 in 128 has in one of its two. No other point can be
    /// meant.
    private static func coordinate(_ bytes: [UInt8], _ curve: PublicKey.Curve) -> [UInt8]? {
        guard (1...curve.byteCount).contains(bytes.count) else { return nil }
        return [UInt8](repeating: 0, count: curve.byteCount - bytes.count) + bytes
    }

    private static func key(_ value: JSONValue, in document: borrowing JSONDocument) -> VerificationKey? {
        func text(_ name: StaticString, limit: Int) -> String? {
            document.member(name, of: value).flatMap { try? document.publicText($0, limit: limit) }
        }
        func bytes(_ name: StaticString, limit: Int) -> [UInt8]? { text(name, limit: limit).flatMap(Base64URL.decode) }
        // A member that is there must fit: `use` and `alg` say what a key is for (RFC 7517 sections 4.2 and 4.4).
        guard document.member("d", of: value) == nil, document.member("k", of: value) == nil,
            document.member("use", of: value).map({ document.isText($0, "sig") }) ?? true
        else { return nil }
        let key: PublicKey
        switch text("kty", limit: 16) {
        case "EC":
            guard let curve = text("crv", limit: 16).flatMap(PublicKey.Curve.init),
                let x = bytes("x", limit: 96).flatMap({ coordinate($0, curve) }),
                let y = bytes("y", limit: 96).flatMap({ coordinate($0, curve) })
            else { return nil }
            key = .ecdsa(curve, point: x + y)
        case "RSA":
            guard let modulus = bytes("n", limit: 2048), let exponent = bytes("e", limit: 16) else { return nil }
            key = .rsa(modulus: modulus, exponent: exponent)
        case "OKP":
            guard let curve = text("crv", limit: 16).flatMap(PublicKey.EdwardsCurve.init),
                let point = bytes("x", limit: 96)
            else { return nil }
            key = .edDSA(curve, point)
        default: return nil
        }
        var algorithm: SignatureAlgorithm?
        if let member = document.member("alg", of: value) {
            guard let known = (try? document.publicText(member, limit: 16)).flatMap(SignatureAlgorithm.init),
                key.fits(known)
            else { return nil }
            algorithm = known
        }
        return VerificationKey(identifier: text("kid", limit: 256), algorithm: algorithm, key: key)
    }
}
