internal import Glibc
package import LatchkeyCredentials
public import LatchkeyLog
internal import Synchronization

/// The record of one open vault: compared at the opening, and raised with each newer state.
///
/// Create the record before reading the vault's manifest. The file already had the recorded state then, and only moves
/// forward. In the other order, another process's save in between would look like a rollback.
final class GenerationMemory: Sendable {
    private let file: GenerationFile
    private let choice: RollbackChoice
    private let logger: RedactedLogger
    private let found: GenerationFile.Content

    private struct State {
        /// The generation that the file has at least.
        var raised: UInt64 = 0
        /// Whether the vault is open although it is refused.
        var isBehind = false
        var hasWarned = false
    }
    private let state = Mutex(State())

    /// Throws `permissionDenied` when what is remembered isn't this user's alone.
    init(_ memory: RollbackMemory, vault: VaultID) throws(StoreError) {
        let name = KeyedHash.digest(Array("latchkey vault v1 rollback record".utf8) + vault.bytes, byteCount: 16)
        file = GenerationFile(directory: memory.directory, name: name)
        choice = memory.onRollback
        logger = memory.logger
        found = try file.read()
    }

    // MARK: - Opening

    /// Compares the manifest of a vault that is opened with the record, and updates the record. Throws `busy` if
    /// another process wrote the record in the meantime. Then create another memory, and read the manifest again.
    ///
    /// - Parameter waits: whether to wait for the record's lock in order to write it. Otherwise a locked record is
    ///   `busy` too.
    func check(
        _ manifest: Manifest, _ keys: VaultKeys, _ former: FormerKeys, waits: Bool = true
    ) throws(StoreError) -> RollbackCheck {
        let verdict = verdict(on: manifest, keys, former)
        if !waits, choice == .accept || state.withLock({ $0.raised < manifest.generation }) {
            throw StoreError(.busy, "the rollback record is to be written")
        }
        switch verdict {
        case .rolledBack, .unreadable:
            // The record may have been read in the middle of a write.
            if try file.read() != found {
                throw StoreError(.busy, "another process has opened the vault at the same time")
            }
        default: break
        }
        switch (verdict, choice) {
        case (.current, _): try raise(to: manifest, keys, former, level: .info)
        case (_, .accept): try accept(manifest, keys)
        case (.firstSeen, _):
            if let error = try raise(to: manifest, keys, former, level: .info) { return .unavailable(error) }
        case (.rolledBack(let rollback), .refuse): throw .vaultRolledBack(rollback)
        case (.unreadable, .refuse): throw .changedMemory
        case (.rolledBack, .report), (.unreadable, .report): state.withLock { $0.isBehind = true }
        case (.unavailable(let error), _): logger.info("can't detect an older copy of the vault: \(error)")
        case (.notAsked, _): break
        }
        return verdict
    }

    private func verdict(on manifest: Manifest, _ keys: VaultKeys, _ former: FormerKeys) -> RollbackCheck {
        switch found {
        case .nothing: return .firstSeen
        case .unusable(let error): return .unavailable(error)
        case .bytes(let bytes):
            guard let (seen, hasFormerKey) = GenerationMark.open(bytes, keys, former) else { return .unreadable }
            if !hasFormerKey { state.withLock { $0.raised = seen.generation } }
            return seen.rollback(to: manifest, keys, hasFormerKey: hasFormerKey).map { .rolledBack($0) } ?? .current
        }
    }

    /// Uses another origin than before, because the abandoned copy may have newer saves of the former origin.
    private func accept(_ manifest: Manifest, _ keys: VaultKeys) throws(StoreError) {
        let mark = try GenerationMark(manifest, keys, origin: .random(in: 0...UInt32.max)).seal(keys)
        try file.update { (_) throws(StoreError) in mark }
        state.withLock { $0.raised = manifest.generation }
    }

    // MARK: - Raising

    /// The origin of a save that follows `manifest`; `nil` without a record, and if the vault is only looked at.
    ///
    /// Call it in the save's transaction: then no other process is ahead of the manifest. Throws `rolledBack` if the
    /// vault lacks what the record says, which other processes may have saved, or the record doesn't open: this save
    /// would hide that. Throws `permissionDenied` as an opening does.
    func origin(after manifest: Manifest, _ keys: VaultKeys, _ former: FormerKeys) throws(StoreError) -> UInt32? {
        if state.withLock(\.isBehind) { return nil }
        for _ in 0..<10 {
            guard case .bytes(let bytes) = try file.read() else { return nil }
            guard let (seen, hasFormerKey) = GenerationMark.open(bytes, keys, former) else {
                // This process may have read the file in the middle of a write.
                usleep(1000)
                continue
            }
            if let rollback = seen.rollback(to: manifest, keys, hasFormerKey: hasFormerKey) {
                throw .vaultRolledBack(rollback)
            }
            return seen.save?.origin ?? Self.origin(of: bytes)
        }
        throw .changedMemory
    }

