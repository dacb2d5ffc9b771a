/// Names that say that a value is a credential: `Authorization`, `X-Api-Key`, `refreshToken`, `db_pwd`.
///
/// Only letters and digits of a name count, without regard to case.
enum CredentialName {
    /// A name that ends with one of these, whatever stands before.
    private static let endings: [[UInt8]] = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "credential", "apikey",
        "accesskey", "accountkey", "encryptionkey", "privatekey", "secretkey", "signingkey", "assertion",
        "codeverifier", "devicecode", "usercode", "sessionid", "signature",
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
        let name = isPlural(text, name) ? name.lowerBound..<name.upperBound - 1 : name
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
            return start == name.lowerBound || isSeparator(text[start - 1])
        }
    }

    /// Whether it is `tokens` rather than `token`: then a number is how many there are.
    static func isPlural(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        name.count >= 6 && lower(text[name.upperBound - 1]) == UInt8(ascii: "s")
    }

    /// A field of HTTP whose value has spaces in it (RFC 9110 section 11, RFC 6265).
    static func isField(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        start(text, name, of: endings[0]) != nil || start(text, name, of: endings[1]) != nil
    }

    /// `?code=…`, `&state=…`, `#state=…`
    static func isParameter(_ text: Span<UInt8>, _ name: Range<Int>) -> Bool {
        guard name.lowerBound > 0, (3...8).contains(name.count) else { return false }
        switch text[name.lowerBound - 1] {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"):
            return parameters.contains { start(text, name, of: $0) == name.lowerBound }
        default: return false
        }
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

    /// What a name is made of.
    static func hasPart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || isSeparator(byte)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") }

    static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}
