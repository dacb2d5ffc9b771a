internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

/// The session with the keyring service that is open now: one connection, one owner of the service, one key.
@GLibThread final class KeyringSession {
    let connection: BusConnection
    let codec: SecretCodec
    /// The unique name of the service's process. Calls go to it, so they can't reach a successor that doesn't know
    /// us.
    let owner: String
    let path: String
    private let window = CallWindow()
    /// The only item that an early search found, until `find` takes it.
    var earlyItem: (place: Place, path: String)?
    /// Where the only item was at the last search for the same attributes.
    var lastFound: [Place: String] = [:]
    /// Items that were read a moment ago, by path.
    var knownItems: [String: KnownItem] = [:]

    init(connection: BusConnection, codec: SecretCodec, owner: String, path: String) {
        self.connection = connection
        self.codec = codec
        self.owner = owner
        self.path = path
    }

    /// Starts a call, so that several can run at once. The call is sent once few enough others are running.
    func start(
        _ method: BusMethod, on path: String, _ arguments: [BusValue], _ interruption: CallInterruption
    ) -> Pending<AsyncResult> {
        let pending = Pending<AsyncResult>(then: window.leave)
        let arguments = BusValue.tuple(arguments)
        window.enter(interruption.trigger) { [connection, owner] in
            connection.start(
                method, on: path, of: owner, arguments, trigger: interruption.trigger, completing: pending)
        }
        return pending
    }

