internal import Credentials
internal import Secrets
internal import Synchronization

extension SealedStore {
    /// Opens everything and compares it with the manifest, on a thread of its own, through a copy or an opening
    /// of its own.
    ///
    /// What is wrong is reported; it throws only when the work couldn't be done: `timedOut`, `cancelled`,
    /// `unavailable`.
    func verify(deadline: Deadline) async throws(StoreError) -> VaultVerification {
        let current: KnownState
        do throws(StoreError) {
            current = try await waiting(until: deadline) { () throws(StoreError) in
                try self.current { (_, state) throws(StoreError) in state }
            }
        } catch {
            // Too damaged to be read now: what was last known of it still opens what is left.
            guard error.code == .corrupted || error.code == .rolledBack else { throw error }
            current = known.withLock { $0 }
        }
        return try await WorkThread().run(until: deadline) { (patience) throws(StoreError) in
            let table: Table
            do throws(StoreError) {
                table = try patience.retry { () throws(StoreError) in
                    try self.table.separate(patience, copyingFrom: SQLiteRowTable.copiedByteCount)
                }
            } catch {
                guard error.code == .corrupted else { throw error }
                table = self.table
            }
            var check = Verification(root: self.root, patience: patience, generation: current.manifest.generation)
            try check.engine(table)
            try check.rows(table, current)
            return check.report
        }
    }
}

/// A verification under way.
private struct Verification {
    let root: RootKeys
    let patience: Patience
    var generation: UInt64
    var itemCount = 0
    var problems: [VaultProblem] = []

    init(root: RootKeys, patience: Patience, generation: UInt64) {
        self.root = root
        self.patience = patience
        self.generation = generation
    }

    var report: VaultVerification {
        VaultVerification(itemCount: itemCount, generation: generation, problems: problems)
    }

    private mutating func add(_ problem: VaultProblem) {
        if problems.count < VaultVerification.maximumProblemCount && !problems.contains(problem) {
            problems.append(problem)
        }
    }

    /// Passes on what stopped the work, and takes down what is wrong with the vault.
    private mutating func note(_ error: StoreError, as problem: VaultProblem) throws(StoreError) {
        guard error.code == .corrupted || error.code == .unsupported || error.code == .tooLarge else { throw error }
        add(problem)
    }

    mutating func engine<Table: RowTable>(_ table: Table) throws(StoreError) {
        do throws(StoreError) {
            for damage in try patience.retry({ () throws(StoreError) in try table.damage(patience) }) {
                switch damage.kind {
                case .page: add(.damagedPage(damage.position))
                case .length: add(.wrongLength)
                case .structure: add(.brokenStructure)
                }
            }
        } catch {
            try note(error, as: .brokenStructure)
        }
    }

    mutating func rows<Table: RowTable>(_ table: Table, _ state: SealedStore<Table>.KnownState) throws(StoreError) {
        let before = self
        do throws(StoreError) {
            self = try patience.retry { () throws(StoreError) in
                try table.read { (view) throws(StoreError) in
                    var check = before
                    try check.rows(in: view, state)
                    return check
                }
            }
        } catch {
            try note(error, as: .brokenStructure)
        }
    }

    private mutating func rows<Table: RowTable>(
        in view: Table.View, _ state: SealedStore<Table>.KnownState
    ) throws(StoreError) {
        let manifest: Manifest
        do throws(StoreError) {
            manifest = try Manifest.open(view.record(Manifest.recordName), root: root)
        } catch {
            return try note(error, as: .changedRecords)
        }
        generation = manifest.generation
        var state = state
        do throws(StoreError) {
            let records = try view.records()
            if Manifest.digest(records, root: root) != manifest.recordsDigest { add(.changedRecords) }
            try slots(in: records)
            if let keys = records.first(where: { $0.name == DataKeyRecord.recordName }) {
                state = .init(keys: try DataKeyRecord.open(keys.content, root: root), manifest: state.manifest)
            }
        } catch {
            try note(error, as: .changedRecords)
        }
        var found = SetHash()
        var position = 0
        var last: Int64?
        while true {
            try patience.check()
            let items = try view.items(after: last, limit: 100)
            for item in items {
                position += 1
                found.add(Manifest.digest(lookup: item.lookup, metadata: item.metadata, root: root))
                do throws(StoreError) {
                    try Self.open(item, in: view, state)
                    itemCount += 1
                } catch {
                    try note(error, as: .damagedItem(position))
                }
            }
            last = items.last?.place
            if items.isEmpty { break }
        }
        if UInt64(position) != manifest.itemCount {
            add(.itemCount(expected: manifest.itemCount, found: position))
        } else if found != manifest.items && !problems.contains(where: \.isDamagedItem) {
            add(.replayedItems)
        }
    }

    private mutating func slots(in records: [NamedRecord]) throws(StoreError) {
        for (index, record) in records.filter({ $0.name.hasPrefix(KeySlot.recordPrefix) }).enumerated() {
            do throws(StoreError) {
                _ = try KeySlot.decode(record)?.describe(root)
            } catch {
                try note(error, as: .damagedSlot(index + 1))
            }
        }
    }

    private static func open<Table: RowTable>(
        _ item: ItemHeading, in view: Table.View, _ state: SealedStore<Table>.KnownState
    ) throws(StoreError) {
        let (metadata, keys) = try SealedStore<Table>.openMetadata(item, state)
        let opened = try view.withItem(item.lookup) { (_, secret) throws(StoreError) -> Bool in
            _ = try keys.openSecret(secret, of: metadata, at: item.lookup)
            return true
        }
        guard opened == true else { throw .damagedItem }
    }
}

extension VaultProblem {
    fileprivate var isDamagedItem: Bool {
        if case .damagedItem = self { return true }
        return false
    }
}
