/// Makes text from elsewhere harmless for a terminal and for a reader of lines.
package enum InertText {
    /// Replaces control characters (C0, DEL, C1), line and paragraph separators, direction overrides and other
    /// invisible format characters by `\u{…}`, and the backslash by two.
    package static func escape(_ text: String) -> String {
        if isPlain(text) { return text }
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

    /// Whether a text is printable ASCII without a backslash or a quotation mark. Nearly all text is, and needs no slower
    /// search.
    static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices {
            let byte = bytes[index]
            guard byte >= 0x20, byte < 0x7F, byte != 0x22, byte != 0x5C else { return false }
        }
        return true
    }

    /// The bytes that this made an inert text of.
    static func unescape(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let kind = rest.popFirst() else {
                result.append(byte)
                continue
            }
            guard kind != byte, let end = rest.firstIndex(of: UInt8(ascii: "}")),
                let value = UInt32(String(decoding: rest[..<end].dropFirst(), as: UTF8.self), radix: 16)
            else {
                result.append(kind)
                continue
            }
            rest = rest[(end + 1)...]
            if let scalar = Unicode.Scalar(value) { result += Array(String(scalar).utf8) }
        }
        return result
    }

    /// Cuts what is longer than `limit` bytes of UTF-8, at the end of a character's code, and says how long it was: as a
    /// part of another text, as long as that.
    package static func bounded(_ text: String, to limit: Int, of whole: Int? = nil) -> String {
        let byteCount = text.utf8.count
        guard byteCount > limit else { return text }
        return String(decoding: clip(Array(text.utf8.prefix(limit + 1)), to: limit), as: UTF8.self)
            + ending(whole ?? byteCount)
    }

    private static func ending(_ byteCount: Int) -> String { "… (\(byteCount) bytes in all)" }

    /// The first bytes; a code that the limit would cut in two is left out.
    private static func clip(_ bytes: [UInt8], to limit: Int) -> ArraySlice<UInt8> {
        guard bytes.count > limit else { return bytes[...] }
        var end = limit
        while end > limit - 4 && end > 0 && bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return bytes[..<end]
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

/// Quotes a string for JSON (RFC 8259 section 7).
package enum JSONText {
    /// Also escapes what `InertText` makes inert, so that JSON on a terminal does nothing there.
    package static func quote(_ text: String) -> String {
        if InertText.isPlain(text) { return "\"" + text + "\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where InertText.mustEscape(scalar):
                for unit in String(scalar).utf16 { result += "\\u" + Hexadecimal.encode(unit) }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
