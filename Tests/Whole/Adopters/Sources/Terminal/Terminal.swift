public struct TerminalThing: Sendable {
    public init() {}
}
