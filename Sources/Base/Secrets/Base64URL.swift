/// base64url without padding (RFC 4648 section 5), of things that are no secret.
package enum Base64URL {
    /// Returns the text for any bytes, digests included.
    package static func encode(_ bytes: Span<UInt8>) -> String {
        var text = [UInt8](repeating: 0, count: Base64URLCodec.encodedByteCount(bytes.count))
        var span = text.mutableSpan
        Base64URLCodec.encode(bytes, into: &span)
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes, or `nil` when `text` is not base64url without padding.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        var bytes = [UInt8](repeating: 0, count: text.count * 3 / 4)
        var span = bytes.mutableSpan
        guard let count = Base64URLCodec.decode(text.span, into: &span) else { return nil }
        return Array(bytes.prefix(count))
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Returns the base64url text of the bytes, itself a secret.
    public borrowing func base64URLEncoded() -> Secret<Purpose> {
        withExposedBytes { bytes in
            Secret(byteCount: Base64URLCodec.encodedByteCount(bytes.count)) { Base64URLCodec.encode(bytes, into: &$0) }
        }
    }

    /// Returns the base64 text of the bytes, with padding (RFC 4648 section 4), itself a secret.
    package borrowing func base64Encoded() -> Secret<Purpose> {
        withExposedBytes { bytes in
            Secret(byteCount: Base64Codec.encodedByteCount(bytes.count)) { Base64Codec.encode(bytes, into: &$0) }
        }
    }

    /// Returns the bytes behind base64url text, or `nil` when it is none.
    public borrowing func base64URLDecoded() -> Secret<Purpose>? {
        withExposedBytes { Self.decoded($0, by: Base64URLCodec.decode) }
    }

    /// Decodes base64 text with padding (RFC 4648 section 4); `nil` for anything else.
    package init?(base64 text: Span<UInt8>) {
        guard let decoded = Self.decoded(text, by: Base64Codec.decode) else { return nil }
        self = decoded
    }

    private static func decoded(
        _ text: Span<UInt8>, by decode: (Span<UInt8>, inout MutableSpan<UInt8>) -> Int?
    ) -> Secret<Purpose>? {
        var isSound = true
        let secret = Secret(capacity: text.count * 3 / 4) { output in
            let count = decode(text, &output)
            isSound = count != nil
            return count ?? 0
        }
        guard isSound else { return nil }
        return secret
    }
}
