/// A store broke a statement of the contract. It is thrown, so that it fails a test of Swift Testing and of XCTest
/// alike.
public struct ContractViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence that doesn't hold.
    public let statement: String
    /// What was seen instead.
    public let detail: String
    /// The place in the suite, such as `Extras/StoreContract/ContractCase+Keeping.swift:20`.
    public let place: String

    public var description: String { "the store breaks the contract: \(statement): \(detail) (\(place))" }
}
