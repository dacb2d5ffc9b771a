internal import LatchkeyCredentials
internal import LatchkeySecrets

/// An item's secret on its way to the store's thread.
final class KeptItemSecret: Sendable {
    let secret: Secret<ItemContent>
    let contentType: String

    init(_ secret: borrowing ItemSecret) {
        self.secret = secret.secret.duplicate()
        contentType = secret.contentType
    }

    var credentialType: SecretContentType { SecretContentType(of: secret, named: contentType) }
}

extension SecretContentType {
    /// What a credential has instead of an item's content type: text only where it is UTF-8 as well.
    init<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>, named contentType: String) {
        guard contentType.utf8.starts(with: "text/".utf8) else {
            self = .binary
            return
        }
        self = secret.withExposedBytes { (try? UTF8Span(validating: $0)) == nil } ? .binary : .text
    }
}

extension ItemSubject {
    /// The same with another secret's content type.
    func with(_ secret: KeptItemSecret) -> ItemSubject {
        switch self {
        case .credential(let key, _): .credential(key, secret.credentialType)
        case .item(let item):
            .item(
                ItemDescription(
                    id: item.id, collection: item.collection, attributes: item.attributes,
                    contentType: secret.contentType))
        }
    }
}
