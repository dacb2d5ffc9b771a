/// The forms that tokens of well-known services have: found without anybody having planted them.
///
/// These are prefixes, alphabets and lengths as the services document them, not a guess at randomness, so that ordinary
/// logs stay silent.
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

    /// What begins with a prefix and goes on with so many characters of an alphabet.
    private struct Rule {
        let form: KnownForm
        let prefix: [UInt8]
        let count: ClosedRange<Int>
        let alphabet: @Sendable (UInt8) -> Bool

        init(
            _ form: KnownForm, _ prefix: String, _ count: ClosedRange<Int>,
            _ alphabet: @escaping @Sendable (UInt8) -> Bool
        ) {
            self.form = form
            self.prefix = Array(prefix.utf8)
            self.count = count
            self.alphabet = alphabet
        }
    }

    private static let rules: [Rule] =
        ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map { Rule(.gitHubToken, $0, 36...36, isAlphanumeric) }
        + [Rule(.gitHubToken, "github_pat_", 82...82, isWord), Rule(.gitLabToken, "glpat-", 20...200, isBase64URL)]
        + [Rule(.googleKey, "AIza", 35...35, isBase64URL), Rule(.googleKey, "ya29.", 20...2000, isBase64URL)]
        + [Rule(.googleKey, "GOCSPX-", 28...28, isBase64URL)]
        + ["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"].map { Rule(.slackToken, $0, 20...300, isBase64URL) }
        + ["AKIA", "ASIA"].map { Rule(.awsKeyID, $0, 16...16, isCapital) }

    /// By the first byte.
    private static let rulesByFirst: [[Rule]] = (0..<256).map { byte in rules.filter { $0.prefix[0] == UInt8(byte) } }

    private static let firstBytes: [Bool] = (0..<256).map { byte in
        !rulesByFirst[byte].isEmpty || [UInt8(ascii: "e"), UInt8(ascii: "-"), UInt8(ascii: ":")].contains(UInt8(byte))
    }

    // MARK: - Searching

    /// Everything of a known form in a text, in order and without overlap.
    static func all(in text: [UInt8]) -> [(form: KnownForm, range: Range<Int>)] {
        var found: [(form: KnownForm, range: Range<Int>)] = []
        let firstBytes = firstBytes
        var offset = 0
        while offset < text.count {
            guard firstBytes[Int(text[offset])], let match = match(in: text, at: offset) else {
                offset += 1
                continue
            }
            found.append(match)
            offset = match.range.upperBound
        }
        return found
    }

    private static func match(in text: [UInt8], at offset: Int) -> (form: KnownForm, range: Range<Int>)? {
        switch text[offset] {
        case UInt8(ascii: ":"): return password(in: text, at: offset).map { (.passwordInURL, $0) }
        case UInt8(ascii: "-"): return privateKey(in: text, at: offset).map { (.privateKey, $0) }
        default: break
        }
        // In the middle of a word it is part of something else.
        if offset > 0 && isWord(text[offset - 1]) { return nil }
        if text[offset] == UInt8(ascii: "e") { return webToken(in: text, at: offset).map { (.jsonWebToken, $0) } }
        for rule in rulesByFirst[Int(text[offset])] where starts(text, with: rule.prefix, at: offset) {
            let start = offset + rule.prefix.count
            let end = run(in: text, from: start, rule.alphabet)
            if rule.count.contains(end - start) { return (rule.form, offset..<end) }
        }
        return nil
    }

    private static let tokenStart = Array("eyJ".utf8)

    private static func webToken(in text: [UInt8], at offset: Int) -> Range<Int>? {
        guard starts(text, with: tokenStart, at: offset) else { return nil }
        let header = run(in: text, from: offset, isBase64URL)
        guard header - offset >= 16, starts(text, with: [UInt8(ascii: ".")] + tokenStart, at: header) else {
            return nil
        }
        let payload = run(in: text, from: header + 1, isBase64URL)
        guard payload - header >= 16, payload < text.count, text[payload] == UInt8(ascii: ".") else { return nil }
        let signature = run(in: text, from: payload + 1, isBase64URL)
        return signature - payload >= 16 ? offset..<signature : nil
    }

    private static let keyStart = Array("-----BEGIN ".utf8)
    private static let keyEnd = Array("PRIVATE KEY-----".utf8)

    private static func privateKey(in text: [UInt8], at offset: Int) -> Range<Int>? {
        guard starts(text, with: keyStart, at: offset) else { return nil }
        // At most a few words, such as RSA or ENCRYPTED, come before.
        for start in offset + keyStart.count..<offset + keyStart.count + 24 where starts(text, with: keyEnd, at: start)
        {
            return offset..<start + keyEnd.count
        }
        return nil
    }

    private static let authorityStart = Array("://".utf8)

    private static func password(in text: [UInt8], at offset: Int) -> Range<Int>? {
        guard offset > 0, isAlphanumeric(text[offset - 1]), starts(text, with: authorityStart, at: offset) else {
            return nil
        }
        let start = offset + 3
        let name = run(in: text, from: start, isUserInformation)
        guard name > start, name < text.count, text[name] == UInt8(ascii: ":") else { return nil }
        let end = run(in: text, from: name + 1, isUserInformation)
        guard end - name > 3, end < text.count, text[end] == UInt8(ascii: "@") else { return nil }
        return name + 1..<end
    }

    private static func starts(_ text: [UInt8], with prefix: [UInt8], at offset: Int) -> Bool {
        guard offset + prefix.count <= text.count else { return false }
        return prefix.indices.allSatisfy { text[offset + $0] == prefix[$0] }
    }

    /// Where the characters of an alphabet end; at most 4,096 of them.
    private static func run(in text: [UInt8], from start: Int, _ alphabet: (UInt8) -> Bool) -> Int {
        var end = start
        while end < text.count, end - start < 4096, alphabet(text[end]) { end += 1 }
        return end
    }

    // MARK: - Alphabets

    @Sendable private static func isCapital(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
    }

    @Sendable private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isCapital(byte) || (0x61...0x7A).contains(byte)
    }

    @Sendable private static func isWord(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || byte == UInt8(ascii: "_") }

    @Sendable private static func isBase64URL(_ byte: UInt8) -> Bool { isWord(byte) || byte == UInt8(ascii: "-") }

    /// What can stand in a name or password before a host, and ends neither.
    @Sendable private static func isUserInformation(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || Array("-._~!$&'()*+,;=%".utf8).contains(byte)
    }
}
