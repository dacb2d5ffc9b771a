internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem

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
        let fragment = min(plain.count, plain.allSatisfy({ ASCII.hexValue($0) != nil }) ? 16 : 8)
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

/// A stream with one kind of escapes undone, because programs don't agree on what they escape; or the numbers of bytes in
/// it, however they are separated, as in `dump`; or without its line breaks.
struct DecodedText {
    let encoding: LeakEncoding
    private(set) var bytes: [UInt8] = []
    /// The places where pieces of the stream begin in `bytes` and in the stream, in order.
    private var places: [(decoded: Int, original: Int)] = []
    /// The earlier decoding that produced the stream, if there was one.
    private var source: [DecodedText] = []

    private init(_ encoding: LeakEncoding) {
        self.encoding = encoding
    }

    /// Removes line breaks, and with each one the byte of zero that belongs to it in UTF-16.
    init(joining stream: [UInt8]) {
        self.init(.splitOverLines)
        bytes.reserveCapacity(stream.count)
        var start = 0
        func take(to end: Int) {
            if end > start { bytes += stream[start..<end] }
            start = end + 1
            if start < stream.count, stream[start] == 0 { start += 1 }
            if places.last?.decoded == bytes.count { places.removeLast() }
            places.append((bytes.count, start))
        }
        unsafe stream.withUnsafeBytes { stream in
            for offset in stream.indices where unsafe stream[offset] == 0x0A || stream[offset] == 0x0D {
                take(to: offset)
            }
        }
        if start < stream.count { bytes += stream[start...] }
    }

    /// Where line breaks were.
    var seams: [Int] { places.map(\.decoded) }
    var isJoined: Bool { source.first?.encoding == .splitOverLines }

    static func all(of stream: [UInt8], _ joined: DecodedText) -> [DecodedText] {
        let once = escapes(in: stream)
        // A text in a log line is escaped, and once more where the line is JSON.
        let twice = once.filter { $0.encoding == .jsonEscaped }.map { unescaped($0.bytes).made(of: $0) }
        let acrossLines = joined.places.isEmpty ? [] : escapes(in: joined.bytes).map { $0.made(of: joined) }
        return (once + [numbers(in: stream)] + twice + acrossLines).filter { !$0.places.isEmpty }
    }

    private func made(of source: DecodedText) -> DecodedText {
        var text = self
        text.source = [source]
        return text
    }

    private static func unescaped(_ stream: [UInt8]) -> DecodedText {
        undoing(.jsonEscaped, UInt8(ascii: "\\"), in: stream, json)
    }

    private static func escapes(in stream: [UInt8]) -> [DecodedText] {
        [
            undoing(.percentEncoded, UInt8(ascii: "%"), in: stream, percent), unescaped(stream),
            undoing(.htmlEscaped, UInt8(ascii: "&"), in: stream, html),
        ]
    }

    /// The range of the stream that a range of `bytes` comes from.
    func range(_ range: Range<Int>) -> Range<Int> {
        // A line break after the range isn't part of it.
        let end = encoding == .splitOverLines ? place(range.upperBound - 1) + 1 : place(range.upperBound)
        let found = place(range.lowerBound)..<end
        return source.first?.range(found) ?? found
    }