    /// The origin of those who share a record that names none yet: all of them choose the same part of its nonce.
    private static func origin(of record: [UInt8]) -> UInt32 {
        var reader = ByteReader(record)
        return reader.integer() ?? 0
    }

    /// Remembers a state that was seen, unless a newer one is remembered. A failure is logged and returned. Throws
    /// `rolledBack` if the vault lacks what is remembered.
    ///
    /// - Parameter isOwn: whether the state is a save of this process.
    @discardableResult
    func raise(
        to manifest: Manifest, _ keys: VaultKeys, _ former: FormerKeys, isOwn: Bool = false, level: LogLevel = .warning
    ) throws(StoreError) -> StoreError? {
        if state.withLock({ $0.isBehind || $0.raised >= manifest.generation }) { return nil }
        do throws(StoreError) {
            try file.update { (content) throws(StoreError) in
                var origin = UInt32.random(in: 0...UInt32.max)
                switch content {
                case .unusable(let error): throw error
                case .nothing: break
                case .bytes(let bytes):
                    // Another process may have recorded a rekeying in the meantime. A record that was changed without
                    // the key stays, so that the next opening refuses it; so does one whose save was lost.
                    guard let (there, hasFormerKey) = GenerationMark.open(bytes, keys, former) else { return nil }
                    // Another process has saved since the manifest was read.
                    if there.generation > manifest.generation { return nil }
                    if let rollback = there.rollback(to: manifest, keys, hasFormerKey: hasFormerKey) {
                        throw .vaultWentBack(rollback)
                    }
                    if there.generation == manifest.generation, !hasFormerKey { return nil }
                    origin = there.save?.origin ?? Self.origin(of: bytes)
                }
                return try GenerationMark(manifest, keys, origin: origin).seal(keys)
            }
            state.withLock { $0.raised = max($0.raised, manifest.generation) }
            return nil
        } catch {
            if error.code == .rolledBack { throw error }
            // Another process is about to remember as much; the next change comes back to it.
            if error.code == .busy, !isOwn { return nil }
            let isRepeated = state.withLock { state in
                defer { if level == .warning { state.hasWarned = true } }
                return state.hasWarned
            }
            if !isRepeated { logger.log(level, "can't record the last seen state of the vault: \(error)") }
            return error
        }
    }
}

/// The last known state of a vault, from its manifest.
///
/// The plain text: layout (1), generation (8), hash of the manifest (32), origin (4), generation of its last save (8).
struct GenerationMark: Sendable, Equatable {
    let generation: UInt64
    /// Tells two copies apart that were changed equally often.
    let digest: [UInt8]
    /// The last save of the processes that share this record; its generation is 0 before the first. `nil` in the mark of
    /// a vault without last saves, which is shorter: an earlier Latchkey reads it.
    let save: Manifest.LastSave?

    private static let byteCount = 41
    static let sealedByteCount = byteCount + Manifest.LastSave.byteCount + Sealing.overheadByteCount
}

extension GenerationMark {
    init(_ manifest: Manifest, _ keys: VaultKeys, origin: UInt32) {
        generation = manifest.generation
        digest = Self.digest(manifest, keys)
        let save = manifest.lastSaves.first { $0.origin == origin }
        self.save = manifest.lastSaves.isEmpty ? nil : save ?? Manifest.LastSave(origin: origin, generation: 0)
    }

    private static func digest(_ manifest: Manifest, _ keys: VaultKeys) -> [UInt8] {
        let bytes = manifest.encode()
        return keys.rollbackHash.withExposedBytes { KeyedHash.digest(bytes.span, key: $0) }
    }

    /// How far the vault went back since this mark; `nil` if it didn't.
    func rollback(to manifest: Manifest, _ keys: VaultKeys, hasFormerKey: Bool) -> VaultRollback? {
        // A version of us wrote what it saw of a rekeyed vault under the key of before, whose digest is another.
        let isBefore =
            generation == manifest.generation
            ? !hasFormerKey && digest != Self.digest(manifest, keys) : generation > manifest.generation
        if isBefore { return VaultRollback(generation: manifest.generation, seenGeneration: generation) }
        guard let save, save.generation > 0 else { return nil }
        return manifest.loss(of: save)
    }

