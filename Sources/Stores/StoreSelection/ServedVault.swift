package import LatchkeyCredentials
internal import LatchkeySecretService
internal import LatchkeyVault

/// A vault that is served as the keyring which another store reads: what is in both is one and the same, and who deletes it
/// in one has it in neither. An item's path ends with what the vault calls it.
package enum ServedVault {
    /// Whether what both have under a key is one item.
    package static func hasSame(
        _ key: CredentialKey, in one: any CredentialStore, and other: any CredentialStore, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        guard let (vault, keyring) = pair(one, other) else { return false }
        let items = vault.itemStore()
        for element in try await keyring.itemPathElements(under: key, deadline: deadline) {
            guard let id = ItemID(element) else { continue }
            if try await items.item(id, deadline: deadline) != nil { return true }
        }
        return false
    }

    /// Whether one is the other. Where there is nothing in one of them it isn't known, and nothing can be lost.
    package static func isServed(
        _ one: any CredentialStore, _ other: any CredentialStore, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        guard let (vault, keyring) = pair(one, other) else { return false }
        let served = Set(try await keyring.itemPathElements(under: nil, deadline: deadline))
        if served.isEmpty { return false }
        return try await vault.itemStore().items(in: "login", deadline: deadline).contains {
            served.contains($0.element)
        }
    }

    private static func pair(
        _ one: any CredentialStore, _ other: any CredentialStore
    ) -> (VaultStore, SecretServiceStore)? {
        switch (one, other) {
        case (let vault as VaultStore, let keyring as SecretServiceStore): (vault, keyring)
        case (let keyring as SecretServiceStore, let vault as VaultStore): (vault, keyring)
        default: nil
        }
    }
}
