public import LatchkeyCredentials
package import LatchkeyLog

/// Copies or moves credentials and items from one store to another, one at a time.
///
/// Each copy is read back and compared in constant time before the original is deleted. One of the stores contains the
/// whole credential whenever the process ends, so an interrupted transfer continues when it is repeated.
package struct Transfer: Sendable {
    package enum Mode: Sendable, Hashable {
        case copy
        /// The source's credential is deleted when the target holds it, and only if it is still what was copied.
        case move
    }

    /// The outcome of one credential, or the outcome that a dry run predicts.
    package enum Outcome: Sendable, Hashable, CaseIterable, Loggable {
        case copied
        case moved
        /// The target held the same secret already. A move has deleted the source's.
        case same
        /// The target held another secret, and both were left alone.
        case differs
        /// The target held another secret, which was replaced. A move has deleted the source's.
        case replaced
        /// Another process deleted the credential from the source during the transfer.
        case vanished

        /// Safe: fixed words.
        package var logMessage: LogMessage {
            switch self {
            case .copied: "copied"
            case .moved: "moved"
            case .same: "same"
            case .differs: "differs"
            case .replaced: "replaced"
            case .vanished: "gone"
            }
        }
    }

    package let source: any CredentialStore
    package let target: any CredentialStore
    package let mode: Mode
    /// Whether another secret that the target holds is overwritten.
    package let replaces: Bool

    package init(
        from source: any CredentialStore, to target: any CredentialStore, mode: Mode, replaces: Bool = false
    ) {
        self.source = source
        self.target = target
        self.mode = mode
        self.replaces = replaces
    }

    /// Transfers one credential: its secret, label and content type, and its times if the target is a vault.
    ///
    /// Throws what the stores throw, and `unsupported` for a move within one store, whatever its names are.
    /// Throws `conflict` if another process changed the credential in one of the stores during the transfer, and
    /// `corrupted` if the target returns a different secret than was stored. The source is unchanged then.
    ///
    /// - Parameter onlyLooks: whether to predict the outcome without changing anything.
    package func transfer(
        _ key: CredentialKey, onlyLooks: Bool = false, deadline: Deadline
    ) async throws(StoreError) -> Outcome {
        guard let record = try await source.read(key, as: Password.self, deadline: deadline) else { return .vanished }
        let present = try await target.read(key, as: Password.self, deadline: deadline)
        var outcome: Outcome = mode == .copy ? .copied : .moved
        var condition = WriteCondition.absent
        if let present {
            if present.secret.matches(record.secret) {
                if onlyLooks { return .same }
                if mode == .move { try await checkAreTwo(deadline) }
                try await finish(key, record.version, deadline)
                return .same
            }
            guard replaces else { return .differs }
            condition = .matches(present.version)
            outcome = .replaced
        }
        if onlyLooks { return outcome }
        let error = await failure(
            StoreError.self,
            awaiting: try await target.save(
                copyOf: record, for: key, label: record.metadata.label, condition: condition, deadline: deadline
            ) { () async throws(StoreError) in try await finish(key, record.version, deadline) })
        guard let error else { return outcome }
        // Another import was sooner.
        guard mode == .copy, outcome == .copied, error.code == .conflict else { throw error }
        return try await transfer(key, deadline: deadline)
    }

    private static let test = "test of a move"

    /// In one store, the copy is the original. Two names can lead to one store, such as two URIs of a database. So this
    /// saves a credential in the target for a moment, and the source must not contain that credential.
    private func checkAreTwo(_ deadline: Deadline) async throws(StoreError) {
        let account = String(UInt64.random(in: .min ... .max), radix: 16)
        let key = try mapError(
            { (error: InvalidValue) in StoreError(.unsupported, error.cause) },
            of: CredentialKey(service: Self.test, account: account))
        let isOne: Result<Bool, StoreError> = await .init(awaiting: try await isInSource(key, savedInTarget: deadline))
        // Also after a time-out or an interruption.
        let deletion = Task { [target] in
            _ = try? await target.delete(key, condition: .none, deadline: .after(.seconds(5)))
        }
        await deletion.value
        guard try !isOne.get() else {
            throw StoreError(
                .unsupported, "\(source.identity) and \(target.identity) are the same store",
                hint: "choose another store to move to")
        }
    }

    private func isInSource(
        _ key: CredentialKey, savedInTarget deadline: Deadline
    ) async throws(StoreError) -> Bool {
        let options = SaveOptions(label: Self.test, condition: .absent)
        try await target.save(Secret<Password>(copying: Span()), for: key, options: options, deadline: deadline)
        return try await source.read(key, as: Password.self, deadline: deadline) != nil
    }

    private func finish(
        _ key: CredentialKey, _ version: CredentialVersion, _ deadline: Deadline
    ) async throws(StoreError) {
        guard mode == .move else { return }
        try await source.delete(key, condition: .matches(version), deadline: deadline)
    }
}

