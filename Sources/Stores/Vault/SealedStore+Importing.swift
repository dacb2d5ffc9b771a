internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

// Importing everything from another vault.

extension SealedStore {
    /// Imports all items of another vault, batch after batch.
    ///
    /// The first walk over the other only looks: an unsound vault, and one that may not be merged, change nothing. The
    /// other is copied whatever its size: two vaults that are imported into each other would wait for each other's
    /// walk.
    func importAll(
        from other: SealedStore, onConflict choice: VaultImportChoice, deadline: Deadline,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws(StoreError) -> VaultImport {
        // Not on the store's thread: its own saves go on between the batches.
        try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            var result = VaultImport()
            try other.withWalk(cancellation, copyingFrom: 0) { (walk) throws(StoreError) in
                try walk.forEachBatch(cancellation) { (batch) throws(StoreError) in
                    if choice == .refuse { try self.refuseConflicts(with: batch, cancellation) }
                    for item in batch { try walk.open(item) { (_, _) throws(StoreError) in } }
                    progress(SealedWalk<Table>.fraction(after: batch) / 4)
                }
                let collections = try Self.collections(in: walk.view, walk.state.keys)
                do throws(StoreError) {
                    try walk.forEachBatch(cancellation) { (batch) throws(StoreError) in
                        if result.changedCount > 0 { try cancellation.letOthersIn() }
                        if try self.holds(batch, onConflict: choice, cancellation) {
                            result.keptCount += batch.count
                        } else {
                            let done = try self.commit(cancellation) { (transaction, change) throws(StoreError) in
                                let result = try self.take(
                                    batch, of: walk, onConflict: choice, in: transaction, &change)
                                try Self.merge(collections, in: transaction, &change)
                                return result
                            }
                            result.add(done)
                        }
                        progress(0.25 + SealedWalk<Table>.fraction(after: batch) * 0.75)
                    }
                    // Those without items.
                    try self.merge(collections, cancellation)
                } catch {
                    throw result.changedCount == 0 ? error : .importCutOff(error, after: result.changedCount)
                }
            }
            return result
        }
    }

    private func refuseConflicts(with batch: [WalkedItem], _ cancellation: Cancellation) throws(StoreError) {
        try cancellation.retry { () throws(StoreError) in
            try current(cancellation) { (view, state) throws(StoreError) in
                for item in batch {
                    let present = try Self.present(item.metadata.subject, in: view, state.keys)
                    guard let present, present.metadata.version != item.metadata.version else { continue }
                    throw StoreError.importConflict(item.metadata.name, in: identity)
                }
            }
        }
    }

    /// Whether nothing is to be changed for a batch. A vault that is imported into itself is never written, as its own
    /// walk would be waited for.
    private func holds(
        _ batch: [WalkedItem], onConflict choice: VaultImportChoice, _ cancellation: Cancellation
    ) throws(StoreError) -> Bool {
        try cancellation.retry { () throws(StoreError) in
            try current(cancellation) { (view, state) throws(StoreError) in
                for item in batch {
                    guard let present = try Self.present(item.metadata.subject, in: view, state.keys),
                        present.metadata.version == item.metadata.version || choice == .keep
                    else { return false }
                }
                return true
            }
        }
    }

    private func take(
        _ batch: [WalkedItem], of walk: SealedWalk<Table>, onConflict choice: VaultImportChoice,
        in transaction: Table.Transaction, _ change: inout Change
    ) throws(StoreError) -> VaultImport {
        var result = VaultImport()
        var changed = change
        let keys = change.keys
        for item in keys.inOrderOfPlaces(batch, { keys.lookup(of: $0.metadata.subject) }) {
            let present = try Self.present(item.metadata.subject, in: transaction, keys)
            if let present {
                if present.metadata.version == item.metadata.version || choice == .keep {
                    result.keptCount += 1
                    continue
                }
                guard choice == .replace else { throw .importConflict(item.metadata.name, in: identity) }
                result.replacedCount += 1
            } else {
                result.addedCount += 1
            }
            try walk.open(item) { (metadata, secret) throws(StoreError) in
                try Self.put(metadata, secret, replacing: present, in: transaction, &changed)
            }
        }
        change = changed
        return result
    }
}

extension VaultImport {
    fileprivate var changedCount: Int { addedCount + replacedCount }

    fileprivate mutating func add(_ other: VaultImport) {
        addedCount += other.addedCount
        replacedCount += other.replacedCount
        keptCount += other.keptCount
    }
}

extension StoreError {
    fileprivate static func importConflict(_ name: LogMessage, in vault: StoreIdentity) -> StoreError {
        StoreError(
            .conflict, "\(vault) has another secret for \(name) already",
            hint: "choose whether to keep or to replace what is there")
    }

    /// Part of an import is in.
    fileprivate static func importCutOff(_ error: StoreError, after count: Int) -> StoreError {
        StoreError(
            error.code, "\(error.cause); \(count) credentials were imported before that, and stay",
            hint: "run it again: what was imported is left alone", platform: error.platform)
    }
}
