public struct OAuthThing: Sendable {
    public init() {}
}
