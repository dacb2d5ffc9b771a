internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

/// One collection of the keyring: its items, and the unlocking that they need.
@GLibThread struct KeyringCollection: Sendable {
    let configuration: SecretServiceConfiguration
    let versionKey: VersionKey
    let identity: StoreIdentity
    let place = CollectionPlace()

    nonisolated init(_ store: SecretServiceStore) {
        configuration = store.configuration
        versionKey = store.versionKey
        identity = store.identity
    }

    /// How often an operation starts again because another program changes the same items.
    static let attempts = 4

    /// Does something in the open session, until the deadline.
    func perform<Value: ~Copyable>(
        _ deadline: Deadline, _ body: (KeyringSession, CallInterruption) async throws(KeyringFailure) -> Value
    ) async throws(StoreError) -> Value {
        let interruption = try CallInterruption(deadline)
        return try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            try await body(session, interruption)
        }
    }

    // MARK: - Items

    /// Returns the paths of the items that have these attributes, among others.
    func search(
        _ attributes: [(String, String)], _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [String] {
        let path = try await path(session, interruption)
        return try await onCollection { () async throws(KeyringFailure) in
            try await session.call(.searchItems, on: path, [.dictionary(attributes)], interruption)
        }[0].texts
    }

    /// Returns the paths of all items. A search without attributes would find nothing in KeePassXC.
    func allPaths(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [String] {
        let path = try await path(session, interruption)
        return try await onCollection { () async throws(KeyringFailure) in
            try await session.property("Items", "ao", of: BusName.collectionInterface, at: path, interruption)
        }.texts
    }

    /// Describes the items that are still there, in the order of the paths.
    func describe(
        _ paths: [String], _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [KeyringItem] {
        let arguments = [BusValue.string(BusName.itemInterface.description)]
        var items: [KeyringItem] = []
        items.reserveCapacity(paths.count)
        for (path, reply) in zip(
            paths, try await session.each(paths, .getAllProperties, arguments, interruption))
        {
            guard let properties = reply?[0] else { continue }
            guard let item = KeyringItem(path: path, properties) else { throw .store(.keyringBrokeProtocol) }
            items.append(item)
        }
        return items
    }

    /// The items under a key, the one that is read first.
    static func matches(_ items: [KeyringItem], _ key: CredentialKey) -> [KeyringItem] {
        items.filter { $0.key == key }.sorted { $0.precedes($1) }
    }

    // MARK: - The collection itself

    /// Whether the collection is locked. The question follows an empty search, because some services don't find items
    /// in a locked collection.
    func isLocked(_ session: KeyringSession, _ interruption: CallInterruption) async throws(KeyringFailure) -> Bool {
        let path = try await path(session, interruption)
        return try await onCollection { () async throws(KeyringFailure) in
            try await session.property(
                "Locked", "b", of: BusName.collectionInterface, at: path, interruption)
        }.boolean
    }

    func state(_ deadline: Deadline) async throws(StoreError) -> SecretServiceState {
        try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            SecretServiceState(
                collectionPath: try await ownPath(session, interruption),
                isLocked: try await isLocked(session, interruption),
                isSessionEncrypted: session.codec.isEncrypted)
        }
    }
}

extension KeyringItem {
    /// Reads the properties of an item (`a{sv}`), or returns `nil` when one is missing or of another type.
    init?(path: String, _ properties: BusValue) {
        guard let attributes = properties.property("Attributes", "a{ss}")?.dictionary,
            let label = properties.property("Label", "s")?.text,
            let created = properties.property("Created", "t")?.unsigned,
            let modified = properties.property("Modified", "t")?.unsigned,
            let isLocked = properties.property("Locked", "b")?.boolean
        else { return nil }
        self.init(
            path: path, ItemAttributes(ofOthers: attributes), label: label,
            created: UnixTime(seconds: Int64(clamping: created)),
            modified: UnixTime(seconds: Int64(clamping: modified)), isLocked: isLocked)
    }
}

// MARK: - Creating

extension KeyringCollection {
    /// One collection is made at a time: two tasks that miss the same one must not make it twice.
    private static let creating = AsyncMutex()

    /// Makes the collection that is missing, as the configuration allows; the keyring asks for its new password.
    ///
    /// - Parameter reason: why it is missing, thrown when such a collection can't be made.
    func create(
        _ reason: StoreError, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        let label: String
        let alias: String
        switch configuration.collection.form {
        case .alias where configuration.collection == .standard:
            // As libsecret names the one that it makes.
            (label, alias) = ("Default keyring", "default")
        case .label(let text): (label, alias) = (text, "")
        case .alias, .path: throw .store(reason)
        }
        guard await Self.creating.enter(interruption) else { throw .interrupted }
        defer { Self.creating.leave() }
        let lock = try await lockAmongProcesses(interruption)
        if try await !exists(session, interruption) {
            let properties = BusValue.properties([("\(BusName.collectionInterface).Label", .string(label))])
            let reply = try await session.change(
                .createCollection, on: BusName.service, [properties, .string(alias)], interruption)
            try await finish(
                prompt: reply[1].text, forbidden: .newCollectionNeedsPrompt, session, interruption)
        }
        withExtendedLifetime(lock) {}
    }

    private func lockAmongProcesses(_ interruption: CallInterruption) async throws(KeyringFailure) -> Lease? {
        guard let directory = configuration.coordination,
            let key = try? CredentialKey(service: "latchkey:collection", account: "new")
        else { return nil }
        return try await mapError(
            KeyringFailure.store, awaiting: await directory.acquire(key, of: identity, deadline: interruption.deadline))
    }

    private func exists(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        try await nilIf(\KeyringFailure.isNoCollection, awaiting: await isLocked(session, interruption)) != nil
    }
}

extension StoreError {
    fileprivate static let newCollectionNeedsPrompt = StoreError(
        .locked, "can't ask for a new collection's password: questions are forbidden",
        hint: "\(Recovery.allowPrompt), or create the collection in your keyring application")
}

// MARK: - Unlocking

extension KeyringCollection {
    /// Unlocks the collection when it is locked, and returns whether it was.
    func unlockIfLocked(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        guard try await isLocked(session, interruption) else { return false }
        try await unlock(paths: [ownPath(session, interruption)], session, interruption)
        return true
    }

    /// Unlocks the collection, or those of the items that are locked apart from it, and returns whether there was
    /// anything to unlock: their attributes may only have become readable.
    func unlock(
        _ items: [KeyringItem], _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        let locked = items.filter(\.isLocked).map(\.path)
        if locked.isEmpty { return false }
        if try await unlockIfLocked(session, interruption) { return true }
        try await unlock(paths: locked, session, interruption)
        return true
    }

    func lock(_ deadline: Deadline) async throws(StoreError) {
        try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            let own = try await ownPath(session, interruption)
            let reply = try await session.call(.lock, on: BusName.service, [.paths([own])], interruption)
            try await finish(prompt: reply[1].text, session, interruption)
            guard try await isLocked(session, interruption) else { throw .store(.keyringStaysOpen) }
        }
    }

    func unlock(_ deadline: Deadline) async throws(StoreError) {
        try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            _ = try await unlockIfLocked(session, interruption)
        }
    }

    private func unlock(
        paths: [String], _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        guard configuration.mayPrompt else {
            return try await Unlocking.unlock(paths, session, mayPrompt: false, interruption)
        }
        try await Unlocking.joined(paths, session, interruption)
    }

    /// Shows the prompt of another operation than unlocking, if the service asks for one.
    ///
    /// - Parameter forbidden: what to throw when questions are forbidden.
    func finish(
        prompt path: String, forbidden: StoreError = .keyringAsks, _ session: KeyringSession,
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        guard path != BusName.nothing else { return }
        guard configuration.mayPrompt else { throw .store(forbidden) }
        try await KeyringPrompt(path: path, session: session).show(interruption)
    }
}

