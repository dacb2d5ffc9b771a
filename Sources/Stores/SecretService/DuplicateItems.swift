package import LatchkeyCredentials

/// Several items of the keyring under one key. Other programs put a second one beside the first: when they replace an
/// item that has other attributes, for example.
package struct DuplicateItems: Sendable, Hashable {
    package struct Item: Sendable, Hashable {
        /// The item's path on the bus.
        package let path: String
        package let label: String
        /// The program that made it, where it says so (the attribute `application`).
        package let application: String?
        package let created: UnixTime
        package let modified: UnixTime
    }

    package let key: CredentialKey
    /// At least two. The first one is read and changed: the one changed last, then the younger, then the one with the
    /// later path.
    package let items: [Item]
}

/// What `SecretServiceStore.repairDuplicates` did.
package struct DuplicateRepair: Sendable, Hashable {
    /// Items that were deleted, because another one holds the same secret and all their attributes.
    package internal(set) var deleted = 0
    /// Items that were given the newest secret, because their programs find no other one.
    package internal(set) var updated = 0
    /// Items that are still there beside the one that is read.
    package internal(set) var left = 0
    /// Items that still hold another secret than the one that is read: they are left unless older secrets may be lost.
    package internal(set) var differing = 0
}
