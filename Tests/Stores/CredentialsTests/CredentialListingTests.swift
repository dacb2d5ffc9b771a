import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets
import Testing

@Suite struct CredentialListingTests {
    static func accounts(_ pages: [[String]?]) async throws -> [String] {
        var accounts: [String] = []
        for try await entry in PagedStore(pages: pages).list() { accounts.append(entry.key.account) }
        return accounts
    }

    @Test func `pages come one after the other`() async throws {
        #expect(try await Self.accounts([["a", "b"], ["c"], ["d", "e", "f"]]) == ["a", "b", "c", "d", "e", "f"])
        #expect(try await PagedStore(pages: [["a"], ["b"]]).list().all().map(\.key.account) == ["a", "b"])
    }

    @Test func `an empty page doesn't end the listing`() async throws {
        #expect(try await Self.accounts([[], ["a"], [], [], ["b"], []]) == ["a", "b"])
        #expect(try await Self.accounts([]).isEmpty)
        #expect(try await Self.accounts([[]]).isEmpty)
    }

    @Test func `a page that fails ends the listing with its error, after the earlier pages`() async throws {
        var iterator = PagedStore(pages: [["a", "b"], nil, ["c"]]).list().makeAsyncIterator()
        #expect(try await iterator.next()?.key.account == "a")
        #expect(try await iterator.next()?.key.account == "b")
        await #expect(throws: StoreError.self) { _ = try await iterator.next() }
    }

    @Test func `a listing of pages without entries can be cancelled, and ends at its deadline`() async throws {
        let endless = PagedStore(pages: Array(repeating: [], count: 1000))
        let interrupted = PagedStore(pages: endless.pages, cancelledAt: 3)
        let task = Task { try await interrupted.list().all().count }
        let cancelled = await #expect(throws: StoreError.self) { _ = try await task.value }
        #expect(cancelled?.code == .cancelled)
        let late = await #expect(throws: StoreError.self) {
            _ = try await endless.list(deadline: .after(.zero)).all()
        }
        #expect(late?.code == .timedOut)
    }

    @Test func `the listing passes the service on to each page`() async throws {
        let entries = try await PagedStore(pages: [["a"], ["b"]]).list(service: "github").all()
        #expect(entries.map(\.key.service) == ["github", "github"])
    }

    @Test func `the listing stays at its end`() async throws {
        var iterator = PagedStore(pages: [["a"]]).list().makeAsyncIterator()
        _ = try await iterator.next()
        for _ in 0..<3 { #expect(try await iterator.next() == nil) }
    }
}

/// A store that has pages of metadata and nothing else.
struct PagedStore: CredentialStore {
    let identity = StoreIdentity(backend: "paged", location: "test")
    let capabilities = StoreCapabilities(
        isPersistent: false, canLock: false, reportsChanges: false, hasAtomicConditions: false,
        hasVersionsInListing: false, maximumSecretByteCount: 0)
    /// A page each; the cursor is the page's number. `nil` throws.
    let pages: [[String]?]
    /// The page at which the task that asks is cancelled.
    var cancelledAt: Int?

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
        let number = cursor.flatMap { Int(String(decoding: $0.bytes, as: UTF8.self)) } ?? 0
        if number == cancelledAt { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        guard number < pages.count else { return ListingPage(entries: [], next: nil) }
        guard let accounts = pages[number] else { throw StoreError(.corrupted, "page \(number) is damaged") }
        var entries: [CredentialMetadata] = []
        for account in accounts {
            guard let key = try? CredentialKey(service: service ?? "any", account: account) else { continue }
            entries.append(
                CredentialMetadata(
                    key: key, label: "", created: UnixTime(seconds: 0), modified: UnixTime(seconds: 0), version: nil))
        }
        let next = number + 1 < pages.count ? ListingCursor(bytes: Array("\(number + 1)".utf8)) : nil
        return ListingPage(entries: entries, next: next)
    }
}
