package import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets

/// Several items of the keyring under one key. Other programs put a second one beside the first: when they replace an
/// item that has other attributes, for example.
package struct DuplicateItems: Sendable, Hashable {
    package struct Item: Sendable, Hashable {
        package let label: String
        /// The program that made it, where it says so (the attribute `application`).
        package let application: String?
    }

    package let key: CredentialKey
    /// At least two. The first one is read and changed: the one changed last, then the younger, then the one with the
    /// later path.
    package let items: [Item]
}

/// What `SecretServiceStore.repairDuplicates` did.
package struct DuplicateRepair: Sendable, Hashable {
    /// Items that were deleted, because another one holds the same secret and all their attributes.
    package internal(set) var deleted = 0
    /// Items that were given the newest secret, because their programs find no other one.
    package internal(set) var updated = 0
    /// Items that are still there beside the one that is read.
    package internal(set) var left = 0
    /// Items that still hold another secret than the one that is read: they are left unless older secrets may be lost.
    package internal(set) var differing = 0
}

extension KeyringCollection {
    /// Finds the keys that several items have.
    func duplicates(service: String?, _ deadline: Deadline) async throws(StoreError) -> [DuplicateItems] {
        let interruption = try Interruption(deadline)
        var found: [CredentialKey: [KeyringItem]] = [:]
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            let items = try await allItems(
                service.map { [(ItemAttributes.service, $0)] }, session, interruption)
            found = Dictionary(grouping: items.filter { $0.key != nil }) { $0.key! }
        }
        return found.filter { $1.count > 1 }.sorted { Self.precedes($0.key, $1.key) }.map { key, items in
            DuplicateItems(
                key: key,
                items: items.sorted { $0.precedes($1) }.map {
                    DuplicateItems.Item(label: $0.item.label, application: $0.item.attributes["application"])
                })
        }
    }

    /// Leaves one item under the key where that loses nothing that anyone could find.
    func repairDuplicates(
        of key: CredentialKey, losingOlder: Bool, _ deadline: Deadline
    ) async throws(StoreError) -> DuplicateRepair {
        let interruption = try Interruption(deadline)
        var repair = DuplicateRepair()
        try await alone(with: key, interruption) { (session) async throws(KeyringFailure) in
            repair = try await repairDuplicates(of: key, losingOlder: losingOlder, session, interruption)
        }
        return repair
    }

    private func repairDuplicates(
        of key: CredentialKey, losingOlder: Bool, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> DuplicateRepair {
        var repair = DuplicateRepair()
        let items = try await items(under: key, session, interruption)
        guard let read = items.first, items.count > 1 else { return repair }
        guard let newest = try await secret(of: read, session, interruption) else {
            throw .store(.keyringKeepsChanging)
        }
        let kept = items.filter { item in !items.contains { $0.covers(item) } }
        for item in kept where item != read {
            guard losingOlder, try await !holds(newest, item, session, interruption) else { continue }
            try await set(newest, on: item, session, interruption)
            repair.updated += 1
        }
        var remaining = items
        for item in items.reversed() {
            guard let keeper = kept.first(where: { $0.covers(item) }) else { continue }
            // The one that stays is read back right before the other one goes.
            let isSafe =
                losingOlder
                ? try await holds(newest, keeper, session, interruption)
                : try await holdsTheSame(keeper, item, session, interruption)
            guard isSafe, try await isUnchanged(item, session, interruption) else { continue }
            // What is read now goes last, and never where another secret would come to light.
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
        of item: KeyringItem, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> DecodedSecret<Password>? {
        let pending = startSecret(at: item.path, session, interruption)
        return try await secret(pending, of: item, as: Password.self, session, interruption)
    }

    /// Whether an item is still there and holds this secret.
    private func holds(
        _ secret: borrowing DecodedSecret<Password>, _ item: KeyringItem, _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        guard let other = try await self.secret(of: item, session, interruption) else { return false }
        return secret.secret.matches(other.secret)
    }

    private func differing(
        from secret: borrowing DecodedSecret<Password>, _ items: [KeyringItem], _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) -> Int {
        var count = 0
        for item in items where try await !holds(secret, item, session, interruption) { count += 1 }
        return count
    }

    private func holdsTheSame(
        _ one: KeyringItem, _ other: KeyringItem, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        guard let secret = try await secret(of: one, session, interruption) else { return false }
        return try await holds(secret, other, session, interruption)
    }

    private func isUnchanged(
        _ item: KeyringItem, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        guard let now = try await describe([item.path], session, interruption).first else { return false }
        return now.key == item.key && now.item.modified == item.item.modified && now.item.label == item.item.label
    }

    /// Sets a secret on an item and reads it back.
    private func set(
        _ secret: borrowing DecodedSecret<Password>, on item: KeyringItem, _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) {
        let type = SecretContentType.sent(secret.secret, as: secret.recognizedType)
        guard let form = session.codec.encode(secret.secret, contentType: type) else {
            throw .store(.keyringSecretUnsendable)
        }
        _ = try await session.change(.setSecret, on: item.path, [form], interruption)
        await session.announce(item.path)
        guard try await holds(secret, item, session, interruption) else { throw .store(.keyringKeepsChanging) }
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
