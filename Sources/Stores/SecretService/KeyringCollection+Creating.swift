internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog
internal import LatchkeySystem

extension KeyringCollection {
    /// One collection is made at a time: two tasks that miss the same one must not make it twice.
    private static let creating = AsyncMutex()

    /// Makes the collection that is missing, as the configuration allows; the keyring asks for its new password.
    ///
    /// - Parameter reason: why it is missing, thrown when such a collection can't be made.
    func create(
        _ reason: StoreError, _ session: KeyringSession, _ interruption: Interruption
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

    private func lockAmongProcesses(_ interruption: Interruption) async throws(KeyringFailure) -> Lease? {
        guard let directory = configuration.coordination,
            let key = try? CredentialKey(service: "latchkey:collection", account: "new")
        else { return nil }
        return try await mapError(
            KeyringFailure.store, awaiting: await directory.acquire(key, of: identity, deadline: interruption.deadline))
    }

    private func exists(
        _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        try await nilIf(\KeyringFailure.isNoCollection, awaiting: await isLocked(session, interruption)) != nil
    }
}

extension StoreError {
    fileprivate static let newCollectionNeedsPrompt = StoreError(
        .locked, "a new collection needs a password, and nobody may be asked for one",
        hint: "\(Recovery.allowPrompt), or make it in your keyring application")
}
