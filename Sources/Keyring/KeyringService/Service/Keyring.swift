internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

/// The state of the service, and the actions of each call. Only the service's worker uses it.
final class Keyring {
    let configuration: KeyringConfiguration
    let bus: BusConnection
    let queue: FairQueue<Work>

    /// The store while it is open.
    var vault: (ServedItems)?
    /// Counts the openings of the store, so that news of an earlier one is known as such.
    var opening = 0
    var changes: Task<Void, Never>?
    /// Why the vault didn't open in this call: an attempt may take seconds, and a call may ask for each of its paths.
    private var refusal: BusFault?
    /// Its collections, as last seen; before it was opened once, the one that it has for certain.
    var vaultCollections = [Keyring.firstCollection]
    /// Whether clients may have seen the vault as locked, so that they need a signal after it is unlocked.
    private var wasShownLocked = false
    /// Collections that clients locked.
    var lockedNames: Set<String>
    /// How many items a collection has, where that is known.
    var itemCounts: [String: Int] = [:]

    /// The items in memory, which the end of the service deletes.
    let sessionItems: ServedItems

    var sessions: [String: ClientSession] = [:]
    var prompts: [String: KeyringPrompt] = [:]
    /// Connections that ask their persons, the last one first asked.
    var agents: [String] = []
    /// Connections that a person refused the passphrase: their searches don't ask again.
    var refusedClients: Set<String> = []
    /// Connections whose program is in the log, because it got an error while the vault was locked.
    var loggedClients: Set<String> = []
    /// The data about connections that have read an item.
    var readers: [String: KeyringClient] = [:]
    /// How many bytes of responses each connection was sent since the bus was last asked whether it reads them.
    private var sentByteCounts: [String: Int] = [:]
    /// Of what the calls have read that go on in a later turn.
    var unfinishedByteCount = 0
    var lastPromptNumber = 0

    /// Of the call that is being done.
    var deadline = Deadline.standard
    var sender = ""
    var hasWaited = false
    /// How much of GDBus's buffer is to be overwritten.
    private var secretByteCount = 0
    /// Signals that follow the response.
    var afterReply: [() -> Void] = []

    /// The first collection of a locked vault, at the path that go-keyring looks for.
    static let firstCollection = ItemCollection(
        name: "login", label: "Latchkey", aliases: ["default", "login"], created: UnixTime(seconds: 0),
        modified: UnixTime(seconds: 0))
    static let sessionCollection = "session"

    /// Of one connection: Python's SecretStorage opens one for each collection, and leaves it open.
    static let maximumSessionCount = 1024
    static let maximumTotalSessionCount = 16_384
    static let maximumPromptCount = 64
    /// How many items and collections one call may name.
    static let maximumPathCount = 20_000
    /// How many the prompts of one connection may wait for.
    static let maximumWaitingPathCount = 40_000
    /// The limits of our unread bytes, of one client and of all. Beyond its own limit a bus stops reading (dbus-daemon(1),
    /// `max_incoming_bytes`).
    private static let maximumUnreadByteCount = 16 << 20
    private static let maximumTotalUnreadByteCount = 96 << 20
    /// The limit for a client and for a response while all together are above theirs.
    private static let scarceByteCount = 64 << 10

    init(
        _ configuration: KeyringConfiguration, sessionItems: ServedItems, _ bus: BusConnection,
        _ queue: FairQueue<Work>
    ) {
        self.configuration = configuration
        self.bus = bus
        self.queue = queue
        lockedNames = configuration.lockedAtFirst
        self.sessionItems = sessionItems
    }

    /// The collection `session`. Whoever may write to it shares the memory of this process.
    static func makeSessionItems() throws(StoreError) -> ServedItems {
        let now = UnixTime.now()
        let collection = ItemCollection(
            name: sessionCollection, label: "Session", aliases: [sessionCollection], created: now, modified: now)
        return ServedItems(
            try InMemoryStore(
                collections: [collection], limits: InMemoryStore.Limits(itemCount: 10_000, byteCount: 64 << 20)))
    }

    func end() { changes?.cancel() }

    func perform(_ work: Work) async {
        deadline = .after(configuration.callDuration)
        refusal = nil
        if isFull { await bus.askForUnreadByteCount() }
        switch work {
        case .call(let call, let waited):
            (sender, hasWaited) = (call.sender, waited)
            secretByteCount = Self.secretByteCount(of: call)
            guard await reads(call.sender) else {
                await reply(to: call, .failure(.unreadResponses))
                break
            }
            let result: Result<BusValue?, BusFault> = await Result(awaiting: try await respond(to: call))
            if case .failure(let fault) = result {
                if waitsForPerson(call, after: fault) { break }
                await log(fault, of: call)
            }
            await reply(to: call, result)
        case .rest(let rest):
            sender = rest.call.sender
            let result: Result<BusValue?, BusFault> = await Result(awaiting: try await goOn(with: rest))
            await reply(to: rest.call, result)
        case .departure(let client):
            queue.forget(client)
            sessions = sessions.filter { $0.value.client != client }
            prompts = prompts.filter { $0.value.client != client }
            agents.removeAll { $0 == client }
            askNext()
            (readers[client], sentByteCounts[client]) = (nil, nil)
            _ = (refusedClients.remove(client), loggedClients.remove(client))
        case .change(let change, let opening):
            if opening == self.opening { await announce(change) }
        case .answer(let prompt, let result):
            await answer(prompt, result)
        }
        for then in afterReply { then() }
        afterReply = []
        if secretByteCount > 0 { bus.overwriteReadBuffer(secretByteCount) }
        secretByteCount = 0
    }

