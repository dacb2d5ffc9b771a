internal import LatchkeyCredentials
internal import LatchkeySecrets

// What a program saves with its own name beside service and username, as Python keyring does, is the credential of these
// two where there is none that has exactly them.

extension VaultStore {
    /// Those of a key, the one that was changed last first.
    static func impliedItems(
        of key: CredentialKey, in view: any RowView, _ manifest: Manifest, _ keys: VaultKeys
    ) throws(StoreError) -> [PresentItem] {
        guard key.kind == .password else { return [] }
        var found: [PresentItem] = []
        for handle in try view.items(of: ItemAttributes(key).all.map { IndexList($0, keys) }, manifest, keys) {
            guard let heading = try view.heading(beginning: handle.bytes) else { throw .indexDiffers }
            let metadata = try openMetadata(heading, keys)
            guard metadata.impliedKey == key else { continue }
            found.append(PresentItem(lookup: heading.lookup, sealed: heading.metadata, metadata: metadata))
        }
        return found.sorted { $0.precedes($1) }
    }

    /// What is read, replaced or deleted under a key.
    static func presentOrImplied(
        _ key: CredentialKey, in transaction: any RowTransaction, _ change: borrowing Change
    ) throws(StoreError) -> PresentItem? {
        if let exact = try present(key, in: transaction, change.keys) { return exact }
        return try impliedItems(of: key, in: transaction, change.manifest, change.keys).first
    }

    func impliedItem(
        of key: CredentialKey, in view: any RowView, _ state: KnownState
    ) throws(StoreError) -> FoundItem? {
        guard key.kind == .password else { return nil }
        try compareIndex(in: view, state)
        guard let item = try Self.impliedItems(of: key, in: view, state.manifest, state.keys).first else { return nil }
        return try view.withItem(item.lookup) { (_, sealed) throws(StoreError) -> FoundItem in
            FoundItem(
                metadata: item.metadata,
                secret: try state.keys.openSecret(sealed, of: item.metadata, at: item.lookup))
        }
    }

    /// As a listing shows an item that is what its key is read as; `nil` for any other.
    static func impliedMetadata(
        of metadata: ItemMetadata, at lookup: [UInt8], in view: any RowView, _ state: KnownState
    ) throws(StoreError) -> CredentialMetadata? {
        guard let key = metadata.impliedKey, try view.heading(state.keys.lookup(of: key)) == nil,
            try impliedItems(of: key, in: view, state.manifest, state.keys).first?.lookup == lookup
        else { return nil }
        return CredentialMetadata(
            key: key, label: metadata.label, created: metadata.created, modified: metadata.modified,
            version: metadata.version)
    }
}

extension VaultStore.PresentItem {
    /// Times count in seconds: of two of one second the younger, and then always the same one.
    fileprivate func precedes(_ other: Self) -> Bool {
        if metadata.modified != other.metadata.modified { return metadata.modified > other.metadata.modified }
        if metadata.created != other.metadata.created { return metadata.created > other.metadata.created }
        return other.lookup.lexicographicallyPrecedes(lookup)
    }
}

extension ItemMetadata {
    /// The key of an item that isn't a credential by itself.
    fileprivate var impliedKey: CredentialKey? {
        guard case .item(let item) = subject, item.collection == CollectionsRecord.first else { return nil }
        return item.attributes.impliedKey
    }
}

extension ItemSubject {
    /// A credential; an item of another program that is read as one stays that item.
    init(_ key: CredentialKey, _ type: SecretContentType, replacing old: ItemSubject?) {
        guard case .item(let item) = old else {
            self = .credential(key, type)
            return
        }
        self = .item(
            ItemDescription(
                id: item.id, collection: item.collection, attributes: item.attributes, contentType: type.rawValue))
    }

    /// What a reader of credentials is told.
    func credentialType<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>) -> SecretContentType {
        switch self {
        case .credential(_, let type): type
        case .item(let item): SecretContentType(of: secret, named: item.contentType)
        }
    }
}
