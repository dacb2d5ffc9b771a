public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySystem
internal import Synchronization

extension VaultStore {
    /// In a database, a table of the vault's own. Beside a file, as `NAME.leases`: whoever shares the file shares its
    /// leases, whatever else their environments have in common. Nothing is waited for, and nothing thrown.
    public func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory {
        switch place {
        case .file(let path)?:
            LeaseDirectory(
                path: path.directory, fileName: String(path.file.split(separator: "/").last ?? "vault") + ".leases")
        case .database?: LeaseDirectory(self)
        case nil: directory
        }
    }
}

// Leases as rows, for a table that several hosts share.

extension VaultStore: LeaseSource {
    /// Takes a lease whose name is the item's lookup value: the table shows no names.
    ///
    /// Asks again after 20 ms and then more slowly, half a second at most. It is extended while it is held.
    package func acquire(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> Lease {
        let worker = WorkThread()
        let held = StoreError(
            .busy, "another process or host holds \(key)", hint: "wait until it has finished, then try again")
        var pause = Duration.milliseconds(20)
        while true {
            let isLater = pause > .milliseconds(20)
            let taken = try await mapError(
                { (error: StoreError) in isLater && error.code == .timedOut ? held : error },
                awaiting: await worker.run(until: deadline) { (cancellation) throws(StoreError) in
                    try cancellation.retry { () throws(StoreError) in try self.take(key, cancellation) }
                })
            if let taken { return Lease(ExtendedLease(taken, of: self, worker)) }
            guard deadline.remaining > pause else { throw held }
            let part = pause * Double.random(in: 0.5...1)
            guard (try? await Task.sleep(for: part)) != nil else { throw .cancelled }
            pause = min(pause * 2, .milliseconds(500))
        }
    }

    private func take(_ key: CredentialKey, _ cancellation: Cancellation) throws(StoreError) -> RowLease? {
        let keys = keys
        guard let lease = try table.lease(keys.lookup(of: key), cancellation) else { return nil }
        // The vault may have been rekeyed in between: the item and its leases have another name then.
        let keysNow = try current(cancellation) { (view, state) throws(StoreError) in
            _ = try view.record(Manifest.recordName)
            return state.keys
        }
        if keysNow === keys { return lease }
        try table.release(lease, cancellation)
        throw StoreError(.busy, "the vault was rekeyed meanwhile")
    }
}

/// A lease that is extended until it is released.
private final class ExtendedLease: HeldLease {
    private let lease: RowLease
    private let table: any RowTable
    private let worker: WorkThread
    private let extending: Mutex<Task<Void, Never>?>

    init(_ lease: RowLease, of store: VaultStore, _ worker: WorkThread) {
        self.lease = lease
        table = store.table
        self.worker = worker
        extending = Mutex(nil)
        let task = Task { [table] in
            while (try? await Task.sleep(for: RowLease.duration / 3)) != nil {
                // Where it was lost, whoever saves is told so.
                let isHeld = try? await worker.run(until: .after(RowLease.duration / 3)) {
                    (cancellation) throws(StoreError) in try table.extend(lease, cancellation)
                }
                if isHeld == false { return }
            }
        }
        extending.withLock { $0 = task }
    }

    /// Waits for a moment, so that the next process finds it free even when this one ends now. Where the table can't be
    /// reached the lease ends by itself.
    func release() {
        extending.withLock { $0 }?.cancel()
        try? table.release(lease, Cancellation(.after(.seconds(1))))
    }
}
