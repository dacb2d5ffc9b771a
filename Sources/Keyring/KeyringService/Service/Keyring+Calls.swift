internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets
internal import LatchkeySystem

/// org.freedesktop.Secret.Service.
extension Keyring {
    // MARK: - Items

    func searchItems(_ call: BusCall) async throws(BusFault) -> BusValue {
        let attributes = try attributes(call[0])
        let search = { (store: ServedItems, deadline: Deadline) async throws(StoreError) -> [Item] in
            try await store.search(attributes, in: nil, deadline: deadline)
        }
        let vault: Result<ServedItems, BusFault> = await Result(awaiting: try await openVault())
        var found = isInMemory(Self.sessionCollection) ? try await use(sessionItems, search) : []
        // While the vault is locked, what is in memory is found alone.
        let fault = failure(BusFault.self, of: try vault.get())
        if found.isEmpty || fault?.name != StaticString.isLocked.description {
            found += try await use(try vault.get(), search)
            // Programs take the first one.
            found.sort { $0.precedes($1) }
        }
        let unlocked = found.filter { !isLocked($0.collection) }
        let locked = found.filter { isLocked($0.collection) }
        return .tuple([.paths(unlocked.map { KeyringPath.item($0) }), .paths(locked.map { KeyringPath.item($0) })])
    }

    // MARK: - Collections

    func readAlias(_ call: BusCall) async throws(BusFault) -> BusValue {
        let name = try await collection(.alias(call[0].text))
        return .tuple([.path(name.map { KeyringPath.collection(.name($0)).text } ?? "/")])
    }

    func setAlias(_ call: BusCall) async throws(BusFault) -> BusValue {
        let (alias, path) = (call[0].text, call[1].text)
        guard ObjectPathElement.isValid(alias) else { throw .invalid("an alias has letters, digits and _ alone") }
        var target: String?
        if path != "/" {
            guard case .collection(let name) = KeyringPath(path), let name = try await collection(name) else {
                throw .noSuchObject
            }
            target = name
        }
        if let target, isInMemory(target) || alias == Self.sessionCollection {
            if alias == target { return .none }
            throw BusFault(.notSupported, "only the session collection has the alias session, and it has no other one")
        }
        let vault = try await openVault()
        let isDone = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.setAlias(alias, to: target, deadline: deadline)
        }
        guard isDone else { throw .noSuchObject }
        try await look()
        return .none
    }

    func createCollection(_ call: BusCall) async throws(BusFault) -> BusValue {
        let alias = call[1].text
        let label = try label(property("org.freedesktop.Secret.Collection.Label", "s", of: call[0])) ?? ""
        guard alias.isEmpty || ObjectPathElement.isValid(alias) else {
            throw .invalid("an alias has letters, digits and _ alone")
        }
        let vault = try await openVault()
        // libsecret and Chromium make the default collection when they find none: there is one for each alias.
        if !alias.isEmpty, let name = collection(alias: alias) {
            return .tuple([.path(KeyringPath.collection(.name(name)).text), .path("/")])
        }
        // Liferea makes its own when it finds none, which it couldn't while the vault was locked.
        if hasWaited, alias.isEmpty, !label.isEmpty, let known = vaultCollections.first(where: { $0.label == label }) {
            return .tuple([.path(KeyringPath.collection(.name(known.name)).text), .path("/")])
        }
        let made = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.createCollection(
                label: label, alias: alias.isEmpty ? nil : alias, deadline: deadline)
        }
        try await look()
        lockedNames.remove(made.name)
        let path = KeyringPath.collection(.name(made.name)).text
        emit("CollectionCreated", path)
        announceCollections()
        return .tuple([.path(path), .path("/")])
    }

    /// Looks at the vault's collections anew.
    func look() async throws(BusFault) {
        guard let vault else { return }
        vaultCollections = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.collections(deadline: deadline)
        }
    }
}

/// org.freedesktop.Secret.Collection and org.freedesktop.Secret.Item.
extension Keyring {
    func searchItems(in name: String, _ call: BusCall) async throws(BusFault) -> BusValue {
        let attributes = try attributes(call[0])
        let found = try await use(try await store(of: name)) { (store, deadline) async throws(StoreError) in
            try await store.search(attributes, in: name, deadline: deadline)
        }
        return .tuple([.paths(found.map { KeyringPath.item($0) })])
    }

