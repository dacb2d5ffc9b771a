internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection

/// A credential as a store has it.
struct StoredCredential: ~Copyable {
    let store: any CredentialStore
    let record: CredentialRecord<Password>

    var key: CredentialKey { record.metadata.key }
}

extension StoreView {
    /// Returns the credential of a service and an account; without an account the one of the service that was changed
    /// last. `nil` for none, and for names that no store takes.
    func credential(service: String, account: String?, deadline: Deadline) async throws -> StoredCredential? {
        for store in stores {
            for key in try await keys(service, account, in: store, deadline) {
                if let record = try await store.read(key, as: Password.self, deadline: deadline) {
                    return StoredCredential(store: store, record: record)
                }
            }
        }
        return nil
    }

    /// The keys of a service's credentials, the one that was changed last first.
    func keys(
        _ service: String, _ account: String?, in store: any CredentialStore, _ deadline: Deadline
    ) async throws -> [CredentialKey] {
        if let account { return (try? CredentialKey(service: service, account: account)).map { [$0] } ?? [] }
        guard (try? CredentialKey(service: service, account: "any")) != nil else { return [] }
        let entries = try await store.list(service: service, deadline: deadline).all().filter {
            $0.key.kind == .password
        }
        return entries.sorted { $0.modified > $1.modified }.map(\.key)
    }
}
