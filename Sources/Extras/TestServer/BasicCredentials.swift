internal import LatchkeySecrets

/// A client's `Authorization: Basic …` (RFC 7617), its parts form-encoded (RFC 6749 section 2.3.1).
struct BasicCredentials {
    let identifier: String
    let secret: KeptSecret

    init?(_ authorization: KeptSecret) {
        guard let encoded = authorization.behind(scheme: "basic") else { return nil }
        let parts = encoded.value.withExposedBytes { Self.decodeBase64($0) }
        guard let parts else { return nil }
        let split = parts.withExposedBytes { bytes -> (KeptSecret, KeptSecret)? in
            guard let colon = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: ":") }),
                let identifier = FormFields.decode(bytes.extracting(0..<colon)),
                let secret = FormFields.decode(bytes.extracting(colon + 1..<bytes.count))
            else { return nil }
            return (KeptSecret("client_id", consume identifier), KeptSecret("client_secret", consume secret))
        }
        guard let split, let identifier = split.0.publicText() else { return nil }
        self.identifier = identifier
        secret = split.1
    }

    /// RFC 4648 section 4, padding required.
    private static func decodeBase64(_ text: Span<UInt8>) -> Secret<MessageBody>? {
        guard text.count % 4 == 0 else { return nil }
        var bytes = SecretBuilder(limit: text.count)
        var bits: UInt32 = 0
        var bitCount = 0
        do throws(SecretBuilder.LimitExceeded) {
            for index in text.indices {
                if text[index] == UInt8(ascii: "=") {
                    guard index >= text.count - 2, text[text.count - 1] == UInt8(ascii: "=") else { return nil }
                    continue
                }
                guard let value = value(of: text[index]) else { return nil }
                bits = bits << 6 | value
                bitCount += 6
                if bitCount >= 8 {
                    bitCount -= 8
                    try bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                }
            }
        } catch {
            return nil
        }
        return bytes.finish(as: MessageBody.self)
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case 0x41...0x5A: UInt32(character) - 0x41
        case 0x61...0x7A: UInt32(character) - 0x61 + 26
        case 0x30...0x39: UInt32(character) - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
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

    /// A member of a flat JSON object whose value is a string without escapes, as tokens are.
    static func member(_ name: String, ofJSON body: KeptSecret) -> KeptSecret? {
        let quotedName = Array("\"\(name)\"".utf8)
        return body.value.withExposedBytes { bytes in
            guard bytes.count > quotedName.count else { return nil }
            let start = (0..<bytes.count - quotedName.count).first { start in
                quotedName.indices.allSatisfy { bytes[start + $0] == quotedName[$0] }
            }
            guard var index = start.map({ $0 + quotedName.count }) else { return nil }
            while index < bytes.count, bytes[index] == 0x20 || bytes[index] == UInt8(ascii: ":") { index += 1 }
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
            let first = index + 1
            guard let end = (first..<bytes.count).first(where: { bytes[$0] == UInt8(ascii: "\"") }) else { return nil }
            return KeptSecret(name, Secret(copying: bytes.extracting(first..<end)))
        }
    }
}
