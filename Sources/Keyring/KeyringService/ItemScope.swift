package import LatchkeyCredentials

/// Which items a program may find: `--only SERVICE[/ACCOUNT]`.
package struct ItemScope: Sendable {
    private let names: [String]
    private let keys: [CredentialKey]
    let isWritable: Bool

    /// - Parameters:
    ///   - names: services, which may have slashes themselves.
    ///   - keys: what the names are where they are a service and an account.
    package init(_ names: [String], keys: [CredentialKey], isWritable: Bool) {
        self.names = names
        self.keys = keys
        self.isWritable = isWritable
    }

    /// What an item of the scope has one of.
    var services: [ItemAttributes] {
        Set(names + keys.map(\.service)).compactMap {
            ItemAttributes([ItemAttributes.Attribute(name: ItemAttributes.service, value: $0)])
        }
    }

    /// Whether one of the names is the item's service, or its service and account.
    func contains(_ attributes: ItemAttributes) -> Bool {
        guard let service = attributes[ItemAttributes.service] else { return false }
        if names.contains(where: { $0.utf8.elementsEqual(service.utf8) }) { return true }
        guard let account = attributes[ItemAttributes.account] else { return false }
        return keys.contains { key in
            key.service.utf8.elementsEqual(service.utf8) && key.account.utf8.elementsEqual(account.utf8)
        }
    }
}