extension CredentialStore {
    /// Saves a copy of a record, reads it back, then runs `rest`, such as deleting the original.
    ///
    /// Throws `conflict` if another process changed the copy or the original in the meantime. If `rest` throws
    /// `conflict`, the copy is removed, or the credential that it replaced is restored.
    package func save(
        copyOf record: borrowing CredentialRecord<Password>, for key: CredentialKey, label: String?,
        condition: WriteCondition, deadline: Deadline,
        rest: () async throws(StoreError) -> Void
    ) async throws(StoreError) {
        // The credential that a conflict restores.
        var before: CredentialRecord<Password>?
        if case .matches = condition { before = try await read(key, as: Password.self, deadline: deadline) }
        var options = SaveOptions(label: label, contentType: record.contentType, condition: condition)
        options.original = record.metadata
        let version = try await save(record.secret, for: key, options: options, deadline: deadline)
        guard let saved = try await read(key, as: Password.self, deadline: deadline), saved.version == version else {
            throw .changedMeanwhile("\(key)", in: identity)
        }
        guard saved.secret.matches(record.secret) else {
            throw .returnsAnother("\(key)", identity)
        }
        do throws(StoreError) {
            try await rest()
        } catch  where error.code == .conflict {
            // If another process has changed the copy too, the copy is left alone.
            switch consume before {
            case .none:
                _ = try? await delete(key, condition: .matches(version), deadline: deadline)
            case .some(let before):
                var options = SaveOptions(
                    label: before.metadata.label, contentType: before.contentType, condition: .matches(version))
                options.original = before.metadata
                _ = try? await save(before.secret, for: key, options: options, deadline: deadline)
            }
            throw error
        }
    }

    /// Moves a credential to another store. Returns `false` if it doesn't exist.
    ///
    /// The original is deleted once the other store returns an equal copy, compared in constant time. If the program
    /// ends before that, at least one of the stores contains the credential. If the other store already contains the
    /// same secret, the original is only deleted.
    ///
    /// Throws `conflict` if the other store contains a different secret for the key or another process changes either
    /// one, `corrupted` if the other store returns a different secret than was saved, and `unsupported` if the other
    /// store is this one, also under another name or as a keyring that is served from it. The original then stays. To
    /// see whether the stores are one, a credential of the service `test of a move` is in the other store for a moment,
    /// if it contains the same secret.
    public func move(
        _ key: CredentialKey, to target: any CredentialStore, deadline: Deadline = .standard
    ) async throws(StoreError) -> Bool {
        switch try await Transfer(from: self, to: target, mode: .move).transfer(key, deadline: deadline) {
        case .vanished: return false
        case .copied, .moved, .same, .replaced: return true
        case .differs:
            throw StoreError(
                .conflict, "\(target.identity) contains another secret for \(key)", hint: "delete one of the two")
        }
    }
}

/// Items of other programs move from a vault to another vault or to the desktop's keyring. Items in a keyring stay,
/// because their programs look for them there.
extension Transfer {
    package var takesItems: Bool { source.collections != nil && target.items != nil }

    /// The items to take: all of them, or those with this `service` and this `username`.
    package func items(service: String?, account: String?, deadline: Deadline) async throws(StoreError) -> [Item] {
        guard takesItems, let source = source.collections else { return [] }
        func has(_ value: String?, _ wanted: String?) -> Bool {
            guard let wanted else { return true }
            return value?.hasSameOctets(as: wanted) ?? false
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

    /// Transfers one item. An item of the target with the same attributes counts as the same item. Between vaults, the
    /// copy keeps its collection and times.
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
        // A vault can hold several items with these attributes. A keyring holds one item for each credential, and a
        // later item doesn't replace that one.
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
                if mode == .move, !onlyLooks { try await checkAreTwo(deadline) }
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
            throw .changedMeanwhile("the item", in: target.identity)
        }
        guard written.secret.matches(record.secret) else {
            throw .returnsAnother("the item", target.identity)
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
        let made = try await target.createCollection(label: own.label, alias: nil, named: name, deadline: deadline)
        let taken = Set(there.flatMap(\.aliases))
        for alias in own.aliases where !taken.contains(alias) {
            _ = try await target.setAlias(alias, to: made.name, deadline: deadline)
        }
    }
}

extension StoreError {
    fileprivate static func changedMeanwhile(_ name: LogMessage, in store: StoreIdentity) -> StoreError {
        StoreError(
            .conflict, "another process changed \(name) in \(store) at the same time",
            hint: "the original is unchanged: compare both, then try again")
    }

    fileprivate static func returnsAnother(_ name: LogMessage, _ store: StoreIdentity) -> StoreError {
        StoreError(
            .corrupted, "\(store) returned another secret for \(name) than was stored",
            hint: "nothing was deleted; \(Recovery.diagnose)")
    }
}
