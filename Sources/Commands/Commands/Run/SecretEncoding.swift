/// An encoding in which each unit of a text means a few bytes of a secret, at any offset.
///
/// The search decodes the text and compares the result, so it finds every spelling of an encoding, such as `%2f` and
/// `%2F`, or `/`, `\/` and `\u002f`.
enum SecretEncoding: UInt8, CaseIterable {
    /// A JSON string (RFC 8259 section 7). A string without an escape is the secret verbatim.
    case json
    /// Percent-encoding (RFC 3986 section 2.1), of whichever bytes, with `%20` or `+` for a space.
    case percent
    /// Two digits for each byte. A space or a colon, and a line break, may come between two bytes.
    case hexadecimal
    /// Characters of six bits in either alphabet of RFC 4648. Between two of them there may be a line break.
    case base64

    /// A unit of a text.
    struct Unit {
        /// Up to four bytes, the first one lowest; in base64 the six bits of a character.
        var bytes: UInt32
        var count = 1
        /// The length in the text in bytes.
        var length = 1
    }

    enum Reading {
        case unit(Unit)
        /// The text ends within a unit, or before it.
        case cut
        /// No text in this encoding goes on like that.
        case none
    }

    /// The encodings in which four bytes without an escape are those of a secret.
    static let plainBits: UInt8 = [json, percent].reduce(0) { $0 | 1 << $1.rawValue }

