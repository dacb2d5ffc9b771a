internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

/// The path of a named collection, looked up once in each operation, because labels and aliases may change.
@GLibThread final class CollectionPlace {
    fileprivate(set) var path: String?

    nonisolated init() {}
}

extension KeyringCollection {
    /// The path to call methods of the collection on. Services respond at an alias's path as on the collection's
    /// own.
    func path(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> String {
        if let known = knownPath { return known }
        let found = try await path(labelled: configuration.collection.text, session, interruption)
        place.path = found
        return found
    }

    /// The same, where it needs no call: `nil` for a label that wasn't looked up yet.
    var knownPath: String? {
        switch configuration.collection.form {
        case .alias(let alias): BusName.aliases + alias
        case .path(let path): path
        case .label: place.path
        }
    }

    /// The collection's own path, not the alias's.
    func ownPath(_ session: KeyringSession, _ interruption: CallInterruption) async throws(KeyringFailure) -> String {
        guard case .alias(let alias) = configuration.collection.form else {
            return try await path(session, interruption)
        }
        let reply = try await session.call(.readAlias, on: BusName.service, [.string(alias)], interruption)
        let own = reply[0].text
        guard own != BusName.nothing else { throw missing(nil) }
        return own
    }

    private func path(
        labelled label: String, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> String {
        let all = try await labels(session, interruption)
        let found = all.filter { $0.label.utf8.elementsEqual(label.utf8) }.map(\.path)
        switch found.count {
        case 1: return found[0]
        case 0: throw missing(nil, among: all.map(\.label))
        default: throw .store(.ambiguousCollection(configuration.collection, at: found))
        }
    }

    /// The labels of all collections, in the order in which the service names the collections.
    private func labels(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [(path: String, label: String)] {
        let all = try await session.property(
            "Collections", "ao", of: BusName.serviceInterface, at: BusName.service, interruption)
        let arguments = [BusValue.string(BusName.collectionInterface.description), .string("Label")]
        var labels: [(String, String)] = []
        let paths = Array(all.texts.prefix(Self.mostCollections))
        for (path, reply) in zip(
            paths, try await session.each(paths, .getProperty, arguments, interruption))
        {
            // A collection that was deleted in the meantime lacks a label.
            guard let label = reply?[0].unboxed else { continue }
            guard label.is("s") else { throw .store(.keyringBrokeProtocol) }
            labels.append((path, label.text))
        }
        return labels
    }

    /// More than a person has; a service that names more isn't asked for their labels.
    static let mostCollections = 1000

    // MARK: - What is missing

    /// Converts a failed call to the collection's object to the error for a missing collection.
    func onCollection(
        _ call: () async throws(KeyringFailure) -> BusValue
    ) async throws(KeyringFailure) -> BusValue {
        try await mapError(
            { (error: KeyringFailure) in
                if case .bus(let failure) = error, error.isNoSuchObject { missing(failure) } else { error }
            }, awaiting: await call())
    }

    private func missing(_ failure: BusFault?, among labels: [String] = []) -> KeyringFailure {
        .noCollection(.noCollection(configuration.collection, among: labels, failure))
    }
}

extension StoreError {
    /// How many names an error shows.
    private static let mostShown = 8

    static func noCollection(
        _ collection: SecretServiceConfiguration.Collection, among labels: [String], _ failure: BusFault?
    ) -> StoreError {
        let cause: LogMessage
        let hint: LogMessage
        switch collection.form {
        case .alias where collection == .standard:
            cause = "the keyring lacks a default collection"
            hint =
                "\(Recovery.createCollection), or create one in your keyring application (in Seahorse: Password Keyring) and set it as default"
        case .alias:
            cause = "the keyring lacks a session collection"
            hint = "\(Recovery.chooseCollection); `default` is the desktop's own"
        case .path:
            cause = "the keyring doesn't contain the collection \(collection)"
            hint = "use its label, or \(Recovery.chooseCollection)"
        case .label:
            // Not the label: it may be a secret that was typed in the wrong place.
            cause = "no collection in the keyring has that label"
            let make: LogMessage = "\(Recovery.createCollection)"
            let shown = labels.filter { !$0.isEmpty }.prefix(mostShown).map(shownLabel)
            hint = shown.isEmpty ? make : "choose \(LogMessage.joined(shown, separator: ", ")), or \(make)"
        }
        return StoreError(.unavailable, cause, hint: hint, platform: failure?.platform)
    }

    static func ambiguousCollection(
        _ collection: SecretServiceConfiguration.Collection, at paths: [String]
    ) -> StoreError {
        let shown: [LogMessage] = paths.prefix(mostShown).map {
            "\(LoggableText(reviewed: "a collection's path is shown in keyring applications", unredacted: $0))"
        }
        return StoreError(
            .ambiguous, "\(paths.count) collections of the keyring are labelled '\(collection)'",
            hint: "\(Recovery.chooseCollection) by its path: \(LogMessage.joined(shown, separator: ", "))")
    }

    private static func shownLabel(_ label: String) -> LogMessage {
        "'\(LoggableText(reviewed: "a collection's label is shown in keyring applications", unredacted: label))'"
    }
}

/// The result of a search for a key.
struct FoundItems: Sendable {
    let paths: [String]
    /// The reply that is to come, where the only item's description was requested already.
    let look: EarlyLook?
    /// Whether the search was sent before the session was open. The service may have changed since: only the description
    /// shows whether this is the right item.
    var isEarly = false
}

/// A search that was sent before the session was open and the service's program known.
struct EarlySearch: Sendable {
    let place: KeyringSession.Place
    let reply: Pending<AsyncResult>
}

/// Questions about an item that are under way.
struct EarlyLook: Sendable {
    /// The description of the item: requested, or known from a recent read.
    enum Description: Sendable {
        case requested(Pending<AsyncResult>)
        case known(KnownItem)
    }
    let path: String
    let description: Description
    let secret: Pending<AsyncResult>?

    var known: KnownItem? {
        if case .known(let item) = description { item } else { nil }
    }
}

/// The state of an item at a recent read, with its version.
struct KnownItem: Sendable {
    let item: KeyringItem
    let version: CredentialVersion
    let end: ContinuousClock.Instant
}

extension KeyringCollection {
    /// Searches before the session is opened, unless the collection's path has to be found first by its label.
    func searchEarly(
        _ attributes: [(String, String)], _ interruption: CallInterruption, _ connection: BusConnection
    ) -> EarlySearch? {
        knownPath.map {
            EarlySearch(
                place: KeyringSession.Place(collection: $0, attributes),
                reply: connection.start(
                    .searchItems, on: $0, of: BusName.wellKnown, .tuple([.dictionary(attributes)]),
                    trigger: interruption.trigger))
        }
    }

    /// Searches for the items with these attributes, and requests the description of the only one, and if wanted its
    /// secret.
    ///
    /// An early search counts if it found one item. If the last search found only one item, its calls are sent together
    /// with the search: one round trip instead of two. The replies only count if the search finds the same item and no
    /// other. For a recently read item only the secret is requested; see `read`.
    func find(
        _ attributes: [(String, String)], withSecret: Bool, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> FoundItems {
        let path = try await path(session, interruption)
        let place = KeyringSession.Place(collection: path, attributes)
        let early = session.earlyItem.take()
        try interruption.check()
        if let early, early.place == place {
            session.remember(early.path, at: place)
            let look = look(at: early.path, withSecret, session, interruption)
            return FoundItems(paths: [early.path], look: look, isEarly: true)
        }
        let searching = session.start(.searchItems, on: path, [.dictionary(attributes)], interruption)
        let guess = session.lastFound[place].map { look(at: $0, withSecret, session, interruption) }
        let paths = try await onCollection { () async throws(KeyringFailure) in
            try await session.finish(searching, interruption)
        }[0].texts
        guard paths.count == 1 else { return FoundItems(paths: paths, look: nil) }
        if let guess, guess.path == paths[0] { return FoundItems(paths: paths, look: guess) }
        session.remember(paths[0], at: place)
        return FoundItems(paths: paths, look: look(at: paths[0], withSecret, session, interruption))
    }

    private func look(
        at path: String, _ withSecret: Bool, _ session: KeyringSession, _ interruption: CallInterruption
    ) -> EarlyLook {
        let description: EarlyLook.Description
        if withSecret, let known = session.known(path) {
            description = .known(known)
        } else {
            let arguments = [BusValue.string(BusName.itemInterface.description)]
            description = .requested(session.start(.getAllProperties, on: path, arguments, interruption))
        }
        return EarlyLook(
            path: path, description: description,
            secret: withSecret ? startSecret(at: path, session, interruption) : nil)
    }

    /// Describes the items that were found and are still there.
    func describe(
        _ found: FoundItems, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [KeyringItem] {
        guard let look = found.look else { return try await describe(found.paths, session, interruption) }
        guard case .requested(let pending) = look.description else { return look.known.map { [$0.item] } ?? [] }
        guard let properties = try await session.finishIfThere(pending, interruption)?[0] else { return [] }
        guard let item = KeyringItem(path: look.path, properties) else { throw .store(.keyringBrokeProtocol) }
        return [item]
    }
}

extension KeyringSession {
    /// The name of the collection to search, and the attributes to search for.
    struct Place: Hashable {
        let collection: String
        let words: [String]

        init(collection: String, _ attributes: [(String, String)]) {
            self.collection = collection
            words = attributes.flatMap { [$0, $1] }
        }
    }

    private static let mostRemembered = 4096
    /// The time for which an item's description counts as unchanged. gnome-keyring 42 goes through all its items for
    /// each property, so in a large keyring a description costs four times as much as the secret and the search
    /// together.
    private static let knownFor = Duration.seconds(1)

    func known(_ path: String) -> KnownItem? {
        guard let known = knownItems[path] else { return nil }
        if known.end > .now { return known }
        knownItems[path] = nil
        return nil
    }

    func remember(_ item: KeyringItem, _ version: CredentialVersion) {
        if knownItems.count >= Self.mostRemembered { knownItems = [:] }
        knownItems[item.path] = KnownItem(item: item, version: version, end: .now + Self.knownFor)
    }

    func remember(_ path: String, at place: Place) {
        if lastFound.count >= Self.mostRemembered { lastFound = [:] }
        lastFound[place] = path
    }
}
