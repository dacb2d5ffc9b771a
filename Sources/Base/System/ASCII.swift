/// Classes of ASCII bytes that the grammars of RFC 3986 and RFC 6749 name.
package enum ASCII {
    /// Whether a path in any configuration syntax may contain the byte without quoting: shells', systemd's, D-Bus's.
    package static func isPlainInPaths(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "/._-+=:".utf8.contains(byte)
    }

    /// A text as one word of a shell, in quotes where it needs them. The quoting adds no backslashes, because messages
    /// double them.
    package static func shellWord(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { isPlainInPaths($0) || "@%,".utf8.contains($0) }
        return isPlain ? text : "'\(text.replacing("'", with: "'\"'\"'"))'"
    }

    package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    package static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) && byte < 0x80 }

    /// The unreserved characters of RFC 3986 section 2.3, which are also the alphabet of RFC 7636 section 4.1.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E
    }

    /// VSCHAR of RFC 6749 appendix A: printable ASCII and space.
    package static func isVisible(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    /// NQCHAR of RFC 6749 appendix A, of which scope tokens and `error` values are made.
    package static func isScopeCharacter(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x5B).contains(byte) || (0x5D...0x7E).contains(byte)
    }

    /// The value of a hexadecimal digit, or `nil`.
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// The upper-case hexadecimal digit of a value below 16.
    package static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }

    /// The text with the letters A to Z in lower case and all others unchanged: a Kelvin sign isn't a k in a host.
    package static func lowercased(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether all bytes are VSCHAR and there are 1 to `limit` of them.
    package static func isVisible(_ bytes: Span<UInt8>, limit: Int) -> Bool {
        guard (1...limit).contains(bytes.count) else { return false }
        for index in bytes.indices where !isVisible(bytes[index]) { return false }
        return true
    }

    /// Whether the bytes are exactly this text, which isn't secret.
    package static func equal(_ bytes: Span<UInt8>, _ text: String) -> Bool {
        guard bytes.count == text.utf8.count else { return false }
        var index = 0
        for byte in text.utf8 {
            if bytes[index] != byte { return false }
            index += 1
        }
        return true
    }
}

/// Lower-case hexadecimal digits.
package enum Hexadecimal {
    package static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            for half in [byte >> 4, byte & 15] { digits.append(half < 10 ? 0x30 + half : 0x57 + half) }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// As many digits as the number's type has room for.
    package static func encode<Number: FixedWidthInteger>(_ number: Number) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
    }
}
