internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

// A new root key, with everything sealed anew: what opened the vault before opens nothing that is saved from then on.
//
// The slots' holders aren't needed, as the root key is sealed to public keys. It is one transaction: whoever is killed
// in it leaves the vault as it was, and no process ever sees two keys at once.

extension SealedStore {
    /// Returns how many items were sealed anew. Others read until the commit, or until more has changed than fits into
    /// memory, and write after it.
    func rekey(
        deadline: Deadline, progress: @escaping @Sendable (Double) -> Void
    ) async throws(StoreError) -> Int {
        try await worker.run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry(pausingAtMost: 200_000_000) { () throws(StoreError) in
                try self.rekey(cancellation, progress)
            }
        }
    }

    private func rekey(
        _ cancellation: Cancellation, _ progress: (Double) -> Void
    ) throws(StoreError) -> Int {
        try commit(cancellation) { (transaction, change) throws(StoreError) in
            // A lease has the name of its item, which will be another.
            try transaction.endLeases()
            let old = change.keys
            try ItemCheck.always.compare(transaction, change.manifest, old)
            try transaction.compareLinks(change.manifest, old)
            try transaction.removeAllLinks()
            change.begin(under: try .random(old.vault))
            try Self.rekeyRecords(in: transaction, from: old, to: change.keys)
            change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
            let items = try Self.places(in: transaction)
            for (index, place) in items.enumerated() {
                if index % 64 == 0 {
                    try cancellation.check()
                    progress(Double(index) / Double(items.count))
                }
                try Self.reseal(place, from: old, in: transaction, &change)
            }
            progress(1)
            return items.count
        }
    }

    private static func rekeyRecords(
        in transaction: Table.Transaction, from old: VaultKeys, to new: VaultKeys
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
                // What is sealed in it would be lost.
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

    /// The places of all items: eight bytes for each, as new ones are put among them.
    private static func places(in view: Table.Transaction) throws(StoreError) -> [Int64] {
        var places: [Int64] = []
        while true {
            let items = try view.items(after: places.last, limit: 250)
            if items.isEmpty { return places }
            places += items.map(\.place)
        }
    }

    private static func reseal(
        _ place: Int64, from old: VaultKeys, in transaction: Table.Transaction, _ change: inout Change
    ) throws(StoreError) {
        let opened = try transaction.withItem(place: place) { (heading, sealed) throws(StoreError) in
            let metadata = try openMetadata(heading, old)
            return FoundItem(
                metadata: metadata, secret: try old.openSecret(sealed, of: metadata, at: heading.lookup))
        }
        guard let opened else { throw .damagedItem }
        try transaction.remove(place: place)
        try put(opened.metadata, opened.secret, in: transaction, &change)
    }
}
