/// The attributes by which an item is found: names with values. They are no secret, and stores seal them all the same.
///
/// Two texts are the same when their UTF-8 is, as for a `CredentialKey`.
package struct ItemAttributes: Sendable, Hashable {
    package struct Attribute: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        package static func == (left: Attribute, right: Attribute) -> Bool {
            left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
        }

        package func hash(into hasher: inout Hasher) {
            for byte in name.utf8 { hasher.combine(byte) }
            hasher.combine(UInt8(0))
            for byte in value.utf8 { hasher.combine(byte) }
        }
    }

    /// In the order of their names' bytes; each name is there once.
    package let all: [Attribute]

    package static let maximumCount = 64
    /// Of all names and values together, in bytes of UTF-8: 32 KiB.
    package static let maximumByteCount = 32768

    /// None.
    package init() { all = [] }

    /// Returns `nil` for a name that is there twice or empty, a NUL, more than `maximumCount` attributes, or more than
    /// `maximumByteCount` bytes.
    package init?(_ attributes: [Attribute]) {
        guard attributes.count <= Self.maximumCount else { return nil }
        let sorted = attributes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        var byteCount = 0
        for (index, attribute) in sorted.enumerated() {
            if attribute.name.isEmpty || attribute.name.utf8.contains(0) || attribute.value.utf8.contains(0) {
                return nil
            }
            if index > 0, sorted[index - 1].name.utf8.elementsEqual(attribute.name.utf8) { return nil }
            byteCount += attribute.name.utf8.count + attribute.value.utf8.count
        }
        guard byteCount <= Self.maximumByteCount else { return nil }
        all = sorted
    }

    /// The value of an attribute, or `nil`.
    package subscript(_ name: StaticString) -> String? {
        all.first { $0.name.utf8.elementsEqual(name.description.utf8) }?.value
    }

    /// Whether all of `others` are among these, with the same values: how the Secret Service searches.
    package func contains(_ others: ItemAttributes) -> Bool { others.all.allSatisfy(all.contains) }

    // MARK: - Credentials

    private static let service = "service"
    private static let account = "username"

    /// Those of a credential of the kind `password`: exactly `service` and `username`.
    package init(_ key: CredentialKey) {
        all = [
            Attribute(name: Self.service, value: key.service), Attribute(name: Self.account, value: key.account),
        ]
    }

    /// The key of the credential that has these attributes; `nil` where there are others than `service` and
    /// `username`, or where a value is none that a key may have.
    package var credentialKey: CredentialKey? {
        guard all.count == 2, all[0].name == Self.service, all[1].name == Self.account else { return nil }
        return try? CredentialKey(service: all[0].value, account: all[1].value)
    }

    /// The key that a program means which puts its own name beside `service` and `username`: Python keyring's
    /// `application`, keyring-rs's `target` where it is none, and libsecret's name of a schema. `nil` where anything else
    /// tells the item from another with the same two. A store of the desktop's keyring reads items by the same rule.
    package var impliedKey: CredentialKey? {
        guard let service = self["service"], let account = self["username"] else { return nil }
        let saysNothing = all.allSatisfy { attribute in
            switch attribute.name {
            case Self.service, Self.account, "application", "xdg:schema": true
            case "target": attribute.value == "default"
            default: false
            }
        }
        return saysNothing ? try? CredentialKey(service: service, account: account) : nil
    }
}
