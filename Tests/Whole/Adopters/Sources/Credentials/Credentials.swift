public struct CredentialsThing: Sendable {
    public init() {}
}
