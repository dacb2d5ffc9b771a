internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import Synchronization

/// What is remembered of one vault that is open: compared when it is opened, and raised whenever it is seen farther.
///
/// Make it before the vault's manifest is read. What is remembered was in the file by then, and the file only goes
/// forward; the other way round, another process's save in between would look like a rollback.
final class GenerationMemory: Sendable {
    private let file: GenerationFile
    private let choice: RollbackChoice
    private let logger: RedactedLogger
    private let found: GenerationFile.Content

    private struct State {
        /// What is known to be in the file, or to be surpassed there.
        var raised: UInt64 = 0
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

    /// Compares the manifest of a vault that is opened with the record, and updates the record. Throws `busy` when
    /// another process wrote the record meanwhile: make another memory, and read the manifest again.
    ///
    /// - Parameter waits: whether the record may be written, whose lock others may have; else that is `busy`, too.
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
        if choice == .accept {
            try accept(manifest, keys)
            return verdict
        }
        switch verdict {
        case .rolledBack(let rollback) where choice == .refuse: throw .vaultRolledBack(rollback)
        case .unreadable where choice == .refuse: throw .changedMemory
        case .unavailable(let error):
            logger.info("an older copy of the vault can't be noticed: \(error)")
        case .firstSeen:
            if let error = raise(to: manifest, keys, former, level: .info) { return .unavailable(error) }
        case .current: raise(to: manifest, keys, former, level: .info)
        case .rolledBack, .unreadable, .notAsked: break
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
            let now = GenerationMark(manifest, keys)
            if seen.generation < now.generation || seen == now { return .current }
            // A version of us wrote what it saw of a rekeyed vault under the key of before.
            if hasFormerKey && seen.generation == now.generation { return .current }
            return .rolledBack(VaultRollback(generation: now.generation, seenGeneration: seen.generation))
        }
    }

    private func accept(_ manifest: Manifest, _ keys: VaultKeys) throws(StoreError) {
        let mark = try GenerationMark(manifest, keys).seal(keys)
        try file.update { (_) throws(StoreError) in mark }
        state.withLock { $0.raised = manifest.generation }
    }

    // MARK: - Raising

    /// Remembers a state that was seen, unless a newer one is remembered. A failure is logged and returned, not thrown.
    @discardableResult
    func raise(
        to manifest: Manifest, _ keys: VaultKeys, _ former: FormerKeys, level: LogLevel = .warning
    ) -> StoreError? {
        if state.withLock({ $0.raised >= manifest.generation }) { return nil }
        do throws(StoreError) {
            try file.update { (content) throws(StoreError) in
                switch content {
                case .unusable(let error): throw error
                case .nothing: break
                case .bytes(let bytes):
                    // Another process may have seen the vault rekeyed meanwhile. A record that was changed without
                    // the key stays for the next opening to refuse.
                    guard let (there, hasFormerKey) = GenerationMark.open(bytes, keys, former) else { return nil }
                    if there.generation > manifest.generation { return nil }
                    if there.generation == manifest.generation && !hasFormerKey { return nil }
                }
                return try GenerationMark(manifest, keys).seal(keys)
            }
            state.withLock { $0.raised = max($0.raised, manifest.generation) }
            return nil
        } catch {
            // Another process is about to remember as much; the next change comes back to it.
            if error.code == .busy { return nil }
            let isRepeated = state.withLock { state in
                defer { if level == .warning { state.hasWarned = true } }
                return state.hasWarned
            }
            if !isRepeated { logger.log(level, "how far the vault was seen can't be remembered: \(error)") }
            return error
        }
    }
}
