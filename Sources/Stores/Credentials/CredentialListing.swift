/// A place in a listing, as its store made it.
public struct ListingCursor: Sendable, Hashable {
    /// Opaque to all but the store that made it; no secret.
    public let bytes: [UInt8]

    /// For a store's own `page(service:after:deadline:)`; nothing is checked.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Some of a listing, and where to go on.
public struct ListingPage: Sendable {
    /// The entries, which may be empty before the end: only `next` tells whether there are more.
    public let entries: [CredentialMetadata]
    /// `nil` at the end.
    public let next: ListingCursor?

    /// For a store's own `page(service:after:deadline:)`, whose order must be the same for each call.
    public init(entries: [CredentialMetadata], next: ListingCursor?) {
        self.entries = entries
        self.next = next
    }
}

/// The metadata of a store's credentials as an asynchronous sequence, read page by page.
public struct CredentialListing: AsyncSequence, Sendable {
    let store: any CredentialStore
    let service: String?
    let deadline: Deadline

    public func makeAsyncIterator() -> Iterator { Iterator(listing: self) }

    /// Reads everything into an array, each key once: of what was changed and so came twice, the later state.
    ///
    /// Throws what a page throws.
    public func all() async throws(StoreError) -> [CredentialMetadata] {
        var result: [CredentialMetadata] = []
        var places: [CredentialKey: Int] = [:]
        var iterator = makeAsyncIterator()
        while let entry = try await iterator.next() {
            if let place = places[entry.key] {
                result[place] = entry
            } else {
                places[entry.key] = result.count
                result.append(entry)
            }
        }
        return result
    }

    /// Holds one page at a time. A credential that changes during the iteration may appear twice; ``all()`` keeps the
    /// later one.
    public struct Iterator: AsyncIteratorProtocol {
        let listing: CredentialListing
        var page: ArraySlice<CredentialMetadata> = []
        var cursor: ListingCursor?
        var isAtEnd = false

        init(listing: CredentialListing) {
            self.listing = listing
        }

        public mutating func next() async throws(StoreError) -> CredentialMetadata? {
            try await next(isolation: #isolation)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StoreError) -> CredentialMetadata? {
            while page.isEmpty && !isAtEnd {
                // Pages can be empty.
                if Task.isCancelled { throw .cancelled }
                if listing.deadline.hasPassed { throw .timedOut }
                let fetched = try await listing.store.page(
                    service: listing.service, after: cursor, deadline: listing.deadline)
                page = fetched.entries[...]
                cursor = fetched.next
                isAtEnd = fetched.next == nil
            }
            return page.popFirst()
        }
    }
}
