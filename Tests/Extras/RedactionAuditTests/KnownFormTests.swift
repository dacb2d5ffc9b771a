import LatchkeyLeakAudit
import LatchkeySecrets
import Testing

@Suite struct KnownFormTests {
    /// Put together here, so that no file holds one whole.
    static func letters(_ count: Int) -> String { String(String(repeating: "aZ9bY8cX7d", count: 210).prefix(count)) }

    static let planted: [(KnownForm, String)] = [
        (.gitHubToken, "ghp_" + letters(36)), (.gitHubToken, "gho_" + letters(36)),
        (.gitHubToken, "ghu_" + letters(36)),
        (.gitHubToken, "ghs_" + letters(36)), (.gitHubToken, "ghr_" + letters(36)),
        (.gitHubToken, "github_pat_" + letters(82)), (.gitLabToken, "glpat-" + letters(20)),
        (.googleKey, "AIza" + letters(35)), (.googleKey, "ya29." + letters(60)), (.googleKey, "GOCSPX-" + letters(28)),
        (.slackToken, "xoxb-123456789012-" + letters(24)), (.awsKeyID, "AKIA" + "QWERTYUIOP123456"),
        (.jsonWebToken, "eyJ" + letters(20) + ".eyJ" + letters(40) + "." + letters(43)),
        (.jsonWebToken, "eyJ" + letters(20) + ".eyJ" + String(repeating: letters(1900), count: 3) + "." + letters(43)),
        (.jsonWebToken, "eyJ" + String(repeating: letters(1900), count: 3) + ".eyJ" + letters(40) + "." + letters(43)),
        (.privateKey, "-----BEGIN " + "RSA PRIVATE KEY-----"), (.privateKey, "-----BEGIN " + "PRIVATE KEY-----"),
        (.privateKey, "-----BEGIN " + "ENCRYPTED PRIVATE KEY-----"),
        (.passwordInURL, "hunter2-and-more"), (.passwordInURL, "hun:ter2@more"),
    ]

    static func audited(_ text: String) throws -> LeakReport {
        let audit = LeakAudit()
        _ = try audit.plantRandom(AccessToken.self)
        audit.capture(text, as: "log")
        return audit.report()
    }

    @Test(arguments: planted)
    func `a token of each known form is found, and not shown`(_ form: KnownForm, _ token: String) throws {
        let before = form == .passwordInURL ? "fetched https://ada:" : "token="
        let report = try Self.audited(before + token + (form == .passwordInURL ? "@example.org/" : " and more"))
        let finding = try #require(report.findings.first, "\(form)")
        #expect(finding.purpose == form.name.description && finding.stream == "log")
        #expect(finding.offset == before.utf8.count && finding.byteCount == token.utf8.count && finding.isWhole)
        #expect(report.findings.count == 1 && !report.isClean)
        #expect(!report.description.contains(token))
        #expect(throws: LeakFailure.self) { try report.check() }
    }

    @Test func `a password in a URL is found without a name too`() throws {
        #expect(try Self.audited("redis://:sekrit-password@host").findings.map(\.offset) == [9])
    }

    /// The last letter of `\n` or `%3D` was taken for the beginning of the word.
    @Test(arguments: ["tokens:\\n", "a\\t", "a\\r\\n", "u=a%3D", "a\\u003d"])
    func `a token behind an escape is found`(_ before: String) throws {
        let report = try Self.audited(before + "ghp_" + Self.letters(36))
        #expect(report.findings.map(\.offset) == [before.utf8.count])
    }

    /// They ended the process.
    @Test(arguments: ["progress 100%a", "x\\u12", "a%2F%2", "%", "\\", "\\u", "&#", "&#x", "%+5", "&#+65;"])
    func `output that ends within an escape is searched`(_ text: String) throws {
        #expect(try Self.audited(text).isClean)
    }

    @Test func `every known form has a planted token`() {
        #expect(Set(Self.planted.map(\.0)) == Set(KnownForm.allCases))
    }

    @Test(arguments: [
        "ghp_short", "xghp_aZ9bY8cX7daZ9bY8cX7daZ9bY8cX7daZ9bY8", "an AKIA and an ASIA", "AKIAqwertyuiop123456",
        "eyJhbGciOiJub25lIn0.not.one", "eyJhbGciOiJIUzI1NiJ9", "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----", "https://example.org:8443/a@b", "https://ada@example.org/", "12:30://x",
        "http://[::1]:8080/callback?code=…&state=…", "glpat-", "xoxb-", "ya29.", "https://example.org/a:b@c",
        "postgres://ada:***@db/x", "postgres://ada:REDACTED@db/x", "postgres://ada:(withheld)@db/x",
        "redis://:xxxxx@db",
    ])
    func `text that only resembles a token isn't a finding`(_ text: String) throws {
        #expect(try Self.audited("before \(text) after").isClean)
        #expect(try Self.audited(text).isClean)
    }

    @Test func `a program can limit the search to chosen forms`() throws {
        let audit = LeakAudit(knownForms: [.awsKeyID])
        _ = try audit.plantRandom(AccessToken.self)
        audit.capture("ghp_" + Self.letters(36), as: "log")
        #expect(audit.report().isClean)
    }
}
