/// Finds what is named as a credential in text of other packages: fields of HTTP, members of JSON and of Swift's own
/// descriptions, parameters of URLs and forms, and `Bearer` with what follows.
///
/// It reads the name before each `:` and `=`, and the word before each space, so that ordinary text costs a look at each
/// byte. It is for the lines of others, in which too much withheld is better than too little.
package enum CredentialFields {
    /// Where a name ends with one of these, its value is a credential's. In lower case; a hyphen counts as an
    /// underscore.
    private static let names: [[UInt8]] = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "api_key", "apikey",
        "access_key", "private_key", "code_verifier", "assertion", "credential", "credentials",
    ].map { Array($0.utf8) }

    /// The last four bytes of each of them: one comparison tells nearly every other name.
    private static let endings: Set<UInt32> = Set(
        names.map { name in name.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } })

    /// Names that mean a credential in a URL only, and many other things elsewhere.
    private static let parameters: Set<[UInt8]> = Set(
        ["code", "state", "sig", "signature", "key", "nonce", "session"].map { Array($0.utf8) })

    /// Values that say that there is none.
    private static let nothing: Set<[UInt8]> = Set(["nil", "null", "none", "true", "false"].map { Array($0.utf8) })

    /// Where values of credentials stand in a text, in order and without overlap.
    package static func ranges(in text: Span<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var offset = 0
        while offset < text.count {
            let value: Range<Int>?
            switch text[offset] {
            case UInt8(ascii: " "): value = schemeValue(in: text, from: offset + 1)
            case UInt8(ascii: ":"), UInt8(ascii: "="):
                value = namedValue(in: text, separator: offset, isTuple: false)
            // ("Authorization", "Bearer …"), as lists of HTTP fields are described.
            case UInt8(ascii: ",") where offset > 0 && isQuote(text[offset - 1]):
                value = namedValue(in: text, separator: offset, isTuple: true)
            default: value = nil
            }
            offset += 1
            guard let value else { continue }
            found.append(value)
            offset = value.upperBound
        }
        return found
    }

    /// Whether a name, as of a field or a key of metadata, says that its value is a credential.
    package static func isCredential(_ name: Span<UInt8>) -> Bool {
        let end = name.count
        return isCredential(name, 0..<end)
    }

    private static func namedValue(in text: Span<UInt8>, separator: Int, isTuple: Bool) -> Range<Int>? {
        let name = nameRange(in: text, before: separator)
        guard isCredential(text, name) || isParameter(in: text, name, separator) else { return nil }
        // Fields of HTTP whose values have spaces in them (RFC 9110 section 11, RFC 6265).
        let isField = ends(text, name, with: "authorization") || ends(text, name, with: "cookie")
        return fieldValue(in: text, from: separator + 1, toEndOfLine: isField, onlyQuoted: isTuple)
    }

    // MARK: - Names

    /// The word before a separator, without quotes and spaces in between.
    private static func nameRange(in text: Span<UInt8>, before separator: Int) -> Range<Int> {
        var end = separator
        while end > 0, separator - end < 4, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
        // headers["cookie"] = …
        if end > 0, text[end - 1] == 0x5D { end -= 1 }
        if end > 0, isQuote(text[end - 1]) { end -= 1 }
        if end > 0, text[end - 1] == 0x5C { end -= 1 }
        var start = end
        while start > 0, end - start < 64, isOfName(text[start - 1]) { start -= 1 }
        return start..<end
    }

    private static func isCredential(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        guard name.count >= 5 else { return false }
        var ending: UInt32 = 0
        for index in name.upperBound - 4..<name.upperBound { ending = ending << 8 | UInt32(lower(text[index])) }
        guard endings.contains(ending) else { return false }
        return names.contains { known in
            known.count <= name.count
                && known.indices.allSatisfy { lower(text[name.upperBound - known.count + $0]) == known[$0] }
        }
    }

    private static func ends(_ text: Span<UInt8>, _ name: Range<Int>, with word: StaticString) -> Bool {
        let start = name.upperBound - word.utf8CodeUnitCount
        guard start >= name.lowerBound else { return false }
        return word.withUTF8Buffer { word in
            for index in word.indices where unsafe lower(text[start + index]) != word[index] { return false }
            return true
        }
    }

    /// `?code=…`, `&state=…`, `#state=…`
    private static func isParameter(in text: Span<UInt8>, _ name: Range<Int>, _ separator: Int) -> Bool {
        guard name.lowerBound > 0, text[separator] == UInt8(ascii: "="), name.upperBound == separator else {
            return false
        }
        switch text[name.lowerBound - 1] {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"):
            return name.count < 10 && parameters.contains(name.map { lower(text[$0]) })
        default: return false
        }
    }

    // MARK: - Values

    /// What follows `Bearer ` and looks like no word of a sentence.
    private static func schemeValue(in text: Span<UInt8>, from start: Int) -> Range<Int>? {
        guard start >= 5 else { return nil }
        let scheme: StaticString
        switch text[start - 2] | 0x20 {
        case UInt8(ascii: "r"): scheme = "bearer"
        case UInt8(ascii: "c"): scheme = "basic"
        case UInt8(ascii: "p"): scheme = "dpop"
        case UInt8(ascii: "e"): scheme = "negotiate"
        default: return nil
        }
        guard ends(text, 0..<start - 1, with: scheme) else { return nil }
        let before = start - 2 - scheme.utf8CodeUnitCount
        guard before < 0 || !isLetter(text[before]) else { return nil }
        var end = start
        var isWord = true
        while end < text.count, isOfToken(text[end]) {
            if !(0x61...0x7A).contains(text[end]), text[end] != UInt8(ascii: ".") { isWord = false }
            end += 1
        }
        return end - start >= 8 && (!isWord || end - start >= 20) ? start..<end : nil
    }

    private static func fieldValue(
        in text: Span<UInt8>, from separator: Int, toEndOfLine: Bool, onlyQuoted: Bool
    ) -> Range<Int>? {
        var start = separator
        var isEscaped = false
        // What stands between: spaces, brackets of lists, `=>`, and how Swift describes an optional.
        while start < text.count, start - separator < 32 {
            if starts(text, with: "Optional(", at: start) {
                start += 9
            } else if isOpening(text[start]) || text[start] == 0x20 || text[start] == 0x09 || text[start] == 0x3E {
                start += 1
            } else if text[start] == 0x5C {
                isEscaped = true
                start += 1
            } else {
                break
            }
        }
        guard start < text.count else { return nil }
        if isQuote(text[start]) {
            let end = endOfQuoted(in: text, from: start + 1, text[start], isEscaped: isEscaped)
            return end > start + 1 ? start + 1..<end : nil
        }
        guard !onlyQuoted, !(starts(text, with: "//", at: start)) else { return nil }
        let end = toEndOfLine ? endOfLine(in: text, from: start) : endOfWord(in: text, from: start)
        guard end > start else { return nil }
        if end - start <= 5, nothing.contains((start..<end).map { lower(text[$0]) }) { return nil }
        return start..<end
    }

    private static func endOfQuoted(in text: Span<UInt8>, from start: Int, _ quote: UInt8, isEscaped: Bool) -> Int {
        var end = start
        while end < text.count {
            if text[end] == quote {
                let follows = end > start && text[end - 1] == 0x5C
                if isEscaped { return follows ? end - 1 : end }
                if !follows { return end }
            }
            end += 1
        }
        return end
    }

    private static func endOfLine(in text: Span<UInt8>, from start: Int) -> Int {
        var end = start
        while end < text.count, text[end] != 0x0A, text[end] != 0x0D { end += 1 }
        return end
    }

    /// Where a value without quotes ends; brackets that it opens belong to it, with all that is in them.
    private static func endOfWord(in text: Span<UInt8>, from start: Int) -> Int {
        var end = start
        var depth = 0
        while end < text.count {
            let byte = text[end]
            if isOpening(byte) {
                depth += 1
            } else if isClosing(byte) {
                if depth == 0 { return end }
                depth -= 1
            } else if depth == 0, byte <= 0x20 || isQuote(byte) || isEnd(byte) {
                return end
            }
            end += 1
        }
        return end
    }

    // MARK: - Bytes

    private static func starts(_ text: Span<UInt8>, with word: StaticString, at offset: Int) -> Bool {
        guard offset + word.utf8CodeUnitCount <= text.count else { return false }
        return word.withUTF8Buffer { word in
            for index in word.indices where unsafe text[offset + index] != word[index] { return false }
            return true
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x41...0x5A: byte + 0x20
        case UInt8(ascii: "-"): UInt8(ascii: "_")
        default: byte
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isQuote(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x27 }
    private static func isOpening(_ byte: UInt8) -> Bool { byte == 0x28 || byte == 0x5B || byte == 0x7B }
    private static func isClosing(_ byte: UInt8) -> Bool { byte == 0x29 || byte == 0x5D || byte == 0x7D }

    private static func isEnd(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "<"), UInt8(ascii: ">"): true
        default: false
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    /// token68 (RFC 9110 section 11.2).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        isOfName(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~") || byte == UInt8(ascii: "+")
            || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }
}
