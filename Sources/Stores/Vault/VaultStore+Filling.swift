package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem

extension VaultStore {
    /// Saves the same secret under many new keys, as one transaction: how tests and benchmarks make large vaults.
    ///
    /// What is written is what `save` writes. Throws `conflict` when one of the keys is taken, and saves none then. All
    /// of it is held in memory until it is committed.
    package func fill<Purpose: SecretPurpose>(
        _ keys: [CredentialKey], with secret: borrowing Secret<Purpose>, deadline: Deadline = .standard
    ) async throws(StoreError) {
        let kept = Box(secret.duplicate())
        try await change(until: deadline) { (transaction, change) throws(StoreError) in
            let vaultKeys = change.keys
            for key in vaultKeys.inOrderOfPlaces(keys, { vaultKeys.lookup(of: $0) }) {
                guard try Self.row(.key(key), in: transaction, vaultKeys) == nil else {
                    throw StoreError(.conflict, "there is a credential for \(key) already")
                }
                try self.write(
                    kept.value, .key(key), label: "\(key.service): \(key.account)",
                    contentType: SecretContentType.binary.rawValue, replacing: nil, in: transaction, &change)
            }
        }
    }
}
