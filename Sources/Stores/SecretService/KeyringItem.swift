internal import LatchkeyCredentials
internal import LatchkeySecrets

/// The attributes by which the items of a keyring are found, and which of them make an item ours to read.
extension ItemAttributes {
    /// The attributes of an item that we create.
    static func made(for key: CredentialKey) -> [(String, String)] {
        let pairs = [(service, key.service), (account, key.account)]
        return key.kind == .password ? pairs : pairs + [(kind, key.kind.name)]
    }

    /// The key under which a keyring's item is read, or `nil` for one that isn't a credential of this shape.
    var keyringKey: CredentialKey? {
        var kind = CredentialKind.password
        if let name = self[Self.kind] {
            guard let named = CredentialKind(name), named != .password else { return nil }
            kind = named
        }
        return key(kind: kind, besides: { $0 == Self.kind || Self.isField($0) })
    }

    /// Whether KeePassXC shows a field of an entry as this attribute. Programs don't search for it. KeePassXC adds
    /// the last one to binary secrets.
    private static func isField(_ name: String) -> Bool {
        switch name {
        case "Title", "UserName", "URL", "Uuid", "Path", "Notes", "FDO_SECRETS_CONTENT_TYPE": true
        default: false
        }
    }

    /// The attributes for searches: all but the fields of an entry, because `Notes` may contain any text.
    var searchable: ItemAttributes { without { Self.isField($0.name) } }
}

/// An item of a keyring as its service describes it.
struct KeyringItem: Sendable, Hashable {
    let path: String
    /// The item. With another kind than `password` it only counts as an item in a keyring.
    let item: Item
    let isLocked: Bool

    var key: CredentialKey? { item.key }

    /// Returns `nil` where the path is none that an item may have.
    init?(
        path: String, _ attributes: ItemAttributes, label: String, created: UnixTime, modified: UnixTime,
        isLocked: Bool
    ) {
        let elements = path.split(separator: "/")
        guard let id = elements.last.flatMap({ ItemID(String($0)) }), elements.count > 1 else { return nil }
        self.path = path
        self.isLocked = isLocked
        item = Item(
            id: id, collection: String(elements[elements.count - 2]), attributes: attributes.searchable, label: label,
            contentType: "", created: created, modified: modified, version: nil, key: attributes.keyringKey,
            isNamed: false)
    }

    /// Whether this one is read when both are under the same key.
    func precedes(_ other: KeyringItem) -> Bool { item.precedes(other.item) }
}

extension SecretContentType {
    /// The content type for a service: text only if services return the same bytes for that text.
    ///
    /// KeePassXC replaces placeholders such as `{TITLE}` in text, drops a byte order mark at its beginning, and can't
    /// keep every control character; KWallet ends text at a NUL. They keep bytes as they are.
    static func sent<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, as wanted: SecretContentType
    ) -> StaticString {
        let isPlain = wanted == .text && secret.withExposedBytes { survivesAsText($0) }
        return isPlain ? "text/plain" : "application/octet-stream"
    }

    private static func survivesAsText(_ bytes: Span<UInt8>) -> Bool {
        var opens = false
        var closes = false
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "{"): opens = true
            case UInt8(ascii: "}"): closes = true
            case 0x09, 0x0A, 0x0D: break
            case 0..<0x20, 0x7F: return false
            default: break
            }
        }
        let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        return !(opens && closes) && !hasMark && (try? UTF8Span(validating: bytes)) != nil
    }
}
