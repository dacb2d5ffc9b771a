#if !Desktop
    public import LatchkeyCredentials
    internal import LatchkeyLog
    public import LatchkeySecrets

    /// Built without the trait `Desktop`: the store is there, and says that it can't work.
    extension SecretServiceStore: CredentialStore {
        private static let notBuilt = StoreError(
            .unavailable, "this program was built without the Secret Service",
            hint: "build it with the package trait `Desktop`, or use a vault: `--store vault`")

        public func save<Purpose: SecretPurpose>(
            _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
        ) async throws(StoreError) -> CredentialVersion { throw Self.notBuilt }

        public func read<Purpose: SecretPurpose>(
            _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
        ) async throws(StoreError) -> CredentialRecord<Purpose>? { throw Self.notBuilt }

        public func delete(
            _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
        ) async throws(StoreError) -> Bool { throw Self.notBuilt }

        public func page(
            service: String?, after cursor: ListingCursor?, deadline: Deadline
        ) async throws(StoreError) -> ListingPage { throw Self.notBuilt }

        public func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
            throw Self.notBuilt
        }

        public func lock(deadline: Deadline) async throws(StoreError) { throw Self.notBuilt }

        public func unlock(deadline: Deadline) async throws(StoreError) { throw Self.notBuilt }

        public func state(deadline: Deadline) async throws(StoreError) -> SecretServiceState { throw Self.notBuilt }

        public func report(deadline: Deadline) async throws(StoreError) -> SecretServiceReport { throw Self.notBuilt }

        public static func presence(deadline: Deadline) async throws(StoreError) -> SecretServicePresence {
            throw notBuilt
        }

        public func duplicates(
            service: String? = nil, deadline: Deadline = .standard
        ) async throws(StoreError) -> [DuplicateItems] { throw Self.notBuilt }

        public func repairDuplicates(
            of key: CredentialKey, discardingOlderSecrets: Bool = false, deadline: Deadline = .standard
        ) async throws(StoreError) -> DuplicateRepair { throw Self.notBuilt }

        public func copyOtherPrograms(
            to target: any CredentialStore, deadline: Deadline = .standard
        ) async throws(StoreError) -> Int { throw Self.notBuilt }
    }
#endif
