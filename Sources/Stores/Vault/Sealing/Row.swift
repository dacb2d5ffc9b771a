internal import LatchkeyCredentials
internal import LatchkeyLog

/// A row's metadata, decrypted; laid out as in vault-format.md.
///
/// The plain text: layout (1), version (16), created (8), modified (8), length of the secret (4), kind (1 + n), content
/// type (1 + n) and label (2 + n). Then, of a credential, whose kind is never empty: service (2 + n) and account (2 +
/// n). Of any other item: id (16), collection (1 + n), number of attributes (1), and name (2 + n) and value (2 + n) of
/// each. Then zeros up to a bucket's size.
struct Row: Sendable {
    /// The key for finding a row.
    enum Name: Sendable, Hashable {
        /// Of any kind.
        case key(CredentialKey)
        /// An item without a name: its ID is random.
        case attributes(ItemAttributes, in: String, id: Octets16)
    }
    var name: Name
    let label: String
    /// Of a credential: one of `SecretContentType`. Of another item: as its program gave it.
    let contentType: String
    let created: UnixTime
    let modified: UnixTime
    let version: CredentialVersion
    let secretByteCount: Int

    static let versionByteCount = 16
    static let maximumContentTypeByteCount = 255

    /// `nil` for an item without a name.
    var key: CredentialKey? {
        if case .key(let key) = name { key } else { nil }
    }

    /// `nil` for a credential of another kind than `password`, which isn't an item.
    var attributes: ItemAttributes? {
        switch name {
        case .attributes(let attributes, _, _): attributes
        case .key(let key): key.kind == .password ? ItemAttributes(key) : nil
        }
    }

    /// `nil` for a row that isn't an item.
    var collection: String? {
        switch name {
        case .attributes(_, let collection, _): collection
        case .key(let key): key.kind == .password ? ItemCollection.first : nil
        }
    }

    /// `nil` for a row that isn't an item.
    func item(at lookup: [UInt8]) -> Item? {
        guard let attributes, let collection else { return nil }
        return Item(
            id: .vault(Octets16(lookup)), collection: collection, attributes: attributes, label: label,
            contentType: contentType, created: created, modified: modified, version: version,
            key: key ?? impliedKey, isNamed: key != nil)
    }

    /// The key that an item without a name is read as.
    var impliedKey: CredentialKey? {
        guard case .attributes(let attributes, ItemCollection.first, _) = name else { return nil }
        return attributes.key()
    }

    /// As a listing shows it under a key that it is read as.
    func metadata(for key: CredentialKey) -> CredentialMetadata {
        CredentialMetadata(key: key, label: label, created: created, modified: modified, version: version)
    }

