internal import LatchkeyCredentials
internal import LatchkeyDBus

extension KeyringCollection {
    /// Reports changes of the collection by any program from now on.
    ///
    /// Services signal created and deleted items, and changed labels; KeePassXC also signals changed secrets. For
    /// gnome-keyring, which doesn't, Latchkey's processes report their changes to each other. Another program's change
    /// of an existing item's secret goes unnoticed there.
    ///
    /// A signal contains an item's path, so this method looks up each saved item, one after another. For a deleted item
    /// the change has the last known key. The stream ends with the connection to the bus.
    func changes(_ deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        return try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            let own = try await ownPath(session, interruption)
            let watcher = CollectionWatcher(self, path: own, session.connection)
            // The bus has taken our subscriptions when it has carried a later call.
            _ = try await isLocked(session, interruption)
            return watcher.stream()
        }
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

    /// Returns the stream. Listening ends with the last reader.
    func stream() -> AsyncStream<CredentialChange> {
        AsyncStream { output in
            let task = Task { [self] in
                for await event in events {
                    if let change = await change(for: event) { output.yield(change) }
                }
                // Changes may be lost with the connection.
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
                let interruption = try CallInterruption(.standard)
                try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
                    found = try await collection.describe([path], session, interruption).first
                }
            } catch {
                return CredentialChange(kind: .unknown, key: nil)
            }
            // The item was deleted in the meantime, which will be reported, or it isn't a credential of this shape.
            guard let key = found?.key else { return nil }
            keys[path] = key
            return CredentialChange(kind: .saved, key: key)
        }
    }
}