    func seal(_ keys: VaultKeys) throws(StoreError) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(generation)
        writer.append(digest)
        if let save {
            writer.append(save.origin)
            writer.append(save.generation)
        }
        return try Sealing.seal(writer.bytes.span, associatedData: Self.context(keys.vault), key: keys.rollback)
    }

    /// Returns `nil` for anything that `seal` didn't write for this vault.
    static func open(_ bytes: [UInt8], key: borrowing Secret<VaultSubkey>, vault: VaultID) -> GenerationMark? {
        guard bytes.count <= sealedByteCount,
            let plaintext = Sealing.openPublic(bytes.span, associatedData: context(vault), key: key)
        else { return nil }
        return decode(plaintext)
    }

    /// The same under a vault's keys or, since the vault was rekeyed, those of before: the digest of such a mark can't
    /// be compared.
    static func open(
        _ bytes: [UInt8], _ keys: VaultKeys, _ former: FormerKeys
    ) -> (mark: GenerationMark, hasFormerKey: Bool)? {
        if let mark = open(bytes, key: keys.rollback, vault: keys.vault) { return (mark, false) }
        return former.first { open(bytes, key: $0, vault: keys.vault) }.map { ($0, true) }
    }

    static func decode(_ plaintext: [UInt8]) -> GenerationMark? {
        var reader = ByteReader(plaintext)
        guard reader.integer(UInt8.self) == 1, let generation: UInt64 = reader.integer(),
            let digest = reader.take(32)
        else { return nil }
        if reader.isAtEnd { return GenerationMark(generation: generation, digest: digest, save: nil) }
        guard let origin: UInt32 = reader.integer(), let number: UInt64 = reader.integer(), number <= generation,
            reader.isAtEnd
        else { return nil }
        return GenerationMark(
            generation: generation, digest: digest, save: Manifest.LastSave(origin: origin, generation: number))
    }

    private static func context(_ vault: VaultID) -> [UInt8] { Array("rollback record".utf8) + vault.bytes }
}

/// The folder of rollback records. A record contains the last seen state of a vault, so that an older copy of the whole
/// file is detected: such a copy is intact in itself. It also names the last save made with the record, whose loss is
/// detected even if others have saved to the older copy since.
///
/// Each vault has a small file there, encrypted with the vault's key and named by a hash of the vault's id. The file
/// doesn't show the number of changes, and only a process with the key can write it. Anyone who may delete the file can
/// make Latchkey forget the vault, and Latchkey can't detect that. A power failure can lose the last half minute.
public struct RollbackMemory: Sendable {
    /// The absolute path. A missing directory is created with mode 0700.
    package let directory: String
    package var onRollback: RollbackChoice
    let logger: RedactedLogger

    /// - Parameters:
    ///   - directory: an absolute path, such as `$XDG_STATE_HOME/latchkey/vaults`. No vault opens with a relative
    ///     path.
    ///   - onRollback: what opening does with an older copy; it is refused unless told otherwise.
    ///   - logger: told when nothing can be remembered, which keeps no process from reading or saving: as `info` when a
    ///     vault is opened, as `warning` when one was changed.
    public init(directory: String, onRollback: RollbackChoice = .refuse, logger: RedactedLogger = .disabled) {
        self.directory = directory
        self.onRollback = onRollback
        self.logger = logger.category("latchkey.vault")
    }
}

/// The handling of a vault that is older than its last seen state.
public enum RollbackChoice: Sendable, Hashable {
    /// Throw `rolledBack`, also if the record doesn't open with the vault's key.
    case refuse
    /// Open the vault anyway; ``VaultStore/verify(deadline:progress:)`` reports the problem. The record stays.
    case report
    /// Open the vault, and record its state as the last seen one.
    case accept
}

/// The comparison of a vault with its record at the opening.
package enum RollbackCheck: Sendable, Hashable {
    /// The caller didn't pass a `RollbackMemory`.
    case notAsked
    /// Nothing was: an older copy of it would not have been noticed.
    case firstSeen
    /// The vault has the recorded state or a newer one.
    case current
    /// The vault has an older state than the recorded one.
    case rolledBack(VaultRollback)
    /// The record is damaged, or was changed without the key.
    case unreadable
    /// The memory can't be used, so that nothing can be noticed.
    case unavailable(StoreError)
}

/// How far a vault's file went back.
public struct VaultRollback: Sendable, Hashable, Loggable {
    /// How many transactions the file has seen that is there now.
    package let generation: UInt64
    /// How many the newest one that was seen had. When it is the same number, the file has another content: both are
    /// changed copies of an older one. When it is a lower number, that transaction was lost, and others have changed the
    /// vault since.
    package let seenGeneration: UInt64

    /// Safe: counts of transactions.
    public var logMessage: LogMessage {
        if seenGeneration == generation {
            return "this copy differs from the one seen before, at generation \(generation)"
        }
        return seenGeneration > generation
            ? "it is at generation \(generation), but generation \(seenGeneration) was seen before"
            : "generation \(seenGeneration) is missing, and others have saved since, until generation \(generation)"
    }
}
