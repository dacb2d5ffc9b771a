public import LatchkeyCredentials

/// Several items of the keyring under one key. Other programs put a second one beside the first: when they replace an
/// item that has other attributes, for example.
public struct DuplicateItems: Sendable, Hashable {
    public struct Item: Sendable, Hashable {
        /// The item's path on the bus.
        public let path: String
        public let label: String
        /// The program that made it, where it says so (the attribute `application`).
        public let application: String?
        public let created: UnixTime
        public let modified: UnixTime
    }

    public let key: CredentialKey
    /// At least two. The first one is read and changed: the one changed last, then the younger, then the one with the
    /// later path.
    public let items: [Item]
}

/// What `SecretServiceStore.repairDuplicates` did.
public struct DuplicateRepair: Sendable, Hashable {
    /// Items that were deleted, because another one holds the same secret and all their attributes.
    public internal(set) var deleted = 0
    /// Items that were given the newest secret, because their programs find no other one.
    public internal(set) var updated = 0
    /// Items that are still there beside the one that is read.
    public internal(set) var left = 0
    /// Items that still hold another secret than the one that is read: they are left unless older secrets may be lost.
    public internal(set) var differing = 0
}
