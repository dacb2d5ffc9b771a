public import LatchkeyCredentials

/// How the keyring is, for a report.
package struct SecretServiceState: Sendable, Hashable {
    /// The collection's D-Bus path.
    package let collectionPath: String
    package let isLocked: Bool
    /// The unique bus name of the program that offers the service.
    package let owner: String
    /// Whether secrets are encrypted on their way over the bus.
    package let isSessionEncrypted: Bool
}

/// Keeps credentials in the desktop's keyring: GNOME Keyring, KeePassXC or KWallet, through the Secret Service.
///
/// Items carry the attributes `service` and `username`, so that secret-tool, gh and Python keyring find them and theirs
/// are found. A save sets the secret on the item that is there; it never changes the attributes of an item, and never
/// puts a second one beside another program's.
///
/// The store opens one session with the service per process, at first use, and again after the service or the bus was
/// restarted. Everything runs on one private thread; callers only suspend.
public struct SecretServiceStore: Sendable {
    package let configuration: SecretServiceConfiguration
    let versionKey: VersionKey

    /// Makes the store; it opens no connection yet.
    public init(_ configuration: SecretServiceConfiguration) {
        self.configuration = configuration
        versionKey = VersionKeyFile.key(in: configuration.coordination)
    }

    /// The name of the collection is the one it was configured with: a collection that has several names, such as
    /// `default` and its label, has as many identities, and a lease on one of them says nothing about the others.
    public var identity: StoreIdentity {
        StoreIdentity(backend: "secret-service", location: configuration.collection.text)
    }

    public var capabilities: StoreCapabilities {
        StoreCapabilities(
            isPersistent: configuration.collection != .session, canLock: true, reportsChanges: true,
            hasAtomicConditions: false, hasVersionsInListing: false, keepsContentType: false,
            maximumSecretByteCount: Self.maximumSecretByteCount)
    }

    /// 8 MiB. D-Bus ends at 128 MiB a message, and gnome-keyring rewrites its whole file at each save.
    package static let maximumSecretByteCount = 8 << 20
}