    /// The content type of the secret for readers of credentials.
    func credentialType<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>) -> SecretContentType {
        if key != nil { return SecretContentType(rawValue: contentType) ?? .binary }
        return SecretContentType(of: secret, named: contentType)
    }

    /// The name of a credential or the label of an item, for messages.
    var shownName: LogMessage {
        if let key { return "\(key)" }
        return "\(LoggableText(reviewed: "a label is shown in keyring applications", unredacted: label))"
    }

    // MARK: - Encoding

    func encode() -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.append(UInt8(1))
        writer.append(version.bytes)
        writer.append(created.seconds)
        writer.append(modified.seconds)
        writer.append(UInt32(secretByteCount))
        writer.append(key?.kind.name ?? "", length: UInt8.self)
        writer.append(contentType, length: UInt8.self)
        writer.append(label, length: UInt16.self)
        switch name {
        case .key(let key):
            writer.append(key.service, length: UInt16.self)
            writer.append(key.account, length: UInt16.self)
        case .attributes(let attributes, let collection, let id):
            writer.append(id.bytes)
            writer.append(collection, length: UInt8.self)
            writer.append(UInt8(attributes.all.count))
            for attribute in attributes.all {
                writer.append(attribute.name, length: UInt16.self)
                writer.append(attribute.value, length: UInt16.self)
            }
        }
        writer.pad(to: SealedSize.bucket(writer.bytes.count))
        return writer.bytes
    }

    // MARK: - Decoding

    /// Returns `nil` for bytes that `encode` doesn't write, and for another key than `expected`.
    static func decode(_ bytes: [UInt8], expected: CredentialKey? = nil) -> Row? {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt8.self) == 1, let version = reader.take(versionByteCount),
            let created: Int64 = reader.integer(), let modified: Int64 = reader.integer(),
            let count: UInt32 = reader.integer(), count <= SealedSize.maximumSecretByteCount,
            let kind = expected.map({ reader.skip($0.kind.name, length: UInt8.self) ? $0.kind.name : nil })
                ?? reader.text(length: UInt8.self, atMost: 32),
            let contentType = reader.text(length: UInt8.self, atMost: maximumContentTypeByteCount),
            let label = reader.text(length: UInt16.self, atMost: SealedSize.maximumLabelByteCount),
            let name = kind.isEmpty ? item(from: &reader) : credential(kind, from: &reader, expected: expected),
            kind.isEmpty || SecretContentType(rawValue: contentType) != nil,
            reader.onlyPaddingIsLeft(), SealedSize.bucket(bytes.count - reader.remainingByteCount) == bytes.count
        else { return nil }
        return Row(
            name: name, label: label, contentType: contentType, created: UnixTime(seconds: created),
            modified: UnixTime(seconds: modified), version: CredentialVersion(bytes: version),
            secretByteCount: Int(count))
    }

    /// A key that is expected needs no second validation.
    private static func credential(
        _ kind: String, from reader: inout ByteReader, expected: CredentialKey?
    ) -> Name? {
        if let expected {
            let isThere =
                reader.skip(expected.service, length: UInt16.self)
                && reader.skip(expected.account, length: UInt16.self)
            return isThere ? .key(expected) : nil
        }
        guard let kind = CredentialKind(kind),
            let service = reader.text(length: UInt16.self, atMost: CredentialKey.maximumByteCount),
            let account = reader.text(length: UInt16.self, atMost: CredentialKey.maximumByteCount),
            let key = try? CredentialKey(service: service, account: account, kind: kind)
        else { return nil }
        return .key(key)
    }

    private static func item(from reader: inout ByteReader) -> Name? {
        guard let id = reader.take(Octets16.byteCount),
            let collection = reader.text(length: UInt8.self, atMost: 64), ObjectPathElement.isValid(collection),
            let count: UInt8 = reader.integer(), count <= ItemAttributes.maximumCount
        else { return nil }
        var attributes: [ItemAttributes.Attribute] = []
        for _ in 0..<count {
            guard let name = reader.text(length: UInt16.self, atMost: ItemAttributes.maximumByteCount),
                let value = reader.text(length: UInt16.self, atMost: ItemAttributes.maximumByteCount)
            else { return nil }
            attributes.append(ItemAttributes.Attribute(name: name, value: value))
        }
        // In their one order.
        guard let all = ItemAttributes(attributes), all.all == attributes else { return nil }
        return .attributes(all, in: collection, id: Octets16(id))
    }

    /// The collection in encoded bytes, without decoding the rest; `nil` for a row that isn't an item.
    static func collection(in bytes: [UInt8]) -> String? {
        var reader = ByteReader(bytes)
        guard reader.take(1 + versionByteCount + 8 + 8 + 4) != nil, let kind: UInt8 = reader.integer() else {
            return nil
        }
        if kind != 0 {
            return reader.take(Int(kind)).map { $0.elementsEqual(CredentialKind.password.name.utf8) } == true
                ? ItemCollection.first : nil
        }
        guard let type: UInt8 = reader.integer(), reader.take(Int(type)) != nil, let label: UInt16 = reader.integer(),
            reader.take(Int(label) + Octets16.byteCount) != nil
        else { return nil }
        return reader.text(length: UInt8.self, atMost: 64)
    }
}

/// A row in the table: its name is opened, its secret not yet.
struct OpenedRow: Sendable {
    let heading: ItemHeading
    let row: Row

    var lookup: [UInt8] { heading.lookup }
    /// `nil` for a row that isn't an item.
    var item: Item? { row.item(at: lookup) }
}

extension ItemID {
    /// The digits of a handle, which are always an element of a path.
    static func vault(_ handle: ItemHandle) -> ItemID {
        guard let id = ItemID(Hexadecimal.encode(handle.bytes)) else {
            preconditionFailure("hexadecimal digits aren't an element of a path")
        }
        return id
    }
}
