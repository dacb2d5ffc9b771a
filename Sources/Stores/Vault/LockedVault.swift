package import LatchkeyCredentials
internal import LatchkeyLog

/// A vault without its key: the parts that every reader of the file can see, and the open table for trying keys one
/// after another.
package struct LockedVault: Sendable {
    let vault: VaultID
    /// In the order of the file; without slots of kinds that are unknown here.
    package let slots: [KeySlotOutline]

    private let place: VaultPlace
    private let table: any RowTable
    private let worker: WorkThread
    /// `nil` in a database.
    private let file: FileStatus?

    /// The vault's ID in hexadecimal digits. It isn't secret, and doesn't change when the file is moved.
    package var identifier: String { vault.identifier }
    /// Of its file; `nil` in a database.
    package var byteCount: Int? { file?.byteCount }

    // MARK: - Without a key

    /// Opens the table of a vault that is there. Asks no questions and changes nothing.
    ///
    /// - Parameters:
    ///   - path: the vault's file, or the URI of its database.
    ///   - use: a backup is only read: others may see its file, and none of them may change it.
    ///
    /// Throws what keeps the vault from being opened that can be seen without a key: `unavailable`,
    /// `permissionDenied`, `corrupted`, `unsupported`; and `timedOut` when another process keeps it busy.
    package static func open(
        at path: String, for use: VaultUse = .daily, deadline: Deadline = .standard
    ) async throws(StoreError) -> LockedVault {
        let worker = WorkThread()
        // On the caller's thread where nothing has to be waited for: no database, no process that writes to a file.
        if !PostgreSQLAddress.isAddress(path) {
            let cancellation = Cancellation(deadline)
            let vault = try nilIf(
                \StoreError.isBusy, of: LockedVault(.existing(path, for: use), worker, cancellation))
            if let vault { return vault }
        }
        return try await worker.run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in
                try LockedVault(.existing(path, for: use), worker, cancellation)
            }
        }
    }

    /// Throws `busy` at once while a process writes.
    init(_ place: VaultPlace, _ worker: WorkThread, _ cancellation: Cancellation) throws(StoreError) {
        let before = try place.fileStatus()
        let opened = Result { () throws(StoreError) in
            let table = try place.table(cancellation)
            return try table.read(cancellation) { (view) throws(StoreError) in
                let vault = try IdentityRecord.decode(view.record(IdentityRecord.recordName))
                return (table, vault, try KeySlot.all(in: view.records()).map { KeySlotOutline($0, of: vault) })
            }
        }
        // SQLite also reports that it can't open a file if the page of some headers is cut off.
        if case .failure(let error) = opened, error.code == .permissionDenied { try before?.requireVaultLength() }
        (table, vault, slots) = try opened.get()
        file = try place.fileStatus(sameAs: before)
        // An interrupted change is undone by now.
        try file?.requireVaultLength()
        self.place = place
        self.worker = worker
    }

    // MARK: - Unlocking

    /// Opens the vault with a key. A passphrase is tried on one slot after another.
    ///
    /// Takes and throws what `VaultStore.open` does; another key can be tried after that.
    package func unlock(
        with source: borrowing VaultKeySource, memory: RollbackMemory? = nil, itemCheck: ItemCheck = .whenSmall,
        deadline: Deadline = .standard, now: @escaping @Sendable () -> UnixTime = { UnixTime.now() }
    ) async throws(StoreError) -> VaultStore {
        let circumstances = Circumstances(memory: memory, itemCheck: itemCheck, now: now)
        // On the caller's thread where nothing has to be waited for: no Argon2, no database, no walk through any number
        // of items, no process that writes.
        if file != nil, source.kind != .passphrase, itemCheck != .always {
            if Task.isCancelled { throw .cancelled }
            try Cancellation(deadline).check()
            let vault = try nilIf(\StoreError.isBusy, of: unlock(source, circumstances, nil))
            if let vault { return vault }
        }
        let kept = Box(source.duplicate())
        return try await worker.run(until: deadline, leavesBehind: source.kind == .passphrase) {
            (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in
                try self.unlock(kept.value, circumstances, cancellation)
            }
        }
    }

    /// The settings, besides the key, for opening a vault.
    struct Circumstances: Sendable {
        let memory: RollbackMemory?
        let itemCheck: ItemCheck
        let now: @Sendable () -> UnixTime
    }

    /// Waits for nothing without a cancellation, and throws `busy` instead.
    private func unlock(
        _ source: borrowing VaultKeySource, _ circumstances: Circumstances, _ cancellation: Cancellation?
    ) throws(StoreError) -> VaultStore {
        // The user may have entered a passphrase since the file was opened.
        _ = try place.fileStatus(sameAs: file)
        if case .kernelKeyring = source.place {
            let keys = try KernelKeyring.vaultKeys(of: vault, table, cancellation)
            // Rekeyed since this key was tried: the next attempt says that the kernel's key is an old one.
            return try mapError(
                { (error: StoreError) in error.code == .wrongKey ? .rekeyedMeanwhile : error },
                of: open(keys, nil, circumstances, cancellation))
        }
        let reference = source.reference
        let kind = source.kind
        let present = try table.read(cancellation) { (view) throws(StoreError) in
            try KeySlot.all(in: view.records())
        }
        let slots = present.filter {
            $0.kind == kind && (reference == nil || reference?.slot == $0.head.id)
        }
        for slot in slots {
            try cancellation?.check()
            let secret = try source.slotSecret(cost: slot.cost, salt: slot.head.salt, vault: vault)
            let keys = SlotKeys(of: secret, vault: vault)
            guard let root = keys.open(slot.box, of: slot.head, vault: vault) else { continue }
            do throws(StoreError) {
                func open() throws(StoreError) -> VaultStore {
                    try self.open(
                        VaultKeys(root.duplicate(), vault: vault), .init(recordName: slot.recordName, keys: keys),
                        circumstances, cancellation)
                }
                // Argon2 isn't done again because a writer came in between.
                guard let cancellation else { return try open() }
                return try cancellation.retry(open)
            } catch  where error.code == .wrongKey {
                // The vault was rekeyed in the meantime. If this slot was replaced before, another slot may open it
                // now.
                let isThere = try table.read(cancellation) { (view) throws(StoreError) in
                    try view.record(slot.recordName) != nil
                }
                throw isThere ? error : .rekeyedMeanwhile
            }
        }
        throw .noSlotOpens(source.kind, source.name, tried: slots.count, among: present.map(\.kind))
    }

    /// Opens the vault with its keys.
    func open(
        _ keys: VaultKeys, _ slot: VaultStore.OpenedSlot?, _ circumstances: Circumstances,
        _ cancellation: Cancellation?
    ) throws(StoreError) -> VaultStore {
        let memory = try circumstances.memory.map { (memory) throws(StoreError) in
            try GenerationMemory(memory, vault: vault)
        }
        let store = try VaultStore(
            table: table, keys: keys, slot: slot, place: place, worker: worker, memory: memory,
            itemCheck: circumstances.itemCheck, cancellation, now: circumstances.now)
        if let cancellation, circumstances.memory?.onRollback == .accept {
            try store.markAcceptedCopy(cancellation)
        }
        return store
    }
}

