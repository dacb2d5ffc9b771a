public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

/// What an import does with a credential that is there already, with another secret or label.
public enum VaultImportChoice: Sendable, Hashable {
    /// Import nothing at all and throw `conflict`. One that was saved while the import ran ends it there.
    case refuse
    /// Keep what is there.
    case keep
    /// Put the imported one in its place.
    case replace
}

/// What an import did.
public struct VaultImport: Sendable, Hashable {
    /// Credentials under keys that were free.
    public internal(set) var addedCount = 0
    /// Credentials that took the place of another secret or label; 0 unless the choice is `replace`.
    public internal(set) var replacedCount = 0
    /// What was there already: the same, or kept by choice.
    public internal(set) var keptCount = 0
}

/// What an export wrote.
public struct VaultExport: Sendable, Hashable {
    /// How many credentials the new vault has.
    public let itemCount: Int
    /// How many of those that were saved could not be read. Always 0 unless an export may leave something out.
    public let missingCount: Int
}

extension VaultStore {
    /// Writes all credentials into a new vault with keys of its own and one slot.
    ///
    /// The file appears whole or not at all, after every credential was read back from it; it is one moment's state,
    /// and others write meanwhile, as with `verify`. Versions and times stay. Nothing is in clear on the disk at any
    /// time.
    ///
    /// The directory may be one that others see, such as a home of mode 0755, or /tmp: only where others could change or
    /// exchange the file it throws `permissionDenied`. Else throws as `create` does, and `corrupted` when this vault
    /// isn't sound: an export that leaves something out would only be noticed when it is needed.
    ///
    /// - Parameters:
    ///   - path: of the new vault; there must be nothing yet.
    ///   - source: what opens the new vault.
    ///   - name: what people call its slot; `nil` for the kind's own name.
    ///   - cost: for a passphrase; `nil` for one that fits this machine.
    ///   - leavingOutDamaged: writes what can still be read of a damaged vault, opened with ``ItemCheck/never``, and
    ///     counts what is missing. It then can't tell a credential that was put back from the newest one.
    ///   - deadline: a day from now unless told otherwise.
    public func export(
        to path: String, unlockedBy source: borrowing VaultKeySource, name: KeySlotName? = nil,
        cost: PassphraseCost? = nil, leavingOutDamaged: Bool = false, deadline: Deadline = .after(.seconds(86_400))
    ) async throws(StoreError) -> VaultExport {
        let kept = KeptSource(source.duplicate())
        let name = name ?? source.kind.slotName
        let rows = rows
        // Not on the store's thread: other writes go on until the copying begins.
        return try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            let place = try VaultPlace.new(path, for: .backup)
            let vault = if let reference = kept.source.reference { reference.vault } else { try VaultID.random() }
            let keys = try VaultKeys.random(vault)
            let slot = try NewKeySlot(kept.source, name: name, cost: cost, created: rows.now(), vault: vault)
            // The collections are those of the moment that is exported: below.
            let records = try SealedStore<VaultTable>.newRecords(
                keys, slot, collections: CollectionsRecord(created: rows.now()))
            var change = Change(keys: keys, manifest: Manifest(recordsDigest: Manifest.digest(records, keys)))
            var savedCount: UInt64?
            try place.create(for: .backup, records, cancellation) { (table) throws(StoreError) in
                func copy(_ item: ItemMetadata, _ secret: borrowing Secret<StoredSecret>) throws(StoreError) {
                    try SealedStore<VaultTable>.put(item, secret, in: table, &change)
                }
                func copy(_ collections: CollectionsRecord) throws(StoreError) {
                    try SealedStore<VaultTable>.put(collections, in: table, &change)
                }
                if leavingOutDamaged {
                    savedCount = try rows.forEachReadableItem(cancellation, copy) {
                        (item, secret) throws(StoreError) in
                        // A credential that is there twice is copied once.
                        if try table.heading(keys.lookup(of: item.subject)) == nil { try copy(item, secret) }
                    }
                } else {
                    try rows.forEachItem(cancellation, copy, copy)
                }
                try change.writeIndex(in: table)
                try table.put(record: Manifest.recordName, try change.manifest.seal(keys))
            }
            let count = Int(change.manifest.itemCount)
            return VaultExport(itemCount: count, missingCount: max(0, Int(savedCount ?? UInt64(count)) - count))
        }
    }

    /// Imports all credentials of another vault, each read back before it is committed.
    ///
    /// What is there already in the same version is left alone. Before anything is changed all of the other is checked,
    /// and compared where the choice is to refuse: `corrupted` and `conflict` thrown then change nothing.
    ///
    /// It works in transactions of up to 1,000 credentials or 8 MiB, between which others have their turn. A smaller
    /// import is there as a whole or not at all. A larger one that is cut off (killed, cancelled, out of time, disk
    /// full) leaves the transactions that were committed: whole credentials, in a sound vault. What is thrown says how
    /// many; calling it again imports the rest.
    ///
    /// - Parameters:
    ///   - other: the vault to read, which stays as it is.
    ///   - choice: what to do with a credential that is there already.
    ///   - deadline: a day from now unless told otherwise.
    ///   - progress: told after each part how far it is, from 0 to 1.
    public func importAll(
        from other: VaultStore, onConflict choice: VaultImportChoice, deadline: Deadline = .after(.seconds(86_400)),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(StoreError) -> VaultImport {
        try await rows.importAll(from: other.rows, onConflict: choice, deadline: deadline, progress: progress)
    }
}
