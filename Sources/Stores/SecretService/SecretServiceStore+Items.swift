package import LatchkeyCredentials
internal import LatchkeyDBus
package import LatchkeySecrets

/// The items of one collection, whosever they are: those of other kinds than `password` are none.
///
/// A content type is known of what was read alone, and times are the keyring's own.
extension SecretServiceStore: ItemStore {
    /// In the store's own collection; of another name there is nothing.
    package func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [Item] {
        try await self.collection.items(attributes, deadline).filter {
            collection == nil || $0.collection == collection
        }
    }

    package func read<Purpose: SecretPurpose>(
        _ id: ItemID, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> ItemRecord<Purpose>? {
        try await collection.read(id, as: purpose, deadline)
    }

    /// Of items with equal attributes a new one is read before the others.
    package func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool)? {
        try await collection.save(secret, draft, deadline)
    }

    package func delete(
        _ id: ItemID, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Item? {
        try await collection.delete(id, condition, deadline)
    }

    package func readLatest(
        service: String, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Password>? {
        try await collection.readLatest(service: service, deadline)
    }
}

extension KeyringCollection {
    fileprivate func items(_ attributes: ItemAttributes, _ deadline: Deadline) async throws(StoreError) -> [Item] {
        let found = try await allItems(attributes.all.isEmpty ? nil : attributes.pairs, deadline)
        return found.filter(\.isItem).map(\.item).sorted { $0.precedes($1) }
    }

    fileprivate func read<Purpose: SecretPurpose>(
        _ id: ItemID, as purpose: Purpose.Type, _ deadline: Deadline
    ) async throws(StoreError) -> ItemRecord<Purpose>? {
        return try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            guard let found = try await item(id, session, interruption),
                let decoded = try await secret(
                    startSecret(at: found.path, session, interruption), of: found, as: purpose, session, interruption)
            else { return nil }
            var item = found.item
            item.contentType = decoded.contentType
            let version = versionKey.version(of: item, decoded.secret)
            return ItemRecord(item, version: version, secret: decoded.takeSecret())
        }
    }

    fileprivate func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, _ deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool)? {
        return try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            try await save(secret, draft, session, interruption)
        }
    }

    private func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, _ session: KeyringSession,
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> (item: Item, isNew: Bool)? {
        let type = SecretContentType.sent(secret, as: draft.contentType.hasPrefix("text/") ? .text : .binary)
        guard let form = session.codec.encode(secret, contentType: type) else {
            throw .store(.keyringSecretUnsendable)
        }
        var old: KeyringItem?
        let attributes: ItemAttributes
        switch draft.place {
        case .item(let id):
            guard let found = try await item(id, session, interruption) else { return nil }
            (old, attributes) = (found, found.item.attributes)
        case .attributes(let given, _, let replacing):
            guard given[ItemAttributes.kind] == nil else { throw .store(.keyringKind) }
            attributes = given
            if replacing { old = try await item(with: given, session, interruption) }
        }
        try await check(draft.condition, old, session, interruption)
        if let old {
            try await replace(old, form, draft.label ?? old.item.label, session, interruption)
        } else {
            try await create(attributes.pairs, form, draft.label ?? "", session, interruption)
        }
        let written =
            if let old {
                try await describe([old.path], session, interruption).first
            } else {
                try await item(with: attributes, session, interruption)
            }
        guard let written else { throw .store(.keyringKeepsChanging) }
        var saved = written.item
        saved.contentType = draft.contentType
        return (saved, old == nil)
    }

    fileprivate func delete(
        _ id: ItemID, _ condition: WriteCondition, _ deadline: Deadline
    ) async throws(StoreError) -> Item? {
        return try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            let found = try await item(id, session, interruption)
            try await check(condition, found, session, interruption)
            guard let found, try await delete(found, session, interruption) else { return nil }
            return found.item
        }
    }

    // MARK: - Finding

    /// The unlocked item with an ID; `nil` if it isn't an item.
    private func item(
        _ id: ItemID, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> KeyringItem? {
        let path = try await ownPath(session, interruption) + "/" + id.element
        for _ in 0..<Self.attempts {
            let found = try await describe([path], session, interruption)
            if try await unlock(found, session, interruption) { continue }
            return found.first.flatMap { $0.isItem ? $0 : nil }
        }
        throw .store(.keyringKeepsChanging)
    }

    /// The item that is read first of those that have these attributes and no others.
    private func item(
        with attributes: ItemAttributes, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> KeyringItem? {
        let found = try await allItems(attributes.pairs, session, interruption)
        return found.filter { $0.item.attributes.isSame(as: attributes) }.min { $0.precedes($1) }
    }
}

extension KeyringItem {
    /// The sessions of sign-ins aren't items.
    fileprivate var isItem: Bool { key.map { $0.kind == .password } ?? (item.attributes[ItemAttributes.kind] == nil) }
}

extension ItemAttributes {
    fileprivate var pairs: [(String, String)] { all.map { ($0.name, $0.value) } }
}
