package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeySecrets
internal import Synchronization

// One row: opened, written, removed, in step with manifest and index.

extension VaultStore {
    // MARK: - Changing rows

    /// Writes a row with another version, in the place of `old` where there is one, and returns it.
    ///
    /// - Parameter times: `nil` is now.
    @discardableResult
    func write<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ name: Row.Name, label: String, contentType: String,
        times: (created: UnixTime, modified: UnixTime)? = nil, replacing old: OpenedRow?,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) -> Row {
        let time = now()
        let created = times?.created ?? old?.row.created ?? time
        let row = Row(
            name: name, label: label, contentType: contentType, created: created,
            modified: times?.modified ?? max(created, time),
            version: CredentialVersion(bytes: try Sealing.randomOctets(Row.versionByteCount)),
            secretByteCount: secret.byteCount)
        try Self.write(row, secret, replacing: old, in: transaction, &change)
        return row
    }

    /// Writes a row, in the place of one that may have had another name.
    static func write<Purpose: SecretPurpose>(
        _ row: Row, _ secret: borrowing Secret<Purpose>, replacing replaced: OpenedRow?,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        let keys = change.keys
        let lookup = keys.lookup(of: row.name)
        var old = replaced
        if let other = old, other.lookup != lookup {
            try remove(other, in: transaction, &change)
            old = nil
        }
        if let old { try change.manifest.remove(lookup: lookup, metadata: old.heading.metadata, keys) }
        if old?.row.attributes != row.attributes || old?.row.collection != row.collection || old == nil {
            if let old { try change.index.remove(old, in: transaction) }
            change.index.add(row, at: lookup)
        }
        let sealed = try keys.seal(row, at: lookup)
        try transaction.put(lookup, metadata: sealed, secret: try keys.seal(secret, version: row.version, at: lookup))
        change.manifest.add(lookup: lookup, metadata: sealed, keys)
        change.own.items[ItemHandle(of: lookup)] = ItemSighting(sealed: sealed, collection: row.collection)
    }

    /// Writes a row as `write`, reads it back and compares.
    static func put(
        _ row: Row, _ secret: borrowing Secret<StoredSecret>, replacing old: OpenedRow? = nil,
        in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        try write(row, secret, replacing: old, in: transaction, &change)
        try change.writeIndexIfLarge(in: transaction)
        let keys = change.keys
        let lookup = keys.lookup(of: row.name)
        let written = try transaction.withItem(lookup) { (head, body) throws(StoreError) in
            guard let bytes = keys.openMetadata(head, at: lookup),
                let written = Row.decode(bytes, expected: row.key), written.version == row.version,
                written.name == row.name
            else { throw .damagedItem }
            return try keys.openSecret(body, of: written, at: lookup)
        }
        guard let written, written.matches(secret) else { throw .damagedItem }
    }

    static func remove(
        _ old: OpenedRow, in transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) {
        try change.index.remove(old, in: transaction)
        try transaction.remove(old.lookup)
        try change.manifest.remove(lookup: old.lookup, metadata: old.heading.metadata, change.keys)
        change.own.items.updateValue(nil, forKey: ItemHandle(of: old.lookup))
    }

    // MARK: - Opening rows

    static func row(_ name: Row.Name, in view: any RowView, _ keys: VaultKeys) throws(StoreError) -> OpenedRow? {
        guard let heading = try view.heading(keys.lookup(of: name)) else { return nil }
        guard case .key(let key) = name else { return try row(heading, keys) }
        return OpenedRow(
            heading: heading, row: try row(heading.metadata.span, of: key, at: heading.lookup, keys))
    }

    /// The row of an item; `nil` if the item doesn't exist or isn't an item.
    static func row(_ handle: ItemHandle, in view: any RowView, _ keys: VaultKeys) throws(StoreError) -> OpenedRow? {
        guard let heading = try view.heading(beginning: handle.bytes) else { return nil }
        let found = try row(heading, keys)
        return found.row.collection == nil ? nil : found
    }

    static func row(
        _ sealed: Span<UInt8>, of key: CredentialKey, at lookup: [UInt8], _ keys: VaultKeys
    ) throws(StoreError) -> Row {
        guard let bytes = keys.openMetadata(sealed, at: lookup), let row = Row.decode(bytes, expected: key) else {
            throw .damagedItem
        }
        return row
    }

    static func row(_ heading: ItemHeading, _ keys: VaultKeys) throws(StoreError) -> OpenedRow {
        // Its lookup value no longer finds an item that was moved away.
        guard heading.isInPlace, let row = keys.open(heading) else { throw .damagedItem }
        return row
    }

    /// Opens the secret of a row that was found in the same view.
    static func secret(
        of opened: OpenedRow, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> Secret<StoredSecret> {
        let secret = try view.withItem(opened.lookup) { (_, sealed) throws(StoreError) in
            try keys.openSecret(sealed, of: opened.row, at: opened.lookup)
        }
        guard let secret else { throw .damagedItem }
        return secret
    }

    /// The same with its row; `nil` of `nil`.
    static func foundRow(
        _ opened: OpenedRow?, in view: any RowView, _ keys: VaultKeys
    ) throws(StoreError) -> FoundRow? {
        guard let opened else { return nil }
        return FoundRow(opened.row, try secret(of: opened, in: view, keys))
    }

    /// The collection of an item, or `nil` if the row isn't an item: this costs a fraction of opening the row.
    static func collection(of item: ItemHeading, _ keys: VaultKeys) throws(StoreError) -> String? {
        guard item.isInPlace, let bytes = keys.openMetadata(item.metadata.span, at: item.lookup) else {
            throw .damagedItem
        }
        return Row.collection(in: bytes)
    }
}