    /// - Parameter result: `nil` in it: not yet.
    private func reply(to call: BusCall, _ result: Result<BusValue?, BusFault>) async {
        var result = result
        if case .success(.some(let value)) = result, value.byteCount > Self.scarceByteCount {
            if isFull { await bus.askForUnreadByteCount() }
            if isFull { result = .failure(.manyUnreadResponses) }
        }
        switch result {
        case .success(nil): break
        case .success(.some(let value)):
            sentByteCounts[call.sender, default: 0] += value.byteCount
            bus.reply(to: call, .success(value))
        case .failure(let fault):
            // The approximate size of an error.
            sentByteCounts[call.sender, default: 0] += 200
            bus.reply(to: call, .failure(fault))
        }
    }

    private var isFull: Bool { bus.unreadByteCount > Self.maximumTotalUnreadByteCount }

    /// Whether a client reads its responses, as far as the bus tells: else all other clients would wait behind them.
    private func reads(_ client: String) async -> Bool {
        let limit = isFull ? Self.scarceByteCount : Self.maximumUnreadByteCount
        guard sentByteCounts[client, default: 0] > limit else { return true }
        let unread = await bus.unreadByteCounts(of: client).sentToIt
        sentByteCounts[client] = unread
        return unread <= limit
    }

    // MARK: - The store

    /// Returns the open store, or opens it if that works without a person.
    func openVault() async throws(BusFault) -> ServedItems {
        if let vault { return vault }
        if let refusal { throw refusal }
        let deadline = deadline
        let words = configuration.words
        let opened: Result<ServedItems, StoreError> = await Result(
            awaiting: try await configuration.source.open(deadline: deadline))
        switch opened {
        case .success(let store):
            try await adopt(store)
            return store
        case .failure(let error):
            wasShownLocked = true
            let fault = BusFault(error, words: words)
            refusal = fault
            throw fault
        }
    }

    /// Begins to serve a store that was just opened.
    func adopt(_ store: ServedItems) async throws(BusFault) {
        let deadline = deadline
        let collections: [ItemCollection] = try await mapFault { () async throws(StoreError) in
            let result: Result<[ItemCollection], StoreError> = await Result(
                awaiting: try await store.collections(deadline: deadline))
            if case .failure(let error) = result { await leave(store, after: error) }
            return try result.get()
        }
        // Others' changes send no signals without file watches, or behind a pool of connections.
        let stream = try await mapFault { () async throws(StoreError) in
            try await nilIf(
                { (error: StoreError) in error.code == .unavailable || error.code == .unsupported },
                awaiting: try await store.changes(deadline: deadline))
        }
        let before = collectionNames()
        vault = store
        vaultCollections = collections
        (itemCounts, refusedClients, loggedClients) = ([:], [], [])
        opening += 1
        let number = opening
        changes?.cancel()
        let queue = queue
        changes = stream.map { stream in
            Task {
                for await change in stream { _ = queue.offer(.change(change, opening: number), of: "", isOwn: true) }
            }
        }
        if wasShownLocked {
            wasShownLocked = false
            if collectionNames() != before { announceCollections() }
            for collection in collections where !isLocked(collection.name) {
                await announceItems(of: collection.name)
                announceLock(collection.name, await shortList(of: collection.name))
            }
        }
        // A person may have opened the vault in another way than through the prompt.
        for waiting in prompts.values where waiting.isShown { await agree(to: waiting) }
    }

    /// The vault was locked, by a client or by its person.
    func leaveVault() {
        guard vault != nil else { return }
        vault = nil
        wasShownLocked = true
        changes?.cancel()
        changes = nil
        for collection in vaultCollections { announceLock(collection.name) }
    }

    /// Forgets a store that was locked, rekeyed, moved or replaced in the meantime.
    private func leave(_ store: ServedItems, after error: StoreError) async {
        guard store !== sessionItems else { return }
        let isStale = error.recoveries.contains(.reopenVault)
        if isStale { _ = await configuration.source.close() }
        if isStale || error.code == .locked { leaveVault() }
    }

    /// Runs `body` with a store. Calls `leave` if it fails.
    func use<Value: ~Copyable>(
        _ store: ServedItems, _ body: (ServedItems, Deadline) async throws(StoreError) -> Value
    ) async throws(BusFault) -> Value {
        let (words, deadline) = (configuration.words, deadline)
        let result: Result<Value, StoreError> = await Result(awaiting: try await body(store, deadline))
        switch consume result {
        case .success(let value): return value
        case .failure(let error):
            await leave(store, after: error)
            throw BusFault(error, words: words)
        }
    }