    func delete(collection name: String, _: BusCall) async throws(BusFault) -> BusValue {
        if isInMemory(name) { throw BusFault(.notSupported, "this collection can't be deleted") }
        if configuration.isConfirmed(.deleteCollection(name)) {
            return .tuple([.path(try addPrompt(.deleteCollection(name)))])
        }
        try await deleteCollection(name)
        return .tuple([.path("/")])
    }

    func deleteCollection(_ name: String) async throws(BusFault) {
        let isDeleted = try await use(try await openStore(of: name)) { (store, deadline) async throws(StoreError) in
            try await store.deleteCollection(name, deadline: deadline)
        }
        guard isDeleted else { throw .noSuchObject }
        try await look()
        itemCounts[name] = nil
        emit("CollectionDeleted", KeyringPath.collection(.name(name)).text)
        announceCollections()
    }

    func createItem(in name: String, _ call: BusCall) async throws(BusFault) -> BusValue {
        let (properties, value, replacing) = (call[0], call[1], call[2].boolean)
        let session = try session(value[0])
        let label = try label(property("org.freedesktop.Secret.Item.Label", "s", of: properties))
        let given = try property("org.freedesktop.Secret.Item.Attributes", "a{ss}", of: properties)
        let attributes = try given.map { (value) throws(BusFault) in try self.attributes(value) } ?? ItemAttributes()
        let store = try await openStore(of: name)
        let secret = try session.opened(value)
        let contentType = try ClientSession.contentType(of: value)
        let creation = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.create(
                secret, contentType: contentType, attributes, label: label, in: name, replacing: replacing,
                deadline: deadline)
        }
        if creation.isNew {
            await announceCreation(creation.item)
        } else {
            announceChange(creation.item)
        }
        return .tuple([.path(KeyringPath.item(creation.item)), .path("/")])
    }

    // MARK: - One item

    /// Returns `nil` if the collection lacks the item.
    func item(_ id: ItemID, in name: String, _ store: ServedItems) async throws(BusFault) -> Item? {
        let item = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.item(id, deadline: deadline)
        }
        return item?.collection == name ? item : nil
    }

    /// Returns the secret of an item and tells the observer; `nil` if the collection lacks the item.
    func secret(of id: ItemID, in name: String, _ store: ServedItems) async throws(BusFault) -> ItemRecord<ItemContent>?
    {
        let record = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.read(id, deadline: deadline)
        }
        guard let record, record.item.collection == name else { return nil }
        if let observer = configuration.observer { observer.didRead(record.item, by: await client(sender)) }
        return record
    }

    func getSecret(
        of item: (collection: String, id: ItemID), _ call: BusCall
    ) async throws(BusFault) -> BusValue {
        let session = try session(call[0])
        let store = try await openStore(of: item.collection)
        guard let secret = try await secret(of: item.id, in: item.collection, store) else { throw .noSuchObject }
        return .tuple([try session.sealed(secret)])
    }

    func setSecret(
        of item: (collection: String, id: ItemID), _ call: BusCall
    ) async throws(BusFault) -> BusValue {
        let session = try session(call[0][0])
        let store = try await openStore(of: item.collection)
        guard try await self.item(item.id, in: item.collection, store) != nil else { throw .noSuchObject }
        let secret = try session.opened(call[0])
        let contentType = try ClientSession.contentType(of: call[0])
        let changed = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.setSecret(secret, contentType: contentType, of: item.id, deadline: deadline)
        }
        guard let changed else { throw .noSuchObject }
        announceChange(changed)
        return .none
    }

    func delete(item: (collection: String, id: ItemID), _: BusCall) async throws(BusFault) -> BusValue {
        let store = try await openStore(of: item.collection)
        guard try await self.item(item.id, in: item.collection, store) != nil else { throw .noSuchObject }
        if configuration.isConfirmed(.deleteItem(item.id)) {
            return .tuple([.path(try addPrompt(.deleteItem(item.id, collection: item.collection)))])
        }
        try await deleteItem(item.id, in: item.collection)
        return .tuple([.path("/")])
    }

    func deleteItem(_ id: ItemID, in name: String) async throws(BusFault) {
        let deleted = try await use(try await openStore(of: name)) { (store, deadline) async throws(StoreError) in
            try await store.delete(id, deadline: deadline)
        }
        guard let deleted else { throw .noSuchObject }
        await announceDeletion(deleted.id, in: deleted.collection)
    }

    // MARK: - Who reads

    func client(_ sender: String) async -> KeyringClient {
        if let known = readers[sender] { return known }
        let client = await KeyringClient(sender, on: bus)
        readers[sender] = client
        return client
    }
}

