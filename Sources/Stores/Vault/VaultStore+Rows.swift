internal import LatchkeyCredentials
internal import LatchkeySecrets

// One row: opened, written, removed, in step with manifest and index.

extension VaultStore {
    // MARK: - Changing rows

    /// Writes a row with another version, in the place of `old` where there is one, and returns it.
    ///
    /// - Parameter times: `nil` is now.
    @discardableResult
    func write<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ name: Row.Name, label: String, contentType: String,
        times: (created: UnixTime, modified: UnixTime)? = nil, replacing old: OpenedRow?,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) -> Row {
        let time = now()
        let created = times?.created ?? old?.row.created ?? time
        let row = Row(
            name: name, label: label, contentType: contentType, created: created,
            modified: times?.modified ?? max(created, time),
            version: CredentialVersion(bytes: try Sealing.randomOctets(Row.versionByteCount)),
            secretByteCount: secret.byteCount)
        try Self.write(row, secret, replacing: old, in: transaction, &change)
        return row
    }

    /// Writes a row, in the place of one that may have had another name.
    static func write<Purpose: SecretPurpose>(
        _ row: Row, _ secret: borrowing Secret<Purpose>, replacing replaced: OpenedRow?,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        let keys = change.keys
        let lookup = keys.lookup(of: row.name)
        var old = replaced
        if let other = old, other.lookup != lookup {
            try remove(other, in: transaction, &change)
            old = nil
        }
        if let old { try change.manifest.remove(lookup: lookup, metadata: old.heading.metadata, keys) }
        if old?.row.attributes != row.attributes || old?.row.collection != row.collection || old == nil {
            if let old { try change.index.remove(old, in: transaction) }
            change.index.add(row, at: lookup)
        }
        let sealed = try keys.seal(row, at: lookup)
        try transaction.put(lookup, metadata: sealed, secret: try keys.seal(secret, version: row.version, at: lookup))
        change.manifest.add(lookup: lookup, metadata: sealed, keys)
        change.own.items[ItemHandle(of: lookup)] = ItemSighting(sealed: sealed, collection: row.collection)
    }

    /// Writes a row as `write`, reads it back and compares.
    static func put(
        _ row: Row, _ secret: borrowing Secret<StoredSecret>, replacing old: OpenedRow? = nil,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        try write(row, secret, replacing: old, in: transaction, &change)
        try change.writeIndexIfLarge(in: transaction)
        let keys = change.keys
        let lookup = keys.lookup(of: row.name)
        let written = try transaction.withItem(lookup) { (head, body) throws(StoreError) in
            guard let bytes = keys.openMetadata(head, at: lookup),
                let written = Row.decode(bytes, expected: row.key), written.version == row.version,
                written.name == row.name
            else { throw .damagedItem }
            return try keys.openSecret(body, of: written, at: lookup)
        }
        guard let written, written.matches(secret) else { throw .damagedItem }
    }

    static func remove(
        _ old: OpenedRow, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        try change.index.remove(old, in: transaction)
        try transaction.remove(old.lookup)
        try change.manifest.remove(lookup: old.lookup, metadata: old.heading.metadata, change.keys)
        change.own.items.updateValue(nil, forKey: ItemHandle(of: old.lookup))
    }

    // MARK: - Opening rows

    static func row(_ name: Row.Name, in view: any RowView, _ keys: VaultKeys) throws(StoreError) -> OpenedRow? {
        guard let heading = try view.heading(keys.lookup(of: name)) else { return nil }
        guard case .key(let key) = name else { return try row(heading, keys) }
        return OpenedRow(
            heading: heading, row: try row(heading.metadata.span, of: key, at: heading.lookup, keys))
    }

    /// The row of an item; `nil` for what isn't there, or is no item.
    static func row(_ handle: ItemHandle, in view: any RowView, _ keys: VaultKeys) throws(StoreError) -> OpenedRow? {
        guard let heading = try view.heading(beginning: handle.bytes) else { return nil }
        let found = try row(heading, keys)
        return found.row.collection == nil ? nil : found
    }

    static func row(
        _ sealed: Span<UInt8>, of key: CredentialKey, at lookup: [UInt8], _ keys: VaultKeys
    ) throws(StoreError) -> Row {
        guard let bytes = keys.openMetadata(sealed, at: lookup), let row = Row.decode(bytes, expected: key) else {
            throw .damagedItem
        }
        return row
    }

    static func row(_ heading: ItemHeading, _ keys: VaultKeys) throws(StoreError) -> OpenedRow {
        // One that was moved away isn't found by its lookup value any more.
        guard heading.isInPlace, let row = keys.open(heading) else { throw .damagedItem }
        return row
    }

    /// Opens the secret of a row that was found in the same view.
    static func secret(
        of opened: OpenedRow, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> Secret<StoredSecret> {
        let secret = try view.withItem(opened.lookup) { (_, sealed) throws(StoreError) in
            try keys.openSecret(sealed, of: opened.row, at: opened.lookup)
        }
        guard let secret else { throw .damagedItem }
        return secret
    }

    /// The same with its row; `nil` of `nil`.
    static func foundRow(
        _ opened: OpenedRow?, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> FoundRow? {
        guard let opened else { return nil }
        return FoundRow(opened.row, try secret(of: opened, in: view, keys))
    }

    /// The collection of an item, `nil` for what is no item: a fraction of the work of opening the row.
    static func collection(of item: ItemHeading, _ keys: VaultKeys) throws(StoreError) -> String? {
        guard item.isInPlace, let bytes = keys.openMetadata(item.metadata.span, at: item.lookup) else {
            throw .damagedItem
        }
        return Row.collection(in: bytes)
    }
}
