internal import Glibc
internal import LatchkeyCrypto
internal import LatchkeyLog
internal import Synchronization

/// Makes the server's ID tokens (OpenID Connect Core section 2): JSON Web Tokens signed with ES256.
final class IdentityTokens: Sendable {
    private final class Key: Sendable {
        let scalar: Secret<PrivateKey>
        let identifier: String
        let point: [UInt8]

        init(number: Int) throws(LibraryFailure) {
            while true {
                let scalar = Secret<PrivateKey>.ofRandomOctets(byteCount: P256.scalarByteCount)
                guard let point = try P256.publicKey(of: scalar) else { continue }
                (identifier, self.point) = ("key-\(number)", point)
                self.scalar = scalar
                return
            }
        }
    }

    private let keys: Mutex<[Key]>
    /// Signs what is forged.
    private let otherKey: Key

    init() throws(LibraryFailure) {
        keys = Mutex([try Key(number: 1)])
        otherKey = try Key(number: 0)
    }

    static let lifetimeSeconds = 600

    private var key: Key { keys.withLock { $0[$0.count - 1] } }

    /// Signs with a new key from now on. The set loses the old one.
    func rotate() {
        // The first key has loaded what makes another.
        guard let key = try? Key(number: keys.withLock { $0.count } + 1) else { return }
        keys.withLock { $0.append(key) }
    }

    /// The JSON Web Key Set (RFC 7517 section 5).
    var keySet: String {
        let key = key
        let (x, y) = (Array(key.point[..<32]), Array(key.point[32...]))
        let text = JSONText.object([
            ("kty", "\"EC\""), ("crv", "\"P-256\""), ("alg", "\"ES256\""), ("use", "\"sig\""),
            ("kid", JSONText.quote(key.identifier)),
            ("x", JSONText.quote(Base64URL.encode(x.span))),
            ("y", JSONText.quote(Base64URL.encode(y.span))),
        ])
        return JSONText.object([("keys", "[\(text)]")])
    }

    /// Returns a token about `subject`.
    ///
    /// - Parameters:
    ///   - nonce: from the authorization request, of unreserved characters; `nil` after a refresh.
    ///   - algorithm: what the header says; the signature is ES256's whatever it is.
    ///   - isForged: whether another key signs.
    func token(
        issuer: String, subject: String, audience: String, nonce: KeptSecret?, algorithm: String = "ES256",
        isForged: Bool = false
    ) -> KeptSecret {
        let now = Int(time(nil))
        var payload = SecretText()
        payload.add(
            "{\"iss\":\(JSONText.quote(issuer)),\"sub\":\(JSONText.quote(subject))"
                + ",\"aud\":\(JSONText.quote(audience)),\"iat\":\(now),\"exp\":\(now + Self.lifetimeSeconds)")
        if let nonce {
            payload.add(",\"nonce\":\"")
            payload.add(nonce)
            payload.add("\"")
        }
        payload.add("}")
        let key = key
        let signer = isForged ? otherKey : key
        let header = Array(#"{"alg":"\#(algorithm)","typ":"JWT","kid":"\#(key.identifier)"}"#.utf8)
        var input = SecretText()
        input.add(Base64URL.encode(header.span) + ".")
        input.add(KeptSecret("payload", payload.finish().base64URLEncoded()))
        let signed = input.finish()
        let signature = signed.withExposedBytes { (try? P256.signature(of: $0, key: signer.scalar)) ?? [] }
        var token = SecretText()
        token.add(KeptSecret("signed", signed.duplicate()))
        token.add("." + Base64URL.encode(signature.span))
        return KeptSecret("id_token", token.finish())
    }
}
