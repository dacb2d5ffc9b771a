internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

/// One collection of the keyring: what its items are, and what must be unlocked to know.
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

    // MARK: - Items

    /// Returns the paths of the items that have these attributes, among others.
    func search(
        _ attributes: [(String, String)], _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> [String] {
        let path = try await path(session, interruption)
        return try await onCollection { () async throws(KeyringFailure) in
            try await session.call(.searchItems, on: path, [.dictionary(attributes)], interruption)
        }[0].texts
    }

    /// Returns the paths of all items. A search without attributes would find nothing in KeePassXC.
    func allPaths(
        _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> [String] {
        let path = try await path(session, interruption)
        return try await onCollection { () async throws(KeyringFailure) in
            try await session.property("Items", "ao", of: BusName.collectionInterface, at: path, interruption)
        }.texts
    }

    /// Describes the items that are still there, in the order of the paths.
    func describe(
        _ paths: [String], _ session: KeyringSession, _ interruption: Interruption
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

    /// Whether the collection is locked. It is asked when a search finds nothing, because some services find
    /// nothing in a locked collection.
    func isLocked(_ session: KeyringSession, _ interruption: Interruption) async throws(KeyringFailure) -> Bool {
        let path = try await path(session, interruption)
        return try await onCollection { () async throws(KeyringFailure) in
            try await session.property(
                "Locked", "b", of: BusName.collectionInterface, at: path, interruption)
        }.boolean
    }

    func state(_ deadline: Deadline) async throws(StoreError) -> SecretServiceState {
        let interruption = try Interruption(deadline)
        var state: SecretServiceState?
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            state = SecretServiceState(
                collectionPath: try await ownPath(session, interruption),
                isLocked: try await isLocked(session, interruption), owner: session.owner,
                isSessionEncrypted: session.codec.isEncrypted)
        }
        guard let state else { throw .keyringWentAway }
        return state
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
