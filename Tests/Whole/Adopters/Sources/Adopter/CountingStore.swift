public import Latchkey

/// A store of one's own.
public struct CountingStore: CredentialStore {
    let next: any CredentialStore
    let count: @Sendable () -> Void

    public init(next: any CredentialStore, count: @escaping @Sendable () -> Void) {
        self.next = next
        self.count = count
    }

    public var identity: StoreIdentity { StoreIdentity(backend: "counting", location: next.identity.location) }

    public var capabilities: StoreCapabilities {
        var mine = next.capabilities
        mine.reportsChanges = false
        return mine
    }

    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        count()
        return try await next.save(secret, for: key, options: options, deadline: deadline)
    }

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try await next.read(key, as: purpose, deadline: deadline)
    }

    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try await next.delete(key, condition: condition, deadline: deadline)
    }

    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await next.page(service: service, after: cursor, deadline: deadline)
    }
}
