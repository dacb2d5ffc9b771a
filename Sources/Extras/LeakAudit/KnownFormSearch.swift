internal import LatchkeySystem

/// Finds every text that has a `KnownForm`.
///
/// The search looks at the pair of bytes at every second offset: the first or the second pair of a form's beginning of
/// three bytes lies there. It compares the rest byte by byte, from left to right.
package struct KnownFormSearch: Sendable {
    /// The tables, made once.
    package static let standard = KnownFormSearch()

    package typealias Match = (form: KnownForm, range: Range<Int>)

    /// The characters that a part of a form is made of, each a bit in `alphabets`.
    struct Alphabet: OptionSet {
        let rawValue: UInt8
        static let capitals = Alphabet(rawValue: 1)
        static let alphanumeric = Alphabet(rawValue: 2)
        static let word = Alphabet(rawValue: 4)
        static let base64URL = Alphabet(rawValue: 8)
        /// The characters of a name or password before a host.
        static let userInformation = Alphabet(rawValue: 16)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The alphabets that a byte belongs to.
        init(of byte: UInt8) {
            self = []
            let isCapital = (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
            let isAlphanumeric = isCapital || (0x61...0x7A).contains(byte)
            let isWord = isAlphanumeric || byte == UInt8(ascii: "_")
            if isCapital { insert(.capitals) }
            if isAlphanumeric { insert([.alphanumeric, .userInformation]) }
            if isWord { insert(.word) }
            if isWord || byte == UInt8(ascii: "-") { insert(.base64URL) }
            if Array("-._~!$&'()*+,;=%".utf8).contains(byte) { insert(.userInformation) }
        }
    }

    /// A form: a prefix, followed by so many characters of an alphabet.
    private struct Rule {
        let form: KnownForm
        let prefix: [UInt8]
        let count: ClosedRange<Int>
        let alphabet: Alphabet

        init(_ form: KnownForm, _ prefix: String, _ count: ClosedRange<Int>, _ alphabet: Alphabet) {
            self.form = form
            self.prefix = Array(prefix.utf8)
            self.count = count
            self.alphabet = alphabet
        }
    }

    private static let rules: [Rule] =
        ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map { Rule(.gitHubToken, $0, 36...36, .alphanumeric) }
        + [Rule(.gitHubToken, "github_pat_", 82...82, .word), Rule(.gitLabToken, "glpat-", 20...200, .base64URL)]
        + [Rule(.googleKey, "AIza", 35...35, .base64URL), Rule(.googleKey, "ya29.", 20...2000, .base64URL)]
        + [Rule(.googleKey, "GOCSPX-", 28...28, .base64URL)]
        + ["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"].map { Rule(.slackToken, $0, 20...300, .base64URL) }
        + ["AKIA", "ASIA"].map { Rule(.awsKeyID, $0, 16...16, .capitals) }

    private let tokenStart = Array("eyJ".utf8)
    private let nextTokenStart = Array(".eyJ".utf8)
    private let keyStart = Array("-----BEGIN ".utf8)
    private let keyEnd = Array("PRIVATE KEY-----".utf8)
    private let authorityStart = Array("://".utf8)

    /// By the first byte.
    private let rulesByFirst: [[Rule]]
    private let alphabets: [UInt8]
    /// Indexed by two bytes, the first one lowest: 1 if a form begins with them, 2 if they come second.
    private let pairs: [UInt8]
    /// The first three bytes of each form.
    private let starts: [UInt32]

    private init() {
        rulesByFirst = (0..<256).map { byte in Self.rules.filter { $0.prefix[0] == UInt8(byte) } }
        alphabets = (0..<256).map { Alphabet(of: UInt8($0)).rawValue }
        var pairs = [UInt8](repeating: 0, count: 1 << 16)
        var starts: [UInt32] = []
        for start in Self.rules.map(\.prefix) + [tokenStart, keyStart, authorityStart] {
            pairs[Int(start[0]) | Int(start[1]) << 8] |= 1
            pairs[Int(start[1]) | Int(start[2]) << 8] |= 2
            starts.append(UInt32(start[0]) | UInt32(start[1]) << 8 | UInt32(start[2]) << 16)
        }
        self.pairs = pairs
        self.starts = starts
    }

    // MARK: - Searching

    /// Everything of a known form in a text, in order and without overlap.
    func all(in text: [UInt8]) -> [Match] { all(in: text.span) }

    /// Everything of a known form in a text, in order and without overlap.
    package func all(in text: Span<UInt8>) -> [Match] {
        var found: [Match] = []
        var offset = 0
        while let start = nextStart(in: text, from: offset) {
            if let match = match(in: text, at: start) {
                found.append(match)
                offset = match.range.upperBound
            } else {
                offset = start + 1
            }
        }
        return found
    }

    /// The first offset at which a form may begin: its first three bytes are there.
    private func nextStart(in text: Span<UInt8>, from start: Int) -> Int? {
        unsafe text.withUnsafeBytes { text in
            unsafe pairs.withUnsafeBufferPointer { pairs in
                var offset = (start + 1) & ~1
                while offset + 2 <= text.count {
                    let pair = unsafe UInt16(
                        littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
                    let hit = unsafe pairs[Int(pair)]
                    if hit != 0 {
                        if hit & 2 != 0, offset > start, unsafe isStart(text, offset - 1) { return offset - 1 }
                        if hit & 1 != 0, unsafe isStart(text, offset) { return offset }
                    }
                    offset &+= 2
                }
                return nil
            }
        }
    }

    private func isStart(_ text: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        guard offset + 3 <= text.count else { return false }
        return unsafe starts.contains(
            UInt32(text[offset]) | UInt32(text[offset + 1]) << 8 | UInt32(text[offset + 2]) << 16)
    }

    /// The match that begins at an offset.
    func match(in text: Span<UInt8>, at offset: Int) -> Match? {
        switch text[offset] {
        case UInt8(ascii: ":"): return password(in: text, at: offset).map { (.passwordInURL, $0) }
        case UInt8(ascii: "-"): return privateKey(in: text, at: offset).map { (.privateKey, $0) }
        default: break
        }
        // In the middle of a word it is part of something else.
        if offset > 0, isOne(text[offset - 1], of: .word), !endsEscape(text, offset) { return nil }
        if text[offset] == tokenStart[0] { return webToken(in: text, at: offset).map { (.jsonWebToken, $0) } }
        for rule in rulesByFirst[Int(text[offset])] where starts(text, with: rule.prefix, at: offset) {
            let start = offset + rule.prefix.count
            let end = run(in: text, from: start, rule.alphabet)
            if rule.count.contains(end - start) { return (rule.form, offset..<end) }
        }
        return nil
    }

    private static let maximumPayloadByteCount = 64 << 10

    private func webToken(in text: Span<UInt8>, at offset: Int) -> Range<Int>? {
        guard starts(text, with: tokenStart, at: offset) else { return nil }
        // A chain of certificates makes a header long.
        let header = run(in: text, from: offset, .base64URL, atMost: Self.maximumPayloadByteCount)
        guard header - offset >= 16, starts(text, with: nextTokenStart, at: header) else { return nil }
        let payload = run(in: text, from: header + 1, .base64URL, atMost: Self.maximumPayloadByteCount)
        guard payload - header >= 16, payload < text.count, text[payload] == UInt8(ascii: ".") else { return nil }
        let signature = run(in: text, from: payload + 1, .base64URL)
        return signature - payload >= 16 ? offset..<signature : nil
    }

    private func privateKey(in text: Span<UInt8>, at offset: Int) -> Range<Int>? {
        guard starts(text, with: keyStart, at: offset) else { return nil }
        // A few words at most, such as RSA or ENCRYPTED, come before.
        for start in offset + keyStart.count..<offset + keyStart.count + 24 where starts(text, with: keyEnd, at: start)
        {
            return offset..<start + keyEnd.count
        }
        return nil
    }

    private func password(in text: Span<UInt8>, at offset: Int) -> Range<Int>? {
        guard offset > 0, isOne(text[offset - 1], of: .alphanumeric), starts(text, with: authorityStart, at: offset)
        else { return nil }
        let start = offset + 3
        let name = run(in: text, from: start, .userInformation)
        // Redis has passwords without a name.
        guard name < text.count, text[name] == UInt8(ascii: ":") else { return nil }
        // Drivers accept passwords with these signs; the last `@` is the one before the host.
        var (end, last) = (name + 1, name)
        while end < text.count, end - name < 4096 {
            if text[end] == UInt8(ascii: "@") {
                last = end
            } else if !isOne(text[end], of: .userInformation), text[end] != UInt8(ascii: ":") {
                break
            }
            end += 1
        }
        let found = name + 1..<max(last, name + 1)
        return found.count >= 3 && !isMasked(text.extracting(found)) ? found : nil
    }

    /// Whether a program put this in the place of a password: `***`, `(withheld)` as our own handler does, `REDACTED`.
    private func isMasked(_ text: Span<UInt8>) -> Bool {
        if text.indices.allSatisfy({ text[$0] == text[0] }) { return true }
        return ["(withheld)", "redacted", "masked", "hidden"].contains { word in
            word.utf8.count == text.count && zip(word.utf8, text.indices).allSatisfy { $0 == text[$1] | 0x20 }
        }
    }

    /// Whether an escape of JSON or of a URL, such as `\n` or `%3D`, ends before an offset.
    private func endsEscape(_ text: Span<UInt8>, _ end: Int) -> Bool {
        func isEscape(_ start: String, _ digitCount: Int) -> Bool {
            let first = end - digitCount - start.utf8.count
            return first >= 0 && starts(text, with: Array(start.utf8), at: first)
                && (end - digitCount..<end).allSatisfy { ASCII.hexValue(text[$0]) != nil }
        }
        return ["\\n", "\\r", "\\t"].contains { isEscape($0, 0) } || isEscape("%", 2) || isEscape("\\u", 4)
    }

    private func starts(_ text: Span<UInt8>, with prefix: [UInt8], at offset: Int) -> Bool {
        guard offset + prefix.count <= text.count else { return false }
        for index in prefix.indices where text[offset + index] != prefix[index] { return false }
        return true
    }

    /// Returns the end of the characters of an alphabet, after `limit` of them at the latest.
    private func run(
        in text: Span<UInt8>, from start: Int, _ alphabet: Alphabet, atMost limit: Int = 4096
    ) -> Int {
        var end = start
        while end < text.count, end - start < limit, isOne(text[end], of: alphabet) { end += 1 }
        return end
    }

    private func isOne(_ byte: UInt8, of alphabet: Alphabet) -> Bool {
        alphabets[Int(byte)] & alphabet.rawValue != 0
    }
}

/// The forms of well-known services' tokens, which an audit finds although they weren't planted.
///
/// A form consists of the prefix, alphabet and length that the service documents. The audit doesn't guess at
/// randomness, so ordinary logs cause no findings.
public enum KnownForm: Sendable, Hashable, CaseIterable {
    /// `ghp_`, `gho_`, `ghu_`, `ghs_` or `ghr_` and 36 letters and digits, or `github_pat_` and 82 more characters.
    case gitHubToken
    /// `glpat-` and 20 characters or more.
    case gitLabToken
    /// `AIza` and 35 characters, `ya29.` and 20 or more, `GOCSPX-` and 28.
    case googleKey
    /// `xoxb-` and the like, and 20 characters or more.
    case slackToken
    /// `AKIA` or `ASIA` and 16 capital letters and digits.
    case awsKeyID
    /// Three parts of base64url with dots in between, the first two of which begin as JSON objects do (RFC 7519).
    case jsonWebToken
    /// `-----BEGIN … PRIVATE KEY-----` (RFC 7468).
    case privateKey
    /// A URL with a name and a password before its host (RFC 3986 section 3.2.1).
    case passwordInURL

    /// A short name for people, such as `GitHub token`.
    public var name: StaticString {
        switch self {
        case .gitHubToken: "GitHub token"
        case .gitLabToken: "GitLab token"
        case .googleKey: "Google key or token"
        case .slackToken: "Slack token"
        case .awsKeyID: "AWS key id"
        case .jsonWebToken: "JSON Web Token"
        case .privateKey: "private key"
        case .passwordInURL: "password in a URL"
        }
    }
}
