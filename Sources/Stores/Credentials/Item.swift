package import LatchkeySecrets
internal import LatchkeySystem

/// The ID of an item: the last element of its D-Bus object path. The ID reveals nothing about the item and doesn't
/// change during the item's life; rekeying the vault creates new IDs.
package struct ItemID: Sendable, Hashable {
    /// 1 to 64 letters, digits and `_`, all ASCII.
    package let element: String

    /// Returns `nil` for what no object path can contain.
    package init?(_ element: String) {
        guard ObjectPathElement.isValid(element) else { return nil }
        self.element = element
    }
}

/// An item without its secret. A credential of the kind `password` is an item with a name.
package struct Item: Sendable, Hashable {
    package let id: ItemID
    /// The name of its collection.
    package let collection: String
    package let attributes: ItemAttributes
    package let label: String
    /// As its program gave it, such as `text/plain`: 255 bytes at most.
    package var contentType: String
    package let created: UnixTime
    package let modified: UnixTime
    /// The version, which differs after each change; `nil` if the store can't tell it without the secret.
    package let version: CredentialVersion?
    /// The credential that it is read as, by the store's rule; `nil` where it is none.
    package let key: CredentialKey?
    /// Whether the item is stored under its key, and so precedes all other items that read as the same key.
    package let isNamed: Bool

    package init(
        id: ItemID, collection: String, attributes: ItemAttributes, label: String, contentType: String,
        created: UnixTime, modified: UnixTime, version: CredentialVersion?, key: CredentialKey?,
        isNamed: Bool
    ) {
        self.id = id
        self.collection = collection
        self.attributes = attributes
        self.label = label
        self.contentType = contentType
        self.created = created
        self.modified = modified
        self.version = version
        self.key = key
        self.isNamed = isNamed
    }

    /// Whether a read of a shared key returns this item: the most recently changed one, then the younger one, then the
    /// one with the higher ID, so that all programs choose the same one. Times count in seconds. Of two items that
    /// changed in the same second, the younger one is newer: a save here would have changed that item, had it existed.
    package func precedes(_ other: Item) -> Bool {
        if modified != other.modified { return modified > other.modified }
        if created != other.created { return created > other.created }
        let (mine, theirs) = (id.element.utf8, other.id.element.utf8)
        return mine.count == theirs.count ? theirs.lexicographicallyPrecedes(mine) : mine.count > theirs.count
    }

    /// As a listing shows it under a key that it is read as.
    package func metadata(for key: CredentialKey) -> CredentialMetadata {
        CredentialMetadata(key: key, label: label, created: created, modified: modified, version: version)
    }
}

/// An item with its secret, as read from a store.
package struct ItemRecord<Purpose>: ~Copyable, Sendable {
    package let item: Item
    /// The state that was read, for `WriteCondition.matches`.
    package let version: CredentialVersion
    package let secret: Secret<Purpose>

    package init(_ item: Item, version: CredentialVersion, secret: consuming Secret<Purpose>) {
        self.item = item
        self.version = version
        self.secret = secret
    }

    /// Ends the record and returns its secret.
    package consuming func takeSecret() -> Secret<Purpose> { secret }
}

/// The secret of an item that a program stored.
package enum ItemContent: SecretPurpose { package static var name: StaticString { "item's secret" } }

/// The metadata of an item to save.
package struct ItemDraft: Sendable {
    package enum Place: Sendable {
        /// An existing item, which keeps its label if none is set.
        case item(ItemID)
        /// A new item in a collection. If `replacing` is set and an item has exactly the same attributes, that item
        /// gets the secret and label instead.
        case attributes(ItemAttributes, in: String, replacing: Bool)
    }
    package var place: Place
    package let label: String?
    /// 255 bytes of UTF-8 at most.
    package let contentType: String
    /// The condition for an existing item; if it doesn't hold, the save throws `conflict` and changes nothing.
    package var condition = WriteCondition.none
    /// The times that a transfer preserves; `nil` is now.
    package var times: (created: UnixTime, modified: UnixTime)?

    package init(_ place: Place, label: String? = nil, contentType: String) {
        self.place = place
        self.label = label
        self.contentType = contentType
    }
}

/// A set of items with a name and a label.
package struct ItemCollection: Sendable, Hashable {
    /// The last element of its object path: 1 to 64 letters, digits and `_`.
    package let name: String
    package var label: String
    /// Other names for it, such as `default`: each names one collection at most.
    package var aliases: [String]
    package let created: UnixTime
    package var modified: UnixTime

    /// The name of the one that holds the credentials, in every store but the one of a session.
    package static let first = "login"

    package init(name: String, label: String, aliases: [String], created: UnixTime, modified: UnixTime) {
        self.name = name
        self.label = label
        self.aliases = aliases
        self.created = created
        self.modified = modified
    }
}

extension ItemCollection {
    /// A name for a new collection: the label, with `_2d` for a `-` and so on, as gnome-keyring writes it, because
    /// programs find a collection by its decoded path. The name of a long label is its start. A name that is already in
    /// use gets a number.
    ///
    /// - Parameter wanted: the name to use unless it is in `taken`.
    package static func name(_ wanted: String? = nil, for label: String, besides taken: [String]) -> String {
        if let wanted, !taken.contains(wanted) { return wanted }
        var stem = ""
        for byte in label.utf8 {
            let letter = UnicodeScalar(byte)
            let isAllowed = byte != UInt8(ascii: "_") && ObjectPathElement.isValid(String(letter))
            let next = isAllowed ? String(letter) : "_" + Hexadecimal.encode([byte])
            guard stem.utf8.count + next.utf8.count <= 48 else { break }
            stem += next
        }
        if stem.isEmpty { stem = "collection" }
        if !taken.contains(stem) { return stem }
        return (2...).lazy.map { "\(stem)_\($0)" }.first { !taken.contains($0) } ?? stem
    }
}

/// An element of a D-Bus object path (D-Bus specification, "Valid Object Paths").
package enum ObjectPathElement {
    package static func isValid(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
            }
    }
}
