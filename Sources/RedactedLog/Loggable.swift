/// What may stand in a log message.
///
/// A conformance composes a `LogMessage` from literals and from parts that are loggable themselves:
///
///     extension Order: Loggable {
///         // Safe: the number and the state are shown to every customer.
///         public var logMessage: LogMessage { "order \(number), \(state)" }
///     }
///
/// A `LogMessage` has no other way in, so no conformance can let a secret or an arbitrary `String` through. The one
/// escape is `LoggableText(reviewed:unredacted:)`, whose uses are on a checked list. Each conformance says in a line why
/// it is safe.
public protocol Loggable {
    /// What the log shows.
    var logMessage: LogMessage { get }
}

/// Text from elsewhere that someone has looked at: the only way for a `String` into a log.
///
/// Control characters, line separators and characters that change the direction of text are made inert, so that a line
/// of the log can't be forged (CWE-117).
public struct LoggableText: Loggable, Sendable, Hashable {
    let text: String

    /// The text as it is, for output that does its own quoting, such as JSON.
    package var unredacted: String { text }

    /// - Parameters:
    ///   - reviewed: why this text holds no secret; for the reader of the source, never shown.
    ///   - unredacted: the text.
    public init(reviewed: StaticString, unredacted: String) {
        text = unredacted
    }

    public var logMessage: LogMessage { LogMessage(inert: text) }
}
