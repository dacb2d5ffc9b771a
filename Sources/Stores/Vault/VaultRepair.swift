public import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// The result of `VaultStore.acceptItems` on a vault that someone changed without its key.
package struct VaultAcceptance: Sendable, Hashable {
    /// How many credentials there are now.
    package let itemCount: Int
    /// The removed items: those that can't be opened, and duplicates.
    package let dropped: [VaultProblem]
    /// The items that were moved back to their positions.
    package let restored: [VaultProblem]
    /// The difference between the remaining items and the last saved ones, which are lost; `nil` if nothing is lost.
    package let lost: VaultProblem?
    /// Whether the index of attributes was outdated and has been rebuilt without loss.
    package var hasNewIndex = false
}

extension VaultStore {
    /// Opens every item, secret included, and compares the whole file with its checksums and its encrypted manifest.
    ///
    /// Verification detects what reads can't: items that were deleted, replayed or duplicated without the key, and
    /// damage in parts that aren't read. It detects that the whole file was replaced with an older copy if this store
    /// has seen a newer one, or if a newer one is recorded; see ``RollbackMemory``. The report contains the problems,
    /// which aren't errors; the call throws `timedOut`, `cancelled` or `unavailable`; for a database also
    /// `unsupported` and `permissionDenied`, if its tables or their rights aren't those of a vault.
    ///
    /// A vault of 16 MiB or more is copied first, still encrypted, into the same directory; other processes read and
    /// write during the check. The copy (0600) is unlinked before the work begins. If the copy fails, and in a smaller
    /// vault, writers wait.
    ///
    /// - Parameters:
    ///   - deadline: the time limit (default: ten minutes from now).
    ///   - progress: called from time to time with the completed fraction, from 0 to 1.
    public func verify(
        deadline: Deadline = .after(.seconds(600)), progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(StoreError) -> VaultVerification {
        let report = try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try VaultRepair(vault: self, cancellation: cancellation).verify(progress)
        }
        var problems = report.problems
        switch rollback {
        case .rolledBack(let rollback): problems.insert(.rolledBack(rollback), at: 0)
        case .unreadable: problems.insert(.changedMemory, at: 0)
        default: break
        }
        return VaultVerification(itemCount: report.itemCount, generation: report.generation, problems: problems)
    }

    /// Makes a vault usable after others changed it without the key. Removes items that are duplicates or can't be
    /// opened, restores moved items, accepts the rest as the last saved items, and rebuilds the index of attributes.
    /// Slots and keys don't change.
    ///
    /// Items that were removed or replaced with an older state stay so. Open the vault with `ItemCheck.never` first.
    ///
    /// Throws `corrupted`, and changes nothing, if pages of the file are damaged.
    package func acceptItems(deadline: Deadline = .after(.seconds(600))) async throws(StoreError) -> VaultAcceptance {
        try await worker.run(until: deadline) { (cancellation) throws(StoreError) in
            try VaultRepair(vault: self, cancellation: cancellation).acceptItems()
        }
    }
}

/// Work on a vault that may be damaged, or was changed without its key.
struct VaultRepair {
    let vault: VaultStore
    let cancellation: Cancellation

    // MARK: - Verifying

    /// Verifies a copy, or a separate connection. The report contains the problems; the call only throws if the work
    /// couldn't be done: `timedOut`, `cancelled`, `unavailable`.
    func verify(_ progress: (Double) -> Void) throws(StoreError) -> VaultVerification {
        // Made before the copy, so that a save in between isn't taken for a rollback.
        var check = Verification(vault, cancellation)
        let copy = try cancellation.retry { () throws(StoreError) in
            try nilIf(
                \StoreError.isCorruption,
                of: vault.table.separate(cancellation, copyingFrom: SQLiteRowTable.copiedByteCount))
        }
        let table = copy ?? vault.table
        try check.engine(table)
        try check.rows(table, progress)
        return check.report
    }

    // MARK: - Accepting

    func acceptItems() throws(StoreError) -> VaultAcceptance {
        let damage = try cancellation.retry { () throws(StoreError) in try vault.table.damage(cancellation) }
        guard damage.isEmpty else { throw .damagedPages }
        return try vault.commit(cancellation) { (transaction, change) throws(StoreError) in
            try accept(transaction, &change)
        }
    }

