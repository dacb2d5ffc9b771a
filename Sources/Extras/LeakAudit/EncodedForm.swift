internal import LatchkeySecrets

/// One way a secret may look: its bytes in one encoding, and how many of them in a row make a finding.
struct EncodedForm {
    let canary: Int
    let encoding: LeakEncoding
    var bytes: [UInt8]
    /// In bytes of the form.
    let fragment: Int

    /// Overwrites the form, which is a secret as much as what it was made from.
    mutating func wipe() {
        var span = bytes.mutableSpan
        LatchkeySecrets.wipe(&span)
    }
}

extension EncodedForm {
    /// All forms of one secret that differ from each other.
    static func all(of secret: Span<UInt8>, canary: Int) -> [EncodedForm] {
        let plain = secret.indices.map { secret[$0] }
        // Eight hexadecimal digits in a row are in any log; sixteen of a secret's are not.
        let fragment = min(plain.count, plain.allSatisfy(isHexadecimal) ? 16 : 8)
        var forms: [EncodedForm] = []

        func add(_ encoding: LeakEncoding, _ bytes: [UInt8], fragment: Int) {
            guard bytes.count >= FormIndex.windowByteCount, !forms.contains(where: { $0.bytes == bytes }) else {
                return
            }
            forms.append(
                EncodedForm(
                    canary: canary, encoding: encoding, bytes: bytes,
                    fragment: min(bytes.count, max(fragment, FormIndex.windowByteCount))))
        }

        /// A byte at a time: as much of the form makes a finding as the shortest `fragment` bytes in a row take.
        func add(_ encoding: LeakEncoding, _ escaped: (UInt8) -> [UInt8], between: Int = 0) {
            let pieces = plain.map(escaped)
            var (length, least) = (0, Int.max)
            for (index, piece) in pieces.enumerated() {
                length += piece.count
                if index >= fragment { length -= pieces[index - fragment].count }
                if index >= fragment - 1 { least = min(least, length) }
            }
            add(encoding, pieces.flatMap(\.self).dropLast(between), fragment: least - between)
        }

        add(.plain, plain, fragment: fragment)
        for digits in [upperDigits, lowerDigits] {
            add(.percentEncoded) { percent($0, digits, space: nil) }
            add(.formEncoded) { percent($0, digits, space: UInt8(ascii: "+")) }
            add(.fullyPercentEncoded) { [UInt8(ascii: "%")] + pair($0, digits) }
            add(.hexadecimal) { pair($0, digits) }
        }
        for offset in 0..<3 {
            // So many characters lie whole within the bytes, wherever these begin.
            let characters = (fragment * 8 - 5) / 6
            add(.base64, base64(plain, offset: offset, last: "+/"), fragment: characters)
            add(.base64URL, base64(plain, offset: offset, last: "-_"), fragment: characters)
        }
        add(.jsonEscaped) { json($0, escapesSlash: false) }
        add(.jsonEscaped) { json($0, escapesSlash: true) }
        add(.htmlEscaped, html)
        let units = Array(String(decoding: plain, as: UTF8.self).utf16)
        add(.utf16, units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }, fragment: fragment * 2)
        add(.utf16, units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }, fragment: fragment * 2)
        add(.reversed, plain.reversed(), fragment: fragment)
        add(.byteList, { Array("\($0), ".utf8) }, between: 2)
        return forms
    }

    // MARK: - Encodings

    private static let upperDigits = Array("0123456789ABCDEF".utf8)
    private static let lowerDigits = Array("0123456789abcdef".utf8)

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        upperDigits.contains(byte) || lowerDigits.contains(byte)
    }

    private static func pair(_ byte: UInt8, _ digits: [UInt8]) -> [UInt8] {
        [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static func percent(_ byte: UInt8, _ digits: [UInt8], space: UInt8?) -> [UInt8] {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: [byte]
        case 0x20: space.map { [$0] } ?? Array("%20".utf8)
        default: [UInt8(ascii: "%")] + pair(byte, digits)
        }
    }

    /// The characters that only the secret decides, if `offset` bytes modulo 3 come before the secret.
    private static func base64(_ bytes: [UInt8], offset: Int, last: String) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        let bits = [0, 4, 2][offset]  // of the secret's first byte that complete a character begun before it
        var result: [UInt8] = []
        var position = bits
        while position + 6 <= bytes.count * 8 {
            let index = position / 8
            let high = UInt16(bytes[index]) << 8
            let low = index + 1 < bytes.count ? UInt16(bytes[index + 1]) : 0
            result.append(alphabet[Int((high | low) >> (10 - UInt16(position % 8)) & 63)])
            position += 6
        }
        return result
    }

    private static func json(_ byte: UInt8, escapesSlash: Bool) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "\""): Array("\\\"".utf8)
        case UInt8(ascii: "\\"): Array("\\\\".utf8)
        case UInt8(ascii: "/") where escapesSlash: Array("\\/".utf8)
        case 0x0A: Array("\\n".utf8)
        case 0x0D: Array("\\r".utf8)
        case 0x09: Array("\\t".utf8)
        case 0..<0x20: Array("\\u00".utf8) + pair(byte, lowerDigits)
        default: [byte]
        }
    }

    private static func html(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "&"): Array("&amp;".utf8)
        case UInt8(ascii: "<"): Array("&lt;".utf8)
        case UInt8(ascii: ">"): Array("&gt;".utf8)
        case UInt8(ascii: "\""): Array("&quot;".utf8)
        case UInt8(ascii: "'"): Array("&#39;".utf8)
        default: [byte]
        }
    }
}

/// How a secret looks where it was found.
public enum LeakEncoding: Sendable, Hashable, CaseIterable {
    /// Byte for byte.
    case plain
    /// `%2F` for what a URL can't hold (RFC 3986 section 2.1), in either case.
    case percentEncoded
    /// `%2F`, and `+` for a space (application/x-www-form-urlencoded).
    case formEncoded
    /// `%41` for every byte.
    case fullyPercentEncoded
    /// base64 (RFC 4648 section 4), wherever in the encoded text the secret begins: `Authorization: Basic`.
    case base64
    /// base64url (RFC 4648 section 5), wherever in the encoded text the secret begins.
    case base64URL
    /// Two hexadecimal digits a byte, in either case.
    case hexadecimal
    /// Inside a JSON string (RFC 8259 section 7).
    case jsonEscaped
    /// Inside HTML.
    case htmlEscaped
    /// UTF-16, in either byte order.
    case utf16
    /// Back to front.
    case reversed
    /// A printed array of bytes: `[104, 117, 110]`.
    case byteList
    /// Plain or in another encoding, with line breaks in between.
    case splitOverLines

    /// A short name for people, such as `base64url`.
    public var name: StaticString {
        switch self {
        case .plain: "plain"
        case .percentEncoded: "percent-encoded"
        case .formEncoded: "form-encoded"
        case .fullyPercentEncoded: "percent-encoded byte by byte"
        case .base64: "base64"
        case .base64URL: "base64url"
        case .hexadecimal: "hexadecimal"
        case .jsonEscaped: "JSON-escaped"
        case .htmlEscaped: "HTML-escaped"
        case .utf16: "UTF-16"
        case .reversed: "reversed"
        case .byteList: "a list of bytes"
        case .splitOverLines: "split over lines"
        }
    }
}
