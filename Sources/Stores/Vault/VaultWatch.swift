internal import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// The last known data of an item: enough to recognize the item, and to report its deletion.
struct ItemSighting: Sendable, Hashable {
    /// The beginning of what is sealed: its nonce, another one after each save.
    let nonce: Octets16
    /// `nil` if the row isn't an item.
    let collection: String?

    init(sealed: [UInt8], collection: String?) {
        nonce = Octets16(sealed)
        self.collection = collection
    }
}

/// The changes of a transaction: `nil` is a deletion.
struct OwnChanges: Sendable {
    var items: [ItemHandle: ItemSighting?] = [:]
    /// The record of collections, where it was changed, sealed.
    struct Collections: Sendable {
        let former: [UInt8]
        let present: [UInt8]
    }
    var collections: Collections?
}

/// Reports to listeners that this process or another changed a vault, and which items others changed.
///
/// Listeners to credentials learn that something changed, but not what, because names are encrypted. For listeners to
/// items, the watch searches a vault of up to 10,000 items after each change by others, and opens only new items. A
/// larger vault only reports that it changed.
final class VaultWatch: Sendable {
    private struct State {
        var credentials = Listeners<CredentialChange>(lost: CredentialChange(kind: .unknown, key: nil))
        var items = Listeners<ItemChange>(lost: .unknown, holding: 1024)
        var watch: (any ChangeWatch)?
        /// The vault that listeners to credentials know of.
        var generation: UInt64 = 0
        /// The vault that listeners to items know of.
        var seen = Sight()
    }

    /// The last seen state of the vault.
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

    deinit {
        let (credentials, items) = state.withLock { ($0.credentials, $0.items) }
        credentials.finish()
        items.finish()
    }

    // MARK: - Listening

    /// Throws the errors of `VaultPlace.watch` and of a read.
    func changes(of vault: VaultStore, deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        try await listen(to: vault, deadline) { (state) throws(StoreError) in
            state.generation = max(state.generation, try vault.generation())
            return state.credentials.listen { [weak self] number in self?.leave { $0.credentials.remove(number) } }
        }
    }

    /// The same.
    func itemChanges(of vault: VaultStore, deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        try await listen(to: vault, deadline) { (state) throws(StoreError) in
            if state.items.isEmpty {
                state.seen = Sight()
                _ = try Self.look(at: vault, &state.seen)
            }
            return state.items.listen { [weak self] number in self?.leave { $0.items.remove(number) } }
        }
    }

    private func listen<Change: Sendable>(
        to vault: VaultStore, _ deadline: Deadline,
        _ add: @escaping @Sendable (inout State) throws(StoreError) -> AsyncStream<Change>
    ) async throws(StoreError) -> AsyncStream<Change> {
        guard let place = vault.place else {
            throw StoreError(.unavailable, "no other process has this vault's table")
        }
        return try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
            try cancellation.retry { () throws(StoreError) in
                try self.state.withLock { (state) throws(StoreError) in
                    // The watch first, so that no change falls between the two.
                    if state.watch == nil {
                        state.watch = try place.watch(cancellation) { [weak self, weak vault] in
                            if let vault { self?.look(at: vault) }
                        }
                    }
                    return try add(&state)
                }
            }
        }
    }

    private func leave(_ remove: (inout State) -> Void) {
        state.withLock { state in
            remove(&state)
            if state.credentials.isEmpty && state.items.isEmpty { state.watch = nil }
        }
    }

    // MARK: - Own changes

    /// Runs a transaction whose changes aren't reported to listeners for items.
    func own<Result>(
        _ vault: VaultStore, _ body: (inout OwnChanges) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try state.withLock { (state) throws(StoreError) in
            var changes = OwnChanges()
            let result = try body(&changes)
            // If this transaction changed nothing, the newest change is another process's.
            guard !state.items.isEmpty, !changes.items.isEmpty || changes.collections != nil else { return result }
            let now = vault.known.withLock { $0 }
            for (handle, sighting) in changes.items { state.seen.items?[handle] = sighting }
            if let collections = changes.collections, collections.former == state.seen.collections {
                state.seen.collections = collections.present
            }
            // If others changed the vault in between, it must be searched anyway.
            if now.manifest.generation == state.seen.generation + 1 {
                state.seen.generation = now.manifest.generation
            }
            return result
        }
    }

    // MARK: - Looking

    /// Runs on the watch's thread: a write is seen before its commit, so this waits until the writer is done.
    private func look(at vault: VaultStore) {
        let waiting = Cancellation(.after(.seconds(30)))
        let result = Result { () throws(StoreError) in
            try waiting.retry { () throws(StoreError) in
                // Nothing is waited for under the lock, where this process's own changes wait.
                try state.withLock { (state) throws(StoreError) in
                    if !state.items.isEmpty {
                        for change in try Self.look(at: vault, &state.seen) { state.items.report(change) }
                    }
                    if state.credentials.isEmpty { return }
                    let generation = try vault.generation()
                    guard generation > state.generation else { return }
                    state.generation = generation
                    state.credentials.report(CredentialChange(kind: .unknown, key: nil))
                }
            }
        }
        // A vault that can no longer be read is a change too.
        if case .failure = result {
            state.withLock { state in
                state.credentials.report(CredentialChange(kind: .unknown, key: nil))
                state.items.report(.unknown)
            }
        }
    }

    /// Compares the vault with what was seen before, and takes what is there now for seen. Throws `busy` at once.
    private static func look(at vault: VaultStore, _ seen: inout Sight) throws(StoreError) -> [ItemChange] {
        let before = seen
        let found = try vault.current { (view, state) throws(StoreError) -> (sight: Sight, changes: [ItemChange]?)? in
            let collections = try view.record(CollectionsRecord.recordName) ?? []
            if state.manifest.generation == before.generation { return nil }
            var now = Sight(generation: state.manifest.generation, keys: state.keys.id, collections: collections)
            guard state.manifest.itemCount <= UInt64(ItemCheck.limit) else { return (now, nil) }
            let (items, changes) = try compare(view, before, state.keys)
            now.items = items
            let isKnown = before.items != nil && before.keys == now.keys && before.collections == collections
            return (now, isKnown && changes.count <= maximumChangeCount ? changes : nil)
        }
        guard let found else { return [] }
        seen = found.sight
        return found.changes ?? [.unknown]
    }

    /// More changes than this are reported as one.
    private static var maximumChangeCount: Int { 1000 }

    private static func compare(
        _ view: any RowView, _ before: Sight, _ keys: VaultKeys
    ) throws(StoreError) -> (items: [ItemHandle: ItemSighting], changes: [ItemChange]) {
        let isComparable = before.keys == keys.id && before.items != nil
        var gone = isComparable ? before.items ?? [:] : [:]
        var items: [ItemHandle: ItemSighting] = [:]
        var changes: [ItemChange] = []
        try view.forEachItem { (heading) throws(StoreError) in
            let handle = ItemHandle(of: heading.lookup)
            let old = gone.removeValue(forKey: handle)
            if let old, old.nonce == Octets16(heading.metadata) {
                items[handle] = old
                return
            }
            let collection = try VaultStore.collection(of: heading, keys)
            items[handle] = ItemSighting(sealed: heading.metadata, collection: collection)
            guard isComparable, changes.count <= maximumChangeCount,
                let item = try VaultStore.row(heading, keys).item
            else { return }
            changes.append(old == nil ? .created(item) : .changed(item))
        }
        for (handle, sighting) in gone {
            if let collection = sighting.collection { changes.append(.deleted(.vault(handle), collection: collection)) }
        }
        return (items, changes)
    }
}
