internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

extension KeyringCollection {
    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, _ options: SaveOptions, _ deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        let interruption = try Interruption(deadline)
        var version: CredentialVersion?
        try await alone(with: key, interruption) { (session) async throws(KeyringFailure) in
            version = try await save(secret, for: key, options, session, interruption)
        }
        guard let version else { throw .keyringBrokeProtocol }
        return version
    }

    private func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, _ options: SaveOptions,
        _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> CredentialVersion {
        for _ in 0..<Self.attempts {
            guard let items = try await itemsOrNewCollection(under: key, session, interruption) else { continue }
            try await check(options.condition, items.first, session, interruption)
            let type = SecretContentType.sent(secret, as: options.contentType)
            guard let form = session.codec.encode(secret, contentType: type) else {
                throw .store(.keyringSecretUnsendable)
            }
            let label: String
            do throws(KeyringFailure) {
                if let item = items.first {
                    label = options.label ?? item.item.label
                    try await replace(item, form, label, session, interruption)
                } else {
                    label = options.label ?? Self.label(for: key)
                    try await create(ItemAttributes.made(for: key), form, label, session, interruption)
                }
            } catch {
                // Another program deleted the item, or locked it, since it was found.
                guard case .bus(let failure) = error, !items.isEmpty else { throw error }
                guard failure.meaning == .noSuchObject || failure.meaning == .isLocked else { throw error }
                continue
            }
            return versionKey.version(of: key, label: label, secret)
        }
        throw .store(.keyringKeepsChanging)
    }

    /// Sets the secret on an item that is there. The label first: when something ends this halfway, the old secret
    /// is whole.
    func replace(
        _ item: KeyringItem, _ form: BusValue, _ label: String, _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) {
        if label != item.item.label {
            let interface = BusValue.string(BusName.itemInterface.description)
            _ = try await session.change(
                .setProperty, on: item.path, [interface, .string("Label"), .boxed(.string(label))], interruption)
        }
        _ = try await session.change(.setSecret, on: item.path, [form], interruption)
        await session.announce(item.path)
    }

    /// Creates an item with exactly these attributes. Not with the service's own `replace`: it takes an item with
    /// more attributes for the same one, and strips them.
    func create(
        _ attributes: [(String, String)], _ form: BusValue, _ label: String, _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) {
        let properties = BusValue.properties([
            ("\(BusName.itemInterface).Label", .string(label)),
            ("\(BusName.itemInterface).Attributes", .dictionary(attributes)),
        ])
        let reply = try await session.change(
            .createItem, on: path(session, interruption), [properties, form, .boolean(false)], interruption)
        try await finish(prompt: reply[1].text, session, interruption)
    }

    /// What keyring applications show.
    static func label(for key: CredentialKey) -> String {
        switch key.kind {
        case .password: "Password for '\(key.account)' on '\(key.service)'"
        case .session: "Session of '\(key.account)' on '\(key.service)'"
        case .privateKey: "Private key of '\(key.account)' on '\(key.service)'"
        case .clientSecret: "Client secret of '\(key.account)' on '\(key.service)'"
        case .current: "Current account on '\(key.service)'"
        default: "\(key.kind.name) of '\(key.account)' on '\(key.service)'"
        }
    }

    // MARK: - Deleting

    func delete(
        _ key: CredentialKey, _ condition: WriteCondition, _ deadline: Deadline
    ) async throws(StoreError) -> Bool {
        let interruption = try Interruption(deadline)
        var deleted = false
        try await alone(with: key, interruption) { (session) async throws(KeyringFailure) in
            let items = try await items(under: key, session, interruption)
            try await check(condition, items.first, session, interruption)
            // All of them, the one that is read last of all: an older one must never come to light.
            for item in items.reversed() {
                if try await delete(item, session, interruption) { deleted = true }
            }
        }
        return deleted
    }

    /// Deletes an item, and returns whether it was there.
    @discardableResult
    func delete(
        _ item: KeyringItem, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        let deletion = { () async throws(KeyringFailure) in
            let reply = try await session.change(.deleteItem, on: item.path, [], interruption)
            try await finish(prompt: reply[0].text, session, interruption)
        }
        return try await nilIf(\KeyringFailure.isNoSuchObject, awaiting: await deletion()) != nil
    }

    // MARK: - One change at a time

    /// Runs `change` while no other task, and no other Latchkey process, changes the same credential.
    func alone(
        with key: CredentialKey, _ interruption: Interruption,
        _ change: (KeyringSession) async throws(KeyringFailure) -> Void
    ) async throws(StoreError) {
        try await mappingError(\KeyringFailure.storeError) { () async throws(KeyringFailure) in
            try interruption.check()
            try await KeyMutexes.shared.enter(key, interruption)
        }
        defer { KeyMutexes.shared.leave(key) }
        try await underWriteLock(key, interruption, change)
    }

    /// The lock among processes is another than the lease, which the caller may hold. It is the same for all
    /// collections, because one collection may be named in several ways.
    private func underWriteLock(
        _ key: CredentialKey, _ interruption: Interruption,
        _ change: (KeyringSession) async throws(KeyringFailure) -> Void
    ) async throws(StoreError) {
        let writing = StoreIdentity(backend: identity.backend + " write", location: "")
        let lock = try await configuration.coordination?.acquire(key, of: writing, deadline: interruption.deadline)
        try await KeyringConnection.shared.perform(interruption, change)
        withExtendedLifetime(lock) {}
    }

    /// The items under a key, or `nil` after the missing collection was made.
    private func itemsOrNewCollection(
        under key: CredentialKey, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> [KeyringItem]? {
        do throws(KeyringFailure) {
            return try await items(under: key, session, interruption)
        } catch {
            guard case .noCollection(let reason) = error, configuration.mayCreateCollection else { throw error }
            try await create(reason, session, interruption)
            return nil
        }
    }

    /// The items under a key, unlocked, the one that is read first.
    func items(
        under key: CredentialKey, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> [KeyringItem] {
        for _ in 0..<Self.attempts {
            let found = try await find(
                ItemAttributes.made(for: key), withSecret: false, session, interruption)
            if found.paths.isEmpty {
                if try await unlockIfLocked(session, interruption) { continue }
                return []
            }
            let items = try await describe(found, session, interruption)
            if try await unlock(items, session, interruption) { continue }
            let matching = Self.matches(items, key)
            if matching.isEmpty, try await unlockIfLocked(session, interruption) { continue }
            return matching
        }
        throw .store(.keyringKeepsChanging)
    }

    func check(
        _ condition: WriteCondition, _ item: KeyringItem?, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) {
        if condition == .none { return }
        var version: CredentialVersion?
        if let item { version = try await self.version(of: item, session, interruption) }
        try mapError(KeyringFailure.store, of: try condition.check(against: version))
    }
}
