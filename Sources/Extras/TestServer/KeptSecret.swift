internal import LatchkeySecrets
internal import LatchkeySystem

/// A secret that several places of the server refer to.
final class KeptSecret: Sendable {
    /// What it is, such as "access_token".
    let name: String
    let value: Secret<MessageBody>

    init(_ name: String, _ value: consuming Secret<MessageBody>) {
        self.name = name
        self.value = value
    }

    /// The bytes as text, for values that are no secret.
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

/// What a secret is looked up by: its keyed hash, so that tables hold no secrets and lookups leak no timing.
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
            preconditionFailure("the system gives no random octets (errno \(error.number))")
        }
    }
}
