internal import CLatchkeySodium

/// Base64 (RFC 4648), in constant time for a given length (sodium_bin2base64).
package struct Base64Codec: Sendable {
    /// base64url without padding (section 5).
    package static let url = Base64Codec(variant: sodium_base64_VARIANT_URLSAFE_NO_PADDING)
    /// base64 with padding (section 4): what HTTP's Basic scheme wants.
    package static let padded = Base64Codec(variant: sodium_base64_VARIANT_ORIGINAL)

    private let variant: Int32

    /// The number of characters that encode `byteCount` bytes.
    package func encodedByteCount(_ byteCount: Int) -> Int {
        variant == sodium_base64_VARIANT_ORIGINAL ? (byteCount + 2) / 3 * 4 : (byteCount * 4 + 2) / 3
    }

    /// Decodes `text` into `output`, which must have room for `text.count * 3 / 4` bytes.
    ///
    /// Returns the number of bytes written, or `nil` for anything else: another character, padding that is missing or
    /// shouldn't be there, white space, a length that can't be, or spare bits that are not zero.
    package func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        SodiumLibrary.start()
        precondition(output.count >= text.count * 3 / 4)
        if text.isEmpty { return 0 }
        var written = 0
        let status = unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe text.withUnsafeBytes { text in
                unsafe sodium_base642bin(
                    output.baseAddress!, output.count, text.baseAddress!.assumingMemoryBound(to: CChar.self),
                    text.count,
                    nil, &written, nil, variant)
            }
        }
        return status == 0 ? written : nil
    }

    /// Encodes all of `bytes` into `output`, which must be exactly `encodedByteCount(bytes.count)` long.
    package func encode(_ bytes: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        precondition(output.count == encodedByteCount(bytes.count))
        SodiumLibrary.start()
        let count = output.count
        if count == 0 { return }
        // libsodium writes a terminating NUL after the text. `output` only has room for it at the last group of three
        // bytes, so that group goes over the stack.
        let headByteCount = (bytes.count - 1) / 3 * 3
        let headCount = headByteCount / 3 * 4
        unsafe output.withUnsafeMutableBytes { output in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                let head = unsafe output.baseAddress!.assumingMemoryBound(to: CChar.self)
                _ = unsafe sodium_bin2base64(head, headCount + 1, bytes.baseAddress!, headByteCount, variant)
                unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 5) { tail in
                    _ = unsafe sodium_bin2base64(
                        tail.baseAddress!, 5, bytes.baseAddress! + headByteCount, bytes.count - headByteCount, variant)
                    unsafe (output.baseAddress! + headCount).copyMemory(
                        from: tail.baseAddress!, byteCount: count - headCount)
                    unsafe sodium_memzero(tail.baseAddress!, 5)
                }
            }
        }
    }
}

/// base64url without padding (RFC 4648 section 5), for data that isn't secret.
package enum Base64URL {
    /// Returns the text for any bytes, digests included.
    package static func encode(_ bytes: Span<UInt8>) -> String {
        var text = [UInt8](repeating: 0, count: Base64Codec.url.encodedByteCount(bytes.count))
        var span = text.mutableSpan
        Base64Codec.url.encode(bytes, into: &span)
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes, or `nil` when `text` is not base64url without padding.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        var bytes = [UInt8](repeating: 0, count: text.count * 3 / 4)
        var span = bytes.mutableSpan
        guard let count = Base64Codec.url.decode(text.span, into: &span) else { return nil }
        return Array(bytes.prefix(count))
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Returns the base64url text of the bytes, without padding (RFC 4648 section 5), itself a secret.
    public borrowing func base64URLEncoded() -> Secret<Purpose> { encoded(by: .url) }

    /// Returns the base64 text of the bytes, with padding (RFC 4648 section 4), itself a secret.
    package borrowing func base64Encoded() -> Secret<Purpose> { encoded(by: .padded) }

    private borrowing func encoded(by codec: Base64Codec) -> Secret<Purpose> {
        withExposedBytes { bytes in
            Secret(byteCount: codec.encodedByteCount(bytes.count)) { codec.encode(bytes, into: &$0) }
        }
    }

    /// Returns the bytes behind base64url text without padding, or `nil` for any other text.
    public borrowing func base64URLDecoded() -> Secret<Purpose>? {
        withExposedBytes { Self.decoded($0, by: .url) }
    }

    /// Decodes base64 text with padding (RFC 4648 section 4); `nil` for anything else.
    package init?(base64 text: Span<UInt8>) {
        guard let decoded = Self.decoded(text, by: .padded) else { return nil }
        self = decoded
    }

    private static func decoded(_ text: Span<UInt8>, by codec: Base64Codec) -> Secret<Purpose>? {
        var isSound = true
        let secret = Secret(capacity: text.count * 3 / 4) { output in
            let count = codec.decode(text, into: &output)
            isSound = count != nil
            return count ?? 0
        }
        guard isSound else { return nil }
        return secret
    }
}