    func finish(
        _ pending: Pending<AsyncResult>, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> BusValue {
        try reply(await interruption.trigger.wait(pending))
    }

    func call(
        _ method: BusMethod, on path: String, _ arguments: [BusValue], _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> BusValue {
        try interruption.check()
        return try await finish(start(method, on: path, arguments, interruption), interruption)
    }

    /// Makes the same call on each of the paths and returns the replies in their order, `nil` for a deleted
    /// object.
    func each(
        _ paths: [String], _ method: BusMethod, _ arguments: [BusValue], _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [BusValue?] {
        try interruption.check()
        var replies: [BusValue?] = []
        replies.reserveCapacity(paths.count)
        var started: [Pending<AsyncResult>] = []
        for index in paths.indices {
            // Enough are under way to hide the round trip, and few enough to leave others their turn.
            while started.count < min(paths.count, index + Self.window) {
                started.append(start(method, on: paths[started.count], arguments, interruption))
            }
            replies.append(try await finishIfThere(started[index], interruption))
        }
        return replies
    }

    /// Waits for a reply; `nil` for a deleted object.
    func finishIfThere(
        _ pending: Pending<AsyncResult>, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> BusValue? {
        try await nilIf(\KeyringFailure.isNoSuchObject, awaiting: await finish(pending, interruption))
    }

    private static let window = 32

    /// Reads a property of an object, which must have this type.
    func property(
        _ name: String, _ type: StaticString, of interface: StaticString, at path: String,
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> BusValue {
        let arguments = [BusValue.string(interface.description), .string(name)]
        let value = try await call(.getProperty, on: path, arguments, interruption)[0].unboxed
        guard value.is(type) else { throw .store(.keyringBrokeProtocol) }
        return value
    }

    /// Makes a call that changes something: once it is sent, its reply is waited for (see `CallInterruption`).
    func change(
        _ method: BusMethod, on path: String, _ arguments: [BusValue], _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> BusValue {
        try interruption.check()
        knownItems[path] = nil
        return try reply(await interruption.waitForChange(start(method, on: path, arguments, interruption)))
    }

    /// Tells Latchkey's processes that the secret of an item was set (see `KeyringCollection.changes`).
    func announce(_ path: String) async {
        connection.emit("ItemChanged", of: BusName.latchkeyInterface, from: BusName.latchkeyPath, [.path(path)])
        // A moment, because the process may end next.
        await connection.flush(within: .milliseconds(200))
    }

    /// Completes the pending value at the end of the service's process or the bus, until both subscriptions end.
    func whenGone<Value>(_ pending: Pending<Value>, _ value: Value) -> Watch {
        Watch(
            process: connection.subscribe(
                sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", signal: "NameOwnerChanged",
                first: owner
            ) { _ in pending.complete(value) },
            bus: connection.subscribeToEnd { pending.complete(value) })
    }

    struct Watch: ~Copyable {
        let process: Subscription
        let bus: Subscription
    }

    private func reply(_ result: AsyncResult) throws(KeyringFailure) -> BusValue {
        return try mapError(KeyringFailure.bus, of: connection.reply(result))
    }
}

/// Keeps the session open across operations and stores of this process, and opens it anew when the service or the
/// bus was restarted.
@GLibThread final class KeyringConnection {
    static let shared = KeyringConnection()

    private var session: KeyringSession?
    private let opening = AsyncMutex()

    /// Runs `body` with the open session. If the session may be the cause of a failure, and nothing can have changed
    /// yet, runs it once more with a new session.
    ///
    /// - Parameter search: starts the first search of `body`, if it can, before a session is opened.
    func perform<Value: ~Copyable>(
        _ interruption: CallInterruption, searching search: (BusConnection) -> EarlySearch? = { _ in nil },
        _ body: (KeyringSession) async throws(KeyringFailure) -> Value
    ) async throws(StoreError) -> Value {
        try await mappingError(\KeyringFailure.storeError) { () async throws(KeyringFailure) in
            let session = try await openSession(interruption, search)
            let outcome: Result<Value, KeyringFailure> = await Result(awaiting: try await body(session))
            switch consume outcome {
            case .success(let value): return value
            case .failure(let error):
                if error.endsSession { forget(session) }
                guard error.mayBeSessions else { throw error }
                return try await body(openSession(interruption))
            }
        }
    }

    /// Whether a program offers the service. Nothing is started, no session and no bus.
    ///
    /// Without a bus no library is loaded for it.
    func presence(_ deadline: Deadline) async throws(StoreError) -> SecretServicePresence {
        guard BusConnection.hasAddress else { throw .noSessionBus(nil) }
        let interruption = try CallInterruption(deadline)
        return try await mapError(
            { (error: KeyringFailure) in
                if case .interrupted = error, !Task.isCancelled { StoreError.busTimedOut } else { error.storeError }
            }, awaiting: await presence(of: BusName.wellKnown, on: openBus(interruption), interruption))
    }

    /// Whether a program has a name, or the bus would start one that takes it.
    func presence(
        of name: String, on connection: BusConnection, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> SecretServicePresence {
        try interruption.check()
        let trigger = interruption.trigger
        return try await mappingError(KeyringFailure.bus) { () async throws(BusFault) in
            if try await connection.hasOwner(name, trigger) { return .running }
            return try await connection.isActivatable(name, trigger) ? .startable : .absent
        }
    }

    /// The identifier of this session's bus.
    func busIdentifier(_ deadline: Deadline) async throws(StoreError) -> String {
        guard BusConnection.hasAddress else { throw .noSessionBus(nil) }
        let interruption = try CallInterruption(deadline)
        return try await mappingError(\KeyringFailure.storeError) { () async throws(KeyringFailure) in
            let connection = try await openBus(interruption)
            return try await mapError(
                KeyringFailure.bus, awaiting: await connection.busIdentifier(interruption.trigger))
        }
    }

    private func forget(_ old: KeyringSession) {
        if session === old { session = nil }
    }

    // MARK: - Opening

    private func openSession(
        _ interruption: CallInterruption, _ search: (BusConnection) -> EarlySearch? = { _ in nil }
    ) async throws(KeyringFailure) -> KeyringSession {
        try interruption.check()
        if let session = usable { return session }
        guard await opening.enter(interruption) else { throw .interrupted }
        defer { opening.leave() }
        if let session = usable { return session }
        session = nil
        let opened = try await open(interruption, search)
        session = opened
        return opened
    }

    private var usable: KeyringSession? {
        guard let session, !session.connection.isClosed, session.codec.owner == session.owner else { return nil }
        return session
    }

    private func open(
        _ interruption: CallInterruption, _ search: (BusConnection) -> EarlySearch?
    ) async throws(KeyringFailure) -> KeyringSession {
        let connection = try await openBus(interruption)
        let early = search(connection)
        let first = early?.reply ?? greet(connection, interruption)
        var codec = try await makeCodec(interruption)
        let reply = try await firstReply(first, connection, interruption)
        var attempts = 1
        while let error = await failure(BusFault.self, awaiting: try await codec.open(interruption.trigger)) {
            // libsecret leaves out zeros that a public key begins with, one key in 256, and KWallet takes no shorter ones.
            guard error.meaning == .badArguments, attempts < Self.attempts else { throw .bus(error) }
            attempts += 1
            codec = try await makeCodec(interruption)
        }
        guard let owner = codec.owner, let path = codec.sessionPath else { throw .store(.noKeyringService(nil)) }
        guard codec.isEncrypted else {
            throw .store(
                StoreError(
                    .protocolViolation,
                    "the keyring service could not agree on a key, so secrets would cross the bus unencrypted",
                    hint: "restart the keyring service; \(Recovery.diagnose)"))
        }
        let session = KeyringSession(connection: connection, codec: codec, owner: owner, path: path)
        if let early, let paths = reply?[0].texts, paths.count == 1 { session.earlyItem = (early.place, paths[0]) }
        return session
    }

    /// Starts a call for the sake of a first reply.
    private func greet(_ connection: BusConnection, _ interruption: CallInterruption) -> Pending<AsyncResult> {
        connection.start(
            .readAlias, on: BusName.service, of: BusName.wellKnown, .tuple([.string("default")]),
            trigger: interruption.trigger)
    }

    /// Waits for the service's first reply to this connection. Throws if the service doesn't exist or doesn't start.
    /// Returns `nil` for any other error, because OpenSession will meet it too.
    ///
    /// On a busy machine gnome-keyring (seen in 42) may read a caller's first call before it knows the caller, and
    /// crashes if that call opens a session.
    private func firstReply(
        _ pending: Pending<AsyncResult>, _ connection: BusConnection, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> BusValue? {
        do throws(BusFault) {
            return try connection.reply(await interruption.trigger.wait(pending))
        } catch {
            if [.noService, .notStarted].contains(error.meaning) { throw .bus(error) }
            return nil
        }
    }

    private func makeCodec(_ interruption: CallInterruption) async throws(KeyringFailure) -> SecretCodec {
        try await mapError(KeyringFailure.bus, awaiting: await SecretCodec.make(interruption.trigger))
    }

    private static let attempts = 3

    private func openBus(_ interruption: CallInterruption) async throws(KeyringFailure) -> BusConnection {
        guard BusConnection.hasAddress else { throw .store(.noSessionBus(nil)) }
        do throws(BusFault) {
            return try await BusConnection.openSession(interruption.trigger)
        } catch {
            if error.meaning == .cancelled { throw .interrupted }
            throw .store(.noSessionBus(error))
        }
    }
}

/// Methods of the Secret Service, and those that every object has.
extension BusMethod {
    static let searchItems = BusMethod(
        interface: "org.freedesktop.Secret.Collection", name: "SearchItems", reply: "(ao)")
    static let createItem = BusMethod(
        interface: "org.freedesktop.Secret.Collection", name: "CreateItem", reply: "(oo)")
    static let setSecret = BusMethod(interface: "org.freedesktop.Secret.Item", name: "SetSecret", reply: "()")
    static let deleteItem = BusMethod(interface: "org.freedesktop.Secret.Item", name: "Delete", reply: "(o)")
    static let getSecrets = BusMethod(
        interface: "org.freedesktop.Secret.Service", name: "GetSecrets", reply: "(a{o(oayays)})")
    static let unlock = BusMethod(interface: "org.freedesktop.Secret.Service", name: "Unlock", reply: "(aoo)")
    static let lock = BusMethod(interface: "org.freedesktop.Secret.Service", name: "Lock", reply: "(aoo)")
    static let readAlias = BusMethod(interface: "org.freedesktop.Secret.Service", name: "ReadAlias", reply: "(o)")
    static let createCollection = BusMethod(
        interface: "org.freedesktop.Secret.Service", name: "CreateCollection", reply: "(oo)")
    static let prompt = BusMethod(interface: "org.freedesktop.Secret.Prompt", name: "Prompt", reply: "()")
    static let getProperty = BusMethod(interface: "org.freedesktop.DBus.Properties", name: "Get", reply: "(v)")
    static let getAllProperties = BusMethod(
        interface: "org.freedesktop.DBus.Properties", name: "GetAll", reply: "(a{sv})")
    static let setProperty = BusMethod(interface: "org.freedesktop.DBus.Properties", name: "Set", reply: "()")
}

/// The names and paths on the bus (Secret Service API, "Object paths").
enum BusName {
    static let wellKnown = "org.freedesktop.secrets"
    static let service = "/org/freedesktop/secrets"
    static let aliases = "/org/freedesktop/secrets/aliases/"
    /// The path that means "no prompt" or "no such alias".
    static let nothing = "/"
    static let serviceInterface: StaticString = "org.freedesktop.Secret.Service"
    static let collectionInterface: StaticString = "org.freedesktop.Secret.Collection"
    static let itemInterface: StaticString = "org.freedesktop.Secret.Item"
    /// Our own signal `ItemChanged(o)`: gnome-keyring 42 sends none when the secret of an item is set.
    static let latchkeyPath = "/org/latchkey/Changes"
    static let latchkeyInterface: StaticString = "org.latchkey.Changes"
    static let promptInterface: StaticString = "org.freedesktop.Secret.Prompt"
}
