import Credentials
import Testing

@testable import SecretService

struct ItemAttributesTests {
    @Test func `a password has exactly the attributes that other programs use`() throws {
        let made = ItemAttributes.made(for: try CredentialKey(service: "s", account: "u"))
        #expect(made.map(\.0) == ["service", "username"] && made.map(\.1) == ["s", "u"])
    }

    @Test(arguments: [CredentialKind.password, .session, .privateKey, .clientSecret, .current])
    func `each key is found again in the attributes made for it`(_ kind: CredentialKind) throws {
        let key = try CredentialKey(service: "zażółć\u{301}", account: " 🔑 ", kind: kind)
        let attributes = Dictionary(uniqueKeysWithValues: ItemAttributes.made(for: key))
        #expect(ItemAttributes.key(of: attributes) == key)
    }

    @Test func `attributes that KeePassXC adds to our items don't make them another's`() throws {
        let attributes = [
            "service": "s", "username": "u", "Title": "t", "UserName": "", "URL": "", "Uuid": "1", "Path": "/t",
            "Notes": "",
        ]
        let key = try CredentialKey(service: "s", account: "u")
        #expect(ItemAttributes.key(of: attributes) == key)
    }

    @Test(arguments: [
        ["service": "s"], ["username": "u"], [:], ["service": "", "username": "u"], ["service": "s", "username": ""],
        ["service": "s", "username": "u", "latchkey:kind": "no kind"], ["service": "s\n", "username": "u"],
    ])
    func `attributes that no key of ours has are no credential`(_ attributes: [String: String]) {
        #expect(ItemAttributes.key(of: attributes) == nil)
    }

    @Test func `everybody chooses the same of two items, whatever their order`() throws {
        func item(_ path: String, modified: Int64 = 5, created: Int64 = 1, attributes: Int = 2) -> KeyringItem {
            KeyringItem(
                path: path, key: nil,
                attributes: Dictionary(uniqueKeysWithValues: (0..<attributes).map { ("\($0)", "") }), label: "",
                created: UnixTime(seconds: created),
                modified: UnixTime(seconds: modified), isLocked: false)
        }
        let best = [
            item("/1", modified: 9), item("/3", modified: 8), item("/2", modified: 8), item("/4", created: 2),
            item("/10", attributes: 3), item("/6"), item("/5", attributes: 1),
        ]
        #expect(best.shuffled().sorted { $0.precedes($1) } == best)
        for (index, one) in best.enumerated() {
            for (other, two) in best.enumerated() { #expect(one.precedes(two) == (index < other)) }
        }
    }
}