    /// The key of four bytes as they are; `nil` if there are fewer, or one that may mean something else is among them.
    static func plainKey(at index: Int, of bytes: Span<UInt8>) -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        var key: UInt32 = 0
        for number in 0..<4 {
            let byte = bytes[index + number]
            if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") { return nil }
            key |= UInt32(byte) << UInt32(8 * number)
        }
        return key
    }

    /// The bytes that a text may begin with whose first byte, or character of base64, is this one.
    func firstBytes(of symbol: UInt8) -> [UInt8] {
        switch self {
        case .json: return [symbol, UInt8(ascii: "\\")]
        case .percent: return [symbol, UInt8(ascii: "%")] + (symbol == 0x20 ? [UInt8(ascii: "+")] : [])
        case .hexadecimal:
            let digit = symbol >> 4
            return digit < 10 ? [0x30 + digit] : [0x37 + digit, 0x57 + digit]
        case .base64: return (0...255).filter { Self.sixBits(of: $0) == UInt32(symbol) }
        }
    }

    /// The first four bytes or characters at a place of a text.
    enum Key {
        /// They begin no secret in this encoding.
        case none
        /// The text ends before, or has an escape there.
        case unknown
        case known(UInt32)
    }

    func key(at index: Int, of bytes: Span<UInt8>) -> Key {
        var (key, place) = (UInt32(0), index)
        for number in 0..<4 {
            if place < bytes.count, otherMeaning(of: bytes[place]) != nil { return .unknown }
            switch unit(at: place, of: bytes, isFirst: number == 0) {
            case .cut: return .unknown
            case .none: return .none
            case .unit(let unit):
                key |= unit.bytes << UInt32(8 * number)
                place += unit.length
            }
        }
        return .known(key)
    }

    // MARK: - Reading

    /// The other meaning that a byte of a text may have, instead of the unit that it begins: a plus sign is a space in
    /// a form, and some writers escape the space or the quote alone.
    func otherMeaning(of byte: UInt8) -> UInt8? {
        switch (self, byte) {
        case (.percent, UInt8(ascii: "+")): 0x20
        case (.percent, UInt8(ascii: "%")), (.json, UInt8(ascii: "\\")): byte
        default: nil
        }
    }

    func unit(at index: Int, of bytes: Span<UInt8>, isFirst: Bool) -> Reading {
        guard index < bytes.count else { return .cut }
        let byte = bytes[index]
        switch self {
        case .json:
            if byte == UInt8(ascii: "\\") { return Self.escape(at: index, of: bytes) }
            return Self.literal(byte)
        case .percent:
            if byte == UInt8(ascii: "%") { return Self.digits(2, at: index + 1, of: bytes, after: 1) }
            return Self.literal(byte)
        case .hexadecimal:
            let skipped = isFirst ? 0 : Self.separator(at: index, of: bytes)
            guard let skipped else { return .cut }
            return Self.digits(2, at: index + skipped, of: bytes, after: skipped)
        case .base64:
            let skipped = isFirst || byte >= 0x20 ? 0 : Self.lineBreak(at: index, of: bytes)
            guard let skipped, index + skipped < bytes.count else { return .cut }
            guard let bits = Self.sixBits(of: bytes[index + skipped]) else { return .none }
            return .unit(Unit(bytes: bits, length: skipped + 1))
        }
    }

    /// A character that means itself, whether the encoding requires an escape or not. The lines of a text are replaced one
    /// by one, so a line break means nothing.
    private static func literal(_ byte: UInt8) -> Reading { byte == 0x0A ? .none : .unit(Unit(bytes: UInt32(byte))) }

    private static func sixBits(of character: UInt8) -> UInt32? {
        switch character {
        case 0x41...0x5A: UInt32(character - 0x41)
        case 0x61...0x7A: UInt32(character - 0x61 + 26)
        case 0x30...0x39: UInt32(character - 0x30 + 52)
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// A number in hexadecimal digits.
    ///
    /// - Parameter before: how many bytes of the unit come before the digits.
    private static func digits(_ count: Int, at index: Int, of bytes: Span<UInt8>, after before: Int) -> Reading {
        var value: UInt32 = 0
        for place in index..<index + count {
            guard place < bytes.count else { return .cut }
            guard let digit = ASCII.hexValue(bytes[place]) else { return .none }
            value = value << 4 | UInt32(digit)
        }
        return .unit(Unit(bytes: value, length: before + count))
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "b"): 0x08,
        UInt8(ascii: "f"): 0x0C, UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F,
    ]

    /// An escape of JSON; of a character outside the first plane, two of them.
    private static func escape(at index: Int, of bytes: Span<UInt8>) -> Reading {
        guard index + 1 < bytes.count else { return .cut }
        if let byte = escapes[bytes[index + 1]] { return .unit(Unit(bytes: UInt32(byte), length: 2)) }
        guard bytes[index + 1] == UInt8(ascii: "u") else { return .none }
        guard case .unit(let first) = digits(4, at: index + 2, of: bytes, after: 2) else {
            return digits(4, at: index + 2, of: bytes, after: 2)
        }
        guard (0xD800..<0xDC00).contains(first.bytes) else { return character(first.bytes, length: 6) }
        for (offset, wanted) in [UInt8(ascii: "\\"), UInt8(ascii: "u")].enumerated() {
            guard index + 6 + offset < bytes.count else { return .cut }
            guard bytes[index + 6 + offset] == wanted else { return .none }
        }
        let rest = digits(4, at: index + 8, of: bytes, after: 2)
        guard case .unit(let second) = rest else { return rest }
        guard (0xDC00..<0xE000).contains(second.bytes) else { return .none }
        return character(0x10000 + (first.bytes - 0xD800) << 10 + (second.bytes - 0xDC00), length: 12)
    }

    /// A character as the UTF-8 of a secret has it.
    private static func character(_ value: UInt32, length: Int) -> Reading {
        guard let scalar = Unicode.Scalar(value) else { return .none }
        var unit = Unit(bytes: 0, count: 0, length: length)
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
            unit.bytes |= UInt32(byte) << (8 * unit.count)
            unit.count += 1
        }
        return .unit(unit)
    }

    /// How long what separates two bytes in hexadecimal is, or 0; `nil` where the text ends before that is known.
    private static func separator(at index: Int, of bytes: Span<UInt8>) -> Int? {
        let mark = bytes[index] == 0x20 || bytes[index] == UInt8(ascii: ":") ? 1 : 0
        return lineBreak(at: index + mark, of: bytes).map { mark + $0 }
    }

    /// The length of a line break with the indentation of the next line, or 0; `nil` where the text ends within it. Text
    /// waits for the end of an indentation, so at most 256 bytes of it count.
    private static func lineBreak(at index: Int, of bytes: Span<UInt8>) -> Int? {
        var place = index
        if place < bytes.count, bytes[place] == 0x0D { place += 1 }
        if place == bytes.count { return nil }
        guard bytes[place] == 0x0A else { return 0 }
        place += 1
        let end = place + 256
        while place < min(end, bytes.count), bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
        return place - index
    }
}
