package import LatchkeyCredentials
internal import LatchkeySystem

/// What a vault's file shows without a key: which ways there are to open it.
package struct VaultOutline: Sendable, Hashable {
    let vault: VaultID
    /// In the order of the file; without slots of kinds that are unknown here.
    package let slots: [KeySlotOutline]
    /// Of its file; `nil` in a database.
    package let byteCount: Int?

    /// The vault's id in hexadecimal digits: it stays when the file is moved, and is no secret.
    package var identifier: String { Hexadecimal.encode(vault.bytes) }
}

/// A key slot, as anyone sees it who can read the file.
package struct KeySlotOutline: Sendable, Hashable {
    package let kind: KeySlotKind
    package let reference: KeySlotReference
    /// For a slot of a systemd credential: which one.
    package let systemCredential: SystemCredentialName?
}

extension VaultStore {
    /// Reads what a vault's file shows without a key. Asks no questions and changes nothing.
    ///
    /// Throws what keeps the vault from being opened that can be seen that way: `unavailable`, `permissionDenied`,
    /// `corrupted`, `unsupported`; and `timedOut` when another process keeps it busy.
    package static func outline(
        at path: String, for use: VaultUse = .daily, deadline: Deadline = .standard
    ) async throws(StoreError) -> VaultOutline {
        if let outline = try nilIf(\StoreError.isBusy, of: outlineNow(path, use, deadline)) { return outline }
        // A process is writing: wait where waiting takes no thread of the caller's.
        return try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in try outlineNow(path, use, deadline) }
        }
    }

    /// Throws what keeps a vault from being opened that can be seen without its key: no file, wrong owner or mode, a
    /// damaged or newer file. Asks no questions and changes nothing.
    package static func probe(at path: String, for use: VaultUse = .daily) throws(StoreError) {
        // While a process is writing to it, there is a vault.
        _ = try nilIf(\StoreError.isBusy, of: outlineNow(path, use, .standard))
    }

    /// Throws what would keep a vault from being made or exported there, as far as it can be known before: a path that
    /// is taken, or a directory that others can change or this user can't. Changes nothing.
    package static func checkPlace(forNewVaultAt path: String, for use: VaultUse) throws(StoreError) {
        if PostgreSQLAddress.isAddress(path) {
            let cancellation = Cancellation(.standard)
            let table = try PostgreSQLRowTable(PostgreSQLAddress(path), cancellation)
            guard try table.isEmpty(cancellation) else { throw .vaultExists }
        } else {
            try VaultPath.checkNew(path, for: use)
        }
    }

    private static func outlineNow(
        _ path: String, _ use: VaultUse, _ deadline: Deadline
    ) throws(StoreError) -> VaultOutline {
        let place = try VaultPlace.existing(path, for: use)
        var byteCount: Int?
        if case .file(let path) = place { byteCount = try path.status().byteCount }
        let cancellation = Cancellation(deadline)
        return try place.table(cancellation).read(cancellation) { (view) throws(StoreError) in
            let vault = try IdentityRecord.decode(view.record(IdentityRecord.recordName))
            let slots = try KeySlot.all(in: view.records()).map {
                KeySlotOutline(
                    kind: $0.kind, reference: KeySlotReference(vault: vault, slot: $0.head.id),
                    systemCredential: $0.head.systemCredential)
            }
            return VaultOutline(vault: vault, slots: slots, byteCount: byteCount)
        }
    }
}
