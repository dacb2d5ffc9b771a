/// The attributes by which an item is found: names with values. They aren't secret, but stores encrypt them anyway.
///
/// Two texts are equal if their UTF-8 is equal, as for a `CredentialKey`.
package struct ItemAttributes: Sendable, Hashable {
    package struct Attribute: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Whether it is the schema that gnome-keyring shows, sooner or later, on all items that have none.
        package var isInvented: Bool { name == ItemAttributes.schema && value == "org.freedesktop.Secret.Generic" }

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
    /// The limit for all names and values together: 32 KiB of UTF-8.
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

    /// Those of another store, which may have other limits.
    package init(ofOthers named: [String: String]) {
        all = named.map { Attribute(name: $0.key, value: $0.value) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Whether these are some that `init(_:)` takes.
    package var areWithinLimits: Bool { ItemAttributes(all) != nil }

    /// Those without some.
    package func without(_ isLeftOut: (Attribute) -> Bool) -> ItemAttributes {
        ItemAttributes(sorted: all.filter { !isLeftOut($0) })
    }

    private init(sorted: [Attribute]) { all = sorted }

    /// Whether they are the same, but for a schema that gnome-keyring gave to what has none.
    package func isSame(as other: ItemAttributes) -> Bool {
        without(\.isInvented) == other.without(\.isInvented)
    }

    /// The value of an attribute, or `nil`.
    package subscript(_ name: String) -> String? { all.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }

    /// Whether all of `others` are among these, with the same values: how the Secret Service searches.
    package func contains(_ others: ItemAttributes) -> Bool { others.all.allSatisfy(all.contains) }

    // MARK: - Credentials

    /// libsecret's name of an item's kind.
    package static let schema = "xdg:schema"
    /// The attributes by which programs find a password.
    package static let service = "service"
    package static let account = "username"
    /// The attribute by which a keyring distinguishes credentials of other kinds: a password has exactly the attributes
    /// that other programs use. A vault ignores this attribute, because other kinds are never items there.
    package static let kind = "latchkey:kind"

    /// Those of a credential of the kind `password`: exactly `service` and `username`.
    package init(_ key: CredentialKey) {
        all = [
            Attribute(name: Self.service, value: key.service), Attribute(name: Self.account, value: key.account),
        ]
    }

    /// The key of the credential that has exactly these attributes; `nil` where there are others than `service` and
    /// `username`, or where a value is none that a key may have.
    package var exactKey: CredentialKey? { all.count == 2 ? key() : nil }

    /// The key that an item with these attributes is read as, by the rule that all stores have: `service` and `username`,
    /// and nothing that tells the item from another with the same two. Programs put their own names beside them:
    /// Python keyring's `application`, keyring-rs's `target` where it is none, libsecret's name of a schema, which
    /// gnome-keyring invents for items that have none.
    ///
    /// - Parameters:
    ///   - kind: of the credential.
    ///   - saysNothing: whether another attribute of this name says nothing either, in the store that asks.
    package func key(
        kind: CredentialKind = .password, besides saysNothing: (String) -> Bool = { _ in false }
    ) -> CredentialKey? {
        guard let service = self[Self.service], let account = self[Self.account] else { return nil }
        let isRead = all.allSatisfy { attribute in
            switch attribute.name {
            case Self.service, Self.account, "application", "xdg:schema": true
            case "target": attribute.value == "default"
            default: saysNothing(attribute.name)
            }
        }
        return isRead ? try? CredentialKey(service: service, account: account, kind: kind) : nil
    }
}
