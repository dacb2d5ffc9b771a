internal import LatchkeySecrets
internal import LatchkeySodium
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
    func publicText() -> String? {
        value.withExposedBytes { bytes in
            var copy: [UInt8] = []
            for index in bytes.indices { copy.append(bytes[index]) }
            return String(validating: copy, as: UTF8.self)
        }
    }

    /// Whether it is 1 to 256 of RFC 3986's unreserved characters.
    var isUnreserved: Bool {
        value.withExposedBytes { bytes in
            (1...256).contains(bytes.count)
                && bytes.indices.allSatisfy { index in
                    switch bytes[index] {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
                    default: false
                    }
                }
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
        key = try mapError(
            { (error: RandomOctetsError) in RandomSourceError(number: error.number) }, of: RandomOctets.array(32))
    }

    func digest(_ secret: KeptSecret) -> [UInt8] {
        secret.value.withExposedBytes { KeyedHash.digest($0, key: key.span) }
    }
}
