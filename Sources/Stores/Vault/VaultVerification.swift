internal import LatchkeyCredentials
public import LatchkeyLog
internal import Synchronization

/// The result of ``VaultStore/verify(deadline:progress:)``.
public struct VaultVerification: Sendable, Hashable {
    /// How many items were opened, secret included.
    public let itemCount: Int
    /// How many transactions the vault has seen.
    package let generation: UInt64
    /// At most 100; empty for a sound vault.
    public let problems: [VaultProblem]

    package static let maximumProblemCount = 100

    /// Whether `problems` is empty. Damage, forgery and rollback all count.
    public var isSound: Bool { problems.isEmpty }
}

/// Something wrong with a vault, named by its position, or by an item's name where that can be known: a
/// credential's key, or the label of another item.
public enum VaultProblem: Sendable, Hashable, Loggable {
    /// A page of the file doesn't fit its checksum. Pages are counted from 1 and have 4,096 bytes.
    case damagedPage(Int)
    /// The file is longer or shorter than it says.
    case wrongLength
    /// The tables' structure is broken, so some parts couldn't be checked.
    case brokenStructure
    /// Records (key slots, keys) were changed, added or removed without the key.
    case changedRecords
    /// A key slot can't be read. Slots are counted from 1 in the order of the file.
    case damagedSlot(Int)
    /// An item was forged, swapped or damaged. Items are counted from 1 in the order of the file; its name is there
    /// where only its secret doesn't open.
    case damagedItem(Int, LogMessage?)
    /// An item is where no lookup finds it.
    case movedItem(LogMessage)
    /// An item is there more than once.
    case duplicateItem(LogMessage)
    /// An item that isn't one of those that were saved last: it was deleted, and put back without the key.
    case extraItem(LogMessage)
    /// Items were removed or restored without the key; it is unknown which ones.
    case itemCount(expected: UInt64, found: Int)
    /// At least one item isn't the last saved one, because an older one was restored without the key. The check can't
    /// tell which item.
    case replayedItems
    /// The index of attributes isn't the last saved one: it was changed without the key, and a search may miss items.
    case changedIndex
    /// The whole file was replaced with an older state, now or while it was open.
    case rolledBack(VaultRollback)
    /// The rollback record doesn't open with the vault's key: the record was changed, or the vault is a different one,
    /// such as a copy from before a rekey.
    case changedMemory

    /// Safe: kinds, positions, names of credentials and labels of items.
    public var logMessage: LogMessage {
        switch self {
        case .damagedPage(let number): "page \(number) of the file is damaged"
        case .wrongLength: "the file has a wrong length"
        case .brokenStructure: "the vault's structure is broken"
        case .changedRecords: "key slots or keys were changed without the key"
        case .damagedSlot(let number): "key slot \(number) is damaged"
        case .damagedItem(let number, nil): "item \(number) is damaged or forged"
        case .damagedItem(let number, .some(let name)): "item \(number), \(name), is damaged or forged"
        case .movedItem(let name): "\(name) was moved to where it isn't found"
        case .duplicateItem(let name): "\(name) is there more than once"
        case .extraItem(let name): "\(name) was deleted before but is in the vault again"
        case .itemCount(let expected, let found): "\(expected) items belong in the vault, and \(found) are there"
        case .replayedItems: "at least one item is not the one that was saved last"
        case .changedIndex: "the index of attributes isn't the latest, so searches may miss items"
        case .rolledBack(let rollback): "the whole vault was replaced with an older copy: \(rollback)"
        case .changedMemory: "the rollback record doesn't open with the vault's key"
        }
    }
}

/// A verification under way.
struct Verification {
    private let vault: VaultStore
    private let cancellation: Cancellation
    /// The newest one that was known before.
    private let seen: Manifest
    private var generation: UInt64
    private var itemCount = 0
    private var problems: [VaultProblem] = []

    init(_ vault: VaultStore, _ cancellation: Cancellation) {
        self.vault = vault
        self.cancellation = cancellation
        seen = vault.known.withLock { $0 }.manifest
        generation = seen.generation
    }