/// Unlocking that is under way. All who need the same thing unlocked wait for one prompt. It stays on the screen
/// when the last of them has given up; who comes later asks anew, because a service may have lost it.
@GLibThread final class Unlocking {
    private static var underWay: [[String]: Unlocking] = [:]

    private let interruption: CallInterruption
    private var waiters: [Pending<Result<Void, KeyringFailure>>] = []

    private init(_ first: CallInterruption) {
        interruption = CallInterruption(.after(.seconds(1_000_000)), within: first)
    }

    /// Unlocks, or joins those who do.
    static func joined(
        _ paths: [String], _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        let place = [session.owner] + paths
        let unlocking = underWay[place] ?? begin(place, paths, session, interruption)
        let end = Pending<Result<Void, KeyringFailure>>()
        unlocking.waiters.append(end)
        let number = interruption.trigger.onPull { end.complete(.failure(.interrupted)) }
        defer { interruption.trigger.forget(number) }
        let result = await interruption.trigger.wait(end)
        unlocking.waiters.removeAll { $0 === end }
        if unlocking.waiters.isEmpty {
            if underWay[place] === unlocking { underWay[place] = nil }
            unlocking.interruption.trigger.pull()
        }
        try result.get()
    }

    private static func begin(
        _ place: [String], _ paths: [String], _ session: KeyringSession, _ interruption: CallInterruption
    ) -> Unlocking {
        let unlocking = Unlocking(interruption)
        underWay[place] = unlocking
        Task {
            let result = await Result<Void, KeyringFailure>(
                awaiting: try await unlock(paths, session, mayPrompt: true, unlocking.interruption))
            if underWay[place] === unlocking { underWay[place] = nil }
            for waiter in unlocking.waiters { waiter.complete(result) }
        }
        return unlocking
    }

