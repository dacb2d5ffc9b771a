public import Credentials
internal import RedactedLog
internal import Secrets

/// What an import does with a credential that is there already, with another secret or label.
public enum VaultImportChoice: Sendable, Hashable {
    /// Import nothing at all and throw `conflict`.
    case refuse
    /// Keep what is there.
    case keep
    /// Put the imported one in its place.
    case replace
}

/// What an import did.
public struct VaultImport: Sendable, Hashable {
    public internal(set) var addedCount = 0
    public internal(set) var replacedCount = 0
    /// What was there already: the same, or kept by choice.
    public internal(set) var keptCount = 0
}

extension VaultStore {
    /// Writes all credentials into a new vault with keys of its own and one slot, and returns how many.
    ///
    /// The file appears whole or not at all, after every credential was read back from it; it is one moment's state, and
    /// writers wait meanwhile. Versions and times stay. Nothing is in clear on the disk at any time.
    ///
    /// Throws as `create` does, and `corrupted` when this vault isn't sound: an export that leaves something out would
    /// only be noticed when it is needed.
    public func export(
        to path: String, unlockedBy source: borrowing VaultKeySource, name: KeySlotName? = nil,
        cost: PassphraseCost = .standard, deadline: Deadline = .after(.seconds(86_400))
    ) async throws(StoreError) -> Int {
        let kept = KeptSource(source.duplicate())
        let name = name ?? source.kind.slotName
        let rows = rows
        // Not on the store's thread: other writes go on until the copying begins.
        return try await WorkThread().run(until: deadline) { (patience) throws(StoreError) in
            let place = try VaultPath.new(path)
            let root = RootKeys(try Sealing.randomKey(as: RootKey.self), vault: try .random())
            let keys = DataKeys(try Sealing.randomKey(as: DataKey.self), number: 1, vault: root.vault)
            let slot = try KeySlot.make(kept.source, name: name, cost: cost, created: rows.now(), root: root)
            let records = [
                NamedRecord(name: DataKeyRecord.recordName, content: try DataKeyRecord.seal([keys], root: root)),
                slot.encode(),
                NamedRecord(name: IdentityRecord.recordName, content: IdentityRecord.encode(root.vault)),
            ].sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            var manifest = Manifest(recordsDigest: Manifest.digest(records, root: root))
            try place.create { (temporary) throws(StoreError) in
                try SQLiteRowTable.create(path: temporary, records: records) { (table) throws(StoreError) in
                    try rows.forEachItem(patience) { (metadata, secret) throws(StoreError) in
                        try SealedStore<SQLiteRowTable>.put(
                            metadata, secret, under: keys, root: root, in: table, &manifest)
                    }
                    try table.put(record: Manifest.recordName, try manifest.seal(root))
                }
                // The file gets its name now, or never.
                try patience.commit()
            }
            return Int(manifest.itemCount)
        }
    }

    /// Takes over all credentials of another vault in one transaction: all of them or none, each read back.
    ///
    /// What is there already in the same version is left alone. Throws `conflict` when the choice is to refuse,
    /// and `corrupted` when the other isn't sound.
    ///
    /// Up to 39 MiB of changed pages are held in memory. What is more goes into the file before the commit, and from
    /// then on readers wait for the end; when the process is killed, whoever opens the vault next undoes it.
    public func takeOver(
        _ other: VaultStore, onConflict choice: VaultImportChoice, deadline: Deadline = .after(.seconds(86_400))
    ) async throws(StoreError) -> VaultImport {
        try await rows.takeOver(other.rows, onConflict: choice, deadline: deadline)
    }
}
