internal import LatchkeyCredentials
internal import LatchkeyStoreCommands

/// Which items a program may find: `--only SERVICE[/ACCOUNT]`.
struct ItemScope: Sendable {
    private let names: [String]
    let isWritable: Bool

    init(_ names: [String], isWritable: Bool) {
        self.names = names
        self.isWritable = isWritable
    }

    /// What an item of the scope has one of.
    var services: [ItemAttributes] {
        let names = Set(names + names.compactMap { SecretReference.key(of: $0)?.service })
        return names.compactMap { ItemAttributes([ItemAttributes.Attribute(name: "service", value: $0)]) }
    }

    /// Whether one of the names is the item's service, or its service and account. A service may have slashes itself.
    func contains(_ attributes: ItemAttributes) -> Bool {
        guard let service = attributes["service"] else { return false }
        return names.contains { name in
            if name.utf8.elementsEqual(service.utf8) { return true }
            guard let account = attributes["username"], let key = SecretReference.key(of: name) else { return false }
            return key.service.utf8.elementsEqual(service.utf8) && key.account.utf8.elementsEqual(account.utf8)
        }
    }
}
