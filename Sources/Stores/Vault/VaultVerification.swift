public import RedactedLog

/// What `VaultStore.verify` found.
public struct VaultVerification: Sendable, Hashable {
    /// How many items were opened, secret included.
    public let itemCount: Int
    /// How many transactions the vault has seen.
    public let generation: UInt64
    /// At most `maximumProblemCount`; empty for a sound vault.
    public let problems: [VaultProblem]

    public static let maximumProblemCount = 100

    public var isSound: Bool { problems.isEmpty }
}

/// Something wrong with a vault, named by its position, not by its content.
public enum VaultProblem: Sendable, Hashable, Loggable {
    /// A page of the file doesn't fit its checksum. Pages are counted from 1 and have 4,096 bytes.
    case damagedPage(Int)
    /// The file is longer or shorter than it says.
    case wrongLength
    /// The tables' structure is broken, so that not all of it could be looked at.
    case brokenStructure
    /// Records (key slots, keys) were changed, added or removed without the key.
    case changedRecords
    /// A key slot can't be read. Slots are counted from 1 in the order of the file.
    case damagedSlot(Int)
    /// An item was forged, swapped or damaged. Items are counted from 1 in the order of the file.
    case damagedItem(Int)
    /// Items were deleted or duplicated without the key: the manifest counts others.
    case itemCount(expected: UInt64, found: Int)
    /// Items were put back to an older state without the key.
    case replayedItems
    /// The whole file was put back to an older state, or was while it was open.
    case rolledBack(VaultRollback)
    /// What was remembered of the vault was changed without its key: whether the file is an older one can't be told.
    case changedMemory

    /// Safe: kinds and positions.
    public var logMessage: LogMessage {
        switch self {
        case .damagedPage(let number): "page \(number) of the file is damaged"
        case .wrongLength: "the file has a wrong length"
        case .brokenStructure: "the file's structure is broken"
        case .changedRecords: "key slots or keys were changed without the key"
        case .damagedSlot(let number): "key slot \(number) is damaged"
        case .damagedItem(let number): "item \(number) is damaged or forged"
        case .itemCount(let expected, let found): "\(expected) items belong in the vault, and \(found) are there"
        case .replayedItems: "items were put back to an older state"
        case .rolledBack(let rollback): "the whole file was put back to an older state: \(rollback)"
        case .changedMemory: "what was remembered of the vault was changed without its key"
        }
    }
}
