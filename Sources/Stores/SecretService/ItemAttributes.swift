internal import LatchkeyCredentials

/// The attributes by which the items of a keyring are found, and which of them make an item ours to read.
enum ItemAttributes {
    static let service = "service"
    static let account = "username"
    /// Only for kinds other than `password`, so that a password has exactly the attributes that other programs use.
    static let kind = "latchkey:kind"

    /// The attributes of an item that we create.
    static func made(for key: CredentialKey) -> [(String, String)] {
        let pairs = [(service, key.service), (account, key.account)]
        return key.kind == .password ? pairs : pairs + [(kind, key.kind.name)]
    }

    /// Returns the key under which an item is read, or `nil` for one that isn't a credential of this shape: one with
    /// attributes that tell it from another item with the same service and account.
    static func key(of attributes: [String: String]) -> CredentialKey? {
        guard let service = attributes[service], let account = attributes[account] else { return nil }
        var itemKind = CredentialKind.password
        for (name, value) in attributes where name != Self.service && name != Self.account {
            if name == kind {
                guard let named = CredentialKind(value), named != .password else { return nil }
                itemKind = named
            } else if !isNoise(name, value) {
                return nil
            }
        }
        return try? CredentialKey(service: service, account: account, kind: itemKind)
    }

    /// Whether an attribute says nothing about which credential this is.
    private static func isNoise(_ name: String, _ value: String) -> Bool {
        switch name {
        // libsecret's name of a schema, which gnome-keyring also invents for items that have none.
        case "xdg:schema": true
        // The program that made the item (Python keyring, keyring-rs), and keyring-rs's name for "no target".
        case "application": true
        case "target": value == "default"
        default: isField(name)
        }
    }

    /// Whether KeePassXC shows a field of an entry as this attribute. No program searches for it. The last one it adds
    /// to secrets that are no text.
    private static func isField(_ name: String) -> Bool {
        switch name {
        case "Title", "UserName", "URL", "Uuid", "Path", "Notes", "FDO_SECRETS_CONTENT_TYPE": true
        default: false
        }
    }

    /// What programs may search for; without the fields of an entry, of which `Notes` may say anything.
    static func searchable(_ attributes: [String: String]) -> [String: String] {
        attributes.filter { name, _ in !isField(name) }
    }
}

/// An item of a keyring as its service describes it, without its secret.
struct KeyringItem: Sendable, Hashable {
    let path: String
    let key: CredentialKey?
    /// What programs may search for.
    let attributes: [String: String]
    let label: String
    let created: UnixTime
    let modified: UnixTime
    let isLocked: Bool

    /// Whether this one is read when both are under the same key: the one changed last; then the younger, and the one
    /// with the later path, so that everybody chooses the same. Services count in seconds. Of two that were changed in
    /// one second the younger is the newer: a save here would have changed it, had it been there.
    func precedes(_ other: KeyringItem) -> Bool {
        if modified != other.modified { return modified > other.modified }
        if created != other.created { return created > other.created }
        if path.utf8.count != other.path.utf8.count { return path.utf8.count > other.path.utf8.count }
        return other.path.utf8.lexicographicallyPrecedes(path.utf8)
    }

    func metadata(for key: CredentialKey) -> CredentialMetadata {
        CredentialMetadata(key: key, label: label, created: created, modified: modified, version: nil)
    }
}
