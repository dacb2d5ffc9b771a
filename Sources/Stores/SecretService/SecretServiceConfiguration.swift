public import LatchkeyCredentials

/// Which collection of the keyring to use, and how.
public struct SecretServiceConfiguration: Sendable, Hashable {
    package var collection: Collection
    /// Whether the keyring may ask the person, to unlock it above all. Otherwise `locked` is thrown at once.
    package var mayPrompt: Bool
    /// Whether a save makes the collection when it is missing: the person consents. The keyring asks for its new
    /// password. Otherwise `unavailable` is thrown. Reading never makes one.
    package var mayCreateCollection: Bool
    /// Where Latchkey's processes meet: it keeps two of them from creating one item twice, and makes versions
    /// comparable. `nil`: this process is the only one.
    package var coordination: LeaseDirectory?

    /// Without `mayPrompt` a locked collection throws `locked`; without `mayCreateCollection` a save to a missing one
    /// throws `unavailable`. Processes meet in `coordination`; `nil` says that this one is the only one.
    public init(
        collection: Collection = .standard, mayPrompt: Bool = true, mayCreateCollection: Bool = false,
        coordination: LeaseDirectory?
    ) {
        self.collection = collection
        self.mayPrompt = mayPrompt
        self.mayCreateCollection = mayCreateCollection
        self.coordination = coordination
    }
}
