internal import LatchkeySystem

/// An encoding in which each unit of a text means a few bytes of a secret, at any offset.
///
/// The search decodes the text and compares the result, so it finds every spelling of an encoding, such as `%2f` and
/// `%2F`, or `/`, `\/` and `\u002f`.
enum SecretEncoding: UInt8, CaseIterable {
    /// Each byte means itself.
    case verbatim
    /// A JSON string (RFC 8259 section 7).
    case json
    /// Percent-encoding (RFC 3986 section 2.1), of whichever bytes, with `%20` or `+` for a space.
    case percent
    /// Two digits for each byte. Between two bytes there may be a space, a colon or a line break.
    case hexadecimal

    /// A unit of a text.
    private struct Unit {
        /// Up to four bytes, the first one lowest.
        var bytes: UInt32
        var count = 1
        /// The length in the text in bytes.
        var length = 1
        /// Whether the unit can also mean a space.
        var isPlus = false
    }

    private enum Reading {
        case unit(Unit)
        /// The text ends within a unit, or before it.
        case cut
        /// No text in this encoding goes on like that.
        case none
    }

    // MARK: - Comparing

    func match(_ part: SecretPart, in text: Span<UInt8>, at index: Int, of bytes: Span<UInt8>) -> SecretMatch {
        // The lines of a whole text are replaced one by one; the text between them stays.
        if self == .verbatim && !part.isLine { return .none }
        let count = part.range.count
        var (place, done) = (index, 0)
        while done < count {
            switch unit(at: place, of: bytes, isFirst: done == 0) {
            case .cut: return .open(done: done, count: count)
            case .none: return .none
            case .unit(let unit):
                guard unit.count <= count - done else { return .none }
                for offset in 0..<unit.count {
                    let wanted = text[part.range.lowerBound + done + offset]
                    guard
                        UInt8(truncatingIfNeeded: unit.bytes >> (8 * offset)) == wanted
                            || (unit.isPlus && wanted == 0x20)
                    else { return .none }
                }
                done += unit.count
                place += unit.length
            }
        }
        return .whole(length: place - index)
    }

    /// The bytes that a text may begin with.
    func firstBytes(of part: SecretPart, in text: Span<UInt8>) -> [UInt8] {
        let byte = text[part.range.lowerBound]
        switch self {
        case .verbatim: return [byte]
        case .json: return [byte, UInt8(ascii: "\\")]
        case .percent: return [byte, UInt8(ascii: "%")] + (byte == 0x20 ? [UInt8(ascii: "+")] : [])
        case .hexadecimal:
            let digit = byte >> 4
            return digit < 10 ? [0x30 + digit] : [0x37 + digit, 0x57 + digit]
        }
    }

    /// A plus sign, which may mean a space elsewhere, is literal here.
    private static func key(_ bytes: UInt32) -> UInt32 {
        var key = bytes
        for shift in stride(from: 0, to: 32, by: 8) where UInt8(truncatingIfNeeded: bytes >> shift) == UInt8(ascii: "+")
        {
            key = key & ~(0xFF << shift) | 0x20 << shift
        }
        return key
    }

    static func key(of part: SecretPart, in text: Span<UInt8>) -> UInt32 {
        var bytes: UInt32 = 0
        for offset in 0..<4 { bytes |= UInt32(text[part.range.lowerBound + offset]) << (8 * offset) }
        return key(bytes)
    }

    /// The encodings in which four bytes without an escape are those of a secret.
    static let plainBits: UInt8 = [verbatim, json, percent].reduce(0) { $0 | 1 << $1.rawValue }

