package import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

extension KeyringCollection {
    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, _ options: SaveOptions, _ deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        let interruption = try CallInterruption(deadline)
        return try await alone(with: key, interruption) { (session) async throws(KeyringFailure) in
            try await save(secret, for: key, options, session, interruption)
        }
    }

    private func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, _ options: SaveOptions,
        _ session: KeyringSession, _ interruption: CallInterruption
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
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        // The version has the bytes of the label, and equal letters may differ in them.
        if !label.hasSameOctets(as: item.item.label) {
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
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        let properties = BusValue.properties([
            ("\(BusName.itemInterface).Label", .string(label)),
            ("\(BusName.itemInterface).Attributes", .dictionary(attributes)),
        ])
        let reply = try await session.change(
            .createItem, on: path(session, interruption), [properties, form, .boolean(false)], interruption)
        // The service returned neither an item nor a prompt.
        if reply[0].text == BusName.nothing, reply[1].text == BusName.nothing { throw .store(.keyringBrokeProtocol) }
        try await finish(prompt: reply[1].text, session, interruption)
    }

    /// The label, for keyring applications.
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
        let interruption = try CallInterruption(deadline)
        // An item that is deleted before the service restarts counts too.
        var deleted = false
        try await alone(with: key, interruption) { (session) async throws(KeyringFailure) in
            let items = try await items(under: key, session, interruption)
            try await check(condition, items.first, session, interruption)
            // A version is that of one secret: the caller hasn't read the others.
            if condition != .none, let first = items.first,
                let secret = try await secret(of: first, session, interruption),
                try await differing(from: secret, Array(items.dropFirst()), session, interruption) > 0
            {
                throw .store(.differingItems(key))
            }
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
        _ item: KeyringItem, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        let deletion = { () async throws(KeyringFailure) in
            let reply = try await session.change(.deleteItem, on: item.path, [], interruption)
            try await finish(prompt: reply[0].text, session, interruption)
        }
        return try await nilIf(\KeyringFailure.isNoSuchObject, awaiting: await deletion()) != nil
    }

    // MARK: - One change at a time

    /// Runs `change` while no other task, and no other Latchkey process, changes the same credential.
    func alone<Value>(
        with key: CredentialKey, _ interruption: CallInterruption,
        _ change: (KeyringSession) async throws(KeyringFailure) -> Value
    ) async throws(StoreError) -> Value {
        try await mappingError(\KeyringFailure.storeError) { () async throws(KeyringFailure) in
            try interruption.check()
            try await KeyMutexes.shared.enter(key, interruption)
        }
        defer { KeyMutexes.shared.leave(key) }
        // The lock among processes isn't the lease, because the caller may hold the lease. All collections share the
        // lock, because a collection may have several names.
        let writing = StoreIdentity(backend: identity.backend + " write", location: "")
        let lock = try await configuration.coordination?.acquire(key, of: writing, deadline: interruption.deadline)
        defer { withExtendedLifetime(lock) {} }
        return try await KeyringConnection.shared.perform(
            interruption, searching: { searchEarly(ItemAttributes.made(for: key), interruption, $0) }, change)
    }

    /// The items under a key, or `nil` after the missing collection was made.
    private func itemsOrNewCollection(
        under key: CredentialKey, _ session: KeyringSession, _ interruption: CallInterruption
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
        under key: CredentialKey, _ session: KeyringSession, _ interruption: CallInterruption
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
            if matching.isEmpty, found.isEarly { continue }
            if matching.isEmpty, try await unlockIfLocked(session, interruption) { continue }
            return matching
        }
        throw .store(.keyringKeepsChanging)
    }

    func check(
        _ condition: WriteCondition, _ item: KeyringItem?, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) {
        if condition == .none { return }
        var version: CredentialVersion?
        if let item { version = try await self.version(of: item, session, interruption) }
        try mapError(KeyringFailure.store, of: try condition.check(against: version))
    }
}

extension StoreError {
    fileprivate static func differingItems(_ key: CredentialKey) -> StoreError {
        StoreError(
            .conflict, "other items in the keyring have the same name as \(key), with another secret",
            hint: "compare them in your keyring application, and delete those that no program uses")
    }
}

/// Several items of the keyring under one key. Other programs put a second one beside the first: when they replace an
/// item that has other attributes, for example.
package struct DuplicateItems: Sendable, Hashable {
    package let key: CredentialKey
    /// At least two. The first one is read and changed: the one changed last, then the younger, then the one with the
    /// later path.
    package let items: [Item]
}

