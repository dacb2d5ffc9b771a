/// Makes text from elsewhere harmless for a terminal and for a reader of lines.
enum InertText {
    /// Replaces control characters (C0, DEL, C1), line and paragraph separators, direction overrides and other
    /// invisible format characters by `\u{…}`, and the backslash by two.
    static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: mustEscape) else { return text }
        var result = ""
        result.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars {
            if scalar == "\\" {
                result += "\\\\"
            } else if mustEscape(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    static func mustEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x5C: true
        // Soft hyphen, Arabic letter mark, zero-width and direction marks, separators, overrides, isolates, the
        // byte-order mark, tags.
        case 0xAD, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE007F:
            true
        default: false
        }
    }
}
