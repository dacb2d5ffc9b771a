internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

/// All that a vault knows of a row besides its secret, as it is sealed.
///
/// In clear: layout (1), version (16), created (8), modified (8). A credential, layout 1: content type (1), length of
/// the secret (4), kind (1 + n), service (2 + n), account (2 + n), label (2 + n). Another item, layout 2: length of the
/// secret (4), content type (1 + n), collection (1 + n), id (16), label (2 + n), number of attributes (1), and name
/// (2 + n) and value (2 + n) of each. Then zeros up to a bucket's size.
struct ItemMetadata: Sendable {
    let subject: ItemSubject
    let label: String
    let created: UnixTime
    let modified: UnixTime
    let version: CredentialVersion
    let secretByteCount: Int

    static let versionByteCount = 16

    static func newVersion() throws(StoreError) -> CredentialVersion {
        CredentialVersion(bytes: try Sealing.randomOctets(versionByteCount))
    }

    func encode() -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        switch subject {
        case .credential(let key, let type):
            writeHead(layout: 1, to: &writer)
            writer.append(UInt8(type == .text ? 1 : 0))
            writer.append(UInt32(secretByteCount))
            writer.append(key.kind.name, length: UInt8.self)
            writer.append(key.service, length: UInt16.self)
            writer.append(key.account, length: UInt16.self)
            writer.append(label, length: UInt16.self)
        case .item(let item):
            writeHead(layout: 2, to: &writer)
            writer.append(UInt32(secretByteCount))
            writer.append(item.contentType, length: UInt8.self)
            writer.append(item.collection, length: UInt8.self)
            writer.append(item.id.bytes)
            writer.append(label, length: UInt16.self)
            writer.append(UInt8(item.attributes.all.count))
            for attribute in item.attributes.all {
                writer.append(attribute.name, length: UInt16.self)
                writer.append(attribute.value, length: UInt16.self)
            }
        }
        writer.pad(to: SealedSize.bucket(writer.bytes.count))
        return writer.bytes
    }

    private func writeHead(layout: UInt8, to writer: inout ByteWriter) {
        writer.append(layout)
        writer.append(version.bytes)
        writer.append(created.seconds)
        writer.append(modified.seconds)
    }

    // MARK: - Decoding

    /// Returns `nil` for anything that `encode` doesn't write, and for another key than `expected` when one is given.
    static func decode(_ bytes: [UInt8], expected: CredentialKey? = nil) -> ItemMetadata? {
        var reader = ByteReader(bytes)
        guard let layout: UInt8 = reader.integer(), let version = reader.take(versionByteCount),
            let created: Int64 = reader.integer(), let modified: Int64 = reader.integer()
        else { return nil }
        let rest =
            switch layout {
            case 1: credential(from: &reader, expected: expected)
            case 2 where expected == nil: item(from: &reader)
            default: Rest?.none
            }
        guard let rest, reader.onlyPaddingIsLeft(),
            SealedSize.bucket(bytes.count - reader.remainingByteCount) == bytes.count
        else { return nil }
        return ItemMetadata(
            subject: rest.subject, label: rest.label, created: UnixTime(seconds: created),
            modified: UnixTime(seconds: modified), version: CredentialVersion(bytes: version),
            secretByteCount: rest.secretByteCount)
    }

    /// What the layouts have in different places.
    private typealias Rest = (subject: ItemSubject, label: String, secretByteCount: Int)

    private static func credential(from reader: inout ByteReader, expected: CredentialKey?) -> Rest? {
        guard let type: UInt8 = reader.integer(), type <= 1, let count = secretByteCount(from: &reader),
            let key = key(from: &reader, expected: expected), let label = label(from: &reader)
        else { return nil }
        return (.credential(key, type == 1 ? .text : .binary), label, count)
    }

    /// A key that is expected needs no second validation.
    private static func key(from reader: inout ByteReader, expected: CredentialKey?) -> CredentialKey? {
        if let expected {
            let isThere =
                reader.skip(expected.kind.name, length: UInt8.self)
                && reader.skip(expected.service, length: UInt16.self)
                && reader.skip(expected.account, length: UInt16.self)
            return isThere ? expected : nil
        }
        guard let name = reader.text(length: UInt8.self, atMost: 32), let kind = CredentialKind(name),
            let service = reader.text(length: UInt16.self, atMost: CredentialKey.maximumByteCount),
            let account = reader.text(length: UInt16.self, atMost: CredentialKey.maximumByteCount)
        else { return nil }
        return try? CredentialKey(service: service, account: account, kind: kind)
    }

    private static func item(from reader: inout ByteReader) -> Rest? {
        guard let count = secretByteCount(from: &reader),
            let type = reader.text(length: UInt8.self, atMost: ItemDescription.maximumContentTypeByteCount),
            let collection = reader.text(length: UInt8.self, atMost: 64), ObjectPathElement.isValid(collection),
            let id = reader.take(Octets16.byteCount), let label = label(from: &reader),
            let attributeCount: UInt8 = reader.integer(), attributeCount <= ItemAttributes.maximumCount
        else { return nil }
        var attributes: [ItemAttributes.Attribute] = []
        for _ in 0..<attributeCount {
            guard let name = reader.text(length: UInt16.self, atMost: ItemAttributes.maximumByteCount),
                let value = reader.text(length: UInt16.self, atMost: ItemAttributes.maximumByteCount)
            else { return nil }
            attributes.append(ItemAttributes.Attribute(name: name, value: value))
        }
        // In their one order.
        guard let all = ItemAttributes(attributes), all.all == attributes else { return nil }
        let item = ItemDescription(id: Octets16(id), collection: collection, attributes: all, contentType: type)
        return (.item(item), label, count)
    }

    private static func secretByteCount(from reader: inout ByteReader) -> Int? {
        guard let count: UInt32 = reader.integer(), count <= SealedSize.maximumSecretByteCount else { return nil }
        return Int(count)
    }

    private static func label(from reader: inout ByteReader) -> String? {
        reader.text(length: UInt16.self, atMost: SealedSize.maximumLabelByteCount)
    }
}

extension ItemMetadata {
    /// Those of a credential.
    init(
        key: CredentialKey, label: String, created: UnixTime, modified: UnixTime, version: CredentialVersion,
        contentType: SecretContentType, secretByteCount: Int
    ) {
        self.init(
            subject: .credential(key, contentType), label: label, created: created, modified: modified,
            version: version, secretByteCount: secretByteCount)
    }

    /// `nil` for an item that isn't a credential.
    var credentialMetadata: CredentialMetadata? {
        key.map {
            CredentialMetadata(key: $0, label: label, created: created, modified: modified, version: version)
        }
    }
}