extension VaultStore {
    /// Saves under the new origin of an accepted copy. Without that save, a later loss of the copy's changes, or the
    /// return of the abandoned copy, would not be refused.
    fileprivate func markAcceptedCopy(_ cancellation: Cancellation) throws(StoreError) {
        switch rollback {
        case .rolledBack, .unreadable: break
        default: return
        }
        try cancellation.retry { () throws(StoreError) in
            try commit(cancellation) { (_, change) throws(StoreError) in change.isSavedUnchanged = true }
        }
    }
}

/// A key slot, as anyone sees it who can read the file.
package struct KeySlotOutline: Sendable, Hashable {
    package let kind: KeySlotKind
    package let reference: KeySlotReference
    /// For a slot of a systemd credential: which one.
    package let systemCredential: SystemCredentialName?

    fileprivate init(_ slot: KeySlot, of vault: VaultID) {
        kind = slot.kind
        reference = KeySlotReference(vault: vault, slot: slot.head.id)
        systemCredential = slot.head.systemCredential
    }
}

extension KeySlot {
    /// The slots among a vault's records that this version can use.
    static func all(in records: [NamedRecord]) throws(StoreError) -> [KeySlot] {
        guard records.count <= Manifest.maximumRecordCount else { throw .vaultCorrupted("it has too many records") }
        var slots: [KeySlot] = []
        for record in records where record.name.hasPrefix(recordPrefix) {
            if let slot = try decode(record) { slots.append(slot) }
        }
        guard slots.count <= maximumCount else { throw .vaultCorrupted("it has too many key slots") }
        return slots
    }
}

extension VaultKeySource {
    /// The name for errors, because the person has to find the key file, which may have been set long ago.
    fileprivate var name: LogMessage {
        switch place {
        case .keyFile(let path): "the key file \(FileProblem.loggable(path))"
        case .systemCredential(let credential): "the systemd credential \(credential.name)"
        case .passphrase: "the passphrase"
        case .keptKey: "the key in the keyring"
        case .kernelKeyring: "the unlocked key"
        }
    }
}

extension StoreError {
    fileprivate static var rekeyedMeanwhile: StoreError {
        StoreError(.busy, "another process changed the vault's keys while it was opened")
    }

    fileprivate static func noSlotOpens(
        _ kind: KeySlotKind, _ source: LogMessage, tried count: Int, among kinds: [KeySlotKind]
    ) -> StoreError {
        if count == 0 {
            return .wrongKey(
                "the vault has no \(kind) slot",
                hint: "use a key that the vault has: \(LogMessage.joined(kinds.map { "\($0)" }))")
        }
        if kind == .passphrase, count == 1 { return .wrongKey("wrong passphrase", hint: hint(kind)) }
        return .wrongKey(
            count == 1
                ? "\(source) doesn't open the vault's \(kind) slot"
                : "\(source) opens none of the vault's \(count) \(kind) slots",
            hint: hint(kind))
    }

    private static func hint(_ kind: KeySlotKind) -> LogMessage {
        switch kind {
        case .passphrase: "check the passphrase, and try again"
        case .secretService: "open the vault with another key, and replace that slot"
        case .systemCredential: "start the unit with the credential that the slot was created with"
        default: "\(Recovery.chooseKeyFile)"
        }
    }
}
