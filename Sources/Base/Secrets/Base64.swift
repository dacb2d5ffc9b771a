internal import CLatchkeySodium

/// base64url without padding (RFC 4648 section 5), in constant time for a given length (sodium_bin2base64).
package enum Base64URLCodec {
    /// The number of characters that encode `byteCount` bytes.
    package static func encodedByteCount(_ byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

    /// Encodes all of `bytes` into `output`, which must be exactly `encodedByteCount(bytes.count)` long.
    package static func encode(_ bytes: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        precondition(output.count == encodedByteCount(bytes.count))
        encodeBase64(bytes, into: &output, variant: sodium_base64_VARIANT_URLSAFE_NO_PADDING)
    }

    /// Decodes `text` into `output`, which must have room for `text.count * 3 / 4` bytes.
    ///
    /// Returns the number of bytes written, or `nil` for anything that is not base64url without padding: another
    /// character, padding, white space, a length that can't be, or spare bits that are not zero.
    package static func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        decodeBase64(text, into: &output, variant: sodium_base64_VARIANT_URLSAFE_NO_PADDING)
    }
}

/// base64 with padding (RFC 4648 section 4), in constant time too: what HTTP's Basic scheme wants.
package enum Base64Codec {
    /// The number of characters that encode `byteCount` bytes.
    package static func encodedByteCount(_ byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

    /// Encodes all of `bytes` into `output`, which must be exactly `encodedByteCount(bytes.count)` long.
    package static func encode(_ bytes: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        precondition(output.count == encodedByteCount(bytes.count))
        encodeBase64(bytes, into: &output, variant: sodium_base64_VARIANT_ORIGINAL)
    }

    /// Decodes as `Base64URLCodec` does; `nil` for missing padding too.
    package static func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Int? {
        decodeBase64(text, into: &output, variant: sodium_base64_VARIANT_ORIGINAL)
    }
}

private func decodeBase64(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>, variant: Int32) -> Int? {
    SodiumLibrary.start()
    precondition(output.count >= text.count * 3 / 4)
    if text.isEmpty { return 0 }
    var written = 0
    let status = unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe text.withUnsafeBytes { text in
            unsafe sodium_base642bin(
                output.baseAddress!, output.count, text.baseAddress!.assumingMemoryBound(to: CChar.self), text.count,
                nil, &written, nil, variant)
        }
    }
    return status == 0 ? written : nil
}

private func encodeBase64(_ bytes: Span<UInt8>, into output: inout MutableSpan<UInt8>, variant: Int32) {
    SodiumLibrary.start()
    let count = output.count
    if count == 0 { return }
    // libsodium writes a terminating NUL after the text. `output` only has room for it at the last group of three bytes,
    // so that group goes over the stack.
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

/// base64url without padding (RFC 4648 section 5), for data that isn't secret.
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
