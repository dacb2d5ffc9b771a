public import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// The handling of an imported credential if the vault already contains it with another secret or label.
public enum VaultImportChoice: Sendable, Hashable {
    /// Import nothing at all and throw `conflict`. One that was saved while the import ran ends it there.
    case refuse
    /// Keep what is there.
    case keep
    /// Put the imported one in its place.
    case replace
}

/// The result of an import.
public struct VaultImport: Sendable, Hashable {
    /// Credentials under keys that were free.
    public internal(set) var addedCount = 0
    /// Credentials that took the place of another secret or label; 0 unless the choice is `replace`.
    public internal(set) var replacedCount = 0
    /// The number of credentials that were already there: equal ones, or ones kept by choice.
    public internal(set) var keptCount = 0
}

/// The result of an export.
public struct VaultExport: Sendable, Hashable {
    /// How many credentials the new vault has.
    public let itemCount: Int
    /// How many of those that were saved could not be read. Always 0 unless an export may leave something out.
    public let missingCount: Int
}

extension VaultStore {
    /// Writes all credentials into a new vault with separate keys and one slot.
    ///
    /// The file appears complete or not at all, after every credential was read back from it. The file has the state of
    /// one moment. Other processes can write during the export, as with `verify`. Versions and times are preserved. No
    /// plain text is on the disk at any time.
    ///
    /// The directory may be readable by other users, such as a home of mode 0755, or /tmp. The call throws
    /// `permissionDenied` only if other users could change or replace the file. Otherwise it throws as `create` does,
    /// and `corrupted` if this vault isn't intact: a gap in an export would only be noticed when the export is needed.
    ///
    /// - Parameters:
    ///   - path: the path of the new vault; nothing may exist there.
    ///   - source: the key of the new vault.
    ///   - name: the name of its slot; `nil` for the kind's own name.
    ///   - cost: the cost of a passphrase; `nil` for one that fits this machine.
    ///   - leavingOutDamaged: whether to write the readable part of a damaged vault, opened with ``ItemCheck/never``,
    ///     and count the missing credentials. The export can't distinguish a restored older credential from the newest
    ///     one then.
    ///   - deadline: the time limit (default: a day from now).
    ///   - progress: called from time to time with the completed fraction, from 0 to 1.
    public func export(
        to path: String, unlockedBy source: borrowing VaultKeySource, name: KeySlotName? = nil,
        cost: PassphraseCost? = nil, leavingOutDamaged: Bool = false, deadline: Deadline = .after(.seconds(86_400)),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(StoreError) -> VaultExport {
        let kept = Box(source.duplicate())
        let name = name ?? source.kind.slotName
        // Not on the store's thread: other writers go on until the copying begins.
        return try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try VaultCopy(vault: self, cancellation: cancellation).export(
                to: path, unlockedBy: kept, name: name, cost: cost, leavingOutDamaged: leavingOutDamaged, progress)
        }
    }

    /// Imports all credentials of another vault. Each credential is read back before the commit.
    ///
    /// A credential that exists here in the same version is skipped. The other vault is checked completely first, and
    /// compared if the choice is to refuse: if the call then throws `corrupted` or `conflict`, nothing was changed.
    ///
    /// The import works in transactions of up to 1,000 credentials or 8 MiB; other processes can write between them. A
    /// smaller import is complete or doesn't happen. If a larger one is interrupted (killed, cancelled, out of time,
    /// disk full), the committed transactions remain: whole credentials, in an intact vault. The error says how many
    /// there are; calling the method again imports the rest.
    ///
    /// - Parameters:
    ///   - other: the vault to read, which doesn't change.
    ///   - choice: the handling of a credential that exists already.
    ///   - deadline: the time limit (default: a day from now).
    ///   - progress: called after each part with the completed fraction, from 0 to 1.
    public func importAll(
        from other: VaultStore, onConflict choice: VaultImportChoice, deadline: Deadline = .after(.seconds(86_400)),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(StoreError) -> VaultImport {
        // Not on the store's thread: its own saves go on between the batches.
        try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try VaultCopy(vault: other, cancellation: cancellation).importAll(into: self, onConflict: choice, progress)
        }
    }
}

/// Copies everything of a vault into another one: opened here, sealed anew there, never in plain text on the way but in
/// guarded memory.
struct VaultCopy {
    let vault: VaultStore
    let cancellation: Cancellation

    // MARK: - Exporting

