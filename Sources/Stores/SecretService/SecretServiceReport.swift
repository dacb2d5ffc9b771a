/// What can be learnt of the keyring service without asking anybody for anything, for `latchkey doctor`.
package struct SecretServiceReport: Sendable, Hashable {
    /// How the collection of the store's configuration is.
    package enum CollectionState: Sendable, Hashable {
        case open(itemCount: Int)
        case locked
        case missing
    }

    /// A name that leads to a collection, whatever that is called.
    package enum Alias: String, Sendable, Hashable, CaseIterable {
        case standard = "default"
        case login
        case session
    }

    /// The process that offers the service, where the bus tells.
    package internal(set) var processIdentifier: Int32?
    /// What the kernel calls that process, up to 15 bytes: `gnome-keyring-d`, `keepassxc`, `kwalletd5`.
    package internal(set) var processName: String?
    /// How many collections there are, and how many of them are locked.
    package internal(set) var collectionCount: Int
    package internal(set) var lockedCount: Int
    /// Which names lead to a collection (Secret Service API, "Aliases").
    package internal(set) var aliases: [Alias]
    package internal(set) var collection: CollectionState
    /// Whether secrets are encrypted on their way over the bus.
    package internal(set) var isSessionEncrypted: Bool
    /// Whether GNOME's program that shows prompts runs or can be started by the bus. Others show their own.
    package internal(set) var hasSystemPrompter: Bool
}

/// Whether a program offers the Secret Service, as the session bus knows it.
package enum SecretServicePresence: Sendable, Hashable {
    /// A program offers it now.
    case running
    /// None does, and the bus starts one for whoever calls it.
    case startable
    case absent
}
