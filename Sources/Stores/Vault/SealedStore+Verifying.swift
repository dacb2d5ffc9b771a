internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

extension SealedStore {
    /// Opens everything and compares it with the manifest, on a thread of its own, through a copy or an opening
    /// of its own.
    ///
    /// What is wrong is reported; it throws only when the work couldn't be done: `timedOut`, `cancelled`,
    /// `unavailable`.
    func verify(deadline: Deadline) async throws(StoreError) -> VaultVerification {
        try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            let copy = try cancellation.retry { () throws(StoreError) in
                try nilIf(
                    \StoreError.isCorruption,
                    of: self.table.separate(cancellation, copyingFrom: SQLiteRowTable.copiedByteCount))
            }
            let table = copy ?? self.table
            var check = Verification(self, cancellation)
            try check.engine(table)
            try check.rows(table)
            return check.report
        }
    }
}

/// A verification under way.
private struct Verification<Table: RowTable> {
    private let store: SealedStore<Table>
    private let cancellation: Cancellation
    private var generation: UInt64
    private var itemCount = 0
    private var problems: [VaultProblem] = []

    init(_ store: SealedStore<Table>, _ cancellation: Cancellation) {
        self.store = store
        self.cancellation = cancellation
        generation = store.known.withLock { $0 }.manifest.generation
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

    mutating func engine(_ table: Table) throws(StoreError) {
        do throws(StoreError) {
            for damage in try cancellation.retry({ () throws(StoreError) in try table.damage(cancellation) }) {
                add(VaultProblem(damage))
            }
        } catch {
            try note(error, as: .brokenStructure)
        }
    }

    mutating func rows(_ table: Table) throws(StoreError) {
        let before = self
        do throws(StoreError) {
            self = try cancellation.retry { () throws(StoreError) in
                try table.read(cancellation) { (view) throws(StoreError) in
                    var check = before
                    try check.rows(in: view)
                    return check
                }
            }
        } catch {
            try note(error, as: .brokenStructure)
        }
    }

    private mutating func rows(in view: Table.View) throws(StoreError) {
        let (manifest, keys): (Manifest, VaultKeys)
        do throws(StoreError) {
            (manifest, keys) = try SealedStore<Table>.manifest(of: view, store.keys, store.slot)
        } catch {
            return try note(error.code == .wrongKey ? .damagedItem : error, as: .changedRecords)
        }
        generation = manifest.generation
        do throws(StoreError) {
            let records = try view.records()
            try slots(in: records, keys)
            if Manifest.digest(records, keys) != manifest.recordsDigest { add(.changedRecords) }
        } catch {
            try note(error, as: .changedRecords)
        }
        let found = try ItemSurvey(of: view, manifest, keys, cancellation)
        itemCount = found.soundCount
        for item in found.items { add(item.problem) }
        if let difference = found.difference { add(difference) }
        if let index = found.index { add(index) }
    }

    private mutating func slots(in records: [NamedRecord], _ keys: VaultKeys) throws(StoreError) {
        for (index, record) in records.filter({ $0.name.hasPrefix(KeySlot.recordPrefix) }).enumerated() {
            if let error = failure(StoreError.self, of: try KeySlot.decode(record)?.describe(keys)) {
                try note(error, as: .damagedSlot(index + 1))
            }
        }
    }
}

extension VaultProblem {
    init(_ damage: TableDamage) {
        self =
            switch damage.kind {
            case .page: .damagedPage(damage.position)
            case .length: .wrongLength
            case .structure: .brokenStructure
            }
    }
}