    static func unlock(
        _ paths: [String], _ session: KeyringSession, mayPrompt: Bool, _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        let reply = try await session.call(.unlock, on: BusName.service, [.paths(paths)], interruption)
        let path = reply[1].text
        if path == BusName.nothing {
            let unlocked = Set(reply[0].texts)
            if !paths.allSatisfy(unlocked.contains) { throw .store(.keyringStaysLocked) }
            return
        }
        guard mayPrompt else { throw .store(.keyringLocked) }
        try await KeyringPrompt(path: path, session: session).show(interruption)
        // An answered prompt may have unlocked nothing. Without this check it would be shown again and again.
        let second = try await session.call(.unlock, on: BusName.service, [.paths(paths)], interruption)
        if second[1].text != BusName.nothing { throw .store(.keyringStaysLocked) }
    }
}

/// A prompt of the service: the desktop's dialog, not Latchkey's.
@GLibThread struct KeyringPrompt {
    let path: String
    let session: KeyringSession

    private enum End: Sendable {
        case answered, dismissed, malformed, gone, interrupted
    }

    /// Shows the prompt and waits for the person.
    ///
    /// It stays when the operation ends before, because no client can take a prompt away safely: at `Dismiss`
    /// gnome-keyring (seen in 42) goes on with the first prompt that it shows, whosoever's that is, and aborts, as
    /// that one is not done. Then all its collections are locked, for all programs.
    func show(_ interruption: CallInterruption) async throws(KeyringFailure) {
        let end = Pending<End>()
        let subscription = session.connection.subscribe(
            sender: session.owner, interface: BusName.promptInterface, signal: "Completed", path: path
        ) { signal in
            guard signal.arguments.is("(bv)") else {
                end.complete(.malformed)
                return
            }
            end.complete(signal.arguments[0].boolean ? .dismissed : .answered)
        }
        let watch = session.whenGone(end, .gone)
        let number = interruption.trigger.onPull { end.complete(.interrupted) }
        defer {
            interruption.trigger.forget(number)
            withExtendedLifetime(subscription) {}
            withExtendedLifetime(watch) {}
        }
        // We don't have a window for the dialog.
        _ = try await session.call(.prompt, on: path, [.string("")], interruption)
        switch await interruption.trigger.wait(end) {
        case .answered: return
        case .dismissed: throw .store(.keyringPromptDismissed)
        case .malformed: throw .store(.keyringBrokeProtocol)
        case .gone: throw .store(.keyringWentAway)
        case .interrupted: throw .interrupted
        }
    }
}