/// GetSecrets while it is being done: of many items it takes seconds.
///
/// Only the worker uses it.
final class SecretsCall: @unchecked Sendable {
    // Sendable: it goes from the worker through its queue to the worker.
    let call: BusCall
    fileprivate let session: ClientSession
    fileprivate var paths: ArraySlice<String>
    fileprivate var entries: [BusValue] = []
    fileprivate var byteCount = 0
    /// Of the first item that couldn't be read.
    fileprivate var fault: BusFault?

    fileprivate init(_ call: BusCall, _ paths: [String], _ session: ClientSession) {
        self.call = call
        self.session = session
        self.paths = paths[...]
    }
}

/// The secrets of many items, a hundred at a time: other clients have their turns in between.
extension Keyring {
    /// How many bytes of secrets one call may want.
    private static let maximumSecretsByteCount = BusConnection.maximumMessageByteCount
    /// The same of all calls that wait for another turn.
    private static let maximumUnfinishedByteCount = 4 * maximumSecretsByteCount
    /// The number of items to read in one turn: about 20 ms.
    private static let turnCount = 100
    private static let turnByteCount = 4 << 20

    func secrets(_ call: BusCall) async throws(BusFault) -> BusValue? {
        let session = try session(call.arguments[1])
        return try await goOn(with: SecretsCall(call, try paths(call[0]), session))
    }

    /// Returns `nil` where there is more to do, which is in the queue then.
    func goOn(with secrets: SecretsCall) async throws(BusFault) -> BusValue? {
        unfinishedByteCount -= secrets.byteCount
        // Whoever has closed the session waits for nothing.
        guard sessions[secrets.session.path] != nil else { throw .noSession }
        let limit = secrets.byteCount + Self.turnByteCount
        for _ in 0..<Self.turnCount {
            guard secrets.byteCount < limit, let path = secrets.paths.popFirst() else { break }
            // Skips locked and missing items, because the others are still useful.
            let found: Result<(store: ServedItems, name: String, id: ItemID)?, BusFault> = await Result(
                awaiting: try await readableItem(path))
            if case .failure(let fault) = found { secrets.fault = secrets.fault ?? fault }
            guard case .success(let item?) = found else { continue }
            switch try await secret(of: item.id, in: item.name, item.store) {
            case .none: continue
            case .some(let secret):
                secrets.byteCount += secret.secret.byteCount
                guard !GuardedAllocation.areScarce else {
                    throw BusFault(.limitsExceeded, "too many large secrets are on their way at once")
                }
                guard secrets.byteCount <= Self.maximumSecretsByteCount else {
                    throw BusFault(.limitsExceeded, "the secrets don't fit into one message")
                }
                guard unfinishedByteCount + secrets.byteCount <= Self.maximumUnfinishedByteCount else {
                    throw BusFault(.limitsExceeded, "too many calls want many secrets at once")
                }
                secrets.entries.append(.entry(.path(path), try secrets.session.sealed(secret)))
            }
        }
        guard secrets.paths.isEmpty else {
            unfinishedByteCount += secrets.byteCount
            queue.putBack(.rest(secrets), of: sender)
            return nil
        }
        if secrets.entries.isEmpty, let fault = secrets.fault { throw fault }
        return .tuple([.array(secrets.entries, of: "{o(oayays)}")])
    }

    /// The place of an item's secret; `nil` if the item isn't there, or is in a collection that a client locked.
    private func readableItem(
        _ path: String
    ) async throws(BusFault) -> (store: ServedItems, name: String, id: ItemID)? {
        guard case .item(let name, let id) = KeyringPath(path), let name = try await collection(name),
            !lockedNames.contains(name)
        else { return nil }
        return (try await store(of: name), name, id)
    }
}

