package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecretService
package import LatchkeyVault

/// Keys of vaults in the desktop's keyring (Secret Service): an item for each slot, so that a vault opens without a
/// passphrase while its user is logged in.
///
/// Its service is `latchkey vault`, its account the slot's reference. The item is there before its slot is, and goes
/// after it. Whoever is killed in between leaves an item that opens nothing; it can be deleted in any keyring
/// application.
package struct VaultKeyring: Sendable {
    private static let service = "latchkey vault"

    /// Whether a credential of the keyring is a vault's key.
    package static func isVaultKey(_ key: CredentialKey) -> Bool { key.service == service && key.kind == .privateKey }
    private let store: SecretServiceStore
    private let timeout: Duration

    /// The keyring may ask its password in a window, where there is a display and `settings` don't forbid it.
    package init(_ settings: StoreSettings) {
        store = SecretServiceStore(
            SecretServiceConfiguration(
                collection: settings.collection, mayPrompt: settings.mayPrompt && settings.hasDisplay,
                mayCreateCollection: settings.mayCreateCollection, coordination: settings.leases))
        timeout = settings.timeout
    }

    /// Creates a key for a new slot and stores the key. The key is read back, so that no slot is created for a key that
    /// the keyring lost.
    ///
    /// Throws what the keyring throws, `protocolViolation` if the keyring returns a different key, and `unsupported` if
    /// the vault itself is served as that keyring: the key would be locked in.
    ///
    /// - Parameter vault: the open vault; `nil` for a new one.
    package func makeKey(
        for slot: KeySlotReference, ofVaultAt path: String, _ vault: VaultStore?
    ) async throws(StoreError) -> VaultKeySource {
        let made: Secret<VaultSlotKey> = try mapError(
            { (error: RandomSourceError) in
                StoreError(.unavailable, "the kernel returned no random bytes", platform: .errno(error.number))
            },
            of: .random(byteCount: 32))
        let options = SaveOptions(label: "Key of the vault \(path)", contentType: .binary, condition: .absent)
        _ = try await store.save(made, for: Self.item(slot), options: options, deadline: .after(timeout))
        if let refusal = await failure(StoreError.self, awaiting: try await check(made, of: slot, vault)) {
            _ = try? await forget(slot)
            throw refusal
        }
        return .keptKey(made, of: slot)
    }

    /// Whether a new slot's key is in the keyring, and not in the vault that it is to open.
    private func check(
        _ made: borrowing Secret<VaultSlotKey>, of slot: KeySlotReference, _ vault: VaultStore?
    ) async throws(StoreError) {
        guard try await key(for: slot).matches(made) else {
            throw StoreError(
                .protocolViolation, "the keyring returned another key than was stored",
                hint: "choose another way to open the vault")
        }
        guard let vault else { return }
        let attributes = ItemAttributes(try Self.item(slot))
        guard try await vault.search(attributes, in: nil, deadline: .after(timeout)).isEmpty else {
            throw StoreError(
                .unsupported, "the keyring is served from this vault, so a key there would be locked in the vault",
                hint: "choose a key file or a passphrase, or another keyring")
        }
    }

    /// Returns the key of a slot. Throws `locked` when the keyring doesn't have it or isn't there: the vault is. Else
    /// throws what the keyring throws.
    func key(for slot: KeySlotReference) async throws(StoreError) -> Secret<VaultSlotKey> {
        let item = try Self.item(slot)
        let found = try await mapError(
            { (error: StoreError) in
                error.code != .unavailable
                    ? error
                    : StoreError(
                        .locked, "the desktop's keyring has the vault's key: \(error.cause)", hint: error.hint,
                        platform: error.platform)
            }, awaiting: await store.read(item, as: VaultSlotKey.self, deadline: .after(timeout)))
        guard let found else {
            throw StoreError(
                .locked, "the keyring doesn't contain the vault's key \(slot)",
                hint: "open the vault with another key, and replace that slot")
        }
        return found.takeSecret()
    }

    /// Deletes the key of a removed slot. Returns `false` if the keyring didn't contain it.
    @discardableResult
    package func forget(_ slot: KeySlotReference) async throws(StoreError) -> Bool {
        try await store.delete(Self.item(slot), condition: .none, deadline: .after(timeout))
    }

    private static func item(_ slot: KeySlotReference) throws(StoreError) -> CredentialKey {
        return try mapError(
            { (error: InvalidValue) in StoreError(.unsupported, error.cause) },
            of: CredentialKey(service: service, account: slot.text, kind: .privateKey))
    }
}

/// A vault that is served as the keyring which another store reads: what is in both is one and the same, and who deletes it
/// in one has it in neither. An item's path ends with what the vault calls it.
package enum ServedVault {
    /// Whether what both have under a key is one item.
    package static func hasSame(
        _ key: CredentialKey, in one: any CredentialStore, and other: any CredentialStore, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        guard let (vault, keyring) = pair(one, other) else { return false }
        for item in try await keyring.search(ItemAttributes(key), in: nil, deadline: deadline) {
            if try await vault.item(item.id, deadline: deadline) != nil { return true }
        }
        return false
    }

    /// Whether one store is served from the other. If one of them is empty the answer is unknown, and nothing can be
    /// lost.
    package static func isServed(
        _ one: any CredentialStore, _ other: any CredentialStore, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        guard let (vault, keyring) = pair(one, other) else { return false }
        let served = Set(try await keyring.search(ItemAttributes(), in: nil, deadline: deadline).map(\.id))
        if served.isEmpty { return false }
        return try await vault.items(in: ItemCollection.first, deadline: deadline).contains(where: served.contains)
    }

    private static func pair(
        _ one: any CredentialStore, _ other: any CredentialStore
    ) -> (any CollectionStore, any ItemStore)? {
        switch (one.collections, one.items, other.collections, other.items) {
        case (let vault?, _, nil, let keyring?): (vault, keyring)
        case (nil, let keyring?, let vault?, _): (vault, keyring)
        default: nil
        }
    }
}