    private func accept(
        _ transaction: any RowTransaction, _ change: inout Change
    ) throws(StoreError) -> VaultAcceptance {
        let (keys, before) = (change.keys, change.manifest)
        let survey = try ItemSurvey(of: transaction, before, keys, cancellation)
        var dropped: [VaultProblem] = []
        var moved: [ItemSurvey.Problem] = []
        for item in survey.items {
            if case .movedItem = item.problem {
                moved.append(item)
                continue
            }
            try transaction.remove(place: item.place)
            dropped.append(item.problem)
        }
        // Moves happen after the items in their places were removed.
        var restored: [VaultProblem] = []
        for item in moved {
            let row = try transaction.withItem(place: item.place) { (heading, secret) throws(StoreError) in
                (heading, [UInt8](copying: secret))
            }
            guard let (heading, secret) = row else { throw .damagedItem }
            try transaction.remove(place: item.place)
            if try transaction.heading(heading.lookup) == nil {
                try transaction.put(heading.lookup, metadata: heading.metadata, secret: secret)
                restored.append(item.problem)
            } else {
                dropped.append(item.problem)
            }
        }
        change.begin(under: keys)
        let indexIsSound = survey.items.isEmpty && survey.difference == nil && survey.index == nil
        if indexIsSound {
            (change.manifest.links, change.manifest.linkCount) = (before.links, before.linkCount)
        } else {
            try transaction.removeAllLinks()
        }
        try transaction.forEachItem(cancellation) { (heading) throws(StoreError) in
            change.manifest.add(lookup: heading.lookup, metadata: heading.metadata, keys)
            if indexIsSound { return }
            change.index.add(try VaultStore.row(heading, keys).row, at: heading.lookup)
            try change.writeIndexIfLarge(in: transaction)
        }
        let count = Int(change.manifest.itemCount)
        let lost: VaultProblem? =
            if change.manifest.itemCount != before.itemCount {
                .itemCount(expected: before.itemCount, found: count)
            } else {
                change.manifest.items == before.items ? nil : .replayedItems
            }
        return VaultAcceptance(
            itemCount: count, dropped: dropped, restored: restored, lost: lost, hasNewIndex: survey.index != nil)
    }

    // MARK: - Salvaging

    /// Opens each item that can be opened, and returns how many there were when the vault was saved last.
    ///
    /// An item on a page that is damaged, or led to by one, is left out; so is what the pages between two damaged ones
    /// hold, if they are close. Throws `corrupted` when not even the records can be read.
    func forEachReadableItem(
        _ takeCollections: (CollectionsRecord) throws(StoreError) -> Void,
        _ body: (Row, borrowing Secret<StoredSecret>) throws(StoreError) -> Void
    ) throws(StoreError) -> UInt64 {
        let last = vault.known.withLock { $0 }
        let table = try cancellation.retry { () throws(StoreError) in
            try vault.table.separate(cancellation, copyingFrom: .max)
        }
        return try table.read(cancellation) { (view) throws(StoreError) in
            let state = try vault.state(of: view, after: last, comparing: false)
            try takeCollections(VaultStore.collections(in: view, state.keys))
            var place: Int64?
            while let heading = try view.nextReadable(after: place, cancellation) {
                place = heading.place
                guard let opened = state.keys.open(heading) else { continue }
                let secret = try readable { () throws(StoreError) in
                    try view.withItem(place: heading.place) { (_, sealed) throws(StoreError) in
                        try state.keys.openSecret(sealed, of: opened.row, at: heading.lookup)
                    }
                }
                guard let secret else { continue }
                try body(opened.row, secret)
            }
            return state.manifest.itemCount
        }
    }
}

extension RowView {
    /// The next readable item after a place. Unreadable parts are skipped in steps that double; a binary search then
    /// finds their end.
    fileprivate func nextReadable(after last: Int64?, _ cancellation: Cancellation) throws(StoreError) -> ItemHeading? {
        func item(after place: Int64?) throws(StoreError) -> [ItemHeading]? {
            try cancellation.check()
            return try readable { () throws(StoreError) in try items(after: place, limit: 1) }
        }
        if let items = try item(after: last) { return items.first }
        // A forged place may be negative.
        var hidden = max(last ?? 0, 0)
        var step: Int64 = 1
        var found: (place: Int64, items: [ItemHeading])?
        while found == nil, hidden < .max {
            let place = step > .max - hidden ? .max : hidden + step
            if let items = try item(after: place) {
                found = (place, items)
            } else {
                (hidden, step) = (place, step > .max / 2 ? .max : step * 2)
            }
        }
        while let near = found, near.place - hidden > 1 {
            let middle = hidden + (near.place - hidden) / 2
            if let items = try item(after: middle) { found = (middle, items) } else { hidden = middle }
        }
        return found?.items.first
    }
}

/// `nil` for what is damaged.
func readable<Value: ~Copyable>(_ read: () throws(StoreError) -> Value?) throws(StoreError) -> Value? {
    try nilIf({ (error: StoreError) in error.code == .corrupted || error.code == .tooLarge }, of: read()) ?? nil
}

extension StoreError {
    fileprivate static var damagedPages: StoreError {
        StoreError(
            .corrupted, "the file itself is damaged, not only its contents",
            hint: "restore a backup, or export the credentials that can still be read")
    }
}
