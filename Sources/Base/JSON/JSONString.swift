internal import LatchkeySystem

/// The inside of a JSON string: what is between the quotation marks (RFC 8259 section 7).
enum JSONString {
    /// Checks a string that starts at `start` and returns where its closing quotation mark is.
    ///
    /// Refused are control characters, unknown escapes and surrogates without their other half. The scanner has
    /// validated the UTF-8.
    static func validate(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""): return index
            case UInt8(ascii: "\\"): index = try validateEscape(bytes, index)
            case 0x00..<0x20: throw JSONError(.controlCharacter)
            default: index += 1
            }
        }
        throw JSONError(.unexpectedEnd)
    }

    /// Returns the index behind the escape that starts at `index`.
    private static func validateEscape(_ bytes: Span<UInt8>, _ index: Int) throws(JSONError) -> Int {
        guard index + 1 < bytes.count else { throw JSONError(.unexpectedEnd) }
        guard bytes[index + 1] == UInt8(ascii: "u") else {
            guard shortEscape(bytes[index + 1]) != nil else { throw JSONError(.invalidEscape) }
            return index + 2
        }
        guard let unit = codeUnit(bytes, index) else { throw JSONError(.invalidEscape) }
        switch unit {
        case 0xD800...0xDBFF:
            guard let low = codeUnit(bytes, index + 6), (0xDC00...0xDFFF).contains(low) else {
                throw JSONError(.invalidEscape)
            }
            return index + 12
        case 0xDC00...0xDFFF: throw JSONError(.invalidEscape)
        default: return index + 6
        }
    }

    /// The byte that a backslash and `byte` mean, or `nil`.
    private static func shortEscape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The value of the `\uXXXX` that starts at `index`, or `nil` when there is none.
    private static func codeUnit(_ bytes: Span<UInt8>, _ index: Int) -> UInt32? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt32 = 0
        for offset in 2..<6 {
            guard let digit = ASCII.hexValue(bytes[index + offset]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    // MARK: - Decoding

    /// Passes on the bytes of a checked string, with escapes resolved, one after the other.
    static func decode(_ bytes: Span<UInt8>, _ range: Range<Int>, _ body: (UInt8) -> Void) {
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                body(bytes[index])
                index += 1
                continue
            }
            if let byte = shortEscape(bytes[index + 1]) {
                body(byte)
                index += 2
                continue
            }
            // `validate` has seen to it that both halves are there.
            var value = codeUnit(bytes, index) ?? 0xFFFD
            index += 6
            if (0xD800...0xDBFF).contains(value), let low = codeUnit(bytes, index) {
                value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00)
                index += 6
            }
            for byte in (Unicode.Scalar(value) ?? "\u{FFFD}").utf8 { body(byte) }
        }
    }

    static func decodedByteCount(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var count = 0
        decode(bytes, range) { _ in count += 1 }
        return count
    }

    /// Whether a checked string, with escapes resolved, has exactly these bytes.
    static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: Span<UInt8>) -> Bool {
        var next = 0
        var same = true
        decode(bytes, range) { byte in
            if next >= text.count || text[next] != byte { same = false }
            next += 1
        }
        return same && next == text.count
    }

    /// Whether two checked strings, with escapes resolved, have the same bytes.
    static func sameText(_ bytes: Span<UInt8>, _ left: Range<Int>, _ right: Range<Int>) -> Bool {
        var decoded: [UInt8] = []
        decode(bytes, left) { decoded.append($0) }
        return equals(bytes, right, decoded.span)
    }
}
