internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySodium

/// All that a vault knows of an item besides its secret, as it is sealed.
///
/// In clear: layout (1), version (16), created (8), modified (8), content type (1), length of the secret (4), kind
/// (1 + n), service (2 + n), account (2 + n), label (2 + n); zeros up to a bucket's size.
struct ItemMetadata: Sendable {
    let key: CredentialKey
    let label: String
    let created: UnixTime
    let modified: UnixTime
    let version: CredentialVersion
    let contentType: SecretContentType
    let secretByteCount: Int

    static let versionByteCount = 16

    var credentialMetadata: CredentialMetadata {
        CredentialMetadata(key: key, label: label, created: created, modified: modified, version: version)
    }

    func encode() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(version.bytes)
        writer.append(created.seconds)
        writer.append(modified.seconds)
        writer.append(UInt8(contentType == .text ? 1 : 0))
        writer.append(UInt32(secretByteCount))
        writer.append(key.kind.name, length: UInt8.self)
        writer.append(key.service, length: UInt16.self)
        writer.append(key.account, length: UInt16.self)
        writer.append(label, length: UInt16.self)
        writer.pad(to: SealedSize.bucket(writer.bytes.count))
        return writer.bytes
    }

    /// Returns `nil` for anything that `encode` doesn't write, and for another key than `expected` when one is given.
    static func decode(_ bytes: [UInt8], expected: CredentialKey? = nil) -> ItemMetadata? {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt8.self) == 1, let version = reader.take(versionByteCount),
            let created: Int64 = reader.integer(), let modified: Int64 = reader.integer(),
            let type: UInt8 = reader.integer(), type <= 1, let count: UInt32 = reader.integer(),
            count <= SealedSize.maximumSecretByteCount, let key = key(from: &reader, expected: expected),
            let label = reader.text(length: UInt16.self, atMost: SealedSize.maximumLabelByteCount),
            reader.onlyPaddingIsLeft(),
            SealedSize.bucket(bytes.count - reader.remainingByteCount) == bytes.count
        else { return nil }
        return ItemMetadata(
            key: key, label: label, created: UnixTime(seconds: created), modified: UnixTime(seconds: modified),
            version: CredentialVersion(bytes: version), contentType: type == 1 ? .text : .binary,
            secretByteCount: Int(count))
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
}