// MARK: - States

// Which state of the vault a read or a change works on.

extension VaultStore {
    /// Lends the current view with the state that belongs to it. Blocks while other threads read, and where the vault
    /// was changed by others: call it on a thread of the store's own.
    func current<Result: ~Copyable & Sendable>(
        _ cancellation: Cancellation = Cancellation(.standard),
        _ body: (any RowView, KnownState) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let last = known.withLock { $0 }
        var seen: (state: KnownState, former: FormerKeys)?
        let result = try table.read(cancellation) { (view) throws(StoreError) -> Result in
            // The mark is good once the view has begun, so the body runs first; it seldom has to run again.
            let first = Swift.Result { () throws(StoreError) -> Result in try body(view, last) }
            let mark = try view.changeMark()
            if mark == last.mark { return try first.get() }
            let fresh = try refresh(view, after: last, mark: mark)
            seen = fresh
            return try body(view, fresh.state)
        }
        guard let (state, former) = seen else { return result }
        // This runs outside the view, because a view keeps writers waiting. The next read checks a refused state again.
        try memory?.raise(to: state.manifest, state.keys, former)
        known.withLock { if $0.manifest.generation <= state.manifest.generation { $0 = state } }
        return result
    }

    /// The state of a view, checked against the state that was seen before the view began and, if requested, item by
    /// item. A later check could have seen more than the view contains.
    func state(of view: any RowView, after last: KnownState, comparing: Bool) throws(StoreError) -> KnownState {
        let state = try refresh(view, after: last, comparing: comparing).state
        // Otherwise a store that does nothing but export wouldn't recognize the vault after sixteen rekeyings. The
        // state has no mark, so the next read compares it again.
        known.withLock { if $0.manifest.generation < state.manifest.generation { $0 = state } }
        return state
    }

    private func refresh(
        _ view: any RowView, after last: KnownState, mark: UInt32? = nil, comparing: Bool = true
    ) throws(StoreError) -> (state: KnownState, former: FormerKeys) {
        let (manifest, keys) = try Self.manifest(of: view, last.keys, slot)
        if let rollback = manifest.rollback(after: last.manifest) { throw .vaultWentBack(rollback) }
        let former = try Self.checkRecords(view, manifest, keys)
        // Not the vault that was open, or an older copy of it.
        guard keys === last.keys || former.contains(last.keys.rollback) else { throw .vaultExchanged }
        if comparing, table.comparesAgain || itemCheck == .always { try itemCheck.compare(view, manifest, keys) }
        // This process's own changes don't affect whether the index is known.
        let isIndexKnown = last.isIndexCompared && (!table.comparesAgain || mark == last.mark)
        return (
            KnownState(keys: keys, manifest: manifest, mark: mark, hasComparedIndex: isIndexKnown), former
        )
    }

