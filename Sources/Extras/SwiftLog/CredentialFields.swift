/// Finds values with a credential's name in text of other packages: fields of HTTP, members of JSON and of Swift's own
/// descriptions, elements of XML, parameters of URLs and forms, and the text after `Bearer`.
///
/// The search reads the name before each sign that separates a name from its value, and the word before each space. So
/// ordinary text costs one look at each byte. Withholding too much is better than too little in lines of other
/// packages.
enum CredentialFields {
    /// The ranges of credentials' values in a text, in order and without overlap.
    static func ranges(in text: Span<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var offset = 0
        while offset < text.count {
            let value: Range<Int>?
            switch text[offset] {
            case UInt8(ascii: " "):
                value = schemeValue(in: text, after: offset) ?? laterValue(in: text, after: offset)
            case 0x09, 0x0A, 0x0D: value = schemeValue(in: text, after: offset)
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

    /// Whether it says so as a key of metadata, where `bearer` isn't the kind of a token.
    static func isCredentialKey(_ key: Span<UInt8>, of value: Span<UInt8>) -> Bool {
        if isCredential(key) || SecretFieldName.isWhole(key, "bearer") { return true }
        guard SecretFieldName.isWhole(key, "code", "state", "nonce") else { return false }
        // These names have other meanings too: `state` is `idle`, and `code` is 200.
        return value.count >= 16 && value.indices.allSatisfy { isOfToken(value[$0]) }
            && value.indices.contains { (0x30...0x39).contains(value[$0]) }
            && value.indices.contains { isLetter(value[$0]) }
    }

    // MARK: - By the sign

    /// `token=…`, `"token": …`
    private static func namedValue(in text: Span<UInt8>, at sign: Int, until end: Int) -> Range<Int>? {
        // redis://:password@host
        if starts(text, with: "://:", at: sign) { return endOfUser(in: text, from: sign + 4).map { sign + 4..<$0 } }
        if starts(text, with: "://", at: sign) {
            // https://token@host, but not ssh://git@host
            let end = endOfUser(in: text, from: sign + 3) ?? sign
            return end - sign >= 19 && endOfToken(in: text, from: sign + 3) == end ? sign + 3..<end : nil
        }
        let name = nameRange(in: text, before: sign)
        if name.count == 5, SecretFieldName.isWhole(text.extracting(name), "value") {
            return earlierValue(in: text, from: end)
        }
        guard SecretFieldName.isCredential(text, name) || SecretFieldName.isParameter(text, name) else { return nil }
        return fieldValue(in: text, of: name, from: end)
    }

    /// `token%3D…`, as in a URL within a URL.
    private static func encodedValue(in text: Span<UInt8>, at sign: Int) -> Range<Int>? {
        guard starts(text, with: "%3D", at: sign) || starts(text, with: "%3d", at: sign) else { return nil }
        return namedValue(in: text, at: sign, until: sign + 3)
    }

    /// `<token>…</token>`, `<a:token type="b">…</a:token>`
    private static func elementValue(in text: Span<UInt8>, at sign: Int) -> Range<Int>? {
        var start = sign
        while start > 0, sign - start < 256, text[start - 1] != UInt8(ascii: "<") { start -= 1 }
        guard start > 0, text[start - 1] == UInt8(ascii: "<"), text[sign - 1] != UInt8(ascii: "/") else { return nil }
        var end = start
        while SecretFieldName.hasPart(text[end]) || text[end] == UInt8(ascii: ":") { end += 1 }
        // Behind it may be attributes.
        guard end == sign || isBlank(text[end]), SecretFieldName.isCredential(text, start..<end) else { return nil }
        end = sign + 1
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

    /// The value before its name: `"value": "…", "name": "token"`
    private static func earlierValue(in text: Span<UInt8>, from sign: Int) -> Range<Int>? {
        // The search ends early, so that each value without a name doesn't cost a search of the whole text.
        let text = text.extracting(first: sign + 4096)
        var start = start(in: text, from: sign)
        let first = start
        while start < text.count, text[start] == 0x5C { start += 1 }
        guard start < text.count else { return nil }
        let isQuoted = isQuote(text[start])
        let value =
            isQuoted
            ? start + 1..<endOfQuoted(in: text, from: start + 1, text[start], after: start - first)
            : first..<endOfWord(in: text, from: first)
        let key = word(in: text, from: value.upperBound)
        guard !value.isEmpty, SecretFieldName.isWhole(text.extracting(key), "name", "key"),
            SecretFieldName.isCredential(text, word(in: text, from: key.upperBound))
        else { return nil }
        return value
    }

    /// The next word, after spaces, quotes and signs.
    private static func word(in text: Span<UInt8>, from offset: Int) -> Range<Int> {
        var start = offset
        while start < text.count, start - offset < 16, !SecretFieldName.hasPart(text[start]) { start += 1 }
        var end = start
        while end < text.count, end - start < 64, SecretFieldName.hasPart(text[end]) { end += 1 }
        return start..<end
    }

    /// The text after `Bearer`, unless it looks like a word of a sentence.
    private static func schemeValue(in text: Span<UInt8>, after sign: Int) -> Range<Int>? {
        guard sign >= 4 else { return nil }
        let scheme: StaticString
        switch text[sign - 1] | 0x20 {
        case UInt8(ascii: "r"): scheme = "bearer"
        case UInt8(ascii: "c"): scheme = "basic"
        case UInt8(ascii: "p"): scheme = "dpop"
        case UInt8(ascii: "e"): scheme = "negotiate"
        default: return nil
        }
        let word = sign - scheme.utf8CodeUnitCount
        guard word >= 0, starts(text, with: scheme, at: word, lowering: true), word == 0 || !isLetter(text[word - 1])
        else { return nil }
        var start = sign + 1
        while start < text.count, start - sign < 32, isBlank(text[start]) || text[start] == 0x5C { start += 1 }
        if start < text.count, isQuote(text[start]) { start += 1 }
        return endOfToken(in: text, from: start).map { start..<$0 }
    }

    /// Returns the end of a token; `nil` for a short token, or one that looks like a word of a sentence.
    private static func endOfToken(in text: Span<UInt8>, from start: Int) -> Int? {
        var end = start
        var isWord = true
        while end < text.count, isOfToken(text[end]) {
            if !(0x61...0x7A).contains(text[end]), text[end] != UInt8(ascii: ".") { isWord = false }
            end += 1
        }
        return end - start >= 8 && (!isWord || end - start >= 20) ? end : nil
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
        // Between them may be spaces, lines, brackets of lists, `=>`, and Swift's description of an optional.
        while start < text.count, start - sign < 32 {
            if starts(text, with: "Optional(", at: start) {
                start += 9
            } else if isOpening(text[start]) || isBlank(text[start]) || text[start] == UInt8(ascii: ">") {
                start += 1
            } else if text[start] == 0x5C {
                backslashCount += 1
                start += 1
            } else {
                break
            }
        }
        guard start < text.count, !starts(text, with: "//", at: start) else { return nil }
        let opening = (sign..<start).first { isOpening(text[$0]) }
        let isList = !isQuote(text[start]) || opening != nil
        if isList, SecretFieldName.isPlural(text, name), !SecretFieldName.isField(text, name) {
            return several(in: text, from: sign)
        }
        if let opening, hasMembers(text, from: start, after: backslashCount) {
            return opening..<endOfWord(in: text, from: opening, withQuotes: true)
        }
        if isQuote(text[start]), !isList || !SecretFieldName.isPlural(text, name) {
            let end = endOfQuoted(in: text, from: start + 1, text[start], after: backslashCount)
            return end > start + 1 ? start + 1..<end : nil
        }
        var end = endOfWord(in: text, from: start)
        if end > start, isNothing(text, start..<end) { return nil }
        if SecretFieldName.isField(text, name) {
            end = endOfLine(in: text, from: start)
        } else if SecretFieldName.isPassword(text, name) {
            end = endOfPassword(in: text, from: start, of: name)
        }
        return end > start ? start..<end : nil
    }

    /// Whether a bracket has members with names, or several: `{"value": "…"}`, `(value: …)`, `["…", "…"]`.
    private static func hasMembers(_ text: Span<UInt8>, from start: Int, after backslashCount: Int) -> Bool {
        var end = start
        if isQuote(text[start]) {
            end = endOfQuoted(in: text, from: start + 1, text[start], after: backslashCount) + backslashCount + 1
        } else {
            while end < text.count, SecretFieldName.hasPart(text[end]) { end += 1 }
        }
        while end < text.count, isBlank(text[end]) { end += 1 }
        guard end < text.count, end > start else { return false }
        let sign = text[end]
        return sign == UInt8(ascii: ":") || sign == UInt8(ascii: "=")
            || sign == UInt8(ascii: ",") && isQuote(text[start])
    }

    /// A person's password may contain any sign, and spaces. The end is `&` in a URL, and `;` in a list of settings.
    private static func endOfPassword(in text: Span<UInt8>, from start: Int, of name: Range<Int>) -> Int {
        var before = name.lowerBound
        let sign = before > 0 ? text[before - 1] : 0
        let isInURL = "?&#%".utf8.contains(sign)
        while before > 0, isSpace(text[before - 1]) { before -= 1 }
        let isSetting = before > 0 && text[before - 1] == UInt8(ascii: ";")
        return (start..<endOfLine(in: text, from: start)).first { index in
            let byte = text[index]
            return isInURL && (byte <= 0x20 || byte == UInt8(ascii: "&") || isQuote(byte))
                || isSetting && byte == UInt8(ascii: ";")
        } ?? endOfLine(in: text, from: start)
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
            } else if depth > 0, byte == 0x22 {
                // Brackets in quotes are text.
                var count = 0
                while end - count > start, text[end - count - 1] == 0x5C { count += 1 }
                end = min(endOfQuoted(in: text, from: end + 1, byte, after: count) + count, text.count - 1)
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
    private static func isBlank(_ byte: UInt8) -> Bool { isSpace(byte) || byte == 0x0A || byte == 0x0D }
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
