public import LatchkeyCredentials
internal import LatchkeyLog

extension VaultStore {
    /// Gives the vault a new root key, encrypts every credential and every key slot again, and returns the number of
    /// credentials.
    ///
    /// Keys that opened the vault before, and aren't slots of it now, don't open anything that is saved later. One
    /// example is a removed key with an old copy. Another is the key that `vault unlock` left in the kernel; rekeying
    /// also removes that key. No slot's passphrase or key is needed, and each slot opens the vault as before. Processes
    /// that opened the vault with a slot continue; those that opened it with the kernel's key throw `wrongKey`.
    ///
    /// Rekeying is one transaction: whatever ends it, the vault is the old one or the new one. Other processes wait to
    /// write until it ends, and for a large vault also to read.
    ///
    /// - Parameters:
    ///   - deadline: the time limit (default: a day from now).
    ///   - progress: called from time to time with the completed fraction, from 0 to 1.
    ///
    /// Throws `corrupted` if a credential can't be opened or isn't the last saved one, and `unsupported` for a vault
    /// with key slots of a newer kind. Nothing is changed then.
    @discardableResult
    public func rekey(
        deadline: Deadline = .after(.seconds(86_400)), progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(StoreError) -> Int {
        let count = try await worker.run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry(pausingAtMost: 200_000_000) { () throws(StoreError) in
                try VaultRekey(vault: self, cancellation: cancellation).run(progress)
            }
        }
        // The key is useless now. If the kernel refuses, it doesn't have the key.
        _ = try? KernelKeyring.forget(keys.vault)
        return count
    }
}

/// Encrypts everything in a vault with a new root key: earlier keys don't open anything that is saved later.
///
/// The holders of the slots aren't needed, because the root key is encrypted for public keys. Rekeying is one
/// transaction: a process that is killed leaves the vault unchanged, and no process ever sees two keys at once.
private struct VaultRekey {
    let vault: VaultStore
    let cancellation: Cancellation

    /// Returns how many items were sealed anew. Others read until the commit, or until more has changed than fits into
    /// memory, and write after it.
    func run(_ progress: (Double) -> Void) throws(StoreError) -> Int {
        try vault.commit(cancellation) { (transaction, change) throws(StoreError) in
            // A lease has the name of its item, which will be another.
            try transaction.endLeases()
            let old = change.keys
            try ItemCheck.always.compare(transaction, change.manifest, old)
            try transaction.compareLinks(change.manifest, old)
            try transaction.removeAllLinks()
            change.begin(under: try .random(old.vault))
            try rekeyRecords(in: transaction, from: old, to: change.keys)
            change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
            // Eight bytes for each, because new items are inserted among them.
            var items: [Int64] = []
            try transaction.forEachItem(cancellation) { items.append($0.place) }
            for (index, place) in items.enumerated() {
                if index % 64 == 0 {
                    try cancellation.check()
                    progress(Double(index) / Double(items.count))
                }
                try reseal(place, from: old, in: transaction, &change)
            }
            progress(1)
            return items.count
        }
    }

    private func rekeyRecords(
        in transaction: any RowTransaction, from old: VaultKeys, to new: VaultKeys
    ) throws(StoreError) {
        for record in try transaction.records() {
            switch record.name {
            case IdentityRecord.recordName: continue
            case CollectionsRecord.recordName:
                let collections = try CollectionsRecord.open(record.content, old).seal(new)
                try transaction.put(record: collections.name, collections.content)
            case FormerKeys.recordName:
                let former = try FormerKeys.open(record.content, old).adding(old.rollback).seal(new)
                try transaction.put(record: former.name, former.content)
            default:
                // The secrets encrypted for such a slot would be lost.
                guard record.name.hasPrefix(KeySlot.recordPrefix), let slot = try KeySlot.decode(record) else {
                    throw StoreError(
                        .unsupported, "the vault has a key slot or record of a newer kind, which would be lost",
                        hint: "use a newer Latchkey")
                }
                let resealed = try slot.resealed(from: old, to: new).encode()
                try transaction.put(record: resealed.name, resealed.content)
            }
        }
    }

    private func reseal(
        _ place: Int64, from old: VaultKeys, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        let opened = try transaction.withItem(place: place) { (heading, sealed) throws(StoreError) in
            let row = try VaultStore.row(heading, old).row
            return VaultStore.FoundRow(row, try old.openSecret(sealed, of: row, at: heading.lookup))
        }
        guard let opened else { throw .damagedItem }
        try transaction.remove(place: place)
        try VaultStore.put(opened.row, opened.secret, in: transaction, &change)
    }
}
