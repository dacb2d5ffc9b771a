internal import Credentials
internal import RedactedLog
internal import Secrets

// Resealing everything under a fresh data key.
//
// There are two data keys meanwhile, and each transaction leaves every item under exactly one of them: readers look
// under both, writers write under the new one. Nothing is ever written under the old one again, so one walk over the
// table reaches all that is left of it, whatever others do; and a walk that was cut off is simply walked again.

/// A rotation under way.
struct Rotation: Sendable {
    /// The number of the new key. When another is current, this rotation is over.
    let number: UInt32
    let wasResumed: Bool
    var resealedCount = 0
    /// The last place that was passed.
    var passed: Int64?
    var isFinished = false

    static var batchCount: Int { 256 }
    static var batchByteCount: Int { 4 << 20 }

    /// How far the walk is, from 0 to 1: places are spread evenly.
    var fraction: Double { isFinished ? 1 : max(0, Double(passed ?? 0) / 0x1p63) }
}

extension SealedStore {
    /// Makes the new data key, or takes the one of a rotation that was cut off.
    func beginRotation(deadline: Deadline) async throws(StoreError) -> Rotation {
        try await change(until: deadline) { (transaction, state, manifest) throws(StoreError) in
            let current = state.keys[0]
            if state.keys.count > 1 { return Rotation(number: current.number, wasResumed: true) }
            guard current.number < .max else { throw .vaultCorrupted("its data keys have run out of numbers") }
            let next = DataKeys(
                try Sealing.randomKey(as: DataKey.self), number: current.number + 1, vault: self.root.vault)
            try self.put([next, current], in: transaction, &manifest)
            return Rotation(number: next.number, wasResumed: false)
        }
    }

    /// Reseals the next items in one transaction; the one that reaches the end forgets the old key.
    func resealBatch(of rotation: Rotation, deadline: Deadline) async throws(StoreError) -> Rotation {
        try await change(until: deadline) { (transaction, state, manifest) throws(StoreError) in
            var rotation = rotation
            // Another process may have finished it, and even begun the next.
            guard state.keys.count > 1, state.keys[0].number == rotation.number else {
                rotation.isFinished = true
                return rotation
            }
            var byteCount = 0
            let items = try transaction.items(after: rotation.passed, limit: Rotation.batchCount)
            for item in items {
                rotation.passed = item.place
                let (metadata, keys) = try Self.openMetadata(item, state)
                if keys.number == rotation.number { continue }
                try self.reseal(item, metadata, from: keys, to: state.keys[0], in: transaction, &manifest)
                rotation.resealedCount += 1
                byteCount += metadata.secretByteCount
                if byteCount > Rotation.batchByteCount { return rotation }
            }
            if items.count < Rotation.batchCount {
                try self.put([state.keys[0]], in: transaction, &manifest)
                rotation.isFinished = true
            }
            return rotation
        }
    }

    private func reseal(
        _ item: ItemHeading, _ metadata: ItemMetadata, from old: DataKeys, to new: DataKeys,
        in transaction: Table.Transaction, _ manifest: inout Manifest
    ) throws(StoreError) {
        let secret = try transaction.withItem(item.lookup) { (_, sealed) throws(StoreError) in
            try old.openSecret(sealed, of: metadata, at: item.lookup)
        }
        guard let secret else { throw .damagedItem }
        let lookup = new.lookup(of: metadata.key)
        // Someone put an older state of this item back: it mustn't take the place of the newer one.
        guard try transaction.heading(lookup) == nil else { throw .vaultCorrupted("an item is there twice") }
        let sealed = try new.seal(metadata, at: lookup)
        try transaction.remove(item.lookup)
        try manifest.remove(lookup: item.lookup, metadata: item.metadata, root: root)
        try transaction.put(
            lookup, metadata: sealed, secret: try new.seal(secret, version: metadata.version, at: lookup))
        manifest.add(lookup: lookup, metadata: sealed, root: root)
    }

    private func put(
        _ keys: [DataKeys], in transaction: Table.Transaction, _ manifest: inout Manifest
    ) throws(StoreError) {
        try transaction.put(record: DataKeyRecord.recordName, try DataKeyRecord.seal(keys, root: root))
        manifest.recordsDigest = Manifest.digest(try transaction.records(), root: root)
    }
}
