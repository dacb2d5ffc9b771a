package import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySecretService
internal import LatchkeyVault

/// What other programs keep in a vault goes along to another vault, or to the desktop's keyring. From a keyring it doesn't:
/// items there belong to programs that look for them there.
extension CredentialTransfer {
    package var takesItems: Bool { source is VaultStore && (target is VaultStore || target is SecretServiceStore) }

    /// The items to take: all of them, or those with this `service` and this `username`.
    package func items(service: String?, account: String?, deadline: Deadline) async throws(StoreError) -> [StoredItem]
    {
        guard takesItems, let vault = source as? VaultStore else { return [] }
        func has(_ value: String?, _ wanted: String?) -> Bool {
            guard let wanted else { return true }
            return value?.utf8.elementsEqual(wanted.utf8) ?? false
        }
        return try await vault.itemsBesidesCredentials(deadline: deadline).filter { item in
            has(item.attributes["service"], service) && has(item.attributes["username"], account)
        }.sorted { ($0.label, $0.collection, $0.id.element) < ($1.label, $1.collection, $1.id.element) }
    }

    /// Transfers one item: between vaults with its collection and its times.
    ///
    /// - Parameters:
    ///   - onlyLooks: says what would become of it, and changes nothing.
    ///   - arrived: what this transfer has brought; this one is added. Several items may have the same attributes.
    package func transfer(
        _ item: StoredItem, onlyLooks: Bool, arrived: inout ArrivedItems, deadline: Deadline
    ) async throws(StoreError) -> Outcome {
        guard let vault = source as? VaultStore,
            let taken = try await vault.itemToTransfer(item.id, deadline: deadline)
        else { return .vanished }
        let outcome =
            if let other = target as? VaultStore {
                try await put(taken, into: other, onlyLooks: onlyLooks, arrived: &arrived, deadline)
            } else {
                try await putIntoKeyring(taken, onlyLooks: onlyLooks, arrived: &arrived, deadline)
            }
        if mode == .move, !onlyLooks, outcome != .differs { try await vault.remove(taken, deadline: deadline) }
        return outcome
    }

    private func put(
        _ item: TransferredItem, into other: VaultStore, onlyLooks: Bool, arrived: inout ArrivedItems,
        _ deadline: Deadline
    ) async throws(StoreError) -> Outcome {
        let present = try await other.counterpart(of: item, besides: arrived.ids, deadline: deadline)
        if let present {
            arrived.ids.insert(present.item.id)
            if present.secret.matches(item.secret) { return .same }
            guard replaces else { return .differs }
        }
        if !onlyLooks { arrived.ids.insert(try await other.put(item, replacing: present, deadline: deadline)) }
        if present != nil { return .replaced }
        return mode == .copy ? .copied : .moved
    }

    private func putIntoKeyring(
        _ item: TransferredItem, onlyLooks: Bool, arrived: inout ArrivedItems, _ deadline: Deadline
    ) async throws(StoreError) -> Outcome {
        guard let keyring = target as? SecretServiceStore else { return .differs }
        // A keyring has one item for the same attributes: none of these takes the place of one that came before it.
        let isFirst = arrived.attributes.insert(item.item.attributes).inserted
        let attributes = item.item.attributes.all.map { ($0.name, $0.value) }
        let outcome = try await keyring.putItem(
            item.secret, attributes: Dictionary(attributes) { first, _ in first }, label: item.item.label,
            isText: item.item.contentType.hasPrefix("text/"), replacing: replaces && isFirst, onlyLooks: onlyLooks,
            deadline: deadline)
        switch outcome {
        case .added: return mode == .copy ? .copied : .moved
        case .same: return .same
        case .differs: return .differs
        case .replaced: return .replaced
        }
    }
}

/// What one transfer has brought: the ids that items have in the target vault, and the attributes that they have in a
/// keyring.
package struct ArrivedItems: Sendable {
    fileprivate var ids: Set<ItemID> = []
    fileprivate var attributes: Set<ItemAttributes> = []

    package init() {}
}