    /// The key of four bytes as they are; `nil` if there are fewer, or an escape is among them.
    static func plainKey(at index: Int, of bytes: Span<UInt8>) -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        var key: UInt32 = 0
        for offset in 0..<4 {
            let byte = bytes[index + offset]
            if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "%") { return nil }
            key |= UInt32(byte == UInt8(ascii: "+") ? 0x20 : byte) << (8 * offset)
        }
        return key
    }

    func key(at index: Int, of bytes: Span<UInt8>) -> PartKey {
        var (key, count, place) = (UInt32(0), 0, index)
        while count < 4 {
            switch unit(at: place, of: bytes, isFirst: count == 0) {
            case .cut: return .cut
            case .none: return .none
            case .unit(let unit):
                key |= unit.bytes << (8 * count)
                count += unit.count
                place += unit.length
            }
        }
        return .key(Self.key(key))
    }

    // MARK: - Reading

    private func unit(at index: Int, of bytes: Span<UInt8>, isFirst: Bool) -> Reading {
        guard index < bytes.count else { return .cut }
        let byte = bytes[index]
        switch self {
        case .verbatim: return .unit(Unit(bytes: UInt32(byte)))
        case .json:
            if byte == UInt8(ascii: "\\") { return Self.escape(at: index, of: bytes) }
            return byte < 0x20 || byte == UInt8(ascii: "\"") ? .none : .unit(Unit(bytes: UInt32(byte)))
        case .percent:
            if byte == UInt8(ascii: "%") { return Self.digits(2, at: index + 1, of: bytes, after: 1) }
            let isPlain = byte > 0x20 && byte < 0x7F
            return isPlain ? .unit(Unit(bytes: UInt32(byte), isPlus: byte == UInt8(ascii: "+"))) : .none
        case .hexadecimal:
            let skipped = isFirst ? 0 : Self.separator(at: index, of: bytes)
            guard let skipped else { return .cut }
            return Self.digits(2, at: index + skipped, of: bytes, after: skipped)
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
        bytes[index] == 0x20 || bytes[index] == UInt8(ascii: ":") ? 1 : lineBreak(at: index, of: bytes)
    }

    /// How long a line break is, with what the next line is indented by, or 0; `nil` where the text ends within it.
    static func lineBreak(at index: Int, of bytes: Span<UInt8>) -> Int? {
        var place = index
        if place < bytes.count, bytes[place] == 0x0D { place += 1 }
        if place == bytes.count { return nil }
        guard bytes[place] == 0x0A else { return 0 }
        place += 1
        while place < bytes.count, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
        return place - index
    }
}

/// How a part of a secret looks in base64 (RFC 4648), in one of three ways, by where it begins in what was encoded. Both
/// alphabets count, and line breaks between two characters don't.
struct Base64Form {
    private let part: SecretPart
    /// How many bytes come before the part in a group of three.
    private let shift: Int
    /// The characters that hold bits of the part alone, counted from the group's first.
    private let characters: Range<Int>

    init(_ part: SecretPart, _ shift: Int) {
        self.part = part
        self.shift = shift
        characters = (shift * 8 + 5) / 6..<(shift + part.range.count) * 8 / 6
    }

    /// The six bits of a character.
    private func value(_ number: Int, in text: Span<UInt8>) -> UInt32 {
        let first = number * 6 / 8 - shift
        let start = part.range.lowerBound + first
        let low = first + 1 < part.range.count ? UInt32(text[start + 1]) : 0
        return (UInt32(text[start]) << 8 | low) >> (10 - number * 6 % 8) & 63
    }

    /// The bytes that a text may begin with.
    func firstBytes(in text: Span<UInt8>) -> [UInt8] {
        let first = value(characters.lowerBound, in: text)
        return (0...255).filter { Self.value(of: $0) == first }
    }

    func key(in text: Span<UInt8>) -> UInt32 {
        (0..<4).reduce(0) { key, offset in key << 6 | value(characters.lowerBound + offset, in: text) }
    }

    static func key(at index: Int, of bytes: Span<UInt8>) -> PartKey {
        var (key, place) = (UInt32(0), index)
        for number in 0..<4 {
            if number > 0, place < bytes.count, bytes[place] < 0x20 {
                guard let skipped = SecretEncoding.lineBreak(at: place, of: bytes) else { return .cut }
                place += skipped
            }
            guard place < bytes.count else { return .cut }
            guard let value = value(of: bytes[place]) else { return .none }
            key = key << 6 | value
            place += 1
        }
        return .key(key)
    }

    func match(in text: Span<UInt8>, at index: Int, of bytes: Span<UInt8>) -> SecretMatch {
        var place = index
        for number in characters {
            let open = SecretMatch.open(done: number - characters.lowerBound, count: characters.count)
            if number > characters.lowerBound, place < bytes.count, bytes[place] < 0x20 {
                guard let skipped = SecretEncoding.lineBreak(at: place, of: bytes) else { return open }
                place += skipped
            }
            guard place < bytes.count else { return open }
            guard Self.value(of: bytes[place]) == value(number, in: text) else { return .none }
            place += 1
        }
        return .whole(length: place - index)
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case 0x41...0x5A: UInt32(character - 0x41)
        case 0x61...0x7A: UInt32(character - 0x61 + 26)
        case 0x30...0x39: UInt32(character - 0x30 + 52)
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
