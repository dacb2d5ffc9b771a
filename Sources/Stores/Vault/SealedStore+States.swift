internal import Credentials
internal import RedactedLog
internal import Synchronization

// Which state of the vault a read or a change works on.

extension SealedStore {
    /// Lends the current view with the state that belongs to it.
    func current<Result: ~Copyable & Sendable>(
        _ body: (Table.View, KnownState) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let last = known.withLock { $0 }
        var seen: Manifest?
        let result = try table.read { (view) throws(StoreError) -> Result in
            // The mark is good once the view has begun, so the body runs first; it seldom has to run again.
            let first = Swift.Result { () throws(StoreError) -> Result in try body(view, last) }
            let mark = try view.changeMark()
            if mark == last.mark { return try first.get() }
            let fresh = try refresh(view, after: last, mark: mark)
            known.withLock { if $0.manifest.generation <= fresh.manifest.generation { $0 = fresh } }
            seen = fresh.manifest
            return try body(view, fresh)
        }
        // Outside the view, which keeps writers waiting.
        if let seen { memory?.raise(to: seen) }
        return result
    }

    private func refresh(
        _ view: some RowView, after last: KnownState, mark: UInt32? = nil
    ) throws(StoreError) -> KnownState {
        let manifest = try Manifest.open(view.record(Manifest.recordName), root: root)
        guard manifest.generation >= last.manifest.generation else {
            throw .vaultWentBack
        }
        let keys =
            manifest.recordsDigest == last.manifest.recordsDigest
            ? last.keys : try Self.checkedKeys(view, manifest, root)
        return KnownState(keys: keys, manifest: manifest, mark: mark)
    }

    /// Compares all records with the manifest and returns the data keys among them.
    static func checkedKeys(
        _ view: some RowView, _ manifest: Manifest, _ root: RootKeys
    ) throws(StoreError) -> [DataKeys] {
        let records = try view.records()
        guard records.count <= Manifest.maximumRecordCount,
            Manifest.digest(records, root: root) == manifest.recordsDigest,
            let keys = records.first(where: { $0.name == DataKeyRecord.recordName })
        else { throw .vaultCorrupted("its records are not those of its manifest") }
        return try DataKeyRecord.open(keys.content, root: root)
    }

    /// How many transactions the vault has seen. Throws `busy` at once.
    func generation() throws(StoreError) -> UInt64 { try manifest().generation }

    private func manifest() throws(StoreError) -> Manifest {
        try table.read { (view) throws(StoreError) in
            try Manifest.open(view.record(Manifest.recordName), root: root)
        }
    }

    /// Runs a change as one transaction with its manifest, on the store's thread. A change that leaves the manifest
    /// alone writes nothing.
    func change<Result: Sendable>(
        until deadline: Deadline,
        _ body:
            @escaping @Sendable (Table.Transaction, KnownState, inout Manifest) throws(StoreError) ->
            Result
    ) async throws(StoreError) -> Result {
        try await worker.run(until: deadline) { (patience) throws(StoreError) in try self.commit(patience, body) }
    }

    /// As `change`, on the calling thread, which waits.
    func commit<Result: Sendable>(
        _ patience: Patience,
        _ body: (Table.Transaction, KnownState, inout Manifest) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var written: Manifest?
        let (result, changed): (Result, KnownState)
        do throws(StoreError) {
            (result, changed) = try table.write(patience) {
                (transaction) throws(StoreError) -> (Result, KnownState) in
                let state = try refresh(transaction, after: known.withLock { $0 })
                var manifest = state.manifest
                let result = try body(transaction, state, &manifest)
                if manifest != state.manifest {
                    manifest.generation += 1
                    try transaction.put(record: Manifest.recordName, try manifest.seal(root))
                    written = manifest
                }
                let keys =
                    manifest.recordsDigest == state.manifest.recordsDigest
                    ? state.keys : try Self.checkedKeys(transaction, manifest, root)
                // Without a mark: the one that this store's reader last had is that of an older state.
                return (result, KnownState(keys: keys, manifest: manifest))
            }
        } catch {
            // The disk may refuse when all is written, and only the last fsync is missing.
            guard error.code == .cannotWrite, let written, (try? self.manifest()) == written else { throw error }
            throw .changeNotDurable(error)
        }
        // An older state than this one is a replay from now on.
        known.withLock { if $0.manifest.generation < changed.manifest.generation { $0 = changed } }
        memory?.raise(to: changed.manifest)
        return result
    }

    /// Runs a read on the caller and, while a writer has the table, again and again: after short sleeps at first, then
    /// on a thread that waits for nothing else. Writers without a pause leave but moments for readers, which a busy
    /// process that only looks in now and then would miss.
    func waiting<Result: ~Copyable & Sendable>(
        until deadline: Deadline, _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        if Task.isCancelled { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
        for pause in [200, 400, 800, 1600] {
            do throws(StoreError) {
                return try body()
            } catch  where error.code == .busy {
                if deadline.hasPassed { throw .vaultBusy }
            }
            do {
                try await Task.sleep(for: min(.microseconds(pause), deadline.remaining))
            } catch {
                throw .cancelled
            }
        }
        let found = Handover<Result>()
        try await waitingReads.run(until: deadline) { (patience) throws(StoreError) in
            found.give(try patience.retry(pausingAtMost: 1_000_000, body))
        }
        return found.take()
    }

    /// Takes a value that can't be copied from the thread that made it.
    private final class Handover<Value: ~Copyable & Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)

        func give(_ new: consuming sending Value) {
            var new: Value? = new
            value.withLock { swap(&$0, &new) }
        }

        func take() -> Value { value.withLock { $0.take()! } }
    }
}
