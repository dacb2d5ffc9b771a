/// An error that can be shown and logged as it is: a code, a cause and a hint, no secret and no one else's prose.
public protocol RedactedError: Error, Loggable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A stable name for programs, such as `store.locked`.
    var codeName: StaticString { get }
    /// What happened, in a sentence without a full stop.
    var cause: LogMessage { get }
    /// What the person can do next, or `nil` when there is nothing to say.
    var hint: LogMessage? { get }
}

extension RedactedError {
    public var logMessage: LogMessage { "\(cause) [\(codeName)]" }
    public var description: String { logMessage.text }
    public var debugDescription: String { logMessage.text }
}