    private func place(_ offset: Int) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].decoded <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return offset }
        return places[low - 1].original + offset - places[low - 1].decoded
    }

    // MARK: - Escapes

    private static func place(of mark: UInt8, in stream: [UInt8], from start: Int) -> Int? {
        unsafe stream.withUnsafeBytes { bytes in
            guard start < bytes.count, let first = bytes.baseAddress,
                let found = unsafe memchr(first + start, Int32(mark), bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - first
        }
    }

    /// - Parameter escape: returns the bytes that an escape represents, and the escape's length.
    private static func undoing(
        _ encoding: LeakEncoding, _ mark: UInt8, in stream: [UInt8],
        _ escape: (ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)?
    ) -> DecodedText {
        var text = DecodedText(encoding)
        var offset = 0
        while let next = place(of: mark, in: stream, from: offset) {
            text.bytes += stream[offset..<next]
            if let found = escape(stream[(next + 1)...].prefix(12)) {
                text.bytes += found.bytes
                offset = next + 1 + found.length
                text.places.append((text.bytes.count, offset))
            } else {
                text.bytes.append(mark)
                offset = next + 1
            }
        }
        if !text.places.isEmpty { text.bytes += stream[offset...] }
        return text
    }

    /// - Parameter count: how many digits there must be.
    private static func number(_ digits: ArraySlice<UInt8>, radix: UInt32, count: Int? = nil) -> UInt32? {
        guard !digits.isEmpty, digits.count == count ?? digits.count else { return nil }
        var number: UInt32 = 0
        for byte in digits {
            guard let digit = ASCII.hexValue(byte), digit < radix, number < 1 << 27 else { return nil }
            number = number * radix + UInt32(digit)
        }
        return number
    }

    private static func character(_ number: UInt32?) -> [UInt8]? {
        number.flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) }
    }

    private static func percent(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        number(rest.prefix(2), radix: 16, count: 2).map { ([UInt8(truncatingIfNeeded: $0)], 2) }
    }

    private static func json(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        switch rest.first {
        case UInt8(ascii: "u"):
            let rest = rest.dropFirst()
            // As our own log escapes.
            if rest.first == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")) {
                let digits = rest.dropFirst()[..<end]
                return character(number(digits, radix: 16)).map { ($0, digits.count + 3) }
            }
            guard let high = number(rest.prefix(4), radix: 16, count: 4) else { return nil }
            if (0xD800..<0xDC00).contains(high), rest.dropFirst(4).starts(with: "\\u".utf8),
                let low = number(rest.dropFirst(6).prefix(4), radix: 16, count: 4), (0xDC00..<0xE000).contains(low)
            {
                return character(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)).map { ($0, 11) }
            }
            return character(high).map { ($0, 5) }
        case UInt8(ascii: "n"): return ([0x0A], 1)
        case UInt8(ascii: "r"): return ([0x0D], 1)
        case UInt8(ascii: "t"): return ([0x09], 1)
        case .some(let byte) where "\"\\/'".utf8.contains(byte): return ([byte], 1)
        default: return nil
        }
    }

    private static let names: [(name: String, byte: UInt8)] = [
        ("amp", 0x26), ("lt", 0x3C), ("gt", 0x3E), ("quot", 0x22), ("apos", 0x27),
    ]

    private static func html(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = rest[..<end]
        let length = name.count + 1
        if let known = names.first(where: { $0.name.utf8.elementsEqual(name) }) { return ([known.byte], length) }
        guard name.first == UInt8(ascii: "#") else { return nil }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        let value = isHexadecimal ? number(digits.dropFirst(), radix: 16) : number(digits, radix: 10)
        return character(value).map { ($0, length) }
    }

    // MARK: - Numbers

    /// So many in a row are written as `107, 74, …`.
    private static let leastNumberCount = 8
    /// `dump` indents each.
    private static let longestGap = 32

    private static let isOfWord = (0...255).map { ASCII.isDigit($0) || (0x61...0x7A).contains($0 | 0x20) }

    private static func numbers(in stream: [UInt8]) -> DecodedText {
        var text = DecodedText(.byteList)
        var row: [(start: Int, end: Int)] = []
        func finish() {
            if row.count >= leastNumberCount {
                for (start, end) in row {
                    text.places.append((text.bytes.count, start))
                    text.bytes += stream[start..<end] + [0x2C, 0x20]
                }
                text.bytes.append(0x0A)
            }
            row.removeAll(keepingCapacity: true)
        }
        let (bytes, isOfWord) = (stream.span, isOfWord.span)
        var offset = 0
        while offset < bytes.count {
            let start = offset
            while offset < bytes.count, isOfWord[Int(bytes[offset])] { offset += 1 }
            guard offset > start else {
                // The letter of `\n` isn't part of a word.
                let isEscape = bytes[offset] == UInt8(ascii: "\\") && start + 1 < bytes.count
                offset += isEscape && "nrt".utf8.contains(bytes[start + 1]) ? 2 : 1
                continue
            }
            guard stream[start..<offset].allSatisfy(ASCII.isDigit) else { continue }
            let isByte = offset - start <= 3 && number(stream[start..<offset], radix: 10)! <= 255
            if let last = row.last, !isByte || start - last.end > longestGap { finish() }
            if isByte { row.append((start, offset)) }
        }
        finish()
        return text
    }
}
