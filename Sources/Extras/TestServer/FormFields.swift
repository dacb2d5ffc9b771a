internal import LatchkeySecrets
internal import LatchkeySystem

/// The parameters of a query or of a form body (application/x-www-form-urlencoded), each value in guarded memory.
struct FormFields: Sendable {
    private let values: [String: KeptSecret]

    static let none = FormFields(values: [:])
    static let maximumCount = 64
}

extension FormFields {
    /// Returns `nil` when an escape is malformed, a name comes twice (RFC 6749 section 3.1), or there are too many.
    init?(_ text: borrowing Secret<MessageBody>) {
        let parsed = text.withExposedBytes { bytes -> [String: KeptSecret]? in
            var values: [String: KeptSecret] = [:]
            var start = 0
            while start < bytes.count {
                let end = bytes.index(of: UInt8(ascii: "&"), from: start) ?? bytes.count
                defer { start = end + 1 }
                if end == start { continue }
                let field = bytes.extracting(start..<end)
                let equals = field.index(of: UInt8(ascii: "=")) ?? field.count
                guard values.count < Self.maximumCount,
                    let name = Self.name(field.extracting(0..<equals)), values[name] == nil,
                    let value = Self.decode(field.extracting(min(equals + 1, field.count)..<field.count))
                else { return nil }
                values[name] = KeptSecret(name, consume value)
            }
            return values
        }
        guard let parsed else { return nil }
        values = parsed
    }

    /// A value that stays in guarded memory. An empty one counts as left out (RFC 6749 section 3.1).
    func secret(_ name: String) -> KeptSecret? { values[name].flatMap { $0.value.isEmpty ? nil : $0 } }

    /// A value that isn't secret, such as `client_id`.
    func text(_ name: String) -> String? { secret(name)?.publicText() }

    // MARK: - Decoding

    private static func name(_ bytes: Span<UInt8>) -> String? {
        guard bytes.count <= 64, let name = decode(bytes) else { return nil }
        return KeptSecret("name", consume name).publicText()
    }

    /// Undoes percent-encoding, and plus for a space.
    static func decode(_ bytes: Span<UInt8>) -> Secret<MessageBody>? {
        var decoded = SecretBuilder(limit: bytes.count)
        guard (try? decoded.append(percentDecoding: bytes, plusIsSpace: true)) == true else { return nil }
        return decoded.finish(as: MessageBody.self)
    }
}

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
    /// The value after an authentication scheme and a space, such as the token after `Bearer `.
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
