public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import Synchronization

extension VaultStore {
    // MARK: - Verifying

    /// Opens every item, secret included, and compares all of the file with its checksums and its sealed manifest.
    ///
    /// It notices what reads can't: items deleted, replayed or duplicated behind the vault's back, and damage where
    /// nobody reads. That the whole file was exchanged for an older copy of itself is noticed when a newer one was seen
    /// through this store, or is remembered; see ``RollbackMemory``. What is wrong is in the report and is no error;
    /// thrown are `timedOut`, `cancelled`, `unavailable`.
    ///
    /// A vault of 16 MiB or more is copied first, as it is, beside itself, and others read and write meanwhile. The
    /// copy (0600) has no name any more when the work begins. Where it can't be made, and in a smaller vault, writers
    /// wait.
    public func verify(deadline: Deadline = .after(.seconds(600))) async throws(StoreError) -> VaultVerification {
        let seen = rows.known.withLock { $0.manifest.generation }
        let report = try await rows.verify(deadline: deadline)
        var problems = report.problems
        switch rollback {
        case .rolledBack(let rollback): problems.insert(.rolledBack(rollback), at: 0)
        case .unreadable: problems.insert(.changedMemory, at: 0)
        case _ where report.generation < seen:
            problems.insert(.rolledBack(VaultRollback(generation: report.generation, seenGeneration: seen)), at: 0)
        default: break
        }
        return VaultVerification(itemCount: report.itemCount, generation: report.generation, problems: problems)
    }

    // MARK: - Key slots

    /// The key slots, in the order of the file.
    ///
    /// Throws `timedOut`, `cancelled`, `corrupted` or `unavailable`. A slot of a kind unknown here is left out.
    public func slots(deadline: Deadline = .standard) async throws(StoreError) -> [KeySlotDescription] {
        try await rows.slots(deadline: deadline)
    }

    /// The slot that opened the vault, unless it is gone; `nil` when it was opened by `keepUnlocked(for:)`.
    package func openedSlot(deadline: Deadline = .standard) async throws(StoreError) -> KeySlotDescription? {
        try await rows.openedSlot(deadline: deadline)
    }

    /// How many transactions the vault has seen, and how many credentials it has, as of the last look at it.
    package var extent: (generation: UInt64, itemCount: UInt64) {
        let manifest = rows.known.withLock { $0 }.manifest
        return (manifest.generation, manifest.itemCount)
    }

    /// Adds another way to open the vault.
    ///
    /// With `replacing`, another slot goes in the same commit: that is how a passphrase is changed. Its name is free
    /// for the new one. A passphrase without a cost gets one that fits this machine.
    ///
    /// Throws `conflict` when a slot of that name exists, when there are 16 already or none to replace, or what is
    /// wrong with the key file.
    public func addSlot(
        _ source: borrowing VaultKeySource, name: KeySlotName, replacing old: KeySlotName? = nil,
        cost: PassphraseCost? = nil, deadline: Deadline = .standard
    ) async throws(StoreError) {
        let kept = KeptSource(source.duplicate())
        let (vault, created) = (rows.keys.vault, rows.now())
        // On a thread of its own: Argon2 would hold up other writes.
        let slot = try await WorkThread().run(until: deadline, leavesBehind: true) { (_) throws(StoreError) in
            try NewKeySlot(kept.source, name: name, cost: cost, created: created, vault: vault)
        }
        try await rows.addSlot(slot, replacing: old, deadline: deadline)
    }

    /// Removes a way to open the vault and returns whether there was one of that name.
    ///
    /// Throws `conflict` for the last one. Whoever kept what opened it, and a copy from before, can open what is saved
    /// later too, until `rekey` locks them out; so for `addSlot` with `replacing`.
    @discardableResult
    public func removeSlot(
        _ name: KeySlotName, deadline: Deadline = .standard
    ) async throws(StoreError) -> Bool {
        try await rows.removeSlot(name, deadline: deadline)
    }
}