/// The result of `SecretServiceStore.repairDuplicates`.
package struct DuplicateRepair: Sendable, Hashable {
    /// Items that were deleted, because another one holds the same secret and all their attributes.
    package internal(set) var deleted = 0
    /// Items that are still there beside the one that is read.
    package internal(set) var left = 0
    /// Items that still hold another secret than the one that is read.
    package internal(set) var differing = 0
}

extension KeyringCollection {
    /// Finds the keys that several items have.
    func duplicates(service: String?, _ deadline: Deadline) async throws(StoreError) -> [DuplicateItems] {
        let items = try await allItems(service.map { [(ItemAttributes.service, $0)] }, deadline)
        let found = Dictionary(grouping: items.filter { $0.key != nil }) { $0.key! }
        return found.filter { $1.count > 1 }.sorted { Self.precedes($0.key, $1.key) }.map { key, items in
            DuplicateItems(key: key, items: items.sorted { $0.precedes($1) }.map(\.item))
        }
    }

    /// Leaves one item under the key where that loses nothing that anyone could find.
    func repairDuplicates(
        of key: CredentialKey, _ deadline: Deadline
    ) async throws(StoreError) -> DuplicateRepair {
        let interruption = try CallInterruption(deadline)
        return try await alone(with: key, interruption) { (session) async throws(KeyringFailure) in
            try await repairDuplicates(of: key, session, interruption)
        }
    }

    private func repairDuplicates(
        of key: CredentialKey, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> DuplicateRepair {
        var repair = DuplicateRepair()
        let items = try await items(under: key, session, interruption)
        guard let read = items.first, items.count > 1 else { return repair }
        guard let newest = try await secret(of: read, session, interruption) else {
            throw .store(.keyringKeepsChanging)
        }
        let kept = items.filter { item in !items.contains { $0.covers(item) } }
        var remaining = items
        for item in items.reversed() {
            guard let keeper = kept.first(where: { $0.covers(item) }) else { continue }
            // The one that stays is read back right before the other one goes.
            guard try await holdsTheSame(keeper, item, session, interruption),
                try await isUnchanged(item, session, interruption)
            else { continue }
            // The item that reads return is deleted last, and stays if another secret would then be returned.
            let others = remaining.filter { $0 != item }
            if item == read, try await differing(from: newest, others, session, interruption) > 0 { continue }
            try await delete(item, session, interruption)
            remaining = others
            repair.deleted += 1
        }
        let rest = try await self.items(under: key, session, interruption)
        repair.left = max(0, rest.count - 1)
        repair.differing = try await differing(from: newest, rest, session, interruption)
        return repair
    }

    // MARK: - Secrets of items

    private func secret(
        of item: KeyringItem, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> DecodedSecret<Password>? {
        let pending = startSecret(at: item.path, session, interruption)
        return try await secret(pending, of: item, as: Password.self, session, interruption)
    }

    /// Whether an item is still there and holds this secret.
    private func holds(
        _ secret: borrowing DecodedSecret<Password>, _ item: KeyringItem, _ session: KeyringSession,
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        guard let other = try await self.secret(of: item, session, interruption) else { return false }
        return secret.secret.matches(other.secret)
    }

    private func differing(
        from secret: borrowing DecodedSecret<Password>, _ items: [KeyringItem], _ session: KeyringSession,
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Int {
        var count = 0
        for item in items where try await !holds(secret, item, session, interruption) { count += 1 }
        return count
    }

    private func holdsTheSame(
        _ one: KeyringItem, _ other: KeyringItem, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        guard let secret = try await secret(of: one, session, interruption) else { return false }
        return try await holds(secret, other, session, interruption)
    }

    private func isUnchanged(
        _ item: KeyringItem, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        guard let now = try await describe([item.path], session, interruption).first else { return false }
        return now.key == item.key && now.item.modified == item.item.modified && now.item.label == item.item.label
    }
}

extension KeyringItem {
    /// Whether everybody who finds the other item finds this one as well: it has all its attributes. Of two with
    /// the same attributes, it is the one that is read.
    func covers(_ other: KeyringItem) -> Bool {
        guard path != other.path else { return false }
        let (mine, theirs) = (telling, other.telling)
        guard mine.contains(theirs) else { return false }
        if mine != theirs { return true }
        let (all, others) = (item.attributes.all.count, other.item.attributes.all.count)
        if all != others { return all > others }
        return precedes(other)
    }

    /// The attributes without the schema that gnome-keyring shows, sooner or later, on all items that have none.
    private var telling: ItemAttributes { item.attributes.without(\.isInvented) }
}
