package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

/// What other programs keep in a vault goes along to another vault, or to the desktop's keyring. From a keyring it doesn't:
/// items there belong to programs that look for them there.
extension Transfer {
    package var takesItems: Bool { source.collections != nil && target.items != nil }

    /// The items to take: all of them, or those with this `service` and this `username`.
    package func items(service: String?, account: String?, deadline: Deadline) async throws(StoreError) -> [Item] {
        guard takesItems, let source = source.collections else { return [] }
        func has(_ value: String?, _ wanted: String?) -> Bool {
            guard let wanted else { return true }
            return value?.utf8.elementsEqual(wanted.utf8) ?? false
        }
        return try await source.unnamedItems(deadline: deadline).filter { item in
            has(item.attributes[ItemAttributes.service], service)
                && has(item.attributes[ItemAttributes.account], account)
        }.sorted { ($0.label, $0.collection, $0.id.element) < ($1.label, $1.collection, $1.id.element) }
    }

    /// Whether the target keeps an item as one. A keyring would read one with a kind as a sign-in's.
    package func takes(_ item: Item) -> Bool {
        target.collections != nil || item.attributes[ItemAttributes.kind] == nil
    }

    /// The item that the target reads under a key, for `arrived`.
    package func arrival(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> ItemID? {
        try await target.items?.search(ItemAttributes(key), in: nil, deadline: deadline).filter { $0.key == key }
            .min { $0.isNamed == $1.isNamed ? $0.precedes($1) : $0.isNamed }?.id
    }

    /// Transfers one item: what has the same attributes in the target is the same one. A store that takes them keeps its
    /// collection and its times.
    ///
    /// Throws as the transfer of a credential.
    ///
    /// - Parameters:
    ///   - onlyLooks: says what would become of it, and changes nothing.
    ///   - arrived: the ids that what was transferred has in the target; this one's is added. Several may have the same
    ///     attributes.
    package func transfer(
        _ item: Item, onlyLooks: Bool, arrived: inout Set<ItemID>, deadline: Deadline
    ) async throws(StoreError) -> Outcome {
        guard let items = target.items,
            let record = try await source.items?.read(item.id, as: ItemContent.self, deadline: deadline)
        else { return .vanished }
        // The schema that gnome-keyring invents would keep a credential from being one.
        let bare = record.item.attributes.without(\.isInvented)
        let attributes = bare.exactKey == nil ? record.item.attributes : bare
        let isKept = source.collections != nil && target.collections != nil
        let collection = isKept ? item.collection : ItemCollection.first
        // A vault has as many as there are; a keyring one of those that are read as one credential, whose place none takes
        // that comes later.
        let present: [Item]
        if target.collections == nil {
            let wanted = item.key.map(ItemAttributes.init) ?? attributes
            let found = try await items.search(wanted, in: nil, deadline: deadline)
            let first =
                found.first { $0.attributes.isSame(as: attributes) }
                ?? found.first { $0.key != nil && $0.key == item.key }
            present = first.map { [$0] } ?? []
        } else {
            present = try await items.search(attributes, in: collection, deadline: deadline)
                .filter { $0.attributes.isSame(as: attributes) && !arrived.contains($0.id) }
        }
        var draft = ItemDraft(
            .attributes(attributes, in: collection, replacing: false), label: record.item.label,
            contentType: record.item.contentType)
        draft.times = (record.item.created, record.item.modified)
        var outcome: Outcome = mode == .copy ? .copied : .moved
        if let old = try await match(record, among: present, of: items, deadline) {
            let isLater = !arrived.insert(old.item.id).inserted
            if old.secret.matches(record.secret) {
                try await finish(record, onlyLooks: onlyLooks, deadline)
                return .same
            }
            guard replaces && !isLater else { return .differs }
            draft.place = .item(old.item.id)
            draft.condition = .matches(old.version)
            outcome = .replaced
        }
        if onlyLooks { return outcome }
        if isKept { try await makeCollection(collection, deadline) }
        guard let saved = try await items.save(record.secret, draft, deadline: deadline),
            let written = try await items.read(saved.item.id, as: ItemContent.self, deadline: deadline),
            saved.item.version == nil || saved.item.version == written.version
        else {
            throw StoreError(
                .conflict, "another process changed the item in \(target.identity) at the same time",
                hint: "the original is unchanged: run the command again")
        }
        guard written.secret.matches(record.secret) else {
            throw StoreError(
                .corrupted, "\(target.identity) returns another secret than it was given",
                hint: "nothing was deleted; \(Recovery.diagnose)")
        }
        arrived.insert(saved.item.id)
        try await finish(record, onlyLooks: false, deadline)
        return outcome
    }

    /// The one with the same secret, or else the first.
    private func match(
        _ record: borrowing ItemRecord<ItemContent>, among present: [Item], of items: any ItemStore,
        _ deadline: Deadline
    ) async throws(StoreError) -> ItemRecord<ItemContent>? {
        for item in present {
            guard let found = try await items.read(item.id, as: ItemContent.self, deadline: deadline) else { continue }
            if found.secret.matches(record.secret) { return found }
        }
        guard let first = present.first else { return nil }
        return try await items.read(first.id, as: ItemContent.self, deadline: deadline)
    }

    private func finish(
        _ record: borrowing ItemRecord<ItemContent>, onlyLooks: Bool, _ deadline: Deadline
    ) async throws(StoreError) {
        guard mode == .move, !onlyLooks else { return }
        try await source.items?.delete(record.item.id, condition: .matches(record.version), deadline: deadline)
    }

    /// Makes the source's collection in the target, where it is missing, with those of its aliases that are free there.
    private func makeCollection(_ name: String, _ deadline: Deadline) async throws(StoreError) {
        guard let source = source.collections, let target = target.collections else { return }
        let there = try await target.collections(deadline: deadline)
        if there.contains(where: { $0.name == name }) { return }
        guard let own = try await source.collections(deadline: deadline).first(where: { $0.name == name }) else {
            return
        }
        // A collection's name is made from its label.
        let made = try await target.createCollection(label: name, alias: nil, deadline: deadline)
        _ = try await target.setLabel(own.label, ofCollection: made.name, deadline: deadline)
        let taken = Set(there.flatMap(\.aliases))
        for alias in own.aliases where !taken.contains(alias) {
            _ = try await target.setAlias(alias, to: made.name, deadline: deadline)
        }
    }
}
