internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog
internal import LatchkeySystem

/// Where a named collection is, found once an operation: labels and aliases may change between two of them.
@GLibThread final class CollectionPlace {
    fileprivate(set) var path: String?

    nonisolated init() {}
}

extension KeyringCollection {
    /// The path to call methods of the collection on. Services respond at an alias's path as on the collection's
    /// own.
    func path(
        _ session: KeyringSession, _ interruption: Interruption
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
    func ownPath(_ session: KeyringSession, _ interruption: Interruption) async throws(KeyringFailure) -> String {
        guard case .alias(let alias) = configuration.collection.form else {
            return try await path(session, interruption)
        }
        let reply = try await session.call(.readAlias, on: BusName.service, [.string(alias)], interruption)
        let own = reply[0].text
        guard own != BusName.nothing else { throw missing(nil) }
        return own
    }

    private func path(
        labelled label: String, _ session: KeyringSession, _ interruption: Interruption
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
        _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> [(path: String, label: String)] {
        let all = try await session.property(
            "Collections", "ao", of: BusName.serviceInterface, at: BusName.service, interruption)
        let arguments = [BusValue.string(BusName.collectionInterface.description), .string("Label")]
        var labels: [(String, String)] = []
        let paths = Array(all.texts.prefix(Self.mostCollections))
        for (path, reply) in zip(
            paths, try await session.each(paths, .getProperty, arguments, interruption))
        {
            // One that has been deleted meanwhile has no label any more.
            guard let label = reply?[0].unboxed else { continue }
            guard label.is("s") else { throw .store(.keyringBrokeProtocol) }
            labels.append((path, label.text))
        }
        return labels
    }

    /// More than a person has; a service that names more isn't asked for their labels.
    static let mostCollections = 1000

    // MARK: - What is missing

    /// Makes a failure of a call to the collection's own object say that there is no such collection.
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
            cause = "the keyring service has no collection as its default"
            hint =
                "\(Recovery.createCollection), or make one in your keyring application (in Seahorse: Password Keyring) and set it as default"
        case .alias:
            cause = "the keyring service has no collection for this session"
            hint = "\(Recovery.chooseCollection); `default` is the desktop's own"
        case .path:
            cause = "the keyring service has no collection \(collection)"
            hint = "name it by its label, or \(Recovery.chooseCollection)"
        case .label:
            // Not the label: it may be a secret that was typed in the wrong place.
            cause = "the keyring service has no collection with that label"
            let make: LogMessage = "\(Recovery.createCollection)"
            let shown = labels.filter { !$0.isEmpty }.prefix(mostShown).map(shownLabel)
            hint = shown.isEmpty ? make : "there is \(LogMessage.joined(shown, separator: ", ")); or \(make)"
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
