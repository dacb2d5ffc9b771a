import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets

/// A store that has pages of metadata and nothing else.
struct PagedStore: CredentialStore {
    let identity = StoreIdentity(backend: "paged", location: "test")
    let capabilities = StoreCapabilities(
        isPersistent: false, canLock: false, reportsChanges: false, hasAtomicConditions: false,
        hasVersionsInListing: false, maximumSecretByteCount: 0)
    /// A page each; the cursor is the page's number. `nil` throws.
    let pages: [[String]?]

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        throw StoreError(.tooLarge, "nothing is kept")
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? { nil }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool { false }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        let number = cursor.map { Int($0.bytes[0]) } ?? 0
        guard number < pages.count else { return ListingPage(entries: [], next: nil) }
        guard let accounts = pages[number] else { throw StoreError(.corrupted, "page \(number) is damaged") }
        var entries: [CredentialMetadata] = []
        for account in accounts {
            guard let key = try? CredentialKey(service: service ?? "any", account: account) else { continue }
            entries.append(
                CredentialMetadata(
                    key: key, label: "", created: UnixTime(seconds: 0), modified: UnixTime(seconds: 0), version: nil))
        }
        let next = number + 1 < pages.count ? ListingCursor(bytes: [UInt8(number + 1)]) : nil
        return ListingPage(entries: entries, next: next)
    }
}
