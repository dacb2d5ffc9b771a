internal import Secrets
internal import Sodium

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
    func publicText() -> String? {
        value.withExposedBytes { bytes in
            var copy: [UInt8] = []
            for index in bytes.indices { copy.append(bytes[index]) }
            return String(validating: copy, as: UTF8.self)
        }
    }

    func matches(_ other: KeptSecret) -> Bool { value.matches(other.value) }

    /// The base64url text of 32 random octets behind a prefix.
    static func random(_ name: String, prefix: String = "") throws(RandomSourceError) -> KeptSecret {
        let random = try Secret<MessageBody>.random(byteCount: 32).base64URLEncoded()
        var text = SecretBuilder()
        do throws(SecretBuilder.LimitExceeded) {
            try text.append(publicText: prefix)
            try text.append(random)
        } catch {
            preconditionFailure("a builder without a limit refused bytes")
        }
        return KeptSecret(name, text.finish(as: MessageBody.self))
    }
}

/// What a secret is looked up by: its keyed hash, so that tables hold no secrets and look-ups leak no timing.
struct SecretIndex: Sendable {
    private let key: [UInt8]

    init() throws(RandomSourceError) {
        do throws(RandomOctetsError) {
            key = try RandomOctets.array(32)
        } catch {
            throw RandomSourceError(number: error.number)
        }
    }

    func digest(_ secret: KeptSecret) -> [UInt8] {
        secret.value.withExposedBytes { KeyedHash.digest($0, key: key.span) }
    }
}