    /// The manifest and its keys: the earlier keys or, if others rekeyed the vault, the ones that its slot contains
    /// now. Throws `wrongKey` if the slot no longer opens.
    static func manifest(
        of view: any RowView, _ keys: VaultKeys, _ slot: OpenedSlot?
    ) throws(StoreError) -> (Manifest, VaultKeys) {
        let record = try view.record(Manifest.recordName)
        do throws(StoreError) {
            return (try Manifest.open(record, keys), keys)
        } catch {
            guard let slot, let content = try view.record(slot.recordName),
                let found = try KeySlot.decode(NamedRecord(name: slot.recordName, content: content)),
                let root = slot.keys.open(found.box, of: found.head, vault: keys.vault)
            else { throw .vaultRekeyed }
            // The same as before: it wasn't rekeyed.
            if root.matches(keys.root) { throw error }
            let newer = VaultKeys(root, vault: keys.vault)
            return (try Manifest.open(record, newer), newer)
        }
    }

    /// Compares all records with the manifest and returns the former keys, which are among them.
    static func checkRecords(
        _ view: any RowView, _ manifest: Manifest, _ keys: VaultKeys
    ) throws(StoreError) -> FormerKeys {
        let records = try view.records()
        guard records.count <= Manifest.maximumRecordCount, Manifest.digest(records, keys) == manifest.recordsDigest
        else { throw .vaultCorrupted("its records are not those of its manifest") }
        return try FormerKeys.open(records.first { $0.name == FormerKeys.recordName }?.content, keys)
    }

    /// How many transactions the vault has seen. Throws `busy` at once; otherwise as `current`.
    func generation() throws(StoreError) -> UInt64 { try currentManifest().generation }

    private func currentManifest() throws(StoreError) -> Manifest {
        try current { (view, state) throws(StoreError) in
            // A view begins with the first look into it.
            _ = try view.record(Manifest.recordName)
            return state.manifest
        }
    }

    /// Runs a change as one transaction with its manifest, on the store's thread. A change that leaves the manifest
    /// alone writes nothing.
    func change<Result: Sendable>(
        until deadline: Deadline,
        _ body: @escaping @Sendable (any RowTransaction, inout Change) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        try await worker.run(until: deadline) { (cancellation) throws(StoreError) in
            // If a database's connection was lost before the commit, nothing was changed.
            try cancellation.retry { () throws(StoreError) in try self.commit(cancellation, body) }
        }
    }

    /// As `change`, on the calling thread, which waits.
    func commit<Result: Sendable>(
        _ cancellation: Cancellation, _ body: (any RowTransaction, inout Change) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var written: Manifest?
        let (result, changed, former): (Result, KnownState, FormerKeys)
        do throws(StoreError) {
            (result, changed, former) = try table.write(cancellation) {
                (transaction) throws(StoreError) -> (Result, KnownState, FormerKeys) in
                let mark = try transaction.changeMark()
                let last = known.withLock { $0 }
                let (state, before) = try refresh(transaction, after: last, mark: mark, comparing: mark != last.mark)
                let origin = try memory?.origin(after: state.manifest, state.keys, before)
                var change = Change(keys: state.keys, manifest: state.manifest)
                let result = try body(transaction, &change)
                try change.writeIndex(in: transaction)
                guard change.manifest != state.manifest || change.isSavedUnchanged else {
                    return (result, state, before)
                }
                change.manifest.advance(by: origin)
                if state.manifest.lastSaves.isEmpty, !change.manifest.lastSaves.isEmpty {
                    let identity = IdentityRecord.encode(change.keys.vault, hasLastSaves: true)
                    try transaction.put(record: IdentityRecord.recordName, identity)
                    change.manifest.recordsDigest = Manifest.digest(try transaction.records(), change.keys)
                }
                let sealed = try change.manifest.seal(change.keys)
                try transaction.put(record: Manifest.recordName, sealed)
                written = change.manifest
                let isSame = change.manifest.recordsDigest == state.manifest.recordsDigest
                let former = isSame ? before : try Self.checkRecords(transaction, change.manifest, change.keys)
                let next = KnownState(
                    keys: change.keys, manifest: change.manifest, mark: try transaction.changeMarkOfCommit(),
                    hasComparedIndex: state.isIndexCompared)
                return (result, next, former)
            }
        } catch {
            // The disk may refuse when all is written, and only the last fsync is missing.
            guard error.code == .cannotWrite, let written else { throw error }
            switch Swift.Result(catching: { () throws(StoreError) in try currentManifest() }) {
            case .success(written): break
            // The former keys don't open the manifest after a rekey.
            case .failure(let failure) where failure.code == .wrongKey: break
            default: throw error
            }
            throw .changeNotDurable(error)
        }
        // An older state than this one is a replay from now on.
        known.withLock { if $0.manifest.generation <= changed.manifest.generation { $0 = changed } }
        // The record was compared before the change.
        _ = try? memory?.raise(to: changed.manifest, changed.keys, former, isOwn: written != nil)
        return result
    }

