import LatchkeyCredentials
import LatchkeyLog
import Testing

@Suite struct CredentialKeyTests {
    @Test func `a key has its service, account and kind`() throws {
        let key = try CredentialKey(service: "github", account: "ada", kind: .session)
        #expect(key.service == "github" && key.account == "ada" && key.kind == .session)
        #expect(try CredentialKey(service: "github", account: "ada").kind == .password)
    }

    struct Bad: Sendable {
        let text: String
        let problem: String
    }

    static let bad = [
        Bad(text: "", problem: "is empty"),
        Bad(text: String(repeating: "a", count: 1025), problem: "is longer than 1024 bytes"),
        Bad(text: String(repeating: "é", count: 513), problem: "is longer than 1024 bytes"),
        Bad(text: "a\0", problem: "contains a control character"),
        Bad(text: "a\nb", problem: "contains a control character"),
        Bad(text: "\t", problem: "contains a control character"),
        Bad(text: "a\u{1B}[2J", problem: "contains a control character"),
        Bad(text: "a\u{7F}", problem: "contains a control character"),
        Bad(text: "a\u{85}b", problem: "contains a control character"),
        Bad(text: "a\u{9F}", problem: "contains a control character"),
    ]

    @Test(arguments: bad)
    func `a service or account of another form is refused, and the error says which and why`(_ bad: Bad) {
        let service = #expect(throws: InvalidValue.self) { try CredentialKey(service: bad.text, account: "a") }
        #expect(service?.cause.text == "the service \(bad.problem)")
        let account = #expect(throws: InvalidValue.self) { try CredentialKey(service: "s", account: bad.text) }
        #expect(account?.cause.text == "the account \(bad.problem)")
        #expect(account?.description.contains("[key.invalid]") == true && account?.hint != nil)
    }

    @Test func `names up to 1,024 bytes with any printable Unicode are accepted`() throws {
        for text in [
            String(repeating: "a", count: 1024), String(repeating: "é", count: 512), " ", "密码 🔑", "\u{A0}", "\u{2028}",
            "\u{10FFFF}",
        ] {
            #expect(try CredentialKey(service: text, account: text).service.utf8.elementsEqual(text.utf8))
        }
    }

    @Test func `keys are equal when their bytes are`() throws {
        let composed = try CredentialKey(service: "caf\u{E9}", account: "a")
        let decomposed = try CredentialKey(service: "cafe\u{301}", account: "a")
        #expect(composed.service == decomposed.service)
        #expect(composed != decomposed)
        #expect(composed == (try CredentialKey(service: "caf\u{E9}", account: "a")))
        let account = try CredentialKey(service: "s", account: "caf\u{E9}")
        #expect(account != (try CredentialKey(service: "s", account: "cafe\u{301}")))
        #expect(Set([composed, decomposed, composed, account]).count == 3)
    }

    @Test func `keys differ by kind, by service and by account`() throws {
        let keys = [
            try CredentialKey(service: "a", account: "b"), try CredentialKey(service: "b", account: "a"),
            try CredentialKey(service: "ab", account: "c"), try CredentialKey(service: "a", account: "bc"),
            try CredentialKey(service: "a", account: "b", kind: .session),
            try CredentialKey(service: "a", account: "b", kind: .current),
        ]
        #expect(Set(keys).count == keys.count)
        for (number, key) in keys.enumerated() {
            #expect(keys.firstIndex(of: key) == number)
        }
    }

    @Test func `a key is logged by its names, control characters made inert`() throws {
        let key = try CredentialKey(service: "git\u{202E}hub", account: "ada")
        #expect(key.logMessage.text == "git\\u{202e}hub/ada")
        #expect(try CredentialKey(service: "s", account: "a", kind: .session).logMessage.text == "s/a (session)")
    }

    @Test func `a kind is a short word of lower-case letters, digits and hyphens`() {
        for name in ["a", "password", "x-1", String(repeating: "a", count: 32)] {
            #expect(CredentialKind(name)?.name == name)
        }
        for name in ["", "A", "a b", "a_b", "ä", "a\n", String(repeating: "a", count: 33)] {
            #expect(CredentialKind(name) == nil)
        }
        let known: [CredentialKind] = [.password, .session, .privateKey, .clientSecret, .current]
        #expect(Set(known).count == 5)
        for kind in known { #expect(CredentialKind(kind.name) == kind) }
    }
}
