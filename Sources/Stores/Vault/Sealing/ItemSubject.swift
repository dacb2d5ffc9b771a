internal import LatchkeyCredentials
internal import LatchkeyLog

/// What a row is about.
enum ItemSubject: Sendable, Hashable {
    /// A secret under a key, whose kind may be any.
    case credential(CredentialKey, SecretContentType)
    /// A secret with attributes.
    case item(ItemDescription)
}

/// An item that isn't a credential.
struct ItemDescription: Sendable, Hashable {
    /// Random: an item has no other name.
    let id: Octets16
    /// The name of its collection.
    let collection: String
    let attributes: ItemAttributes
    /// As its program gave it.
    let contentType: String

    static let maximumContentTypeByteCount = 255
}

extension ItemMetadata {
    /// `nil` for an item that isn't a credential.
    var key: CredentialKey? {
        if case .credential(let key, _) = subject { key } else { nil }
    }

    /// `nil` for a credential of another kind than `password`, which is no item.
    var attributes: ItemAttributes? {
        switch subject {
        case .item(let item): item.attributes
        case .credential(let key, _): key.kind == .password ? ItemAttributes(key) : nil
        }
    }

    /// `nil` for what is no item.
    var collection: String? {
        switch subject {
        case .item(let item): item.collection
        case .credential(let key, _): key.kind == .password ? CollectionsRecord.first : nil
        }
    }

    /// The same of what was encoded, without the rest.
    static func collection(in bytes: [UInt8]) -> String? {
        var reader = ByteReader(bytes)
        guard let layout: UInt8 = reader.integer(), reader.take(versionByteCount + 8 + 8) != nil else { return nil }
        if layout == 1 {
            let isPassword =
                reader.take(1 + 4) != nil && reader.skip(CredentialKind.password.name, length: UInt8.self)
            return isPassword ? CollectionsRecord.first : nil
        }
        guard layout == 2, reader.take(4) != nil, let type: UInt8 = reader.integer(), reader.take(Int(type)) != nil
        else { return nil }
        return reader.text(length: UInt8.self, atMost: 64)
    }

    /// `nil` for what is no item.
    func storedItem(at lookup: [UInt8]) -> StoredItem? {
        guard let attributes, let collection else { return nil }
        let type =
            switch subject {
            case .item(let item): item.contentType
            case .credential(_, let type): type.rawValue
            }
        return StoredItem(
            id: .vault(Octets16(lookup)), collection: collection, attributes: attributes, label: label,
            contentType: type, created: created, modified: modified, version: version)
    }

    /// For messages: the name of a credential, or the label of an item.
    var name: LogMessage {
        if let key { return "\(key)" }
        return "\(LoggableText(reviewed: "a label is shown in keyring applications", unredacted: label))"
    }
}
