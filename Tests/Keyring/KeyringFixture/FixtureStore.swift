internal import LatchkeyCredentials
internal import LatchkeyKeyringService
internal import LatchkeyLog
internal import LatchkeySecrets
internal import Synchronization

/// Items in memory that can be locked, refuse to be written, or be changed as by another process: as the test says on
/// standard input.
final class FixtureStore: CollectionStore {
    let items: InMemoryStore
    private struct State {
        var isLocked = false
        var isReadOnly = false
        var listener: AsyncStream<ItemChange>.Continuation?
    }
    private let state = Mutex(State())

    init(_ items: InMemoryStore) { self.items = items }

    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }
    func forbidWriting() { state.withLock { $0.isReadOnly = true } }

    /// What another process did.
    func tell(_ change: ItemChange) { state.withLock { _ = $0.listener?.yield(change) } }

    private func check(writing: Bool = false) throws(StoreError) {
        let (isLocked, isReadOnly) = state.withLock { ($0.isLocked, $0.isReadOnly) }
        if isLocked { throw .fixtureIsLocked }
        if writing, isReadOnly { throw StoreError(.permissionDenied, "this view can only be read") }
    }

    func itemChanges(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: ItemChange.self)
        state.withLock { $0.listener = continuation }
        return stream
    }

    // MARK: - Passed on

    func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection] {
        try check()
        return try await items.collections(deadline: deadline)
    }

    func createCollection(
        label: String, alias: String?, named name: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        try check(writing: true)
        return try await items.createCollection(label: label, alias: alias, named: name, deadline: deadline)
    }

    func setLabel(_ label: String, ofCollection name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try check(writing: true)
        return try await items.setLabel(label, ofCollection: name, deadline: deadline)
    }

    func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool {
        try check(writing: true)
        return try await items.deleteCollection(name, deadline: deadline)
    }

    func setAlias(_ alias: String, to collection: String?, deadline: Deadline) async throws(StoreError) -> Bool {
        try check(writing: true)
        return try await items.setAlias(alias, to: collection, deadline: deadline)
    }

    func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID] {
        try check()
        return try await items.items(in: collection, deadline: deadline)
    }

    func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [Item] {
        try check()
        return try await items.search(attributes, in: collection, deadline: deadline)
    }

    func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> Item? {
        try check()
        return try await items.item(id, deadline: deadline)
    }

    func read<Purpose: SecretPurpose>(
        _ id: ItemID, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> ItemRecord<Purpose>? {
        try check()
        return try await items.read(id, as: purpose, deadline: deadline)
    }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool)? {
        try check(writing: true)
        return try await items.save(secret, draft, deadline: deadline)
    }

    func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        try check(writing: true)
        return try await items.update(id, label: label, attributes: attributes, deadline: deadline)
    }

    func delete(
        _ id: ItemID, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        try check(writing: true)
        return try await items.delete(id, condition: condition, deadline: deadline)
    }

    var rowCount: Int { items.rowCount }

    func unnamedItems(deadline: Deadline) async throws(StoreError) -> [Item] {
        try check()
        return try await items.unnamedItems(deadline: deadline)
    }

    // MARK: - Credentials, for which the service never asks

    var identity: StoreIdentity { items.identity }
    var capabilities: StoreCapabilities { items.capabilities }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion { throw .fixtureHasNoNames }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? { throw .fixtureHasNoNames }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool { throw .fixtureHasNoNames }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage { throw .fixtureHasNoNames }
}

extension StoreError {
    static let fixtureHasNoNames = StoreError(.unsupported, "nothing asks a served store for a credential by its name")
    static let fixtureIsLocked = StoreError(.locked, "the vault is locked", hint: "\(Recovery.unlockVault)")
}

/// Opens it: by itself while a key slot is there, else with the passphrase.
final class FixtureSource: KeyringSource {
    static let passphrase = "open sesame"

    let store: FixtureStore
    private let hasSlot: Mutex<Bool>

    init(_ store: FixtureStore, hasSlot: Bool) {
        self.store = store
        self.hasSlot = Mutex(hasSlot)
        store.isLocked = !hasSlot
    }

    func setSlot(_ isThere: Bool) { hasSlot.withLock { $0 = isThere } }

    func open(deadline: Deadline) async throws(StoreError) -> ServedItems {
        guard hasSlot.withLock({ $0 }) else { throw .fixtureIsLocked }
        store.isLocked = false
        return ServedItems(store)
    }

    func open(
        with passphrase: borrowing Secret<Passphrase>, deadline: Deadline
    ) async throws(StoreError) -> ServedItems {
        guard passphrase.matches(Self.passphrase.utf8.span) else {
            throw StoreError(.wrongKey, "the passphrase is wrong")
        }
        store.isLocked = false
        return ServedItems(store)
    }

    func close() async -> Bool {
        if hasSlot.withLock({ $0 }) { return false }
        store.isLocked = true
        return true
    }
}

/// Says who read what, and who was refused, a line each.
struct FixtureObserver: ReadObserver {
    func didRead(_ item: Item, by client: KeyringClient) {
        say("read \(item.label) \(client.executable ?? "-") \(client.processID ?? 0)")
    }
    func didRefuse(_ client: KeyringClient) { say("refused \(client.executable ?? "-")") }
}
