public import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeySecrets

extension SecretServiceStore: CredentialStore {
    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        guard secret.byteCount <= Self.maximumSecretByteCount else {
            throw StoreError(
                .tooLarge,
                "the secret has \(secret.byteCount) bytes; a keyring takes \(Self.maximumSecretByteCount)")
        }
        guard options.label?.utf8.contains(0) != true else {
            throw StoreError(.unsupported, "a label in the keyring can't contain a NUL", hint: "leave it out")
        }
        return try await collection.save(secret, for: key, options, deadline)
    }

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try await collection.read(key, as: purpose, deadline)
    }

    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await collection.delete(key, condition, deadline)
    }

    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        ListingPage(entries: try await collection.list(service: service, deadline), next: nil)
    }

    public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        try await collection.changes(deadline)
    }

    /// In the user's directory, for the keyring on this bus alone.
    ///
    /// Throws `unavailable` where there is no bus.
    public func leases(
        in directory: LeaseDirectory, deadline: Deadline
    ) async throws(StoreError) -> LeaseDirectory {
        directory.scoped(by: try await KeyringConnection.shared.busIdentifier(deadline))
    }

    public func lock(deadline: Deadline) async throws(StoreError) {
        try await collection.lock(deadline)
    }

    /// Unlocks the collection; the desktop asks for its password. Throws `locked` when the store may not prompt.
    public func unlock(deadline: Deadline) async throws(StoreError) {
        try await collection.unlock(deadline)
    }

    /// Returns how things are, or throws why the store can't be used: no bus, no service, no such collection.
    ///
    /// It asks no questions. That the collection is locked is no error.
    package func state(deadline: Deadline) async throws(StoreError) -> SecretServiceState {
        try await collection.state(deadline)
    }

    /// Returns what is known of the service and of the store's collection, or throws why the service can't be used:
    /// no bus, no service. That the collection is locked or missing is no error. It asks no questions.
    package func report(deadline: Deadline) async throws(StoreError) -> SecretServiceReport {
        try await collection.report(deadline)
    }

    /// Returns whether a program offers the service, as the bus knows. No service is called, and nothing is started.
    ///
    /// Throws `unavailable` when there is no session bus, or no libsecret to reach it with, and `timedOut` when it
    /// doesn't respond.
    package static func presence(deadline: Deadline) async throws(StoreError) -> SecretServicePresence {
        try await KeyringConnection.shared.presence(deadline)
    }

    // MARK: - Duplicates

    /// Returns the keys under which there are several items, in the order of a listing. It changes nothing.
    ///
    /// - Parameter service: only keys of this service; `nil` looks at everything.
    package func duplicates(
        service: String? = nil, deadline: Deadline = .standard
    ) async throws(StoreError) -> [DuplicateItems] {
        try await collection.duplicates(service: service, deadline)
    }

    /// Deletes items under a key that another item makes superfluous: one with the same secret that is found by
    /// everybody who finds them, because it has all their attributes. Each is read back before one is deleted.
    ///
    /// Items that different programs find by different attributes all stay.
    ///
    /// - Parameter discardingOlderSecrets: also where the secrets differ: the one that is read is written to all
    ///   items that stay, and the others are lost. Without it, items with another secret are left alone.
    package func repairDuplicates(
        of key: CredentialKey, discardingOlderSecrets: Bool = false, deadline: Deadline = .standard
    ) async throws(StoreError) -> DuplicateRepair {
        try await collection.repairDuplicates(of: key, losingOlder: discardingOlderSecrets, deadline)
    }

    var collection: KeyringCollection { KeyringCollection(self) }
}