    func export(
        to path: String, unlockedBy key: Box<VaultKeySource>, name: KeySlotName, cost: PassphraseCost?,
        leavingOutDamaged: Bool, _ progress: (Double) -> Void
    ) throws(StoreError) -> VaultExport {
        let place = try VaultPlace.new(path, for: .backup)
        let id = if let reference = key.value.reference { reference.vault } else { try VaultID.random() }
        let keys = try VaultKeys.random(id)
        let slot = try NewKeySlot(key.value, name: name, cost: cost, created: vault.now(), vault: id)
        // The collections are those of the moment that is exported: below.
        let records = try VaultStore.newRecords(
            keys, slot, collections: CollectionsRecord(created: vault.now()))
        var change = Change(keys: keys, manifest: Manifest(recordsDigest: Manifest.digest(records, keys)))
        var savedCount: UInt64?
        try place.create(for: .backup, records, cancellation) { (table) throws(StoreError) in
            func copy(_ row: Row, _ secret: borrowing Secret<StoredSecret>) throws(StoreError) {
                try VaultStore.put(row, secret, in: table, &change)
            }
            func copy(_ collections: CollectionsRecord) throws(StoreError) {
                try VaultStore.put(collections, in: table, &change)
            }
            if leavingOutDamaged {
                savedCount = try VaultRepair(vault: vault, cancellation: cancellation).forEachReadableItem(copy) {
                    (row, secret) throws(StoreError) in
                    // A credential that is there twice is copied once.
                    if try table.heading(keys.lookup(of: row.name)) == nil { try copy(row, secret) }
                }
            } else {
                try forEachItem(progress, copy, copy)
            }
            try change.writeIndex(in: table)
            try table.put(record: Manifest.recordName, try change.manifest.seal(keys))
        }
        let count = Int(change.manifest.itemCount)
        return VaultExport(itemCount: count, missingCount: max(0, Int(savedCount ?? UInt64(count)) - count))
    }

    /// Opens each item of one consistent view. Writers wait where the table is small, or can't be copied.
    ///
    /// Throws `corrupted` at the first item that can't be opened, and when what is there isn't what the manifest says.
    func forEachItem(
        _ progress: (Double) -> Void = { _ in },
        _ takeCollections: (CollectionsRecord) throws(StoreError) -> Void = { _ in },
        _ body: (Row, borrowing Secret<StoredSecret>) throws(StoreError) -> Void
    ) throws(StoreError) {
        try withWalk { (walk) throws(StoreError) in
            try takeCollections(VaultStore.collections(in: walk.view, walk.state.keys))
            try walk.forEachBatch(cancellation) { (batch) throws(StoreError) in
                for item in batch { try body(item.row, VaultStore.secret(of: item, in: walk.view, walk.state.keys)) }
                progress(VaultWalk.fraction(after: batch))
            }
        }
    }

