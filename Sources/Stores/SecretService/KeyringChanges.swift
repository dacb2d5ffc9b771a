internal import LatchkeyCredentials
internal import LatchkeyDBus

extension KeyringCollection {
    /// Reports what anyone changes in the collection from now on.
    ///
    /// Services signal created and deleted items, and changed labels; KeePassXC also signals changed secrets. For
    /// gnome-keyring, which doesn't, Latchkey's processes tell each other what they save; a secret that another
    /// program sets on an item without creating it anew goes unnoticed there.
    ///
    /// The signals name items by path, so each saved one is looked up, one after another; of a deleted one only the
    /// key is known that it had when it was seen last. The stream ends with the connection to the bus.
    func changes(_ deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        let interruption = try Interruption(deadline)
        var stream: AsyncStream<CredentialChange>?
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            let own = try await ownPath(session, interruption)
            let watcher = CollectionWatcher(self, path: own, session.connection)
            // The bus has taken our subscriptions when it has carried a later call.
            _ = try await isLocked(session, interruption)
            stream = watcher.stream()
        }
        guard let stream else { throw .keyringWentAway }
        return stream
    }
}

/// Listens to the signals of one collection.
@GLibThread private final class CollectionWatcher {
    private enum Event: Sendable {
        case saved(String)
        case deleted(String)
        case restarted
    }

    private let collection: KeyringCollection
    private let events: AsyncStream<Event>
    private let items: Subscription
    private let ours: Subscription
    private let service: Subscription
    private let bus: Subscription
    private var keys: [String: CredentialKey] = [:]

    init(_ collection: KeyringCollection, path: String, _ connection: BusConnection) {
        self.collection = collection
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        items = connection.subscribe(
            sender: BusName.wellKnown, interface: BusName.collectionInterface, signal: nil, path: path
        ) { signal in
            guard signal.arguments.is("(o)") else { return }
            switch signal.name {
            case "ItemCreated", "ItemChanged": continuation.yield(.saved(signal.arguments[0].text))
            case "ItemDeleted": continuation.yield(.deleted(signal.arguments[0].text))
            default: break
            }
        }
        ours = connection.subscribe(
            sender: nil, interface: BusName.latchkeyInterface, signal: "ItemChanged", path: BusName.latchkeyPath
        ) { signal in
            guard signal.arguments.is("(o)") else { return }
            let item = signal.arguments[0].text
            if item.hasPrefix(path + "/") { continuation.yield(.saved(item)) }
        }
        service = connection.subscribe(
            sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", signal: "NameOwnerChanged",
            first: BusName.wellKnown
        ) { _ in continuation.yield(.restarted) }
        bus = connection.subscribeToEnd { continuation.finish() }
    }

    /// Returns the stream; listening ends when no task reads it any more.
    func stream() -> AsyncStream<CredentialChange> {
        AsyncStream { output in
            let task = Task { [self] in
                for await event in events {
                    if let change = await change(for: event) { output.yield(change) }
                }
                // What was lost with the connection is unknown.
                output.yield(CredentialChange(kind: .unknown, key: nil))
                output.finish()
            }
            output.onTermination = { _ in task.cancel() }
        }
    }

    private func change(for event: Event) async -> CredentialChange? {
        switch event {
        case .restarted:
            return CredentialChange(kind: .unknown, key: nil)
        case .deleted(let path):
            return CredentialChange(kind: .deleted, key: keys.removeValue(forKey: path))
        case .saved(let path):
            var found: KeyringItem?
            do throws(StoreError) {
                let interruption = try Interruption(.standard)
                try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
                    found = try await collection.describe([path], session, interruption).first
                }
            } catch {
                return CredentialChange(kind: .unknown, key: nil)
            }
            // It was deleted meanwhile, which will be reported; or it is no credential of this shape.
            guard let key = found?.key else { return nil }
            keys[path] = key
            return CredentialChange(kind: .saved, key: key)
        }
    }
}
