internal import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// An item as it was last seen: enough to know it again, and to say which one is gone.
struct ItemSighting: Sendable, Hashable {
    /// The beginning of what is sealed: its nonce, another one after each save.
    let nonce: Octets16
    /// `nil` for what is no item.
    let collection: String?

    init(sealed: [UInt8], collection: String?) {
        nonce = Octets16(sealed)
        self.collection = collection
    }
}

/// What a transaction of this process's own changed: `nil` is gone.
struct OwnChanges: Sendable {
    var items: [ItemHandle: ItemSighting?] = [:]
    /// The record of collections, where it was changed, sealed.
    struct Collections: Sendable {
        let former: [UInt8]
        let present: [UInt8]
    }
    var collections: Collections?
}

/// Tells listeners which items others change.
///
/// A vault of up to 10,000 items is gone through after each change by others, and only what is new is opened; of a
/// larger one it can only be told that it changed.
final class ItemObserver: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<ItemChange>.Continuation] = [:]
        var nextNumber: UInt64 = 0
        var watch: (any ChangeWatch)?
        var seen = Sight()
    }

    /// The vault as it was last seen.
    private struct Sight {
        var generation: UInt64 = 0
        var keys: [UInt8] = []
        /// The record, sealed.
        var collections: [UInt8] = []
        /// `nil`: there are too many.
        var items: [ItemHandle: ItemSighting]?
    }

    /// Held while this process changes items, so that its own changes are never taken for another's.
    private let state = Mutex(State())
    private let vault: VaultStore

    init(_ vault: VaultStore) {
        self.vault = vault
    }

    deinit {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners.values { listener.finish() }
    }

    /// Throws what `VaultPlace.watch` throws, and what a read thvault.
    func listen(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: ItemChange.self)
        let number = try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in try self.add(continuation, cancellation) }
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in
                state.listeners[number] = nil
                if state.listeners.isEmpty { state.watch = nil }
            }
        }
        return stream
    }

    private func add(
        _ listener: AsyncStream<ItemChange>.Continuation, _ cancellation: Cancellation
    ) throws(StoreError) -> UInt64 {
        try state.withLock { (state) throws(StoreError) in
            // The watch first, so that no change falls between the two.
            if state.watch == nil {
                guard let place = vault.place else {
                    throw StoreError(.unavailable, "no other process has this vault's table")
                }
                state.watch = try place.watch(cancellation) { [weak self] in self?.look() }
            }
            if state.listeners.isEmpty {
                state.seen = Sight()
                _ = try look(&state.seen)
            }
            state.nextNumber += 1
            state.listeners[state.nextNumber] = listener
            return state.nextNumber
        }
    }

    // MARK: - Own changes

    /// Runs a transaction whose changes nobody is told of.
    func own<Result>(_ body: (inout OwnChanges) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try state.withLock { (state) throws(StoreError) in
            var changes = OwnChanges()
            let result = try body(&changes)
            guard !state.listeners.isEmpty else { return result }
            let now = vault.known.withLock { $0 }
            for (handle, sighting) in changes.items { state.seen.items?[handle] = sighting }
            if let collections = changes.collections, collections.former == state.seen.collections {
                state.seen.collections = collections.present
            }
            // With others' changes in between it is to be gone through all the same.
            if now.manifest.generation == state.seen.generation + 1 {
                state.seen.generation = now.manifest.generation
            }
            return result
        }
    }

    // MARK: - Looking

    /// On the watch's thread: a write is seen before its commit, so this waits for the writer to let go.
    private func look() {
        let waiting = Cancellation(.after(.seconds(30)))
        let result = Result { () throws(StoreError) in
            try waiting.retry { () throws(StoreError) in
                // Nothing is waited for under the lock, where this process's own changes wait.
                try state.withLock { (state) throws(StoreError) in
                    if state.listeners.isEmpty { return }
                    let changes = try look(&state.seen)
                    for listener in state.listeners.values { for change in changes { listener.yield(change) } }
                }
            }
        }
        // A vault that can't be read any more is a change too.
        if case .failure = result {
            for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(.unknown) }
        }
    }

    /// Compares the vault with what was seen before, and takes what is there now for seen. Throws `busy` at once.
    private func look(_ seen: inout Sight) throws(StoreError) -> [ItemChange] {
        let before = seen
        let found = try vault.current { (view, state) throws(StoreError) -> (sight: Sight, changes: [ItemChange]?)? in
            let collections = try view.record(CollectionsRecord.recordName) ?? []
            if state.manifest.generation == before.generation { return nil }
            var now = Sight(generation: state.manifest.generation, keys: state.keys.id, collections: collections)
            guard state.manifest.itemCount <= UInt64(ItemCheck.limit) else { return (now, nil) }
            let (items, changes) = try Self.compare(view, before, state.keys)
            now.items = items
            let isKnown = before.items != nil && before.keys == now.keys && before.collections == collections
            return (now, isKnown && changes.count <= Self.maximumChangeCount ? changes : nil)
        }
        guard let found else { return [] }
        seen = found.sight
        return found.changes ?? [.unknown]
    }

    /// What is more is told as one.
    private static var maximumChangeCount: Int { 1000 }

    private static func compare(
        _ view: any RowView, _ before: Sight, _ keys: VaultKeys
    ) throws(StoreError) -> (items: [ItemHandle: ItemSighting], changes: [ItemChange]) {
        let isComparable = before.keys == keys.id && before.items != nil
        var gone = isComparable ? before.items ?? [:] : [:]
        var items: [ItemHandle: ItemSighting] = [:]
        var changes: [ItemChange] = []
        var last: Int64?
        while true {
            let headings = try view.items(after: last, limit: 250)
            if headings.isEmpty { break }
            for heading in headings {
                let handle = ItemHandle(of: heading.lookup)
                let old = gone.removeValue(forKey: handle)
                if let old, old.nonce == Octets16(heading.metadata) {
                    items[handle] = old
                    continue
                }
                let collection = try VaultStore.collection(of: heading, keys)
                items[handle] = ItemSighting(sealed: heading.metadata, collection: collection)
                guard isComparable, changes.count <= maximumChangeCount,
                    let item = try VaultStore.openMetadata(heading, keys).storedItem(at: heading.lookup)
                else { continue }
                changes.append(old == nil ? .created(item) : .changed(item))
            }
            last = headings.last?.place
        }
        for (handle, sighting) in gone {
            if let collection = sighting.collection { changes.append(.deleted(.vault(handle), collection: collection)) }
        }
        return (items, changes)
    }
}
