package import LatchkeyCredentials

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

    /// Whether one is the other. Where there is nothing in one of them it isn't known, and nothing can be lost.
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
