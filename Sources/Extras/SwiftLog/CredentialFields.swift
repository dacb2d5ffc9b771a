/// Finds values with a credential's name in text of other packages: fields of HTTP, members of JSON and of Swift's own
/// descriptions, elements of XML, parameters of URLs and forms, and the text after `Bearer`.
///
/// The search reads the name before each sign that separates a name from its value, and the word before each space. So
/// ordinary text costs one look at each byte. In lines of other packages, too much withheld is better than too little.
enum CredentialFields {
    /// The ranges of credentials' values in a text, in order and without overlap.
    static func ranges(in text: Span<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var offset = 0
        while offset < text.count {
            let value: Range<Int>?
            switch text[offset] {
            case UInt8(ascii: " "):
                value = schemeValue(in: text, from: offset + 1) ?? laterValue(in: text, after: offset)
            case UInt8(ascii: ","): value = laterValue(in: text, after: offset)
            case UInt8(ascii: ":"), UInt8(ascii: "="): value = namedValue(in: text, at: offset, until: offset + 1)
            case UInt8(ascii: "%"): value = encodedValue(in: text, at: offset)
            case UInt8(ascii: ">"): value = elementValue(in: text, at: offset)
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
    static func isCredential(_ name: Span<UInt8>) -> Bool { SecretFieldName.isCredential(name, 0..<name.count) }

    /// Whether a number under this name is a count and not a credential, as with `tokens`.
    static func isCountable(_ name: Span<UInt8>) -> Bool { SecretFieldName.isPlural(name, 0..<name.count) }

    // MARK: - By the sign

    /// `token=…`, `"token": …`
    private static func namedValue(in text: Span<UInt8>, at sign: Int, until end: Int) -> Range<Int>? {
        // redis://:password@host
        if starts(text, with: "://:", at: sign) { return endOfUser(in: text, from: sign + 4).map { sign + 4..<$0 } }
        let name = nameRange(in: text, before: sign)
        guard SecretFieldName.isCredential(text, name) || SecretFieldName.isParameter(text, name) else { return nil }
        return fieldValue(in: text, of: name, from: end)
    }

    /// `token%3D…`, as in a URL within a URL.
    private static func encodedValue(in text: Span<UInt8>, at sign: Int) -> Range<Int>? {
        guard starts(text, with: "%3D", at: sign) || starts(text, with: "%3d", at: sign) else { return nil }
        return namedValue(in: text, at: sign, until: sign + 3)
    }

    /// `<token>…</token>`
    private static func elementValue(in text: Span<UInt8>, at sign: Int) -> Range<Int>? {
        let name = nameRange(in: text, before: sign)
        guard name.lowerBound > 0, text[name.lowerBound - 1] == UInt8(ascii: "<"),
            SecretFieldName.isCredential(text, name)
        else { return nil }
        var end = sign + 1
        while end < text.count, text[end] != UInt8(ascii: "<") { end += 1 }
        return end > sign + 1 ? sign + 1..<end : nil
    }

    /// The value after a comma or a space: `("Authorization", "…")`, as in descriptions of lists of fields;
    /// `"name": "cookie", "value": "…"` and `key="password" value="…"`; `apiKey "…"`.
    private static func laterValue(in text: Span<UInt8>, after sign: Int) -> Range<Int>? {
        let next = start(in: text, from: sign + 1)
        guard next < text.count, sign > 0 else { return nil }
        let word = isQuote(text[next]) ? next + 1 : next
        let isPair = word < text.count && text[word] | 0x20 == UInt8(ascii: "v")
        guard isPair || isQuote(text[next]) && (text[sign] == 0x20 || isQuote(text[sign - 1])) else { return nil }
        let name = nameRange(in: text, before: sign)
        guard SecretFieldName.isCredential(text, name) else { return nil }
        if isPair, starts(text, with: "value", at: word) || starts(text, with: "Value", at: word) {
            var end = word + 5
            if end < text.count, isQuote(text[end]) { end += 1 }
            end = start(in: text, from: end)
            guard end < text.count, text[end] == UInt8(ascii: ":") || text[end] == UInt8(ascii: "=") else { return nil }
            return fieldValue(in: text, of: name, from: end + 1)
        }
        return isQuote(text[next]) ? fieldValue(in: text, of: name, from: sign + 1) : nil
    }

    /// The text after `Bearer `, unless it looks like a word of a sentence.
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
        let word = start - 1 - scheme.utf8CodeUnitCount
        guard word >= 0, starts(text, with: scheme, at: word, lowering: true), word == 0 || !isLetter(text[word - 1])
        else { return nil }
        var end = start
        var isWord = true
        while end < text.count, isOfToken(text[end]) {
            if !(0x61...0x7A).contains(text[end]), text[end] != UInt8(ascii: ".") { isWord = false }
            end += 1
        }
        return end - start >= 8 && (!isWord || end - start >= 20) ? start..<end : nil
    }

    /// The name before a sign, without quotes, brackets and spaces in between.
    private static func nameRange(in text: Span<UInt8>, before sign: Int) -> Range<Int> {
        var end = sign
        while end > 0, sign - end < 4, isSpace(text[end - 1]) { end -= 1 }
        // headers["cookie"] = …
        if end > 0, text[end - 1] == 0x5D { end -= 1 }
        if end > 0, isQuote(text[end - 1]) { end -= 1 }
        while end > 0, sign - end < 16, text[end - 1] == 0x5C { end -= 1 }
        var start = end
        while start > 0, end - start < 64, SecretFieldName.hasPart(text[start - 1]) { start -= 1 }
        return start..<end
    }

    // MARK: - Values

    private static func fieldValue(in text: Span<UInt8>, of name: Range<Int>, from sign: Int) -> Range<Int>? {
        var start = sign
        var backslashCount = 0
        // Between them may be spaces, brackets of lists, `=>`, and Swift's description of an optional.
        while start < text.count, start - sign < 32 {
            if starts(text, with: "Optional(", at: start) {
                start += 9
            } else if isOpening(text[start]) || isSpace(text[start]) || text[start] == UInt8(ascii: ">") {
                start += 1
            } else if text[start] == 0x5C {
                backslashCount += 1
                start += 1
            } else {
                break
            }
        }
        guard start < text.count, !starts(text, with: "//", at: start) else { return nil }
        let isList = !isQuote(text[start]) || (sign..<start).contains { isOpening(text[$0]) }
        if isList, SecretFieldName.isPlural(text, name), !SecretFieldName.isField(text, name) {
            return several(in: text, from: sign)
        }
        if isQuote(text[start]), !isList || !SecretFieldName.isPlural(text, name) {
            let end = endOfQuoted(in: text, from: start + 1, text[start], after: backslashCount)
            return end > start + 1 ? start + 1..<end : nil
        }
        let end =
            SecretFieldName.isField(text, name) ? endOfLine(in: text, from: start) : endOfWord(in: text, from: start)
        return end > start && !isNothing(text, start..<end) ? start..<end : nil
    }

    /// All of a list. A number is how many there are.
    private static func several(in text: Span<UInt8>, from sign: Int) -> Range<Int>? {
        let start = start(in: text, from: sign)
        let end = endOfWord(in: text, from: start, withQuotes: true)
        let isNumber = (start..<end).allSatisfy { (0x30...0x39).contains(text[$0]) || text[$0] == UInt8(ascii: ".") }
        return end > start && !isNumber && !isNothing(text, start..<end) ? start..<end : nil
    }

    /// Values that say that there is none.
    private static func isNothing(_ text: Span<UInt8>, _ value: Range<Int>) -> Bool {
        guard value.count <= 5 else { return false }
        let words: [StaticString] = ["nil", "null", "none", "true", "false"]
        return words.contains {
            $0.utf8CodeUnitCount == value.count && starts(text, with: $0, at: value.lowerBound, lowering: true)
        }
    }

    /// - Parameter backslashCount: how many are before the opening quote; before one that is part of the value are more.
    private static func endOfQuoted(
        in text: Span<UInt8>, from start: Int, _ quote: UInt8, after backslashCount: Int
    ) -> Int {
        var end = start
        while end < text.count {
            if text[end] == quote {
                var count = 0
                while end - count > start, text[end - count - 1] == 0x5C { count += 1 }
                if count <= backslashCount { return end - count }
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
    private static func endOfWord(in text: Span<UInt8>, from start: Int, withQuotes: Bool = false) -> Int {
        var end = start
        var depth = 0
        while end < text.count {
            let byte = text[end]
            if isOpening(byte) {
                depth += 1
            } else if isClosing(byte) {
                if depth == 0 { return end }
                depth -= 1
            } else if depth == 0, byte <= 0x20 || isEnd(byte) || !withQuotes && isQuote(byte) {
                return end
            }
            end += 1
        }
        return end
    }

    /// Where the part of a URL before `@` ends.
    private static func endOfUser(in text: Span<UInt8>, from start: Int) -> Int? {
        var end = start
        while end < text.count, text[end] > 0x20, text[end] != UInt8(ascii: "/"), !isQuote(text[end]) {
            if text[end] == UInt8(ascii: "@") { return end > start ? end : nil }
            end += 1
        }
        return nil
    }

    // MARK: - Bytes

    private static func starts(
        _ text: Span<UInt8>, with word: StaticString, at offset: Int, lowering: Bool = false
    ) -> Bool {
        guard offset + word.utf8CodeUnitCount <= text.count else { return false }
        return word.withUTF8Buffer { word in
            for index in word.indices {
                let byte = lowering ? SecretFieldName.lower(text[offset + index]) : text[offset + index]
                if unsafe byte != word[index] { return false }
            }
            return true
        }
    }

    /// The offset of the first byte that isn't a space.
    private static func start(in text: Span<UInt8>, from offset: Int) -> Int {
        var start = offset
        while start < text.count, start - offset < 8, isSpace(text[start]) { start += 1 }
        return start
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
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

    /// token68 (RFC 9110 section 11.2).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        SecretFieldName.hasPart(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
            || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }
}

/// Names that say that a value is a credential: `Authorization`, `X-Api-Key`, `refreshToken`, `db_pwd`.
///
/// Only letters and digits of a name count, without regard to case.
enum SecretFieldName {
    /// A name with one of these endings is a credential's.
    private static let endings: [[UInt8]] = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "credential", "apikey",
        "accesskey", "accountkey", "encryptionkey", "privatekey", "secretkey", "signingkey", "assertion",
        "codeverifier", "devicecode", "usercode", "authorizationcode", "authcode", "sessionid", "signature",
    ].map { Array($0.utf8) }

    /// The last four bytes of each of them: one comparison tells nearly every other name.
    private static let tails: Set<UInt32> = Set(
        endings.map { ending in ending.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } })

    /// Too short to be an ending: a name, or the last word of one.
    private static let words: [[UInt8]] = ["auth", "jwt", "otp", "pass", "pwd", "sid", "sig"].map { Array($0.utf8) }

    /// Names that mean a credential in a URL only, and many other things elsewhere.
    private static let parameters: [[UInt8]] = ["code", "key", "nonce", "session", "state"].map { Array($0.utf8) }

    /// Whether the name's value is a credential, or, of `tokens`, several.
    static func isCredential(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        isOne(text, name) || isPlural(text, name) && isOne(text, singular(name))
    }

    private static func singular(_ name: Range<Int>) -> Range<Int> { name.lowerBound..<name.upperBound - 1 }

    private static func isOne(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        guard name.count >= 3 else { return false }
        var tail: UInt32 = 0
        var count: UInt32 = 0
        for index in name.reversed() where !isSeparator(text[index]) {
            tail |= UInt32(lower(text[index])) << (8 * count)
            count += 1
            if count == 4 { break }
        }
        if tails.contains(tail), endings.contains(where: { start(text, name, of: $0) != nil }) { return true }
        return words.contains { word in
            guard name.count >= word.count, let start = start(text, name, of: word) else { return false }
            guard start > name.lowerBound else { return true }
            // `db_pwd`, `db.pwd`, `dbPwd`
            let before = text[start - 1]
            let isLetter = (0x61...0x7A).contains(before | 0x20)
            return !isLetter || isCapital(text[start]) && !isCapital(before)
        }
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }

    /// Whether it is `tokens` rather than `token`: then a number is how many there are. `db_pass` is no plural.
    static func isPlural(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        name.count >= 6 && lower(text[name.upperBound - 1]) == UInt8(ascii: "s") && !isOne(text, name)
    }

    /// A field of HTTP whose value has spaces in it (RFC 9110 section 11, RFC 6265), or several such fields.
    static func isField(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        [name, isPlural(text, name) ? singular(name) : name].contains { name in
            start(text, name, of: endings[0]) != nil || start(text, name, of: endings[1]) != nil
        }
    }

    /// `?code=…`, `&state=…`, `#state=…`
    static func isParameter(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        guard name.lowerBound > 0, (3...10).contains(name.count) else { return false }
        let first: Int
        switch text[name.lowerBound - 1] {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"): first = name.lowerBound
        // `%3Fcode%3D…`, in a URL within a URL.
        case UInt8(ascii: "%"):
            let sign = [lower(text[name.lowerBound]), lower(text[name.lowerBound + 1])]
            guard ["3f", "26", "23"].contains(where: { $0.utf8.elementsEqual(sign) }) else { return false }
            first = name.lowerBound + 2
        default: return false
        }
        return parameters.contains { start(text, first..<name.upperBound, of: $0) == first }
    }

    /// Where the ending begins in a name, if the name ends with it.
    private static func start(_ text: Span<UInt8>, _ name: Range<Int>, of ending: [UInt8]) -> Int? {
        var index = name.upperBound
        for byte in ending.reversed() {
            repeat { index -= 1 } while index >= name.lowerBound && isSeparator(text[index])
            guard index >= name.lowerBound, lower(text[index]) == byte else { return nil }
        }
        return index
    }

    /// Whether a byte can be part of a name.
    static func hasPart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || isSeparator(byte)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") }

    static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}
