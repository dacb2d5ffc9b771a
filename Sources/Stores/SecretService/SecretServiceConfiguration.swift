public import Credentials

/// Which collection of the keyring to use, and how.
public struct SecretServiceConfiguration: Sendable, Hashable {
    /// A collection: what keyring applications call a keyring.
    public enum Collection: Sendable, Hashable {
        /// The one that the desktop has as its default (the alias `default`).
        case standard
        /// The one that is kept in memory until the session ends (the alias `session`).
        case session
    }

    public var collection: Collection
    /// Whether the keyring may ask the person, to unlock it above all. Otherwise `locked` is thrown at once.
    public var mayPrompt: Bool
    /// Where Latchkey's processes meet: it keeps two of them from creating one item twice, and makes versions
    /// comparable. `nil`: this process is the only one.
    public var coordination: LeaseDirectory?

    public init(
        collection: Collection = .standard, mayPrompt: Bool = true, coordination: LeaseDirectory?
    ) {
        self.collection = collection
        self.mayPrompt = mayPrompt
        self.coordination = coordination
    }
}
