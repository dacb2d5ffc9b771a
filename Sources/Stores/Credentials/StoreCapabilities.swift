/// What a store can do beyond save, read, delete and list. The contract suite reads it.
public struct StoreCapabilities: Sendable, Hashable {
    /// What is saved is there after the process ends.
    public var isPersistent: Bool
    /// `lock()` and `unlock()` work.
    public var canLock: Bool
    /// `changes()` works.
    public var reportsChanges: Bool
    /// A ``WriteCondition`` is checked and the write done as one step, among all processes. Otherwise only among
    /// Latchkey's processes, under their lease.
    public var hasAtomicConditions: Bool
    /// `list` gives each credential's version.
    public var hasVersionsInListing: Bool
    /// What was saved as text is read as text, and bytes as bytes. Otherwise the store may call bytes that happen to be
    /// UTF-8 text.
    public var keepsContentType: Bool
    /// The largest secret that it takes, in bytes; of a larger one a save throws `tooLarge`.
    public var maximumSecretByteCount: Int

    /// Listing one service looks at all credentials, so that several services are better found in one listing.
    package var listsAllForOneService = false

    /// For a store's own `capabilities`. Content types are kept unless told otherwise; the size is in bytes.
    public init(
        isPersistent: Bool, canLock: Bool, reportsChanges: Bool, hasAtomicConditions: Bool,
        hasVersionsInListing: Bool, keepsContentType: Bool = true, maximumSecretByteCount: Int
    ) {
        self.isPersistent = isPersistent
        self.canLock = canLock
        self.reportsChanges = reportsChanges
        self.hasAtomicConditions = hasAtomicConditions
        self.hasVersionsInListing = hasVersionsInListing
        self.keepsContentType = keepsContentType
        self.maximumSecretByteCount = maximumSecretByteCount
    }
}
