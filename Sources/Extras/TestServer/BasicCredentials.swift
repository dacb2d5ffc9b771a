internal import LatchkeySecrets
internal import LatchkeySystem

/// A client's `Authorization: Basic …` (RFC 7617), its parts form-encoded (RFC 6749 section 2.3.1).
struct BasicCredentials {
    let identifier: String
    let secret: KeptSecret

    init?(_ authorization: KeptSecret) {
        guard let encoded = authorization.behind(scheme: "basic") else { return nil }
        let parts = encoded.value.withExposedBytes { Secret<MessageBody>(base64: $0) }
        guard let parts else { return nil }
        let split = parts.withExposedBytes { bytes -> (KeptSecret, KeptSecret)? in
            guard let colon = bytes.index(of: UInt8(ascii: ":")),
                let identifier = FormFields.decode(bytes.extracting(0..<colon)),
                let secret = FormFields.decode(bytes.extracting(colon + 1..<bytes.count))
            else { return nil }
            return (KeptSecret("client_id", consume identifier), KeptSecret("client_secret", consume secret))
        }
        guard let split, let identifier = split.0.publicText() else { return nil }
        self.identifier = identifier
        secret = split.1
    }
}

extension KeptSecret {
    /// What stands behind an authentication scheme and a space, such as the token behind `Bearer `.
    func behind(scheme: String) -> KeptSecret? {
        let start = Array(scheme.lowercased().utf8) + [0x20]
        return value.withExposedBytes { bytes in
            guard bytes.count > start.count, start.indices.allSatisfy({ bytes[$0] | 0x20 == start[$0] }) else {
                return nil
            }
            return KeptSecret(scheme, Secret(copying: bytes.extracting(start.count..<bytes.count)))
        }
    }
}
