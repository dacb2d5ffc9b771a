/// Percent-encoding (RFC 3986 section 2.1), byte by byte, so that a secret goes from one guarded memory to another.
package enum PercentEncoding {
    /// Passes on the bytes that are plain, and `%XX` for all others.
    package static func encode<Failure: Error>(
        _ bytes: Span<UInt8>, plain isPlain: (UInt8) -> Bool = ASCII.isUnreserved,
        to append: (UInt8) throws(Failure) -> Void
    ) throws(Failure) {
        for index in bytes.indices {
            let byte = bytes[index]
            if isPlain(byte) {
                try append(byte)
            } else {
                try append(UInt8(ascii: "%"))
                try append(ASCII.hexDigit(byte >> 4))
                try append(ASCII.hexDigit(byte & 15))
            }
        }
    }

    package static func encode(_ text: String, plain isPlain: (UInt8) -> Bool = ASCII.isUnreserved) -> String {
        var encoded: [UInt8] = []
        encode(Array(text.utf8).span, plain: isPlain) { encoded.append($0) }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Passes on the decoded bytes. Returns `false` where two hexadecimal digits don't follow a `%`.
    ///
    /// - Parameter plusIsSpace: as in forms (application/x-www-form-urlencoded).
    package static func decode<Failure: Error>(
        _ bytes: Span<UInt8>, plusIsSpace: Bool = false, to append: (UInt8) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
                    let low = ASCII.hexValue(bytes[index + 2])
                else { return false }
                try append(high << 4 | low)
                index += 2
            case UInt8(ascii: "+") where plusIsSpace: try append(0x20)
            case let byte: try append(byte)
            }
            index += 1
        }
        return true
    }
}
