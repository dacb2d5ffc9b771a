/// Which item: the last element of its D-Bus object path. It says nothing about the item, and stays while the item is
/// there; a rekeying of the vault makes others.
package struct ItemID: Sendable, Hashable {
    /// 1 to 64 letters, digits and `_`, all ASCII.
    package let element: String

    /// Returns `nil` for what no object path can contain.
    package init?(_ element: String) {
        guard ObjectPathElement.isValid(element) else { return nil }
        self.element = element
    }
}

/// An item without its secret.
package struct StoredItem: Sendable, Hashable {
    package let id: ItemID
    /// The name of its collection.
    package let collection: String
    package let attributes: ItemAttributes
    package let label: String
    /// As its program gave it, such as `text/plain`: 255 bytes at most.
    package let contentType: String
    package let created: UnixTime
    package let modified: UnixTime
    /// Another one after each change of anything.
    package let version: CredentialVersion

    package init(
        id: ItemID, collection: String, attributes: ItemAttributes, label: String, contentType: String,
        created: UnixTime, modified: UnixTime, version: CredentialVersion
    ) {
        self.id = id
        self.collection = collection
        self.attributes = attributes
        self.label = label
        self.contentType = contentType
        self.created = created
        self.modified = modified
        self.version = version
    }
}

/// A set of items with a name and a label.
package struct ItemCollection: Sendable, Hashable {
    /// The last element of its object path: 1 to 64 letters, digits and `_`.
    package let name: String
    package let label: String
    /// Other names for it, such as `default`: each names one collection at most.
    package let aliases: [String]
    package let created: UnixTime
    package let modified: UnixTime

    package init(name: String, label: String, aliases: [String], created: UnixTime, modified: UnixTime) {
        self.name = name
        self.label = label
        self.aliases = aliases
        self.created = created
        self.modified = modified
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
