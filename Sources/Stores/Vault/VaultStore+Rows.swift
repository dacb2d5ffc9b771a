internal import LatchkeyCredentials
internal import LatchkeySecrets

// One row: opened, written, removed, in step with manifest and index.

extension VaultStore {
    // MARK: - Changing rows

    /// Writes an item, in the place of one with the same subject where there is one, and returns its metadata as sealed.
    @discardableResult
    static func write<Purpose: SecretPurpose>(
        _ metadata: ItemMetadata, _ secret: borrowing Secret<Purpose>, replacing old: PresentItem?,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) -> [UInt8] {
        let keys = change.keys
        let lookup = keys.lookup(of: metadata.subject)
        if let old { try change.manifest.remove(lookup: old.lookup, metadata: old.sealed, keys) }
        if old.map({ $0.metadata.attributes != metadata.attributes || $0.metadata.collection != metadata.collection })
            ?? true
        {
            if let old { try change.index.remove(old.metadata, at: old.lookup, in: transaction) }
            change.index.add(metadata, at: lookup)
        }
        let sealed = try keys.seal(metadata, at: lookup)
        try transaction.put(
            lookup, metadata: sealed, secret: try keys.seal(secret, version: metadata.version, at: lookup))
        change.manifest.add(lookup: lookup, metadata: sealed, keys)
        return sealed
    }

    /// Puts an item into a table, in the place of one with the same subject where there is one, reads it back and
    /// compares.
    static func put(
        _ metadata: ItemMetadata, _ secret: borrowing Secret<StoredSecret>, replacing old: PresentItem? = nil,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        try write(metadata, secret, replacing: old, in: transaction, &change)
        try change.writeIndexIfLarge(in: transaction)
        let keys = change.keys
        let lookup = keys.lookup(of: metadata.subject)
        let written = try transaction.withItem(lookup) { (head, body) throws(StoreError) in
            guard let bytes = keys.openMetadata(head, at: lookup),
                let written = ItemMetadata.decode(bytes, expected: metadata.key), written.version == metadata.version,
                written.subject == metadata.subject
            else { throw .damagedItem }
            return try keys.openSecret(body, of: written, at: lookup)
        }
        guard let written, written.matches(secret) else { throw .damagedItem }
    }

    static func remove(
        _ item: PresentItem, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        try change.index.remove(item.metadata, at: item.lookup, in: transaction)
        try transaction.remove(item.lookup)
        try change.manifest.remove(lookup: item.lookup, metadata: item.sealed, change.keys)
    }

    // MARK: - Opening rows

    /// An item in the table, with what is needed to take it out of the manifest.
    struct PresentItem {
        let lookup: [UInt8]
        let sealed: [UInt8]
        let metadata: ItemMetadata
    }

    static func present(
        _ subject: ItemSubject, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> PresentItem? {
        if case .credential(let key, _) = subject { return try present(key, in: view, keys) }
        let lookup = keys.lookup(of: subject)
        guard let item = try view.heading(lookup) else { return nil }
        return PresentItem(lookup: lookup, sealed: item.metadata, metadata: try openMetadata(item, keys))
    }

    static func present(
        _ key: CredentialKey, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> PresentItem? {
        let lookup = keys.lookup(of: key)
        guard let item = try view.heading(lookup) else { return nil }
        return PresentItem(
            lookup: lookup, sealed: item.metadata,
            metadata: try openMetadata(item.metadata.span, of: key, at: lookup, keys))
    }

    static func openMetadata(
        _ sealed: Span<UInt8>, of key: CredentialKey, at lookup: [UInt8], _ keys: VaultKeys
    ) throws(StoreError) -> ItemMetadata {
        guard let bytes = keys.openMetadata(sealed, at: lookup),
            let metadata = ItemMetadata.decode(bytes, expected: key)
        else { throw .damagedItem }
        return metadata
    }

    static func openMetadata(_ item: ItemHeading, _ keys: VaultKeys) throws(StoreError) -> ItemMetadata {
        // One that was moved away isn't found by its lookup value any more.
        guard item.isInPlace, let metadata = keys.openMetadata(of: item) else { throw .damagedItem }
        return metadata
    }

    /// The collection of an item, `nil` for what is no item: a fraction of the work of `openMetadata`.
    static func collection(of item: ItemHeading, _ keys: VaultKeys) throws(StoreError) -> String? {
        guard item.isInPlace, let bytes = keys.openMetadata(item.metadata.span, at: item.lookup) else {
            throw .damagedItem
        }
        return ItemMetadata.collection(in: bytes)
    }
}
