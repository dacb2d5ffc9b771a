public struct VaultThing: Sendable {
    public init() {}
}
