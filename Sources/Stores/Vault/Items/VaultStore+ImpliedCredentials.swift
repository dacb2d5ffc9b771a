internal import LatchkeyCredentials
internal import LatchkeySecrets

// What a program saves with its own name beside service and username, as Python keyring does, is the credential of these
// two where there is none that has exactly them.

extension VaultStore {
    /// Those of a key, the one that is read first.
    static func impliedRows(
        of key: CredentialKey, in view: any RowView, _ manifest: Manifest, _ keys: VaultKeys
    ) throws(StoreError) -> [OpenedRow] {
        guard key.kind == .password else { return [] }
        var found: [(row: OpenedRow, item: Item)] = []
        for handle in try view.items(of: ItemAttributes(key).all.map { IndexList($0, keys) }, manifest, keys) {
            guard let row = try row(handle, in: view, keys), let item = row.item else { throw .indexDiffers }
            if row.row.impliedKey == key { found.append((row, item)) }
        }
        return found.sorted { $0.item.precedes($1.item) }.map(\.row)
    }

    /// What is read, replaced or deleted under a key.
    static func presentOrImplied(
        _ key: CredentialKey, in transaction: any RowTransaction, _ change: borrowing Change
    ) throws(StoreError) -> OpenedRow? {
        if let exact = try row(.key(key), in: transaction, change.keys) { return exact }
        return try impliedRows(of: key, in: transaction, change.manifest, change.keys).first
    }

    func impliedRow(of key: CredentialKey, in view: any RowView, _ state: KnownState) throws(StoreError) -> FoundRow? {
        guard key.kind == .password else { return nil }
        try compareIndex(in: view, state)
        let first = try Self.impliedRows(of: key, in: view, state.manifest, state.keys).first
        return try Self.foundRow(first, in: view, state.keys)
    }

    /// As a listing shows an item that is what its key is read as; `nil` for any other.
    static func impliedMetadata(
        of opened: OpenedRow, in view: any RowView, _ state: KnownState
    ) throws(StoreError) -> CredentialMetadata? {
        guard let key = opened.row.impliedKey, try view.heading(state.keys.lookup(of: key)) == nil,
            try impliedRows(of: key, in: view, state.manifest, state.keys).first?.lookup == opened.lookup
        else { return nil }
        return opened.row.metadata(for: key)
    }
}