    /// The store of a collection that is there. Throws IsLocked where the vault can't be opened.
    func store(of collection: String) async throws(BusFault) -> ServedItems {
        isInMemory(collection) ? sessionItems : try await openVault()
    }

    /// The same, for what a locked collection refuses.
    func openStore(of collection: String) async throws(BusFault) -> ServedItems {
        let store = try await store(of: collection)
        if lockedNames.contains(collection) { throw .collectionIsLocked }
        return store
    }

    func isInMemory(_ collection: String) -> Bool {
        collection == Self.sessionCollection && !vaultCollections.contains { $0.name == collection }
    }

    func isLocked(_ collection: String) -> Bool {
        lockedNames.contains(collection) || (vault == nil && !isInMemory(collection))
    }
}

/// The signals about changes by this client and others.
///
/// Signals come from a collection's own path, never from an alias. A short list of all items is part of a
/// signal, because libsecret reads it; a long one would cost more than the new item. The list is never invalidated,
/// because that crashes libsecret 0.20 at the next signal.
extension Keyring {
    private static let longestAnnouncedList = 256

    /// A signal of the service or a collection about one object.
    func emit(_ name: StaticString, _ path: String) {
        broadcast(name, of: .service, from: KeyringPath.root, .path(path))
    }

    /// Sends a signal to all that listen, unless too many don't read.
    private func broadcast(
        _ name: StaticString, of interface: BusInterface, from path: String, _ arguments: BusValue...
    ) {
        if !isFull { bus.emit(name, of: interface.name, from: path, arguments) }
    }

    private func emit(_ name: StaticString, _ id: ItemID, in collection: String) {
        let collection = KeyringPath.CollectionName.name(collection)
        broadcast(
            name, of: .collection, from: KeyringPath.collection(collection).text,
            .path(KeyringPath.item(collection, id).text))
    }

    func announceProperties(_ values: [(String, BusValue)], of interface: BusInterface, _ path: String) {
        broadcast(
            "PropertiesChanged", of: .properties, from: path, .string(interface.name.description), .properties(values),
            .strings([]))
    }

    func announceCollections() {
        announceProperties([("Collections", collectionPaths())], of: .service, KeyringPath.root)
    }

    /// - Parameter items: those of a short list. libsecret uses each item's own `Locked` property.
    func announceLock(_ name: String, _ items: [ItemID] = []) {
        let path = KeyringPath.collection(.name(name)).text
        let state = [("Locked", BusValue.boolean(isLocked(name)))]
        announceProperties(state, of: .collection, path)
        emit("CollectionChanged", path)
        for item in items { announceProperties(state, of: .item, KeyringPath.item(.name(name), item).text) }
    }

    // MARK: - Items

    func announceCreation(_ item: Item) async {
        emit("ItemCreated", item.id, in: item.collection)
        await announceItems(of: item.collection, adding: 1)
    }

    func announceDeletion(_ id: ItemID, in collection: String) async {
        emit("ItemDeleted", id, in: collection)
        await announceItems(of: collection, adding: -1)
    }

    func announceChange(_ item: Item) {
        announceProperties(
            [
                ("Label", .string(item.label)), ("Attributes", .dictionary(item.attributes)),
                ("Modified", Self.moment(item.modified)),
            ], of: .item, KeyringPath.item(item))
        emit("ItemChanged", item.id, in: item.collection)
    }

    func announceItems(of name: String, adding count: Int = 0) async {
        if let known = itemCounts[name], known > Self.longestAnnouncedList {
            itemCounts[name] = known + count
            return
        }
        let items = await shortList(of: name)
        guard itemCounts[name] == items.count else { return }
        announceProperties(
            [("Items", itemPaths(items, in: name))], of: .collection, KeyringPath.collection(.name(name)).text)
    }

    /// The items of a collection with few of them; else, and where they can't be read, none.
    func shortList(of name: String) async -> [ItemID] {
        if let known = itemCounts[name], known > Self.longestAnnouncedList { return [] }
        guard let store = try? await store(of: name) else { return [] }
        let items = try? await use(store) { (store, deadline) async throws(StoreError) in
            try await store.items(in: name, deadline: deadline)
        }
        itemCounts[name] = items?.count
        guard let items, items.count <= Self.longestAnnouncedList else { return [] }
        return items
    }

    // MARK: - Changes by others

    func announce(_ change: ItemChange) async {
        switch change {
        case .created(let item): await announceCreation(item)
        case .changed(let item): announceChange(item)
        case .deleted(let id, let collection): await announceDeletion(id, in: collection)
        case .unknown:
            itemCounts = [:]
            let before = collectionNames()
            guard (try? await look()) != nil else { return }
            let after = collectionNames()
            for name in before where !after.contains(name) {
                emit("CollectionDeleted", KeyringPath.collection(.name(name)).text)
            }
            for name in after where !before.contains(name) {
                emit("CollectionCreated", KeyringPath.collection(.name(name)).text)
            }
            if before != after { announceCollections() }
            for name in after where before.contains(name) && !isInMemory(name) {
                emit("CollectionChanged", KeyringPath.collection(.name(name)).text)
                await announceItems(of: name)
            }
        }
    }
}
