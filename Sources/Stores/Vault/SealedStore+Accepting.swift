internal import LatchkeyCredentials
internal import LatchkeyLog

extension SealedStore {
    func acceptItems(deadline: Deadline) async throws(StoreError) -> VaultAcceptance {
        try await worker.run(until: deadline) { (cancellation) throws(StoreError) in
            let damage = try cancellation.retry { () throws(StoreError) in try self.table.damage(cancellation) }
            guard damage.isEmpty else { throw .damagedPages }
            return try self.commit(cancellation) { (transaction, change) throws(StoreError) in
                try Self.accept(transaction, &change, cancellation)
            }
        }
    }

    private static func accept(
        _ transaction: Table.Transaction, _ change: inout Change, _ cancellation: Cancellation
    ) throws(StoreError) -> VaultAcceptance {
        let (keys, before) = (change.keys, change.manifest)
        let survey = try ItemSurvey(of: transaction, before, keys, cancellation)
        var dropped: [VaultProblem] = []
        var moved: [ItemSurvey.Item] = []
        for item in survey.items {
            if case .movedItem = item.problem {
                moved.append(item)
                continue
            }
            try transaction.remove(place: item.place)
            dropped.append(item.problem)
        }
        // When what was in their places is gone.
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
        try ItemSurvey.forEach(transaction, cancellation) { (heading) throws(StoreError) in
            change.manifest.add(lookup: heading.lookup, metadata: heading.metadata, keys)
            if indexIsSound { return }
            change.index.add(try openMetadata(heading, keys), at: heading.lookup)
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
}

extension StoreError {
    fileprivate static var damagedPages: StoreError {
        StoreError(
            .corrupted, "the file itself is damaged, and not only what was saved in it",
            hint: "restore a backup, or export what can still be read")
    }
}
