import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets
import Testing

@testable import LatchkeySecretService

struct ItemAttributesTests {
    @Test func `a password has exactly the attributes that other programs use`() throws {
        let made = ItemAttributes.made(for: try CredentialKey(service: "s", account: "u"))
        #expect(made.map(\.0) == ["service", "username"] && made.map(\.1) == ["s", "u"])
    }

    @Test(arguments: [CredentialKind.password, .session, .privateKey, .clientSecret, .current])
    func `each key is recovered from its own attributes`(_ kind: CredentialKind) throws {
        let key = try CredentialKey(service: "zażółć\u{301}", account: " 🔑 ", kind: kind)
        let attributes = Dictionary(uniqueKeysWithValues: ItemAttributes.made(for: key))
        #expect(ItemAttributes(ofOthers: attributes).keyringKey == key)
    }

    @Test func `attributes that KeePassXC adds to our items don't make them another's`() throws {
        let attributes = [
            "service": "s", "username": "u", "Title": "t", "UserName": "", "URL": "", "Uuid": "1", "Path": "/t",
            "Notes": "",
        ]
        let key = try CredentialKey(service: "s", account: "u")
        #expect(ItemAttributes(ofOthers: attributes).keyringKey == key)
    }

    @Test(arguments: [
        ["service": "s"], ["username": "u"], [:], ["service": "", "username": "u"], ["service": "s", "username": ""],
        ["service": "s", "username": "u", "latchkey:kind": "no kind"], ["service": "s\n", "username": "u"],
    ])
    func `attributes that match no key aren't a credential`(_ attributes: [String: String]) {
        #expect(ItemAttributes(ofOthers: attributes).keyringKey == nil)
    }

    // MARK: - Other programs' items

    @Test(arguments: [
        ["service": "s"], ["account": "a"], ["service": "", "account": "a"], ["service": "s", "account": "a\n"],
        // Told apart by something that isn't known here.
        ["service": "s", "account": "a", "profile": "work"],
        ["url": "https://example.org"], ["server": "s", "username": "u"], ["docker_cli": "1", "server": "s"],
        // A share that the desktop's file manager signed in to.
        ["xdg:schema": "org.gnome.keyring.NetworkPassword", "protocol": "smb", "server": "nas", "user": "u"],
        ["xdg:schema": "org.git.Password", "protocol": "https", "server": "example.org"],
    ])
    func `ambiguous items are left out`(_ attributes: [String: String]) {
        #expect(ForeignShapes.reading(of: ItemAttributes(ofOthers: attributes), label: "L") == nil)
    }

    @Test func `only git's passwords end at a line break`() throws {
        let git = try #require(
            ForeignShapes.reading(
                of: ItemAttributes(
                    ofOthers: ["protocol": "https", "server": "h", "port": "8443", "object": "r", "user": "u"]),
                label: "Git: x"))
        #expect(git.key == (try CredentialKey(service: "git:https://h:8443/r", account: "u")))
        let other = try #require(
            ForeignShapes.reading(of: ItemAttributes(ofOthers: ["service": "s", "account": "a"]), label: ""))
        for (content, first) in [("one\ntwo", "one"), ("one", "one"), ("\n", ""), ("", "")] {
            let whole = Secret<Password>(copying: content.utf8.span)
            let keepsFirst = git.secret(in: whole.duplicate()).matches(Secret<Password>(copying: first.utf8.span))
            let keepsAll = other.secret(in: whole.duplicate()).matches(whole)
            #expect(keepsFirst && keepsAll, "\(content)")
        }
    }

    // MARK: - Order

    @Test func `the order of two items is the same for all, whatever their positions`() throws {
        func item(
            _ path: String, modified: Int64 = 5, created: Int64 = 1, attributes: Int = 2
        ) throws -> KeyringItem {
            let attributes = Dictionary(uniqueKeysWithValues: (0..<attributes).map { ("\($0)", "") })
            return try #require(
                KeyringItem(
                    path: "/c" + path, ItemAttributes(ofOthers: attributes), label: "",
                    created: UnixTime(seconds: created), modified: UnixTime(seconds: modified), isLocked: false))
        }
        let best = try [
            item("/1", modified: 9), item("/3", modified: 8), item("/2", modified: 8), item("/4", created: 2),
            item("/10", attributes: 3), item("/6"), item("/5", attributes: 1),
        ]
        #expect(best.shuffled().sorted { $0.precedes($1) } == best)
        for (index, one) in best.enumerated() {
            for (other, two) in best.enumerated() { #expect(one.precedes(two) == (index < other)) }
        }
    }
}

struct CollectionNameTests {
    private typealias Collection = SecretServiceConfiguration.Collection

    @Test func `two words are aliases, text with a leading slash is a path, and other text a label`() throws {
        #expect(try Collection.named("default") == .standard)
        #expect(try Collection.named("session") == .session)
        #expect(try Collection.named("Default") == .labelled("Default"))
        #expect(try Collection.named("collection/login") == .labelled("collection/login"))
        let path = "/org/freedesktop/secrets/collection/Work_5f1"
        #expect(try Collection.named(path) == .at(path: path))
        #expect(try Collection.named(path).text == path)
        #expect(try Collection.labelled("default") != .standard)
    }

    @Test(arguments: [
        "/", "/org/freedesktop/secrets/aliases/default", "/org/freedesktop/secrets/collection/",
        "/org/freedesktop/secrets/collection/a/b", "/org/freedesktop/secrets/collection/a-b",
        "/org/freedesktop/secrets/collection/a\n", "/org/freedesktop/secrets/collection/ł",
        "/org/freedesktop/secrets/collection/" + String(repeating: "a", count: 1024),
    ])
    func `an invalid collection path is refused`(_ path: String) {
        #expect(refusal { try Collection.named(path) } == "the path isn't a collection of the Secret Service")
    }

    @Test func `a label is text of 1 to 1024 bytes without a NUL`() throws {
        #expect(refusal { try Collection.named("") } == "the collection's name is empty")
        #expect(refusal { try Collection.named("a\0b") } == "the collection's label contains a NUL")
        let longest = String(repeating: "ł", count: 512)
        #expect(try Collection.named(longest).text == longest)
        #expect(refusal { try Collection.named(longest + "l") } == "the collection's name is longer than 1024 bytes")
    }

    private func refusal(_ body: () throws -> Collection) -> String? {
        #expect(throws: InvalidValue.self) { _ = try body() }?.cause.text
    }
}
