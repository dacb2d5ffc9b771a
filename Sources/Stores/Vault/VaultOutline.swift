package import LatchkeyCredentials
internal import LatchkeySystem

/// What a vault's file shows without a key: which ways there are to open it.
package struct VaultOutline: Sendable, Hashable {
    let vault: VaultID
    /// In the order of the file; without slots of kinds that are unknown here.
    package let slots: [KeySlotOutline]
}

/// A key slot, as anyone sees it who can read the file.
package struct KeySlotOutline: Sendable, Hashable {
    package let kind: KeySlotKind
    package let reference: KeySlotReference
    /// For a slot of a systemd credential: which one.
    package let systemCredential: SystemCredentialName?
}

extension VaultStore {
    /// Reads what a vault's file shows without a key. Asks nobody anything and changes nothing.
    ///
    /// Throws what keeps the vault from being opened that can be seen that way: `unavailable`, `permissionDenied`,
    /// `corrupted`, `unsupported`; and `timedOut` when another process keeps it busy.
    package static func outline(
        at path: String, deadline: Deadline = .standard
    ) async throws(StoreError) -> VaultOutline {
        if let outline = try nilIf(\StoreError.isBusy, of: outlineNow(path)) { return outline }
        // A process is writing: wait where waiting takes no thread of the caller's.
        return try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in try outlineNow(path) }
        }
    }

    /// Throws what keeps a vault from being opened that can be seen without its key: no file, wrong owner or mode, a
    /// damaged or newer file. Asks nobody anything and changes nothing.
    package static func probe(at path: String) throws(StoreError) {
        // While a process is writing to it, there is a vault.
        _ = try nilIf(\StoreError.isBusy, of: outlineNow(path))
    }

    private static func outlineNow(_ path: String) throws(StoreError) -> VaultOutline {
        let place = try VaultPath.existing(path)
        let table = try SQLiteRowTable(path: place.file)
        return try table.read { (view) throws(StoreError) in
            let vault = try IdentityRecord.decode(view.record(IdentityRecord.recordName))
            let slots = try KeySlot.all(in: view.records()).map {
                KeySlotOutline(
                    kind: $0.kind, reference: KeySlotReference(vault: vault, slot: $0.head.id),
                    systemCredential: $0.head.systemCredential)
            }
            return VaultOutline(vault: vault, slots: slots)
        }
    }
}
