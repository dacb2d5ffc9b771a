internal import LatchkeySystem
internal import LatchkeySecrets

/// application/x-www-form-urlencoded (RFC 6749 appendix B), of bytes in guarded memory.
enum FormEncoding {
    /// How a space is written. Both are read alike by a reader of forms; a reader of URLs alone knows only `%20`.
    enum Space {
        case plus
        case percent
    }

    /// Appends `bytes` to `output`: letters, digits and `*-._` as they are, everything else as `%XX`.
    static func append(
        _ bytes: Span<UInt8>, to output: inout SecretBuilder, space: Space
    ) throws(SecretBuilder.LimitExceeded) {
        let isPlus = space == .plus
        try PercentEncoding.encode(bytes) { byte in
            byte == UInt8(ascii: "~")
                ? !isPlus : ASCII.isUnreserved(byte) || byte == UInt8(ascii: "*") || isPlus && byte == 0x20
        } to: { (byte) throws(SecretBuilder.LimitExceeded) in
            try output.append(isPlus && byte == 0x20 ? UInt8(ascii: "+") : byte)
        }
    }

    /// Decodes `bytes` into `output`: `+` is a space, `%` needs two hexadecimal digits behind it.
    ///
    /// Returns false for anything else: a lone `%`, white space, a control character, a byte outside ASCII.
    static func decode(
        _ bytes: Span<UInt8>, into output: inout SecretBuilder
    ) throws(SecretBuilder.LimitExceeded) -> Bool {
        for index in bytes.indices where !(0x21...0x7E).contains(bytes[index]) { return false }
        return try output.append(percentDecoding: bytes, plusIsSpace: true)
    }
}