    /// Runs a read on the caller where nothing has to be waited for, and otherwise on a thread that waits for nothing
    /// else: while a writer or another read has the table, and where others changed the vault.
    func waiting<Result: ~Copyable & Sendable>(
        until deadline: Deadline, _ body: @escaping @Sendable (any RowView, KnownState) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        if Task.isCancelled { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
        let last = known.withLock { $0 }
        do throws(StoreError) {
            return try table.read(nil) { (view) throws(StoreError) -> Result in
                let first = Swift.Result { () throws(StoreError) -> Result in try body(view, last) }
                guard try view.changeMark() == last.mark else { throw .changedMeanwhile }
                return try first.get()
            }
        } catch  where error.code == .busy {
            // Goes on below.
        }
        let found = Handover<Result>()
        try await waitingReads.run(until: deadline) { (cancellation) throws(StoreError) in
            // Writers without a pause leave but moments for readers, which a process that only looks in now and then
            // would miss.
            found.give(
                try cancellation.retry(pausingAtMost: 1_000_000) { () throws(StoreError) in
                    try self.current(cancellation, body)
                })
        }
        return found.take()!
    }
}

/// The changes that a transaction makes to a vault.
struct Change {
    /// Others than before: the vault is rekeyed.
    private(set) var keys: VaultKeys
    var manifest: Manifest
    var index: ItemIndex
    /// The changes, for `VaultWatch`.
    var own = OwnChanges()
    /// Whether to save the manifest although nothing else changed.
    var isSavedUnchanged = false

    init(keys: VaultKeys, manifest: Manifest) {
        self.keys = keys
        self.manifest = manifest
        index = ItemIndex(keys)
    }

    /// Writes what is left to be written of the index; call it before the manifest is sealed.
    mutating func writeIndex(in transaction: any RowTransaction) throws(StoreError) {
        try index.flush(in: transaction, &manifest)
    }

    /// Call it between items of a long transaction.
    mutating func writeIndexIfLarge(in transaction: any RowTransaction) throws(StoreError) {
        try index.flushIfLarge(in: transaction, &manifest)
    }

    /// Begins a manifest under new keys. The caller changes the records and the table's rows.
    mutating func begin(under keys: VaultKeys) {
        self = Change(keys: keys, manifest: manifest.emptied())
    }
}

extension StoreError {
    /// For `waiting` alone.
    fileprivate static var changedMeanwhile: StoreError { StoreError(.busy, "another process changed the vault") }
}

// MARK: - Filling

extension VaultStore {
    /// Saves the same secret under many new keys in one transaction: tests and benchmarks create large vaults this way.
    ///
    /// The rows are those that `save` writes. Throws `conflict` if one of the keys exists, and saves none then. All
    /// rows are held in memory until the commit.
    package func fill<Purpose: SecretPurpose>(
        _ keys: [CredentialKey], with secret: borrowing Secret<Purpose>, deadline: Deadline = .standard
    ) async throws(StoreError) {
        let kept = Box(secret.duplicate())
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            let vaultKeys = change.keys
            for key in vaultKeys.inOrderOfPlaces(keys, { vaultKeys.lookup(of: $0) }) {
                guard try Self.row(.key(key), in: transaction, vaultKeys) == nil else {
                    throw StoreError(.conflict, "a credential for \(key) exists already")
                }
                try self.write(
                    kept.value, .key(key), label: "\(key.service): \(key.account)",
                    contentType: SecretContentType.binary.rawValue, replacing: nil, in: transaction, &change)
            }
        }
    }
}