    var report: VaultVerification {
        VaultVerification(itemCount: itemCount, generation: generation, problems: problems)
    }

    private mutating func add(_ problem: VaultProblem) {
        if problems.count < VaultVerification.maximumProblemCount && !problems.contains(problem) {
            problems.append(problem)
        }
    }

    /// Passes on what stopped the work, and takes down what is wrong with the vault. Tables or a format of another
    /// version aren't damage, so `unsupported` stops the work.
    private mutating func note(_ error: StoreError, as problem: VaultProblem) throws(StoreError) {
        guard error.code == .corrupted || error.code == .tooLarge else { throw error }
        add(problem)
    }

    mutating func engine(_ table: any RowTable) throws(StoreError) {
        do throws(StoreError) {
            for damage in try cancellation.retry({ () throws(StoreError) in try table.damage(cancellation) }) {
                add(damage)
            }
        } catch {
            try note(error, as: .brokenStructure)
        }
    }

    mutating func rows(_ table: any RowTable, _ progress: (Double) -> Void) throws(StoreError) {
        let before = self
        do throws(StoreError) {
            self = try cancellation.retry { () throws(StoreError) in
                try table.read(cancellation) { (view) throws(StoreError) in
                    var check = before
                    try check.rows(in: view, progress)
                    return check
                }
            }
        } catch {
            try note(error, as: .brokenStructure)
        }
    }

    private mutating func rows(in view: any RowView, _ progress: (Double) -> Void) throws(StoreError) {
        let (manifest, keys): (Manifest, VaultKeys)
        do throws(StoreError) {
            (manifest, keys) = try VaultStore.manifest(of: view, vault.keys, vault.slot)
        } catch {
            return try note(error.code == .wrongKey ? .damagedItem : error, as: .changedRecords)
        }
        generation = manifest.generation
        if let rollback = manifest.rollback(after: seen) { problems.insert(.rolledBack(rollback), at: 0) }
        do throws(StoreError) {
            let records = try view.records()
            try slots(in: records, keys)
            if Manifest.digest(records, keys) != manifest.recordsDigest { add(.changedRecords) }
        } catch {
            try note(error, as: .changedRecords)
        }
        let found = try ItemSurvey(of: view, manifest, keys, cancellation, progress)
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

/// One consistent view of everything in a table.
struct VaultWalk {
    let view: any RowView
    let state: VaultStore.KnownState

    /// The size of one transaction of an import. Other processes get their turn within about a second, and no page has
    /// to leave memory before the commit (`cache_spill`).
    private static var batchCount: Int { 1000 }
    private static var batchByteCount: Int { 8 << 20 }

    /// Lends all items in the order of their places, up to 1,000 or some 8 MiB of secrets at a time.
    ///
    /// Throws `corrupted` at the first that can't be opened, and at the end when what was there isn't what the manifest
    /// says.
    func forEachBatch(
        _ cancellation: Cancellation, _ body: ([OpenedRow]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var found = SetHash()
        var batch: [OpenedRow] = []
        var byteCount = 0
        try view.forEachItem(cancellation) { (item) throws(StoreError) in
            let opened = try VaultStore.row(item, state.keys)
            found.add(Manifest.digest(lookup: item.lookup, metadata: item.metadata, state.keys))
            batch.append(opened)
            byteCount += opened.row.secretByteCount
            guard batch.count == Self.batchCount || byteCount >= Self.batchByteCount else { return }
            try body(batch)
            batch.removeAll(keepingCapacity: true)
            byteCount = 0
            try cancellation.check()
        }
        if !batch.isEmpty { try body(batch) }
        guard found == state.manifest.items else { throw .itemsDiffer }
        try view.compareLinks(state.manifest, state.keys)
    }

    static func fraction(after batch: [OpenedRow]) -> Double {
        ItemPlaces.fraction(upTo: batch.last?.heading.place ?? 0)
    }
}