/// org.freedesktop.impl.portal.Secret: a key for each sandboxed application, with which libsecret seals a file of its
/// own (XDG Desktop Portal, "Secret portal backend").
///
/// The key is made in the default collection, as in gnome-keyring, and found in any, so that a copy of the items includes
/// the keys. As with other items, every program on the bus can read it.
extension Keyring {
    static let portalPath = "/org/freedesktop/portal/desktop"
    private static let keyByteCount = 64
    /// The delay of the response. libsecret before 0.21.4 starts to listen for the response late, and waits
    /// indefinitely for an earlier one. The delay adds to an application's start, although the key is in the pipe
    /// already.
    private static let answerDelay = Duration.milliseconds(100)

    func retrieveSecret(_ call: BusCall) async throws(BusFault) -> BusValue? {
        let application = call[1].text
        // A program outside a sandbox has an empty one.
        guard application.utf8.count <= 255 else { throw .invalid("the application's ID is longer than 255 bytes") }
        guard let descriptor = call.message.descriptor else { throw .invalid("the descriptor is missing") }
        defer { Glibc.close(descriptor) }
        let key = try await portalKey(of: application)
        var sink = PortalSink(descriptor: descriptor)
        let failure = failure(SystemErrorNumber.self, of: try key.pour(into: &sink))
        // 0: done; 2: ended in another way than by the person (Request::Response).
        Self.reply(.tuple([.unsigned32(failure == nil ? 0 : 2), .properties([])]), to: call, on: bus)
        return nil
    }

    private static func reply(_ value: BusValue, to call: BusCall, on bus: BusConnection) {
        Task {
            try? await Task.sleep(for: answerDelay)
            bus.reply(to: call, .success(value))
        }
    }

    private func portalKey(of application: String) async throws(BusFault) -> Secret<ItemContent> {
        // A sandboxed application can't unlock a collection that another client locked.
        let vault = try await openVault()
        guard
            let attributes = ItemAttributes([
                .init(name: "app_id", value: application),
                .init(name: "xdg:schema", value: "org.freedesktop.portal.Secret"),
            ])
        else { throw .invalid("can't store the application's ID") }
        let found = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.search(attributes, in: nil, deadline: deadline)
        }
        // An import may have brought a second key, with which the application sealed nothing here.
        let usual = collection(alias: "default")
        let inUsual = found.filter { $0.collection == usual }
        if let item = (inUsual.isEmpty ? found : inUsual).min(by: { $0.created < $1.created }) {
            let present = try await use(vault) { (store, deadline) async throws(StoreError) in
                try await store.read(item.id, deadline: deadline)
            }
            if let present { return present.takeSecret() }
        }
        let secret: Secret<ItemContent> = try mapError(
            { (_: RandomSourceError) in BusFault(.failed, "the kernel returned no random bytes") },
            of: .random(byteCount: Self.keyByteCount))
        let name = usual ?? Self.firstCollection.name
        let creation = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.create(
                secret, contentType: "application/octet-stream", attributes,
                label: "Application key for \(application)", in: name, replacing: false, deadline: deadline)
        }
        await announceCreation(creation.item)
        return secret
    }
}

/// Writes a key to the pipe or socket of its application. Doesn't wait for a full one.
private struct PortalSink: SecretSink {
    static var reason: StaticString { "a sandboxed application asked for its own key, on a pipe or socket" }
    let descriptor: Int32

    mutating func receive(_ bytes: Span<UInt8>) throws(SystemErrorNumber) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemErrorNumber(errno) }
        let count: Int
        switch status.st_mode & S_IFMT {
        case S_IFSOCK:
            let options = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            count = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, options) }
        case S_IFIFO:
            // The caller's own opening may be one that waits: this is another one of the same pipe.
            let pipe = unsafe open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            guard pipe >= 0 else { throw SystemErrorNumber(errno) }
            defer { close(pipe) }
            count = unsafe bytes.withUnsafeBytes { unsafe write(pipe, $0.baseAddress, $0.count) }
        default: throw SystemErrorNumber(EINVAL)
        }
        guard count == bytes.count else { throw SystemErrorNumber(count < 0 ? errno : EAGAIN) }
    }
}
