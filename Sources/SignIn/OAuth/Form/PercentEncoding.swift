internal import LatchkeySystem
internal import LatchkeySecrets

/// application/x-www-form-urlencoded (RFC 6749 appendix B), of bytes in guarded memory.
enum PercentEncoding {
    /// How a space is written. Both are read alike by a reader of forms; a reader of URLs alone knows only `%20`.
    enum Space {
        case plus
        case percent
    }

    /// Appends `bytes` to `output`: letters, digits and `*-._` as they are, everything else as `%XX`.
    static func append(
        _ bytes: Span<UInt8>, to output: inout SecretBuilder, space: Space
    ) throws(SecretBuilder.LimitExceeded) {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == 0x20 && space == .plus {
                try output.append(UInt8(ascii: "+"))
            } else if ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2A || (0x2D...0x2E).contains(byte)
                || byte == 0x5F || (byte == 0x7E && space == .percent)
            {
                try output.append(byte)
            } else {
                try output.append(UInt8(ascii: "%"))
                try output.append(ASCII.hexDigit(byte >> 4))
                try output.append(ASCII.hexDigit(byte & 15))
            }
        }
    }

    /// Decodes `bytes` into `output`: `+` is a space, `%` needs two hexadecimal digits behind it.
    ///
    /// Returns false for anything else: a lone `%`, white space, a control character, a byte outside ASCII.
    static func decode(
        _ bytes: Span<UInt8>, into output: inout SecretBuilder
    ) throws(SecretBuilder.LimitExceeded) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "+"):
                try output.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
                    let low = ASCII.hexValue(bytes[index + 2])
                else { return false }
                try output.append(high << 4 | low)
                index += 2
            case 0x21...0x7E:
                try output.append(byte)
            default:
                return false
            }
            index += 1
        }
        return true
    }
}
