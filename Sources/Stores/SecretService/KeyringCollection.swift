#if Desktop
    internal import Credentials
    internal import RedactedLog

    /// One collection of the keyring: what its items are, and what must be unlocked to know.
    @GLibThread struct KeyringCollection: Sendable {
        let configuration: SecretServiceConfiguration
        let versionKey: VersionKey
        let identity: StoreIdentity

        nonisolated init(_ store: SecretServiceStore) {
            configuration = store.configuration
            versionKey = store.versionKey
            identity = store.identity
        }

        /// How often an operation starts again because another program changes the same items.
        static let attempts = 4

        private var alias: String {
            switch configuration.collection {
            case .standard: "default"
            case .session: "session"
            }
        }

        /// The path to call methods of the collection on: services answer on an alias's path as on the collection's own.
        var path: String { BusName.aliases + alias }

        // MARK: - Items

        /// Returns the paths of the items that have these attributes, among others.
        func search(
            _ attributes: [(String, String)], _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) -> [String] {
            try await onCollection { () async throws(KeyringFailure) in
                try await session.call(.searchItems, on: path, [.strings(attributes)], interruption)
            }[0].texts
        }

        /// Describes the items that are still there, in the order of the paths.
        func describe(
            _ paths: [String], _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) -> [KeyringItem] {
            try interruption.check()
            var items: [KeyringItem] = []
            items.reserveCapacity(paths.count)
            var started: [Pending<AsyncAnswer>] = []
            for (index, path) in paths.enumerated() {
                // Enough are under way to hide the round trip, and few enough for the bus's limit of pending replies.
                while started.count < min(paths.count, index + Self.window) {
                    let arguments = [Variant.string(BusName.itemInterface.description)]
                    started.append(session.start(.getAllProperties, on: paths[started.count], arguments, interruption))
                }
                do throws(KeyringFailure) {
                    let properties = try await session.finish(started[index], interruption)[0]
                    guard let item = KeyringItem(path: path, properties) else { throw .store(.keyringBrokeProtocol) }
                    items.append(item)
                } catch {
                    if case .bus(let failure) = error, failure.meaning == .noSuchObject { continue }
                    throw error
                }
            }
            return items
        }

        private static let window = 32

        /// The items under a key, the one that is read first.
        static func matches(_ items: [KeyringItem], _ key: CredentialKey) -> [KeyringItem] {
            items.filter { $0.key == key }.sorted { $0.precedes($1) }
        }

        // MARK: - The collection itself

        /// Whether the collection is locked. It is asked when a search finds nothing, because some services find nothing in
        /// a locked collection.
        func isLocked(_ session: KeyringSession, _ interruption: Interruption) async throws(KeyringFailure) -> Bool {
            let arguments = [Variant.string(BusName.collectionInterface.description), .string("Locked")]
            let value = try await onCollection { () async throws(KeyringFailure) in
                try await session.call(.getProperty, on: path, arguments, interruption)
            }[0].unboxed
            guard value.is("b") else { throw .store(.keyringBrokeProtocol) }
            return value.boolean
        }

        /// The collection's own path, not the alias's.
        func ownPath(_ session: KeyringSession, _ interruption: Interruption) async throws(KeyringFailure) -> String {
            let answer = try await session.call(
                .readAlias, on: BusName.service, [.string(alias)], interruption)
            let own = answer[0].text
            guard own != BusName.nothing else { throw .store(missing(nil)) }
            return own
        }

        func state(_ deadline: Deadline) async throws(StoreError) -> SecretServiceState {
            let interruption = Interruption(deadline)
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

        private func onCollection(
            _ call: () async throws(KeyringFailure) -> Variant
        ) async throws(KeyringFailure) -> Variant {
            do throws(KeyringFailure) {
                return try await call()
            } catch {
                if case .bus(let failure) = error, failure.meaning == .noSuchObject { throw .store(missing(failure)) }
                throw error
            }
        }

        private func missing(_ failure: BusFailure?) -> StoreError {
            .noCollection(configuration.collection == .standard ? "as its default" : "for this session", failure)
        }
    }

    extension KeyringItem {
        /// Reads the properties of an item (`a{sv}`), or returns `nil` when one is missing or of another type.
        init?(path: String, _ properties: Variant) {
            guard let attributes = properties.property("Attributes", "a{ss}")?.dictionary,
                let label = properties.property("Label", "s")?.text,
                let created = properties.property("Created", "t")?.unsigned,
                let modified = properties.property("Modified", "t")?.unsigned,
                let isLocked = properties.property("Locked", "b")?.boolean
            else { return nil }
            self.init(
                path: path, key: ItemAttributes.key(of: attributes), attributeCount: attributes.count, label: label,
                created: UnixTime(seconds: Int64(clamping: created)),
                modified: UnixTime(seconds: Int64(clamping: modified)), isLocked: isLocked)
        }
    }
#endif
