public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeySecrets

/// Keeps credentials in one encrypted file, or as sealed rows in a PostgreSQL database that several hosts share.
///
/// Neither shows a name, attribute, label, time or secret without the key; sizes are padded. A wrong key, a truncated
/// file or a flipped bit gives a typed error and changes nothing. Any number of processes may use it at once. A save
/// that returned is there after a power failure. The format is in Docs/Formats/vault-v1.md.
///
/// Reads of a file run on the calling thread and take microseconds; what waits runs on threads of the store's own: writes,
/// a read while others write or after they have changed the vault, and everything that asks a database.
public final class VaultStore: CredentialStore {
    let rows: SealedStore<VaultTable>
    let place: VaultPlace
    private let reporter: ChangeReporter

    init(rows: SealedStore<VaultTable>, place: VaultPlace) {
        self.rows = rows
        self.place = place
        reporter = ChangeReporter(rows: rows, place: place)
    }

    /// `vault` and the file's canonical path, or the database's URI without the user's name.
    public var identity: StoreIdentity { rows.identity }

    /// The vault's id, as `LockedVault.identifier`.
    package var identifier: String { rows.keys.vault.identifier }

    /// What the `RollbackMemory` said when the vault was opened.
    package var rollback: RollbackCheck { rows.rollback }

    public var capabilities: StoreCapabilities {
        var capabilities = rows.capabilities
        capabilities.reportsChanges = true
        return capabilities
    }

    @discardableResult
    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try await rows.save(secret, for: key, options: options, deadline: deadline)
    }

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        // Not through the generic read: from here on everything is one type, and the compiler makes it fast.
        try await rows.item(key, deadline: deadline)?.record(of: key, as: purpose)
    }

    @discardableResult
    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await rows.delete(key, condition: condition, deadline: deadline)
    }

    /// Pages come in the order of keyed hashes. Of one service: all names are opened to find it, page by page, and a
    /// page may be empty before the end. When the vault is rekeyed meanwhile nothing is missed, but a credential may
    /// come twice.
    ///
    /// Throws `corrupted` for a name that doesn't open, `wrongKey` when the vault was rekeyed and this key is no slot
    /// of it any more.
    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await rows.page(service: service, after: cursor, deadline: deadline)
    }

    /// Each change by anyone, in this process or another, as `.unknown` without a key; several in short order may come
    /// as one. The stream ends with the store. Throws `unavailable` when the system has no watch on files left, and
    /// `unsupported` behind a pool of a database's connections.
    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        try await reporter.listen(deadline: deadline)
    }
}
