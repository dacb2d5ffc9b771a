/// Names that say that a value is a credential: `Authorization`, `X-Api-Key`, `refreshToken`, `db_pwd`.
///
/// Only letters and digits of a name count, without regard to case.
enum SecretFieldName {
    /// A name with one of these endings is a credential's.
    private static let endings: [[UInt8]] = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "credential", "apikey",
        "accesskey", "accountkey", "encryptionkey", "privatekey", "secretkey", "signingkey", "assertion",
        "verifier", "devicecode", "usercode", "authorizationcode", "authcode", "sessionid", "sessid", "signature",
    ].map { Array($0.utf8) }

    /// The words that may follow an ending, beside digits: `password2`, `password_confirmation`, `tokenValue`,
    /// `id_token_hint`.
    private static let additions: [[UInt8]] = ["confirmation", "confirm", "value", "hint", "string"].map {
        Array($0.utf8)
    }

    /// The last four bytes of each of them: one comparison tells nearly every other name.
    private static let tails: Set<UInt32> = Set(
        endings.map { ending in ending.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } })

    private static let passwords: [[UInt8]] = ["password", "passwd", "passphrase"].map { Array($0.utf8) }

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
        let bare = withoutAddition(text, name)
        if hasEnding(text, name) || bare != name && hasEnding(text, bare) { return true }
        return isWord(text, name)
    }

    /// The name without digits or another addition at its end.
    private static func withoutAddition(_ text: Span<UInt8>, _ name: Range<Int>) -> Range<Int> {
        var end = name.upperBound
        while end > name.lowerBound, (0x30...0x39).contains(text[end - 1]) { end -= 1 }
        let bare = name.lowerBound..<end
        for addition in additions {
            if let start = start(text, bare, of: addition) { return bare.lowerBound..<start }
        }
        return bare
    }

    private static func hasEnding(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        var tail: UInt32 = 0
        var count: UInt32 = 0
        for index in name.reversed() where !isSeparator(text[index]) {
            tail |= UInt32(lower(text[index])) << (8 * count)
            count += 1
            if count == 4 { break }
        }
        return tails.contains(tail) && endings.contains { start(text, name, of: $0) != nil }
    }

    private static func isWord(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        words.contains { word in
            guard name.count >= word.count, let start = start(text, name, of: word) else { return false }
            guard start > name.lowerBound else { return true }
            // `db_pwd`, `db.pwd`, `dbPwd`
            let before = text[start - 1]
            let isLetter = (0x61...0x7A).contains(before | 0x20)
            return !isLetter || isCapital(text[start]) && !isCapital(before)
        }
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }

    /// Whether the name is a plural such as `tokens`: a number is then a count. `db_pass` isn't a plural.
    static func isPlural(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        name.count >= 6 && lower(text[name.upperBound - 1]) == UInt8(ascii: "s") && !isOne(text, name)
    }

    /// A field of HTTP whose value has spaces in it (RFC 9110 section 11, RFC 6265), or several such fields.
    static func isField(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        [withoutAddition(text, name), isPlural(text, name) ? singular(name) : name].contains { name in
            start(text, name, of: endings[0]) != nil || start(text, name, of: endings[1]) != nil
        }
    }

    /// Whether a person may have chosen the value, with spaces and all signs.
    static func isPassword(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        let name = withoutAddition(text, name)
        return passwords.contains { start(text, name, of: $0) != nil }
    }

    /// Whether a name is one of these, with no other part.
    static func isWhole(_ name: Span<UInt8>, _ words: String...) -> Bool {
        words.contains { start(name, 0..<name.count, of: Array($0.utf8)) == 0 }
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

    /// Returns the start of the ending in a name, if the name ends with it.
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