    /// Lends one consistent view of everything, through a copy of the table when it has at least `byteCount` bytes and
    /// an opening of its own otherwise, which writers wait for.
    func withWalk(
        copyingFrom byteCount: Int = SQLiteRowTable.copiedByteCount,
        _ body: (VaultWalk) throws(StoreError) -> Void
    ) throws(StoreError) {
        let last = vault.known.withLock { $0 }
        let table = try cancellation.retry { () throws(StoreError) in
            try vault.table.separate(cancellation, copyingFrom: byteCount)
        }
        // The first record takes the lock for reading the rest. The table can only be busy until then, and can be tried
        // again because the body hasn't run. An error of the body is passed on, busy or not.
        var failure: StoreError?
        try cancellation.retry { () throws(StoreError) in
            try table.read(cancellation) { (view) throws(StoreError) in
                _ = try view.record(Manifest.recordName)
                do throws(StoreError) {
                    // The walk itself compares all items with the manifest.
                    try body(VaultWalk(view: view, state: try vault.state(of: view, after: last, comparing: false)))
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    // MARK: - Importing

    /// The first walk only reads, so a damaged or conflicting vault doesn't cause a change. A vault of any size is
    /// copied, because two vaults that import each other would wait for each other's walk.
    func importAll(
        into target: VaultStore, onConflict choice: VaultImportChoice, _ progress: (Double) -> Void
    ) throws(StoreError) -> VaultImport {
        var result = VaultImport()
        try withWalk(copyingFrom: 0) { (walk) throws(StoreError) in
            try walk.forEachBatch(cancellation) { (batch) throws(StoreError) in
                if choice == .refuse { try refuseConflicts(with: batch, of: walk, in: target) }
                for item in batch { _ = try VaultStore.secret(of: item, in: walk.view, walk.state.keys) }
                progress(VaultWalk.fraction(after: batch) / 4)
            }
            let collections = try VaultStore.collections(in: walk.view, walk.state.keys)
            do throws(StoreError) {
                try walk.forEachBatch(cancellation) { (batch) throws(StoreError) in
                    if result.changedCount > 0 { try cancellation.letOthersIn() }
                    if try holds(batch, of: walk, in: target, onConflict: choice) {
                        result.keptCount += batch.count
                    } else {
                        let done = try target.commit(cancellation) { (transaction, change) throws(StoreError) in
                            let result = try take(
                                batch, of: walk, into: target, onConflict: choice, in: transaction, &change)
                            try VaultStore.merge(collections, in: transaction, &change)
                            return result
                        }
                        result.add(done)
                    }
                    progress(0.25 + VaultWalk.fraction(after: batch) * 0.75)
                }
                // Those without items.
                try target.merge(collections, cancellation)
            } catch {
                throw result.changedCount == 0 ? error : .importCutOff(error, after: result.changedCount)
            }
        }
        return result
    }

    /// The target's row for a row of the imported vault: the row of that name, or another program's item that is read
    /// under the same key, unless the imported vault has that item too. For another program's item, only an item with
    /// the same attributes counts.
    private func present(
        _ row: Row, in view: any RowView, _ manifest: Manifest, _ keys: VaultKeys, besides walk: VaultWalk
    ) throws(StoreError) -> OpenedRow? {
        if let exact = try VaultStore.row(row.name, in: view, keys) { return exact }
        guard let key = row.key ?? row.impliedKey else { return nil }
        for other in try VaultStore.impliedRows(of: key, in: view, manifest, keys)
        where row.key != nil || other.row.attributes == row.attributes {
            if try VaultStore.row(other.row.name, in: walk.view, walk.state.keys) == nil { return other }
        }
        return nil
    }

    private func refuseConflicts(
        with batch: [OpenedRow], of walk: VaultWalk, in target: VaultStore
    ) throws(StoreError) {
        try cancellation.retry { () throws(StoreError) in
            try target.current(cancellation) { (view, state) throws(StoreError) in
                for item in batch {
                    let present = try present(item.row, in: view, state.manifest, state.keys, besides: walk)
                    guard let present, present.row.version != item.row.version else { continue }
                    throw StoreError.importConflict(item.row.shownName, in: target.identity)
                }
            }
        }
    }

    /// Whether nothing is to be changed for a batch. A vault that is imported into itself is never written, as its own
    /// walk would be waited for.
    private func holds(
        _ batch: [OpenedRow], of walk: VaultWalk, in target: VaultStore, onConflict choice: VaultImportChoice
    ) throws(StoreError) -> Bool {
        try cancellation.retry { () throws(StoreError) in
            try target.current(cancellation) { (view, state) throws(StoreError) in
                for item in batch {
                    let present = try present(item.row, in: view, state.manifest, state.keys, besides: walk)
                    guard let present, present.row.version == item.row.version || choice == .keep
                    else { return false }
                }
                return true
            }
        }
    }

    private func take(
        _ batch: [OpenedRow], of walk: VaultWalk, into target: VaultStore, onConflict choice: VaultImportChoice,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) -> VaultImport {
        var result = VaultImport()
        var changed = change
        let keys = change.keys
        for item in keys.inOrderOfPlaces(batch, { keys.lookup(of: $0.row.name) }) {
            var row = item.row
            let present = try present(row, in: transaction, changed.manifest, keys, besides: walk)
            if let present {
                // Another program's item stays that item.
                if present.lookup != keys.lookup(of: row.name) { row.name = present.row.name }
                if present.row.version == item.row.version || choice == .keep {
                    result.keptCount += 1
                    continue
                }
                guard choice == .replace else { throw .importConflict(item.row.shownName, in: target.identity) }
                result.replacedCount += 1
            } else {
                result.addedCount += 1
            }
            let secret = try VaultStore.secret(of: item, in: walk.view, walk.state.keys)
            try VaultStore.put(row, secret, replacing: present, in: transaction, &changed)
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
            .conflict, "\(vault) already contains another secret for \(name)",
            hint: "choose whether to keep or to replace the existing secret")
    }

    /// Part of an import is in.
    fileprivate static func importCutOff(_ error: StoreError, after count: Int) -> StoreError {
        StoreError(
            error.code, "\(error.cause); \(count) credentials were imported before that, and stay",
            hint: "run the import again: the imported credentials stay unchanged", platform: error.platform)
    }
}
