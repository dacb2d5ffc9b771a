#if Desktop
    public import Credentials
    internal import RedactedLog
    public import Secrets

    extension SecretServiceStore: CredentialStore {
        public func save<Purpose: SecretPurpose>(
            _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
        ) async throws(StoreError) -> CredentialVersion {
            guard secret.byteCount <= Self.maximumSecretByteCount else {
                throw StoreError(
                    .tooLarge,
                    "the secret has \(secret.byteCount) bytes; a keyring takes \(Self.maximumSecretByteCount)")
            }
            guard options.label?.utf8.contains(0) != true else {
                throw StoreError(.unsupported, "a label in the keyring can't contain a NUL", hint: "leave it out")
            }
            return try await collection.save(secret, for: key, options, deadline)
        }

        public func read<Purpose: SecretPurpose>(
            _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
        ) async throws(StoreError) -> CredentialRecord<Purpose>? {
            try await collection.read(key, as: purpose, deadline)
        }

        public func delete(
            _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
        ) async throws(StoreError) -> Bool {
            try await collection.delete(key, condition, deadline)
        }

        public func page(
            service: String?, after cursor: ListingCursor?, deadline: Deadline
        ) async throws(StoreError) -> ListingPage {
            ListingPage(entries: try await collection.list(service: service, deadline), next: nil)
        }

        private var collection: KeyringCollection { KeyringCollection(self) }
    }
#endif
